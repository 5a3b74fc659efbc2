# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: 6.12
# timeout: 120
#
# unwind_cost: what a user stack of nine functions adds to the submission of an I/O, in instructions of the guest, by frame
# pointers and by tables. The bounds are for 6.12; on other kernels the figures are printed, not judged. x86_64 had 1,084 and 6,137.

dev=$(disk io0)
set_scheduler "$dev" none

# cost HOW: sets cost to the instructions of the program that takes the stack, once the process is known.
cost() {
	started stacks /tmp/out -d "$dev" --stack user --unwind "$1"
	unwound "/dev/$dev" 1500 &
	unwound_pid=$!
	sleep 2
	sysctl -w kernel.bpf_stats_enabled=1 >/dev/null
	wait $unwound_pid
	sysctl -w kernel.bpf_stats_enabled=0 >/dev/null
	cost=$(bpftool prog show | awk '/ name io_bio_queue/ { for (i = 1; i < NF; i++) {
		if ($i == "run_time_ns") time = $(i + 1)
		if ($i == "run_cnt") count = $(i + 1)
	} } END { if (count == 1500) printf "%d", time / count; else print 0 }')
	measured
}

cost none
none=$cost
for how in fp dwarf; do
	cost $how
	note "$how: $((cost - none)) instructions for each stack"
	[ "$cost" -gt "$none" ] && [ "$none" -gt 0 ]
	ok $? "$how: stacks were taken" || note "$cost, without a stack $none"
	case $how,$(uname -rm) in
	fp,6.12.*aarch64) bound=2000 ;;
	dwarf,6.12.*aarch64) bound=6700 ;;
	fp,6.12.*x86_64) bound=1150 ;;
	dwarf,6.12.*x86_64) bound=6450 ;;
	*) skip "$how: within its bound" "bounds are for 6.12 on arm64 and x86_64" && continue ;;
	esac
	[ $((cost - none)) -le "$bound" ]
	ok $? "$how: at most $bound instructions" || note "it costs $((cost - none))"
done
done_testing
