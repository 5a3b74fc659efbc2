# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: null-latency icount
# kernels: 7.2
# timeout: 200
#
# queue_waits: one cause at a time makes I/Os wait before they have a request. layers has at least 95 % of the time that it adds, by the
# clock of the callers, under its name and nothing under other names; steps add up, also in a capture. A command of null_blk takes 20 ms.

slow_ns=20000000
null_disk nullb0 irqmode=2 completion_nsec=$slow_ns memory_backed=1 hw_queue_depth=128 size=64
ok $? "a disk that takes 20 ms for each command"
set_scheduler nullb0 none
echo 0 >/sys/block/nullb0/queue/wbt_lat_usec
causes="H2Q frozen iocost iolatency wbt tag"

# layers NAME DEV OP COMMAND...: JSON in /tmp/NAME, what the command prints in /tmp/NAME.calls, a capture in /tmp/NAME.cap.
layers() {
	name=$1 dev=$2 op=$3
	shift 3
	started layers "/tmp/$name" -d "$dev" --op "$op" -w "/tmp/$name.cap"
	"$@" >"/tmp/$name.calls"
	measured
	is $? 0 "$name: exit status" || note "$(cat "/tmp/$name.err")"
	whole "/tmp/$name" "$name: nothing is lost"
	adds_up "/tmp/$name" "$dev" "$op" "$name: the steps are the whole"
	iosonar layers -r "/tmp/$name.cap" -o json --out "/tmp/$name.again" 2>/dev/null
	is "$(grep '"type":"layers","span":"total"' "/tmp/$name.again" | sed 's/"time_s.*"dev"/"dev"/')" \
		"$(grep '"type":"layers","span":"total"' "/tmp/$name" | sed 's/"time_s.*"dev"/"dev"/')" "$name: the same from its capture"
}

# of NAME STEP: its time in the whole run; 0: there is no such row.
of() {
	n=$(step "/tmp/$1" "$dev" "$op" "$2" sum_ns)
	echo "${n:-0}"
}
callers() { awk '{ sum += $1 } END { printf "%.0f", sum }' "/tmp/$1.calls"; }

none_but() {
	others=
	for cause in $causes; do
		[ "$cause" = "$2" ] || [ "$(of "$1" "$cause")" = 0 ] || others="$others $cause=$(of "$1" "$cause")"
	done
	is "$others" "" "$1: nothing under other names"
}

# owns WITH WITHOUT CAUSE LEAST: of the time that the calls in WITH took longer than those in WITHOUT, at least LEAST ns. It may have
# a sixth more: while a task waits, other commands are under way (wbt on x86_64: 61 of 53 ms).
owns() { owns_of "$@" $(($(callers "$1") - $(callers "$2"))); }
owns_of() {
	added=$5
	mine=$(of "$1" "$3")
	[ "$added" -ge "$4" ] && [ $((mine * 100)) -ge $((added * 95)) ] && [ $((mine * 6)) -le $((added * 7)) ]
	ok $? "$1: at least 95 % of the added time" || grep '"span":"total"' "/tmp/$1" | cut -c1-260 | sed 's/^/# /'
	note "$1: $3 has $mine of $added ns; Q2G without a name $(of "$1" Q2G)"
	none_but "$1" "$3"
}

# A limit of the cgroup. Reads of 64 KiB at 1 MiB a second.
echo +io >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/limited
number=$(cat /sys/block/nullb0/dev)
in_group='echo $$ >/sys/fs/cgroup/limited/cgroup.procs; exec "$@"'
layers free nullb0 read sh -c "$in_group" sh waiter /dev/nullb0 read 16 65536 direct
none_but free none
echo "$number rbps=1048576" >/sys/fs/cgroup/limited/io.max
layers iomax nullb0 read sh -c "$in_group" sh waiter /dev/nullb0 read 16 65536 direct
echo "$number rbps=max" >/sys/fs/cgroup/limited/io.max
owns iomax free H2Q 400000000
is "$(step /tmp/iomax nullb0 read Q2G count)" 16 "iomax: 16 reads"

