# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: icount
# kernels: 6.12
# timeout: 300
#
# why_more: causes that need another disk than those of `why`: writes that writeback throttling holds back, and iosonar itself, which
# is found when a disk is so fast that it costs more than 1 % of the CPU, and not with a slow one.

for name in reader writer; do
	ln -sf "$(command -v fio)" "/tmp/$name"
done

# judged NAME SCRIPT: what is found while this runs, in /tmp/NAME, with a capture.
judged() {
	iosonar why -d "$dev" -o json --out "/tmp/$1" -w "/tmp/$1.cap" -- sh -c "$2" >/tmp/said 2>&1
	ok $? "$1: exits 0" || note "$(cat /tmp/said)"
	whole "/tmp/$1" "$1: nothing is lost"
	note "$(iosonar why -r "/tmp/$1.cap" 2>&1)"
}
# rank NAME CAUSE: of a finding in /tmp/NAME; 0: it is not found.
rank() { grep "\"finding\":\"$2\"" "/tmp/$1" | sed 's/.*"nr":\([0-9]*\).*/\1/' | grep . || echo 0; }

# More writers than writeback throttling lets pass. Direct writes pass it.
dev=nullb0
null_disk "$dev" size=64 irqmode=2 completion_nsec=5000000 memory_backed=1 hw_queue_depth=128 submit_queues=1
ok $? "a disk that takes 5 ms for each command"
set_scheduler "$dev" none
job="--ioengine=psync --time_based --runtime=2 --output=/dev/null --filename=/dev/$dev --name=a --norandommap --bs=4k"
# For every writer a place of its own: the lock of a page makes no wait of the disk.
writes="/tmp/writer $job --rw=randwrite --sync=1 --thread --numjobs=48 --size=1m --offset_increment=1m"
if echo 75000 >"/sys/block/$dev/queue/wbt_lat_usec"; then
	judged wbt "$writes"
	between "$(rank wbt wbt)" 1 2 "wbt: first or second" || note "$(cat /tmp/wbt)"
	echo 0 >"/sys/block/$dev/queue/wbt_lat_usec"
	judged unthrottled "$writes"
	is "$(rank unthrottled wbt)" 0 "without it: not found" || note "$(cat /tmp/unthrottled)"
else
	skip "wbt" "no writeback throttling in this kernel"
fi

# The same disk, with 200 reads a second; then one that needs no time. Shorter runs are not judged.
job="$job --direct=1 --rw=randread --runtime=7"
judged slow "/tmp/reader $job"
is "$(rank slow own-cost)" 0 "200 reads a second: iosonar is no finding" || note "$(cat /tmp/slow)"
null_remove "$dev"
null_disk "$dev" size=64 irqmode=0 memory_backed=1 hw_queue_depth=128 submit_queues=1
ok $? "a disk that takes no time"
set_scheduler "$dev" none
judged fast "/tmp/reader $job"
between "$(rank fast own-cost)" 1 2 "own-cost: first or second" || note "$(cat /tmp/fast)"
is "$(iosonar why -r /tmp/fast.cap -o json 2>/dev/null | grep -c '"finding":"own-cost"')" 0 "own-cost: a capture does not have it"
null_remove "$dev"
done_testing
