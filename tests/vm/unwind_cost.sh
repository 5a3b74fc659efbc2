# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: 6.12
# timeout: 120
#
# unwind_cost: what a user stack of nine functions adds to the submission of an I/O, in instructions of the guest, by frame
# pointers and by tables. The bounds are for arm64 with 6.12; on other kernels and x86_64 the figures are printed, not judged.

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
	[ $how = fp ] && bound=2000 || bound=6700
	case $(uname -rm) in
	6.12.*aarch64)
		[ $((cost - none)) -le "$bound" ]
		ok $? "$how: at most $bound instructions" || note "it costs $((cost - none))"
		;;
	*) skip "$how: at most $bound instructions" "that figure is for 6.12 on arm64" ;;
	esac
done
done_testing
