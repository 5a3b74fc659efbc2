# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: null-latency icount
# kernels: 6.12
# timeout: 200
#
# waits_causes: one cause at a time makes calls slower. At least 95 % of the time that it adds is under its name, and no other
# cause has any. Each command of null_blk takes 20 ms.

slow_ns=20000000
null_disk nullb0 irqmode=2 completion_nsec=$slow_ns memory_backed=1 hw_queue_depth=128 size=64
ok $? "a disk that takes 20 ms for each command"
set_scheduler nullb0 none
echo 0 >/sys/block/nullb0/queue/wbt_lat_usec
causes="others journal dirty queue tag wbt iomax iocost iolatency frozen lock reclaim network rest"

# Ends of calls come from kretprobes there, one for each CPU.
one_at_a_time=
case $(uname -rm) in
5.10.*aarch64) one_at_a_time="this kernel follows one call at a time on one CPU" ;;
esac

# waits NAME OPTION... -- COMMAND...: JSON in /tmp/NAME.
waits() {
	name=$1
	shift
	iosonar waits -o json --comm waiter "$@" >"/tmp/$name" 2>"/tmp/$name.err"
	is $? 0 "$name: exit status" || note "$(cat "/tmp/$name.err")"
}

# of FILE CALL PART: its time in the whole run; 0: there is no such row.
of() {
	n=$(sed -n "/\"type\":\"waits\",\"span\":\"total\".*\"call\":\"$2\".*\"part\":\"$3\"/s/.*\"sum_ns\":\([0-9]*\).*/\1/p" "/tmp/$1")
	echo "${n:-0}"
}

# none_but FILE CALL CAUSE: that no other cause has any time.
none_but() {
	others=
	for cause in $causes; do
		[ "$cause" = "$3" ] || [ "$(of "$1" "$2" "$cause")" = 0 ] || others="$others $cause=$(of "$1" "$2" "$cause")"
	done
	is "$others" "" "$1: nothing under other names" || grep -o '"sleeps".*' "/tmp/$1" | head -3 | sed 's/^/# /'
}

# callers FILE: what the calls took by the clock of the caller, also those that did not wait.
callers() { grep -v '^{' "/tmp/$1" | awk '{ sum += $1 } END { printf "%.0f", sum }'; }

# owns WITH WITHOUT CALL CAUSE LEAST: of the time that the calls in WITH took longer than those in WITHOUT, at least LEAST ns.
owns() {
	added=$(($(callers "$1") - $(callers "$2")))
	mine=$(($(of "$1" "$3" "$4") - $(of "$2" "$3" "$4")))
	[ "$added" -ge "$5" ] && [ $((mine * 100)) -ge $((added * 95)) ]
	ok $? "$1: at least 95 % of the added time" || note "$mine of $added; $(grep total "/tmp/$1" | cut -c1-300)"
	note "$1: $4 has $mine of $added ns"
	none_but "$1" "$3" "$4"
}

# A drive that is 50 ms slower. The delay can be 0: then it is the drive behind it.
load dm_delay >/dev/null 2>&1
dmsetup create slow --table "0 131072 delay /dev/nullb0 0 0" >/tmp/dm 2>&1 || note "$(cat /tmp/dm)"
waits undelayed -- waiter /dev/dm-0 read 7 4096 direct
dmsetup remove slow
dmsetup create slow --table "0 131072 delay /dev/nullb0 0 50" >/tmp/dm 2>&1 || note "$(cat /tmp/dm)"
waits delayed --slow 5 -- waiter /dev/dm-0 read 7 4096 direct
dmsetup remove slow
owns delayed undelayed read device 350000000

# A sequential reader waits for what it has submitted in an earlier call: read-ahead of 4 MiB, which are several bios. The disk does
# one command at a time, and the others are in the scheduler.
null_disk nullb1 irqmode=2 completion_nsec=$slow_ns memory_backed=1 hw_queue_depth=1 submit_queues=1 size=32
set_scheduler nullb1 mq-deadline
echo 64 >/sys/block/nullb1/queue/nr_requests
echo 512 >/sys/block/nullb1/queue/max_sectors_kb
echo 4096 >/sys/block/nullb1/queue/read_ahead_kb
waits ahead --slow 5 -- waiter /dev/nullb1 read 512 65536
[ "$(of ahead read device)" -ge $((40 * slow_ns)) ]
ok $? "ahead: it waits for the device" || note "$(cat /tmp/ahead)"
is "$(of ahead read others)" 0 "ahead: and for no other task" || grep -o '"sleeps".*' /tmp/ahead | head -3 | sed 's/^/# /'
null_remove nullb1

# Another task reads a page, and waiter needs it before it is there; or it is there. The open descriptor keeps the page.
ln -s "$(command -v waiter)" /tmp/leader
# shellcheck disable=SC2016 # of the inner shell
warm='exec 3<"$0"; /tmp/leader "$0" read 1 65536 >/dev/null; for i in 1 2 3 4 5 6 7 8 9 10; do waiter "$0" read 1 4096; done'
# shellcheck disable=SC2016
cold='for i in 1 2 3 4 5 6 7 8 9 10; do /tmp/leader "$0" read 1 65536 >/dev/null & sleep 0.005; waiter "$0" read 1 4096; wait; done'
waits first -- sh -c "$warm" /dev/nullb0
waits second --slow 5 -- sh -c "$cold" /dev/nullb0
owns second first read others $((4 * slow_ns))
is "$(of second read device)" 0 "second: nor has it I/O of its own"

