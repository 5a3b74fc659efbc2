# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154 # lib.sh sets measure_pid
# shape: nvme
# kernels: 6.1
#
# owners: three jobs at once, a writer through the page cache that syncs and two readers by other system calls. Every I/O
# is charged to the task and the stack that submitted it, as often as fio says. What stacks, slow and layers show they
# show again from the captures they kept, and of the capture that record made beside them the same is told.

dev=$(disk io0)
set_scheduler "$dev" none
echo 2 >"/sys/block/$dev/queue/nomerges" # a command for each I/O

# job NAME OPTION...: a fio whose task has this name, on a part of the disk of its own. invalidate would write the pages
# of others.
job() {
	job_name=$1
	shift
	ln -sf /usr/bin/fio "/tmp/$job_name"
	"/tmp/$job_name" --name=t --filename="/dev/$dev" --bs=4k --size=32M --invalidate=0 --output-format=json \
		--output="/tmp/$job_name.json" "$@" >&2 &
	job_pids="$job_pids $!"
}
# jobs_at_once: false if one fails.
jobs_at_once() {
	job_pids=
	job through-cache --rw=write --ioengine=psync --fsync=1 --end_fsync=1 --number_ios=53 --offset=0
	job by-io_uring --rw=randread --direct=1 --ioengine=io_uring --iodepth=8 --number_ios=307 --offset=64M
	job by-libaio --rw=randread --direct=1 --ioengine=libaio --iodepth=4 --number_ios=211 --offset=128M
	for pid in $job_pids; do
		wait "$pid" || return
	done
}

# watch VIEW OPTION...: into /tmp/VIEW and, as a capture, /tmp/VIEW.cap.
watchers=
watch() {
	watch_view=$1
	shift
	started "$watch_view" "/tmp/$watch_view" -d "$dev" -w "/tmp/$watch_view.cap" "$@"
	watchers="$watchers $watch_view:$measure_pid"
}
watch stacks --top 1000 --stack both
watch slow --top 100
watch layers
iosonar record -v --stages --stacks -d "$dev" -w /tmp/record.cap 2>/tmp/record.err &
watchers="$watchers record:$!"
wait_for 60 grep -q '^tables' /tmp/record.err
syncs=$(stat_of "$dev" flushes)
jobs_at_once
ok $? "three jobs"
syncs=$(($(stat_of "$dev" flushes) - syncs))
for watcher in $watchers; do
	kill -INT "${watcher#*:}"
	wait "${watcher#*:}"
	ok $? "${watcher%:*}: exits 0" || note "$(cat "/tmp/${watcher%:*}.err")"
done
for view in stacks slow layers; do
	whole /tmp/$view "$view: nothing is lost"
done
grep -q 'nothing lost' /tmp/record.err
ok $? "record: nothing is lost"

reads_uring=$(fio_ios /tmp/by-io_uring.json read) reads_libaio=$(fio_ios /tmp/by-libaio.json read)
writes=$(fio_ios /tmp/through-cache.json write)
is "$reads_uring $reads_libaio $writes" "307 211 53" "fio did them all"
is "$syncs" 53 "and the kernel a flush for each write"

# charged FILE [PATTERN]: how many I/Os have a stack that matches.
charged() {
	grep '"type":"stacks"' "$1" | grep -E "${2:-}" | sed 's/.*"count":\([0-9]*\).*/\1/' |
		awk '{ sum += $1 } END { print sum + 0 }'
}
# right NAME FILE: each I/O by the task and the system call that caused it, and none elsewhere.
right() {
	is "$(charged "$2" '"comm":"by-io_uring".*"kernel_stack":\[.*submit_bio.*sys_io_uring_enter')" "$reads_uring" \
		"$1: reads of by-io_uring through io_uring_enter"
	is "$(charged "$2" '"comm":"by-libaio".*"kernel_stack":\[.*submit_bio.*sys_io_submit')" "$reads_libaio" \
		"$1: reads of by-libaio through io_submit"
	is "$(charged "$2" '"comm":"through-cache".*"kernel_stack":\[.*submit_bio.*sys_fsync')" "$writes" \
		"$1: writes of through-cache through fsync"
	is "$(charged "$2" '"kernel_stack":null')" "$syncs" "$1: flushes have none"
	is "$(charged "$2")" $((reads_uring + reads_libaio + writes + syncs)) "$1: and that is all" || note "$(cut -c1-1000 "$2")"
}
right "stacks" /tmp/stacks

# again VIEW CAPTURE OPTION...: into /tmp/again.
again() {
	again_view=$1
	again_capture=$2
	shift 2
	iosonar "$again_view" -r "$again_capture" -o json "$@" >/tmp/again 2>/tmp/err
	ok $? "$again_view -r $again_capture: exits 0" || note "$(cat /tmp/err)"
}
# same FILE NAME: as /tmp/again.
same() {
	cmp -s "$1" /tmp/again
	ok $? "$2" || note "$(diff "$1" /tmp/again | head -5)"
}
again stacks /tmp/stacks.cap --top 1000 --stack both
same /tmp/stacks "stacks: the same from its capture, functions of the processes too"
again slow /tmp/slow.cap --top 100
same /tmp/slow "slow: the same from its capture"
again layers /tmp/layers.cap
# Intervals are the clock's in the one and the records' in the other: what is of the whole run.
totals() { grep -v '"span":"interval"' "$1" | sed 's/"time_s":[^,]*,//'; }
totals /tmp/layers >/tmp/layers.total
totals /tmp/again >/tmp/again.total && mv /tmp/again.total /tmp/again
same /tmp/layers.total "layers: the same from its capture"

again stacks /tmp/record.cap --top 1000
right "stacks of record's" /tmp/again
again slow /tmp/record.cap --top 10000
cp /tmp/again /tmp/slow.all
# slow_of OP TASK: how many of its rows have all there is to say.
slow_of() {
	grep "\"op\":\"$1\"" /tmp/slow.all | grep "\"comm\":\"$2\"" | grep '"file":"\[device]"' | grep '"steps":{"Q2G":' |
		grep -c '"kernel_stack":\[[^]]*submit_bio'
}
is "$(slow_of read by-io_uring) $(slow_of read by-libaio) $(slow_of write through-cache)" "$reads_uring $reads_libaio $writes" \
	"slow of record's: each with its task, from its submission on, and its stack"
again layers /tmp/record.cap
# Which steps, how many and how large; how long they took each program has seen for itself.
what_of() {
	totals "$1" | sed -n 's/.*"op":"\([^"]*\)","step":"\([^"]*\)".*"count":\([0-9]*\),"bytes":\([^,]*\),.*/\1 \2 \3 \4/p'
}
what_of /tmp/layers >/tmp/what
is "$(what_of /tmp/again)" "$(cat /tmp/what)" "layers of record's: the same I/Os and steps"
is "$(grep -c . /tmp/what)" 19 "of reads and writes seven each, of flushes five"
echo 0 >"/sys/block/$dev/queue/nomerges"
done_testing
