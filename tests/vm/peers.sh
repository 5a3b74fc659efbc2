# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC1091,SC2034,SC2154 # tools.sh is tests/bench/tools.sh, which reads and sets these
# shape: nvme icount large
# kernels: none
# timeout: 1200
#
# peers: what each tool adds to an NVMe read, in instructions of the guest, run-time statistics included. Part of
# `make bench`, which puts the tools into /files; lines "# cost TOOL INSTRUCTIONS RUNS" are for it.

. /files/tools.sh
ios=1500
iosonar=/usr/bin/iosonar floor=/usr/bin/floor peers=/files/peers layer=nvme disk=$(disk io0)
set_scheduler "$disk" none

# instructions TOOL: per read, over all its programs.
instructions() {
	start "$1" /tmp/out
	attached || note "$(tail -3 /tmp/out.err)"
	statistics 1
	dd if="/dev/$disk" of=/dev/null bs=4k count=$ios iflag=direct 2>/dev/null
	cost
	statistics 0
	stop
	[ $cost_runs -ge $((2 * ios)) ] && [ $((cost_runs % ios)) -eq 0 ]
	ok $? "$(title "$1"): its programs ran for every read" || note "$cost_runs runs for $ios reads"
	note "cost $1 $((cost_ns / ios)) $((cost_runs / ios))"
	eval "cost_of_$(echo "$1" | tr - _)=$((cost_ns / ios))"
}

# at_most OURS THEIRS PERCENT
at_most() {
	eval "ours=\$cost_of_$1 theirs=\$cost_of_$(echo "$2" | tr - _)"
	[ "$theirs" -gt 0 ] && [ $((ours * 100)) -le $((theirs * $3)) ]
	ok $? "$(title "$1") costs at most $3 % of $(title "$2")" || note "$ours and $theirs"
}

for tool in $(tools); do
	instructions "$tool"
done
at_most latency biolatency-D 30
at_most trace biosnoop 20
done_testing
