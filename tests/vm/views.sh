# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 6.12
# timeout: 240
#
# views: every breakdown adds up, every filter keeps what it says, and what was sent before we came is told apart.

dev=$(disk io0)
set_scheduler "$dev" none
work() { fio --name=work --filename="/dev/$dev" --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=8 \
	--number_ios=307 --norandommap --output-format=json --output=/tmp/work.json >/dev/null 2>&1; }
sum() { grep '"type":"latency","span":"total"' "$1" | sed 's/.*"count":\([0-9]*\),.*/\1/' | awk '{ s += $1 } END { print s + 0 }'; }

# All at once, on the same load.
all=ctrl,ns,dev,op,size,queue,cpu,pid,comm,cgroup
pids=
for by in ctrl ns dev op size queue cpu pid comm cgroup $all; do
	iosonar latency -o json --out "/tmp/by-$by" -d "$dev" --by "$by" 2>"/tmp/by-$by.err" &
	pids="$pids $!"
done
for by in ctrl ns dev op size queue cpu pid comm cgroup $all; do
	wait_for 60 grep -q 'from .*_rq' "/tmp/by-$by.err"
done
before=$(($(stat_of "$dev" reads) + $(stat_of "$dev" writes)))
work
done_by_all=$(($(stat_of "$dev" reads) + $(stat_of "$dev" writes) - before)) # now and then one more than fio's
# shellcheck disable=SC2086 # numbers
kill -INT $pids
for pid in $pids; do wait "$pid"; done
for by in ctrl ns dev op size queue cpu pid comm cgroup $all; do
	is "$(sum "/tmp/by-$by")" "$done_by_all" "--by $by adds up" || note "$(cat "/tmp/by-$by")"
done
between "$done_by_all" 307 310 "to little more than fio's 307"
grep -q '"comm":"fio"' "/tmp/by-$all"
ok $? "the task has its name"
measure /tmp/f -d "$dev" --comm fio --op read
/usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k count=13 iflag=direct 2>/dev/null
work
measured
is "$(sum /tmp/f)" "$(fio_ios /tmp/work.json read)" "--comm and --op keep fio's reads"
mkdir /sys/fs/cgroup/mine
measure /tmp/f -d "$dev" --cgroup mine
(echo 0 >/sys/fs/cgroup/mine/cgroup.procs && exec /usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k count=17 iflag=direct 2>/dev/null)
work
measured
is "$(sum /tmp/f)" 17 "--cgroup keeps its tasks'"
measure /tmp/f -d "$dev" --by cgroup
(echo 0 >/sys/fs/cgroup/mine/cgroup.procs && exec /usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k count=5 iflag=direct 2>/dev/null)
measured
is "$(grep '"type":"latency","span":"total"' /tmp/f | grep '"cgroup":"/mine"' | value count)" 5 "--by cgroup has its path"
iosonar latency -d "$dev" --fail-if 'max > 1ns && op == read' -- dd if="/dev/$dev" of=/dev/null bs=4k count=1 iflag=direct >/dev/null 2>/tmp/err
is $? 5 "--fail-if: exit 5"
grep -q "is true: $dev read" /tmp/err
ok $? "naming the row"

# 64 reads sleep on a device of 4.5 s when we attach: not ours, and told so. null_blk's own time-out is 5 s: a slower one
# fails, and who looks for partitions reads its first page again and again. Four rounds, as attaching may take longer than one.
null_disk nullb0 irqmode=2 completion_nsec=4500000000 >&2
fio --name=t --filename=/dev/nullb0 --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=64 --number_ios=256 \
	--norandommap >/dev/null 2>&1 &
fio_pid=$!
wait_for 10 grep -q 64 /sys/block/nullb0/inflight
measure /tmp/mid -d nullb0
wait $fio_pid
measured
ok $? "commands in flight at the start are no loss"
is "$(ledger /tmp/mid mid_flight)" 64 "all 64 are told as attached mid-flight"
issued=$(ledger /tmp/mid issued)
[ $((issued % 64)) -eq 0 ] && [ "$issued" -lt 256 ]
ok $? "only those of later rounds as ours: $issued"

# And 16 that sleep when we leave are in flight.
measure /tmp/open -d nullb0
fio --name=t --filename=/dev/nullb0 --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=16 --number_ios=16 \
	--norandommap >/dev/null 2>&1 &
fio_pid=$!
wait_for 10 grep -q 16 /sys/block/nullb0/inflight
measured
ok $? "commands in flight at the end are no loss"
is "$(ledger /tmp/open in_flight)" 16 "all 16 are in flight"
wait $fio_pid
null_remove nullb0
done_testing