# A limit of the cgroup. Reads of 64 KiB at 1 MiB a second.
echo +io >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/limited
number=$(cat /sys/block/nullb0/dev)
in_group='echo $$ >/sys/fs/cgroup/limited/cgroup.procs; exec "$@"'
waits free --slow 5 -- sh -c "$in_group" sh waiter /dev/nullb0 read 16 65536 direct
echo "$number rbps=1048576" >/sys/fs/cgroup/limited/io.max
waits iomax --slow 5 -- sh -c "$in_group" sh waiter /dev/nullb0 read 16 65536 direct
echo "$number rbps=max" >/sys/fs/cgroup/limited/io.max
owns iomax free read iomax 400000000
between "$(of iomax read device)" $((15 * slow_ns)) $((20 * slow_ns)) "iomax: the device took as long as ever"

# io.cost with a model of a disk that reads 25 times a second.
if echo "$number ctrl=user model=linear rbps=104857600 rseqiops=25 rrandiops=25 wbps=104857600 wseqiops=25 wrandiops=25" \
	>/sys/fs/cgroup/io.cost.model && echo "$number enable=1 ctrl=user min=100 max=100" >/sys/fs/cgroup/io.cost.qos; then
	waits iocost --slow 5 -- sh -c "$in_group" sh waiter /dev/nullb0 read 16 65536 direct
	echo "$number enable=0" >/sys/fs/cgroup/io.cost.qos
	owns iocost free read iocost 50000000
else
	skip "iocost" "no io.cost in this kernel"
fi

# Writeback throttling: 64 requests at once, or a few.
echo 64 >/sys/block/nullb0/queue/max_sectors_kb
waits unthrottled -- waiter /dev/nullb0 fsync 1 4194304
if echo 75000 >/sys/block/nullb0/queue/wbt_lat_usec; then
	waits wbt --slow 5 -- waiter /dev/nullb0 fsync 1 4194304
	echo 0 >/sys/block/nullb0/queue/wbt_lat_usec
	owns wbt unthrottled fsync wbt $((2 * slow_ns))
else
	skip "wbt" "no writeback throttling in this kernel"
fi

# Dirty pages: 16 MiB, of which 1 MiB may be dirty.
echo 512 >/sys/block/nullb0/queue/max_sectors_kb
waits clean -- waiter /dev/nullb0 write 256 65536
sync
sysctl -w vm.dirty_bytes=1048576 >/dev/null
waits dirty --slow 5 -- waiter /dev/nullb0 write 256 65536
sysctl -w vm.dirty_ratio=20 >/dev/null
owns dirty clean write dirty $slow_ns

# A busy CPU: what is read is in memory, and there is only one CPU. waiter yields to all others.
dd if=/dev/zero of=/tmp/big bs=1M count=16 2>/dev/null
waits idle -- waiter /tmp/big read 2 8388608
waits hog --slow 2 -- sh -c 'while :; do :; done & waiter /tmp/big read 2 8388608; kill $!'
rm /tmp/big
owns hog idle read runnable 50000000
is "$(of hog read device)" 0 "hog: nor is it the device"

# The lock of an inode: a direct write that makes the file longer holds it until it is on the disk.
mkdir -p /tmp/fs
load ext4 >/dev/null 2>&1
mkfs.ext4 -q -b 4096 -E nodiscard /dev/nullb0 32M >/tmp/mkfs 2>&1 && mount -t ext4 -o commit=300,lazytime /dev/nullb0 /tmp/fs
ok $? "ext4" || note "$(cat /tmp/mkfs)"
ln -s "$(command -v waiter)" /tmp/holder
/tmp/holder /tmp/fs/file write 20 4096 direct >/dev/null
waits alone -- waiter /tmp/fs/file write 10 4096 direct
[ -n "$one_at_a_time" ] && skip "lock" "$one_at_a_time"
[ -n "$one_at_a_time" ] || {
	waits lock --slow 5 -- sh -c '/tmp/holder /tmp/fs/file write 1000 4096 direct append & sleep 1
		waiter /tmp/fs/file write 10 4096 direct; kill $!'
	owns lock alone write lock $((3 * slow_ns))
}
umount /tmp/fs
null_remove nullb0

# Eight threads and one tag or two.
[ -z "$one_at_a_time" ] || {
	skip "tag" "$one_at_a_time"
	done_testing
}
null_disk nullb0 irqmode=2 completion_nsec=$slow_ns hw_queue_depth=2 submit_queues=1
set_scheduler nullb0 none
waits tags -- waiter /dev/nullb0 read 160 4096 direct
# shellcheck disable=SC2016 # of the inner shell
jobs='for i in 1 2 3 4 5 6 7 8; do waiter "$0" read 20 4096 direct & done; wait'
waits tag --slow 5 -- sh -c "$jobs" /dev/nullb0
owns tag tags read tag 500000000
null_remove nullb0
modprobe -r nvme && modprobe nvme io_queue_depth=2 && wait_for 20 disk io0 && wait_for 20 test -b "/dev/$(disk io0)"
ok $? "an NVMe drive with a queue of 2"
dev=$(disk io0)
set_scheduler "$dev" none
waits nvmes -- waiter "/dev/$dev" read 160 4096 direct
waits nvme --slow 5 -- sh -c "$jobs" "/dev/$dev"
owns nvme nvmes read tag 500000000
done_testing
