# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 5.10
# timeout: 300
#
# load: the oldest verifier takes every program with every setting, one by one and all together.

load-objects >/tmp/load.tap 2>&1
ok $? "every program loads with every setting"
is "$(grep -c '^not ok' /tmp/load.tap)" 0 "not one is refused" || note "$(sed 's,^not ok,refused:,;/^ok/d' /tmp/load.tap | tail -60 | cut -c1-160)"
[ "$(grep -c '^ok' /tmp/load.tap)" -gt 30 ]
ok $? "$(grep -c '^ok' /tmp/load.tap) cases were tried"
done_testing
