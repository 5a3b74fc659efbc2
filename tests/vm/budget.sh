# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 5.10
# timeout: 120
#
# budget: with --budget some commands are timed, and all are counted: against fio and the kernel's own statistics, for NVMe and for
# another disk, while the share of timed commands changes in both directions.

dev=$(disk io0)
set_scheduler "$dev" none

# judged NAME DISK: the counts of both directions, and what is said of those that were timed.
judged() {
	for op in read write; do
		count=$(row "/tmp/$1" "$2" $op count)
		timed=$(row "/tmp/$1" "$2" $op timed)
		is "$count" "$(fio_ios "/tmp/$1.json" $op)" "$1: ${op}s as fio counts them"
		[ "$timed" -gt 64 ] && [ "$timed" -lt "$count" ]
		ok $? "$1: some ${op}s are timed" || note "$timed of $count"
		is "$(row "/tmp/$1" "$2" $op size_bytes)" 4096 "$1: ${op}s have their bytes"
		p50=$(row "/tmp/$1" "$2" $op p50_ns) from=$(row "/tmp/$1" "$2" $op p50_from_ns) to=$(row "/tmp/$1" "$2" $op p50_to_ns)
		[ "$from" -le "$p50" ] && { [ "$to" = 0 ] || [ "$p50" -lt "$to" ]; } # 0: a slow guest did too few to say
		ok $? "$1: the median of ${op}s lies in its interval" || note "$from $p50 $to"
	done
	is "$(ledger "/tmp/$1" completed)" "$(($(row "/tmp/$1" "$2" read count) + $(row "/tmp/$1" "$2" write count)))" "$1: the ledger has all"
	is "$(sed -n 's/^issued .*; timed \([0-9]*\); .*/\1/p' "/tmp/$1.err")" "$(($(row "/tmp/$1" "$2" read timed) + $(row "/tmp/$1" "$2" write timed)))" \
		"$1: and says how many were timed"
	whole "/tmp/$1" "$1: nothing is lost"
}

# busy NAME DISK ARGS...: fio on a disk, both directions.
busy() {
	busy_name=$1 busy_disk=$2
	shift 2
	fio --name=t --filename="/dev/$busy_disk" --direct=1 --rw=randrw --bs=4k --ioengine=libaio --iodepth=8 --norandommap \
		--output-format=json --output="/tmp/$busy_name.json" "$@" >&2
}

for name in nvme other; do
	if [ $name = other ]; then
		dev=nullb0
		null_disk $dev completion_nsec=10000 irqmode=2
	fi
	measure /tmp/$name -d "$dev" --budget 1ppm -i 500ms
	before=$(($(stat_of "$dev" reads) + $(stat_of "$dev" writes)))
	busy $name "$dev" --numjobs=2 --group_reporting --runtime=4 --time_based
	after=$(($(stat_of "$dev" reads) + $(stat_of "$dev" writes)))
	measured
	ok $? "$name: exits 0"
	judged $name "$dev"
	is "$(ledger /tmp/$name completed)" $((after - before)) "$name: as the kernel counts them"
	grep -q "$dev: 1 of 1024 commands is timed" /tmp/$name.err
	ok $? "$name: says how many are timed" || note "$(cat /tmp/$name.err)"
	grep -q 'budget cannot be kept' /tmp/$name.err
	ok $? "$name: and that this is not enough"
done

# A burst, a pause, a burst: the share of timed commands changes while commands are in flight, and none is lost. 20 commands a second
# are within 100 ppm also in a guest that gets a fifth of a CPU.
measure /tmp/bursts -d "$dev" --budget 100ppm -i 500ms
for _ in 1 2 3; do
	busy part "$dev" --runtime=1 --time_based
	all_reads=$((${all_reads:-0} + $(fio_ios /tmp/part.json read))) all_writes=$((${all_writes:-0} + $(fio_ios /tmp/part.json write)))
	busy part "$dev" --number_ios=40 --rate_iops=10
	all_reads=$((all_reads + $(fio_ios /tmp/part.json read))) all_writes=$((all_writes + $(fio_ios /tmp/part.json write)))
done
measured
ok $? "bursts: exits 0"
grep -q "$dev: all commands are timed again" /tmp/bursts.err
ok $? "bursts: all are timed again in a pause" || note "$(cat /tmp/bursts.err)"
is "$(row /tmp/bursts "$dev" read count) $(row /tmp/bursts "$dev" write count)" "$all_reads $all_writes" "bursts: as fio counts them"
whole /tmp/bursts "bursts: nothing is lost"

# A write cache without FUA: a synchronous write ends with its data, and again after a flush; a flush that waits for another is none.
null_disk nullb1 irqmode=2 completion_nsec=10000 memory_backed=1 cache_size=64 >&2 || ok 1 "null_blk makes a disk"
measure /tmp/sync -d nullb1 --budget 1ppm -i 500ms
fio --name=t --filename=/dev/nullb1 --direct=1 --rw=randwrite --bs=4k --ioengine=libaio --iodepth=8 --norandommap --fsync=4 --sync=1 \
	--numjobs=4 --group_reporting --runtime=3 --time_based --output-format=json --output=/tmp/sync.json >&2
measured
ok $? "synchronous writes: exits 0"
is "$(row /tmp/sync nullb1 write count)" "$(fio_ios /tmp/sync.json write)" "synchronous writes: as fio counts them"
is "$(ledger /tmp/sync completed)" "$(($(row /tmp/sync nullb1 write count) + $(row /tmp/sync nullb1 flush count)))" "synchronous writes: the ledger has all"
whole /tmp/sync "synchronous writes: nothing is lost"

done_testing
