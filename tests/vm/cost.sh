# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: 6.12
#
# cost: what latency adds to an I/O, in instructions of the guest, run-time statistics included. The bound is what was
# promised on arm64 with 6.12; on other kernels and x86_64 the figure is printed, not judged.

dev=$(disk io0)
set_scheduler "$dev" none
bound=500
case $(uname -rm) in 6.12.*aarch64) ;; *) bound= ;; esac

# cost NAME: sets cost to the instructions per I/O of all programs that ran for each read; fails if one ran more often.
cost() {
	sysctl -w kernel.bpf_stats_enabled=1 >/dev/null
	/usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k count=1500 iflag=direct 2>/dev/null
	cost=$(bpftool prog show | awk '/ name io_/ && / run_cnt 1500$/ { for (i = 1; i < NF; i++) if ($i == "run_time_ns") sum += $(i + 1) }
		END { printf "%d", sum / 1500 }')
	bpftool prog show | grep -o 'name io_.*run_cnt.*' | sed 's/^/# /'
	sysctl -w kernel.bpf_stats_enabled=0 >/dev/null
}

measure /tmp/out -d "$dev"
cost
measured
is "$(row /tmp/out "$dev" read count)" 1500 "1,500 reads"
note "latency: $cost instructions per I/O"
[ "$cost" -gt 200 ]
ok $? "the programs ran"
if [ -n "$bound" ]; then
	[ "$cost" -le $bound ]
	ok $? "latency costs at most $bound instructions per I/O" || note "it costs $cost"
else
	skip "latency costs at most 500 instructions per I/O" "that figure is for 6.12 on arm64"
fi

iosonar trace -v -o json --out /tmp/out -d "$dev" 2>/tmp/err &
pid=$!
wait_for 20 grep -q '^tables' /tmp/err
sleep 0.3
cost
kill -INT $pid
wait $pid
note "trace: $cost instructions per I/O"
if [ -n "$bound" ]; then
	[ "$cost" -le 745 ] && [ "$cost" -gt 500 ]
	ok $? "trace costs at most 745 instructions per I/O" || note "it costs $cost"
else
	skip "trace costs at most 745 instructions per I/O" "that figure is for 6.12 on arm64"
fi

# Seven or eight events, as many clocks: of each 148 are what a program costs that does nothing but read the clock. With
# mq-deadline the first commands are dearer: the scheduler brings requests of its own, and each asks once for its device.
for scheduler in none mq-deadline; do
	[ $scheduler = none ] && most=1400 || most=1650
	set_scheduler "$dev" $scheduler
	started layers /tmp/out -d "$dev"
	sleep 0.3
	cost
	measured
	note "layers, $scheduler: $cost instructions per I/O"
	if [ -n "$bound" ]; then
		[ "$cost" -le "$most" ] && [ "$cost" -gt 1000 ]
		ok $? "layers costs at most $most instructions per I/O with $scheduler" || note "it costs $cost"
	else
		skip "layers costs at most $most instructions per I/O with $scheduler" "that figure is for 6.12 on arm64"
	fi
done
set_scheduler "$dev" none

null_disk nullb0 >&2
measure /tmp/out -d "$dev" -d nullb0
cost
measured
note "with a disk beside that is not NVMe: $cost"
if [ -n "$bound" ]; then
	[ "$cost" -le 765 ]
	ok $? "at most 765 with a disk beside that is not NVMe" || note "it costs $cost"
else
	skip "at most 765 with a disk beside that is not NVMe" "that figure is for 6.12 on arm64"
fi
null_remove nullb0
done_testing
