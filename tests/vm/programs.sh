# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: none
# timeout: 300
#
# programs: this kernel's verifier takes what the any-event commands emit, by each way of attaching, and it computes what
# it should: the tests of the load tier, with fewer random expressions, as a guest is slow.

# taken NAME: runs load-NAME and passes its cases on as one.
taken() {
	taken_from=$(cut -d. -f1 /proc/uptime)
	IOSONAR_EXPRESSIONS=512 "load-$1" >"/tmp/$1.tap" 2>"/tmp/$1.err"
	ok $? "$1: ends well" || note "$(tail -5 "/tmp/$1.err")"
	is "$(grep -c '^not ok' "/tmp/$1.tap")" 0 "$1: not one case is bad" ||
		note "$(grep -B40 '^not ok' "/tmp/$1.tap" | cut -c1-160 | head -150)"
	note "$1: $(($(cut -d. -f1 /proc/uptime) - taken_from)) s"
	note "$(sed -n 's/^# \(.*\(loaded by\|verified\)\)/\1/p' "/tmp/$1.tap")"
}

modprobe nvme 2>/dev/null
taken probe_programs
[ "$(grep -c '^ok' /tmp/probe_programs.tap)" -gt 100 ]
ok $? "$(grep -c '^ok' /tmp/probe_programs.tap) cases were tried"
taken probe_random
is "$(grep -c '^ok' /tmp/probe_random.tap)" 5 "all kinds of random ones were tried"
done_testing
