# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: icount
# kernels: 6.12
# timeout: 400
#
# why: causes of slow I/O that are planted in the block layer are found first, live and in a capture; a healthy load has none.

for name in reader writer storm db; do
	ln -sf "$(command -v fio)" "/tmp/$name"
done
dev=nullb0

# found FILE NR: the finding of this rank.
found() { grep '"type":"why"' "$1" | sed -n "$2p" | sed 's/.*"finding":"\([a-z-]*\)".*/\1/'; }

# disk_of WORD...: of null_blk, with 32 MiB, one queue, and 1 ms for each command unless they say otherwise.
disk_of() {
	null_disk "$dev" size=32 irqmode=2 submit_queues=1 completion_nsec=1000000 memory_backed=1 "$@" >&2
	ok $? "a disk: $*"
	set_scheduler "$dev" "${scheduler:-none}"
	job="--direct=1 --ioengine=psync --norandommap --time_based --runtime=1 --output=/dev/null --filename=/dev/$dev --name=a"
	reads="$job --rw=randread --bs=4k"
}

# judged NAME SCRIPT: what is found while this runs, in /tmp/NAME; a capture says the same, but for the way to show more.
judged() {
	iosonar why -d "$dev" -o json --out "/tmp/$1" -w "/tmp/$1.cap" -- sh -c "$2" >/tmp/said 2>&1
	ok $? "$1: exits 0" || note "$(cat /tmp/said)"
	whole "/tmp/$1" "$1: nothing is lost"
	iosonar why -r "/tmp/$1.cap" -o json >/tmp/again 2>/tmp/said
	ok $? "$1: replayed: exits 0" || note "$(cat /tmp/said)"
	sed 's/"more":"[^"]*"//' /tmp/again >/tmp/again.plain
	sed 's/"more":"[^"]*"//' "/tmp/$1" >/tmp/plain
	cmp /tmp/again.plain /tmp/plain
	ok $? "$1: a capture says the same" || note "$(cat /tmp/again)"
	note "$(iosonar why -r "/tmp/$1.cap" 2>&1)"
}

# first NAME CAUSE: it is the most costly one.
first() { is "$(found "/tmp/$1" 1)" "$2" "$1: $2 is first"; }

# among NAME CAUSE: it is the first or the second one. Who waits, waits for a request as well.
among() {
	is "$(for i in 1 2; do found "/tmp/$1" $i; done | grep -x -- "$2")" "$2" "$1: $2 is first or second"
}

disk_of hw_queue_depth=64 discard=1
judged healthy "/tmp/reader $reads --numjobs=4"
first healthy none
echo +io >/sys/fs/cgroup/cgroup.subtree_control
mkdir -p /sys/fs/cgroup/limited
echo "$(cat "/sys/block/$dev/dev") riops=100" >/sys/fs/cgroup/limited/io.max
judged throttled "echo \$\$ >/sys/fs/cgroup/limited/cgroup.procs; exec /tmp/reader $reads --numjobs=4 --runtime=3"
first throttled throttled
iosonar why -r /tmp/throttled.cap --cgroup /limited -o json >/tmp/throttled 2>&1
first throttled throttled
judged small "/tmp/reader $job --rw=read --bs=4k"
first small small
null_remove "$dev"

disk_of hw_queue_depth=2 discard=1
judged tags "/tmp/reader $reads --numjobs=9"
first tags tags
judged culprit "/tmp/reader $reads & /tmp/writer $job --rw=randwrite --bs=64k --numjobs=9; wait"
among culprit culprit
iosonar why -r /tmp/culprit.cap --comm reader -o json >/tmp/culprit 2>&1
among culprit culprit
iosonar why -r /tmp/culprit.cap --comm writer -o json >/tmp/culprit 2>&1
is "$(grep -c '"finding":"culprit"' /tmp/culprit)" 0 "culprit: the writer does not wait for another" || note "$(cat /tmp/culprit)"
sh -c "exec /tmp/reader $reads --thread --runtime=20" &
pid=$!
sh -c "exec /tmp/writer $job --rw=randwrite --bs=64k --numjobs=9 --runtime=20" &
iosonar why -d "$dev" -p $pid -t 3s -o json >/tmp/culprit 2>/tmp/said
ok $? "-p: exits 0" || note "$(cat /tmp/said)"
kill $pid $!
wait
among culprit culprit
is "$(grep -o '"whose":"[^"]*"' /tmp/culprit | sort -u | tr '\n' ' ')" "\"whose\":\"process $pid\" \"whose\":\"reads of reader\" " \
	"-p: only its own time is judged" || note "$(cat /tmp/culprit)"
judged own "/tmp/db $reads & /tmp/db $job --rw=randwrite --bs=64k --numjobs=9; wait"
among own own-writes
null_remove "$dev"

disk_of hw_queue_depth=1 discard=1
judged discards "/tmp/reader $reads & /tmp/storm $job --rw=randtrim --bs=1m --numjobs=3; wait"
among discards discards
null_remove "$dev"

scheduler=mq-deadline disk_of hw_queue_depth=2
echo 64 >"/sys/block/$dev/queue/nr_requests"
judged scheduler "/tmp/reader $reads --numjobs=12"
first scheduler scheduler
null_remove "$dev"

disk_of hw_queue_depth=64 cache_size=8
judged flushes "/tmp/db $job --rw=randwrite --bs=4k --fsync=1"
first flushes flushes
null_remove "$dev"

disk_of hw_queue_depth=64 badblocks=+1-20000
judged errors "/tmp/reader $reads --continue_on_error=all; true"
first errors errors
null_remove "$dev"

disk_of hw_queue_depth=64 completion_nsec=40000000
judged slow "/tmp/reader $reads --runtime=6"
first slow slow-alone
iosonar why -d "$dev" --watch 5s -- sh -c "/tmp/reader $reads --runtime=7" >/tmp/out 2>/tmp/said
is $? 6 "slow: --watch exits with 6" || note "$(cat /tmp/out /tmp/said)"
null_remove "$dev"
done_testing