# io.cost with a model of a disk that reads 25 times a second.
if echo "$number ctrl=user model=linear rbps=104857600 rseqiops=25 rrandiops=25 wbps=104857600 wseqiops=25 wrandiops=25" \
	>/sys/fs/cgroup/io.cost.model && echo "$number enable=1 ctrl=user min=100 max=100" >/sys/fs/cgroup/io.cost.qos; then
	layers iocost nullb0 read sh -c "$in_group" sh waiter /dev/nullb0 read 16 65536 direct
	echo "$number enable=0" >/sys/fs/cgroup/io.cost.qos
	owns iocost free iocost 50000000
else
	skip "iocost" "no io.cost in this kernel"
fi

# A queue is frozen until all that is in flight has ended: here, to change its depth.
# shellcheck disable=SC2016 # of the inner shell
four='for i in 1 2 3 4; do waiter "$0" read 20 4096 direct & sleep 0.004; done; wait'
# shellcheck disable=SC2016
freezes='(for n in 64 128 64 128 64 128; do sleep 0.03; echo $n >/sys/block/nullb0/queue/nr_requests; done) & '
if grep -q ' __bio_queue_enter$' /proc/kallsyms; then
	layers flowing nullb0 read sh -c "$four" /dev/nullb0
	none_but flowing none
	layers frozen nullb0 read sh -c "$freezes$four" /dev/nullb0
	# Of the I/Os' time: what freezes the queue takes the only CPU from the callers.
	owns_of frozen flowing frozen $slow_ns $(($(of frozen Q2C) - $(of flowing Q2C)))
else
	skip "frozen" "this kernel asks each I/O whether its queue is frozen, in one function"
fi

# Writeback throttling: 64 requests at once, or a few.
echo 64 >/sys/block/nullb0/queue/max_sectors_kb
layers unthrottled nullb0 write waiter /dev/nullb0 fsync 1 4194304
none_but unthrottled none
if echo 75000 >/sys/block/nullb0/queue/wbt_lat_usec; then
	layers wbt nullb0 write waiter /dev/nullb0 fsync 1 4194304
	echo 0 >/sys/block/nullb0/queue/wbt_lat_usec
	owns wbt unthrottled wbt $((2 * slow_ns))
else
	skip "wbt" "no writeback throttling in this kernel"
fi
null_remove nullb0

# Eight threads and two tags.
null_disk nullb0 irqmode=2 completion_nsec=$slow_ns hw_queue_depth=2 submit_queues=1
set_scheduler nullb0 none
layers tags nullb0 read waiter /dev/nullb0 read 160 4096 direct
none_but tags none
# shellcheck disable=SC2016 # of the inner shell
jobs='for i in 1 2 3 4 5 6 7 8; do waiter "$0" read 20 4096 direct & done; wait'
layers tag nullb0 read sh -c "$jobs" /dev/nullb0
owns tag tags tag 500000000
is "$(step /tmp/tag nullb0 read Q2G count)" 160 "tag: 160 reads"
null_remove nullb0

# NVMe, whose commands take the short way unless they wait.
if ! { modprobe -r nvme && modprobe nvme io_queue_depth=2 && wait_for 20 disk io0 && wait_for 20 test -b "/dev/$(disk io0)"; }; then
	skip "nvme" "the drive does not start with a queue of 2"
	done_testing
fi
nvme=$(disk io0)
set_scheduler "$nvme" none
layers nvmes "$nvme" read waiter "/dev/$nvme" read 160 4096 direct
none_but nvmes none
layers nvme "$nvme" read sh -c "$jobs" "/dev/$nvme"
owns nvme nvmes tag 500000000
is "$(step /tmp/nvme "$nvme" read Q2C count)" 160 "nvme: 160 reads"
done_testing
