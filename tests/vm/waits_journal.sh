# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: 6.12
# timeout: 150
#
# waits_journal: A writes 4 KiB and calls fsync; B has dirtied 64 MiB in the same ext4. A's parts add up to A's own clock, and the
# journal part names B. Each command of null_blk takes 20 ms. A commit is divided into flushes and other commands.
# On XFS, the journal part is larger by what B cost.

slow_ns=20000000
null_disk nullb0 irqmode=2 completion_nsec=$slow_ns memory_backed=1 hw_queue_depth=128 size=256
ok $? "a disk that takes 20 ms for each command"
set_scheduler nullb0 none
echo 0 >/sys/block/nullb0/queue/wbt_lat_usec

# waits NAME OPTION... -- COMMAND...: JSON in /tmp/NAME.
waits() {
	name=$1
	shift
	iosonar waits -o json "$@" >"/tmp/$name" 2>"/tmp/$name.err"
	is $? 0 "$name: exit status" || note "$(cat "/tmp/$name.err")"
	whole "/tmp/$name" "$name: nothing is lost"
}

mkdir -p /tmp/fs
load ext4 >/dev/null 2>&1
mkfs.ext4 -q -b 4096 -E nodiscard /dev/nullb0 160M >/tmp/mkfs 2>&1 &&
	mount -t ext4 -o commit=300,noinit_itable,nodelalloc,data=ordered /dev/nullb0 /tmp/fs
ok $? "ext4" || note "$(cat /tmp/mkfs)"
sysctl -w vm.dirty_bytes=134217728 vm.dirty_background_bytes=100000000 vm.dirty_writeback_centisecs=0 >/dev/null
ln -s "$(command -v waiter)" /tmp/dirtier
waiter /tmp/fs/a fsync 1 4096 >/dev/null
# shellcheck disable=SC2016 # of the inner shell
dirties='/tmp/dirtier "$0" write "$1" 1048576 >/dev/null; exec waiter /tmp/fs/a fsync 1 4096'
waits without --comm waiter --slow 5 fsync -- waiter /tmp/fs/a fsync 1 4096
waits with --comm waiter --slow 5 fsync -- sh -c "$dirties" /tmp/fs/b 64

# of FILE KEY: of the slowest call; 0: none.
of() { grep '"type":"wait","rank":1,' "/tmp/$1" | value "$2"; }
# part FILE: of the journal, in all calls.
part() { sed -n '/"span":"total".*"part":"journal"/s/.*"sum_ns":\([0-9]*\).*/\1/p' "/tmp/$1"; }
# clock FILE: what A measured.
clock() { grep -v '^{' "/tmp/$1" | cut -d' ' -f1; }
# tasks FILE: of its commit: COMM PID BYTES BLOCKS HANDLES HELD_NS, a line each.
tasks() {
	sed -n '/"type":"wait","rank":1,/s/.*"tasks":\[\([^]]*\)\].*/\1/p' "/tmp/$1" | tr '}' '\n' |
		sed 's/^,*{*//; s/"[a-z_]*"://g; s/"//g; s/,/ /g' | grep .
}

for run in without with; do
	between $(($(clock $run) - $(of $run whole_ns))) 0 50000 "$run: the call takes what A measures"
done
is "$(tasks without | cut -d' ' -f1)" waiter "without B: A's own handles only" || note "$(cat /tmp/without)"
is "$(tasks with | head -1 | cut -d' ' -f1,3)" "dirtier 67108864" "the journal part names B first, with all that it has dirtied" ||
	note "$(tasks with)"
added=$(($(clock with) - $(clock without))) journal=$(($(part with) - $(part without)))
[ $added -gt $slow_ns ] && [ $((journal * 100)) -ge $((added * 95)) ]
ok $? "without B the journal part is smaller by what B cost" || note "$journal of $added ns"
note "A took $(clock with) ns with B, $(clock without) without; $journal of the $added ns are in the journal part"
writes=$(sed -n '/"type":"wait","rank":1,/s/.*"commit_commands":\[\([^]]*\)\].*/\1/p' /tmp/with | tr '}' '\n' | grep -c '"op":"write"')
is "$writes" 8 "the commit has its longest commands" || note "$(cat /tmp/with)"
# The log and the commit block, one after the other; with B, its data before.
is "$(of without commit_flush_ns) $(of with commit_flush_ns)" "0 0" "a disk without a cache: no flush"
between "$(of without commit_device_ns)" $((2 * slow_ns)) $((2 * slow_ns + 500000)) "without B: the device had two commands"
between "$(of with commit_device_ns)" $(($(of with commit_ns) * 8 / 10)) "$(of with commit_ns)" \
	"with B: the device had commands for most of the time" || note "$(cat /tmp/with)"

