# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount large
# kernels: 6.12
# timeout: 120
#
# hit_cost: what a hit of count and hist costs, in instructions of the guest, run-time statistics included; beside bpftrace's, if it
# is in /files/peers. docs/benchmarks.md has the nanoseconds of a real CPU. The bounds are for 6.12 on x86_64; elsewhere the figures
# are printed, not judged.

ln -s /proc/self/fd /dev/fd # bpftrace compiles through it
writes=3001

# hit: sets cost to the instructions per hit of the programs that ran at least that often.
hit() {
	sysctl -w kernel.bpf_stats_enabled=1 >/dev/null
	/usr/bin/dd if=/dev/zero of=/dev/null bs=1 count=$writes 2>/dev/null
	bpftool prog show >/tmp/progs
	sysctl -w kernel.bpf_stats_enabled=0 >/dev/null
	cost=$(awk -v least=$writes '{ runs = 0; for (i = 1; i < NF; i++) { if ($i == "run_time_ns") ns = $(i + 1); if ($i == "run_cnt") runs = $(i + 1) }
		if (runs >= least) { sum += ns; nr += runs } } END { printf "%d", nr ? sum / nr : 0 }' /tmp/progs)
	note "$(grep run_cnt /tmp/progs)"
}
# ours MOST WORD...: at most so many instructions.
ours() {
	most=$1
	shift
	iosonar "$@" -v -i 600s >/tmp/out 2>/tmp/out.err &
	tool=$!
	wait_for 60 grep -q attached /tmp/out.err
	sleep 1
	hit
	kill -INT $tool
	wait $tool
	ok $? "$*: exits 0" || note "$(tail -3 /tmp/out.err)"
	note "hitcost iosonar $*: $cost"
	case $(uname -rm) in
	6.12.*x86_64)
		[ "$cost" -le "$most" ] && [ "$cost" -gt $((most / 2)) ]
		ok $? "$*: at most $most instructions" || note "it costs $cost"
		;;
	*) skip "$*: within its bound" "bounds are for 6.12 on x86_64" ;;
	esac
}
# theirs SCRIPT
theirs() {
	[ -x /files/peers/bpftrace ] || return 0
	/files/peers/bpftrace -e "$1" >/tmp/peer 2>/tmp/peer.err &
	tool=$!
	wait_for 60 grep -q Attach /tmp/peer.err /tmp/peer
	sleep 2
	hit
	kill -INT $tool
	wait $tool
	note "hitcost bpftrace $1: $cost"
}
ours 122 count syscalls:sys_enter_write by comm
theirs 'tracepoint:syscalls:sys_enter_write { @[comm] = count(); }'
ours 75 count syscalls:sys_enter_write
ours 103 count syscalls:sys_enter_write by pid
ours 118 hist syscalls:sys_exit_write of ret
theirs 'tracepoint:syscalls:sys_exit_write { @ = hist(args.ret); }'
ours 155 hist syscalls:sys_exit_write of ret by comm
theirs 'tracepoint:syscalls:sys_exit_write { @[comm] = hist(args.ret); }'
done_testing
