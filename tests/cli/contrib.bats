#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The files of contrib for a fleet, without a server: do the alerts fire when they should? Their queries against a real Prometheus
# that scrapes a real run: tests/live/serve.t.

# tests/data/alerts.yml has, for each alert, series that make it fire and series that keep it silent.
@test "each alert fires when it should, and is silent otherwise" {
	command -v promtool >/dev/null || skip "there is no promtool"
	promtool check rules contrib/prometheus/iosonar.rules.yml
	[ "$(sed -n 's/.*alert: //p' contrib/prometheus/iosonar.rules.yml | sort)" = "$(sed -n 's/^  - name: //p' tests/data/alerts.yml | sort)" ]
	promtool test rules tests/data/alerts.yml
}
