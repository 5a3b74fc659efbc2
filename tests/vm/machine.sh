# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154 # lib.sh sets measure_pid
# shape: nvme
# kernels: 6.18
# timeout: 120
#
# machine: what is done to a machine while it is read, and no command is lost: a CPU goes and comes back, the scheduler and the
# number of requests change, the devices are suspended, the clock is set. Second instruments: fio and /sys/block/*/stat.

dev=$(disk io0)
set_scheduler "$dev" none
load mq-deadline 2>/dev/null

# reads_while SECONDS LEAST NAME COMMAND...: fio reads for so long, and COMMAND runs again and again, at least so often. Then
# CPU 1 reads, of which latency and trace have to have every one, too.
reads_while() {
	seconds=$1 least=$2 name=$3
	shift 3
	traced /tmp/t -d "$dev"
	trace_pid=$measure_pid
	measure /tmp/l -d "$dev"
	before=$(stat_of "$dev" reads) nr=0
	fio --name=t --filename="/dev/$dev" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=16 --time_based \
		--runtime="$seconds" --rate_iops=300 --output-format=json --output=/tmp/f.json >&2 &
	fio_pid=$!
	while kill -0 $fio_pid 2>/dev/null; do
		"$@" || note "$name: $* failed"
		nr=$((nr + 1))
	done
	wait $fio_pid
	ok $? "$name: fio meets no error"
	taskset -c 1 /usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k count=13 iflag=direct 2>/dev/null
	reads=$(($(stat_of "$dev" reads) - before))
	sleep 0.3
	measured
	ok $? "$name: latency exits 0"
	kill -INT "$trace_pid"
	wait "$trace_pid"
	ok $? "$name: trace exits 0" || note "$(cat /tmp/t.err)"
	[ $nr -ge "$least" ]
	ok $? "$name: $nr times, at least $least"
	is "$reads" $(($(fio_ios /tmp/f.json read) + 13)) "$name: the kernel counts what fio read, and 13"
	is "$(row /tmp/l "$dev" read count)" "$reads" "$name: latency has every read"
	is "$(grep -c '"op":"read"' /tmp/t)" "$reads" "$name: trace has every read"
	whole /tmp/l "$name: the ledger balances"
	is "$(ledger /tmp/l in_flight)" 0 "$name: nothing is left in flight"
}

cpu=/sys/devices/system/cpu/cpu1/online
blink() { echo 0 >$cpu && sleep 0.2 && echo 1 >$cpu && sleep 0.2; }
if [ -w $cpu ]; then
	reads_while 4 2 "a CPU goes and comes" blink
else
	skip "a CPU goes and comes" "this kernel cannot stop CPU 1"
fi

queue=/sys/block/$dev/queue
turn() {
	set_scheduler "$dev" mq-deadline && echo 64 >"$queue/nr_requests" && echo 128 >"$queue/nr_requests" &&
		set_scheduler "$dev" none && echo 32 >"$queue/nr_requests" && echo 256 >"$queue/nr_requests"
}
reads_while 4 2 "the scheduler changes" turn

# The kernel suspends all devices, waits 5 s, and resumes them.
suspend() { sleep 1 && echo devices >/sys/power/pm_test && echo freeze >/sys/power/state && sleep 1; }
if [ -w /sys/power/pm_test ] && grep -qw freeze /sys/power/state; then
	reads_while 9 1 "suspended" suspend
	between "$(row /tmp/l "$dev" read max_ns)" 1 4000000000 "suspended: no read takes as long as that"
else
	skip "suspended" "this kernel has no pm_test"
fi

now=$(date +%s)
some_reads() { dd if="/dev/$dev" of=/dev/null bs=4k count="$1" iflag=direct 2>/dev/null && sleep 1.5; }
set_clock() { date -s "$1 12:00:00" >/dev/null && sleep 1.5; }
set_clock 2030-01-05
traced /tmp/c -d "$dev" -w /tmp/c.cap
some_reads 31
set_clock 2031-03-01
some_reads 37
set_clock 2029-12-31
some_reads 41
measured
ok $? "the clock is set: trace exits 0"
date -s "@$now" >/dev/null
is "$(column /tmp/c wall | cut -dT -f1 | uniq -c | xargs)" "31 2030-01-05 37 2031-03-01 41 2029-12-31" "the clock is set: each read has the time of its day"
between "$(column /tmp/c lat_ns | sort -n | tail -1)" 1 4000000000 "the clock is set: no latency is of that clock"
is "$(column /tmp/c end_ns | sort -nc 2>&1)" "" "the clock is set: the order stays"
iosonar trace -r /tmp/c.cap -o json 2>/dev/null | cmp -s - /tmp/c
ok $? "the clock is set: a capture says the same"
whole /tmp/c "the clock is set: the ledger balances"
done_testing
