# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: none
# timeout: 300
#
# budget_cost: what a command costs that is counted but not timed, and that the programs stay within --budget, as the kernel's
# run-time statistics show it. They add 135 instructions to a pair of empty programs, which the programs themselves do not see.

dev=$(disk io0)
set_scheduler "$dev" none
now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }

# cost: sets cost to the instructions per I/O of our programs, and share to what they take of the CPU's time, in millionths.
cost() {
	sysctl -w kernel.bpf_stats_enabled=1 >/dev/null
	from=$(now_ms)
	/usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k count=6000 iflag=direct 2>/dev/null
	to=$(now_ms)
	cost=$(bpftool prog show | awk '/ name io_/ && / run_cnt 6000$/ { for (i = 1; i < NF; i++) if ($i == "run_time_ns") sum += $(i + 1) }
		END { printf "%d", sum / 6000 }')
	sysctl -w kernel.bpf_stats_enabled=0 >/dev/null
	share=$(((cost - 135) * 6000 / (to - from)))
}

# budget SHARE: latency with it, after it has had time to settle; sets cost, share and timed.
budget() {
	measure /tmp/out -d "$dev" --budget "$1"
	/usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k count=20000 iflag=direct 2>/dev/null
	cost
	measured
	ok $? "$dev, $1: exits 0"
	is "$(row /tmp/out "$dev" read count)" 26000 "$dev, $1: all reads are counted"
	timed=$(row /tmp/out "$dev" read timed)
	note "$1: $cost instructions per I/O, $share millionths of the CPU, $timed timed"
}

budget 100%
all=$cost
is "$timed" 26000 "a large budget: all are timed"
budget 1ppm
counted=$cost
[ "$timed" -lt 13000 ]
ok $? "a tiny one: most are not timed"
case $(uname -rm) in
6.12.*aarch64) bounds='600 370' ;;
6.12.*x86_64) bounds='500 330' ;;
*) bounds='' ;;
esac
if [ -n "$bounds" ]; then
	[ "$all" -le "${bounds% *}" ]
	ok $? "a timed command takes at most ${bounds% *} instructions"
	[ "$counted" -le "${bounds#* }" ]
	ok $? "one that is only counted at most ${bounds#* }"
else
	skip "a timed command: within its bound" "bounds are for 6.12 on arm64 and x86_64"
	skip "one that is only counted: within its bound" "bounds are for 6.12 on arm64 and x86_64"
fi

# A disk that takes as long for every I/O: the rate of the emulated drive depends on the load of the machine.
dev=nullb0
null_disk $dev completion_nsec=20000 irqmode=2
budget 100%
whole=$share
budget 1ppm
least=$share
for part in 30 90; do
	limit=$((least + (whole - least) * part / 100))
	budget ${limit}ppm
	[ "$share" -le $((limit * 11 / 10)) ] && [ "$share" -ge $((limit / 3)) ]
	ok $? "within a budget of $limit millionths" || note "$(cat /tmp/out.err)"
done

done_testing
