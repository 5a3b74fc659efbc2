#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The files of contrib for a fleet, without a server: do the alerts fire when they should, and does the DaemonSet agree with itself,
# with the program and with docs/containers.md? Queries against a real Prometheus that scrapes a real run: tests/live/serve.t.

# tests/data/alerts.yml has, for each alert, series that make it fire and series that keep it silent.
@test "each alert fires when it should, and is silent otherwise" {
	command -v promtool >/dev/null || skip "there is no promtool"
	promtool check rules contrib/prometheus/iosonar.rules.yml
	[ "$(sed -n 's/.*alert: //p' contrib/prometheus/iosonar.rules.yml | sort)" = "$(sed -n 's/^  - name: //p' tests/data/alerts.yml | sort)" ]
	promtool test rules tests/data/alerts.yml
}

@test "the DaemonSet agrees with itself and with docs/containers.md" {
	python3 -c 'import yaml' 2>/dev/null || skip "python3 has no yaml"
	run python3 tests/cli/daemonset.py contrib/container/daemonset.yaml docs/containers.md
	[ "$status" -eq 0 ] && [ -z "$output" ] || { echo "$output"; return 1; }
}

# The program takes the arguments as they are written: it goes on to the address, which is none of this machine (RFC 5737).
@test "serve takes the arguments of the DaemonSet and of docs/containers.md" {
	python3 -c 'import yaml' 2>/dev/null || skip "python3 has no yaml"
	"${IOSONAR:-build/iosonar}" --version | grep -qw libmicrohttpd || skip "built without libmicrohttpd"
	local line words
	for file in contrib/container/daemonset.yaml docs/containers.md; do
		line=$(sed -n 's/^ *args: *\(\[serve.*\]\).*/\1/p' "$file")
		[ -n "$line" ]
		# shellcheck disable=SC2016 # it is Kubernetes'
		mapfile -t words < <(python3 -c 'import sys, yaml; print(*yaml.safe_load(sys.argv[1]), sep="\n")' "$line" |
			sed 's/^0\.0\.0\.0:/192.0.2.1:/; s/^\$(POD_IP)$/192.0.2.1/')
		run "${IOSONAR:-build/iosonar}" "${words[@]}"
		[ "$status" -eq 2 ] && [[ $output == *"192.0.2.1:9936: this machine has no such address"* ]] || { echo "${words[*]}: $output"; return 1; }
	done
}