# A worker writes what B has dirtied, and allocates its blocks: B's metadata. Workers that end writes have handles that change none.
umount /tmp/fs
mount -t ext4 -o commit=300,noinit_itable,data=ordered /dev/nullb0 /tmp/fs
sysctl -w vm.dirty_background_bytes=1048576 >/dev/null
waits worker --comm waiter --slow 5 fsync -- sh -c "$dirties" /tmp/fs/c 4
tasks worker | awk '$1 == "dirtier" { dirtier = $4 } $1 ~ /^kworker/ { worker += $4 } END { exit !(dirtier > 2 && !worker) }'
ok $? "of a worker's handles: the task that dirtied the file" || note "$(tasks worker)"
iosonar waits --comm waiter --slow 1 fsync -- waiter /tmp/fs/a fsync 1 4096 >/tmp/text 2>/dev/null
grep -q "^ *journal commit [0-9]* took .* until open handles ended,$" /tmp/text &&
	grep -q '^ *0ns for flushes, [0-9.]*ms for other commands of the device$' /tmp/text && grep -q '^ *waiter *pid .* handles' /tmp/text
ok $? "text has the commit and its tasks" || note "$(cat /tmp/text)"
umount /tmp/fs
null_remove nullb0

# A disk with a cache: before the commit block it is flushed, and after it, if the disk cannot write past its cache (FUA).
for fua in 1 0; do
	if ! null_disk nullb1 irqmode=2 completion_nsec=$slow_ns memory_backed=1 hw_queue_depth=128 cache_size=64 fua=$fua; then
		skip "flushes, FUA $fua" "null_blk of this kernel always has FUA"
		rmdir /sys/kernel/config/nullb/nullb1
		continue
	fi
	set_scheduler nullb1 none
	echo 0 >/sys/block/nullb1/queue/wbt_lat_usec
	mkfs.ext4 -q -b 4096 -E nodiscard /dev/nullb1 48M >/tmp/mkfs 2>&1 && mount -t ext4 -o commit=300,noinit_itable /dev/nullb1 /tmp/fs
	ok $? "ext4, FUA $fua" || note "$(cat /tmp/mkfs)"
	waiter /tmp/fs/a fsync 1 4096 >/dev/null
	waits fua$fua --comm waiter --slow 5 fsync -- waiter /tmp/fs/a fsync 1 4096
	between "$(of fua$fua commit_flush_ns)" $(((2 - fua) * slow_ns)) $(((2 - fua) * slow_ns + 500000)) "FUA $fua: flushes: $((2 - fua))" ||
		note "$(cat /tmp/fua$fua)"
	between "$(of fua$fua commit_device_ns)" $((2 * slow_ns)) $((2 * slow_ns + 500000)) "FUA $fua: the log and the commit block"
	between $(($(of fua$fua commit_ns) - $(of fua$fua commit_flush_ns) - $(of fua$fua commit_device_ns))) 0 $((slow_ns / 4)) \
		"FUA $fua: nothing else took long" || note "$(cat /tmp/fua$fua)"
	umount /tmp/fs
	null_remove nullb1
done
# The same on XFS, whose log does not tell who is behind it: B makes directories, which fsync has to write to the log, too.
null_disk nullb2 irqmode=2 completion_nsec=$slow_ns memory_backed=1 hw_queue_depth=128 size=256
set_scheduler nullb2 none
echo 0 >/sys/block/nullb2/queue/wbt_lat_usec
if command -v mkfs.xfs >/dev/null && load xfs >/dev/null 2>&1 &&
	TEST_DIR=x TEST_DEV=x QA_CHECK_FS=x mkfs.xfs -f -q -K /dev/nullb2 >/tmp/mkfs 2>&1 && mount -t xfs /dev/nullb2 /tmp/fs; then
	waiter /tmp/fs/a fsync 1 4096 >/dev/null
	waits xfs_without --comm waiter --slow 5 fsync -- waiter /tmp/fs/a fsync 1 4096
	# shellcheck disable=SC2016 # of the inner shell
	waits xfs_with --comm waiter --slow 5 fsync -- sh -c '(cd /tmp/fs && seq 2000 | xargs mkdir); exec waiter /tmp/fs/a fsync 1 4096'
	for run in xfs_without xfs_with; do
		between $(($(clock $run) - $(of $run whole_ns))) 0 50000 "$run: the call takes what A measures"
	done
	added=$(($(clock xfs_with) - $(clock xfs_without))) journal=$(($(part xfs_with) - $(part xfs_without)))
	[ $added -gt $slow_ns ] && [ $((journal * 100)) -ge $((added * 95)) ]
	ok $? "xfs: without B the journal part is smaller by what B cost" || note "$journal of $added ns; $(cat /tmp/xfs_with)"
	note "xfs: A took $(clock xfs_with) ns with B, $(clock xfs_without) without; $journal of the $added ns are in the journal part"
	umount /tmp/fs
else
	skip "xfs" "no mkfs.xfs: install xfsprogs" && note "$(cat /tmp/mkfs)"
fi
null_remove nullb2
# As it was, for the next test of this guest.
sysctl -w vm.dirty_ratio=20 vm.dirty_background_ratio=10 vm.dirty_writeback_centisecs=500 >/dev/null
done_testing
