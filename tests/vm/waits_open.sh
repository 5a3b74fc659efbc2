# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: 7.2
# timeout: 60
#
# waits_open: an open of a file is a call that waits for the directories and inodes on its path, and has the file that it opened;
# one that fails has none. What is not a file, a directory or a disk is not counted. Each command of the disk takes 20 ms.

null_disk nullb0 irqmode=2 completion_nsec=20000000 memory_backed=1 hw_queue_depth=128 size=256
ok $? "a disk that takes 20 ms for each command"
mkdir -p /tmp/fs
load ext4 >/dev/null 2>&1
mkfs.ext4 -q -b 4096 -E nodiscard /dev/nullb0 48M >/tmp/mkfs 2>&1 && mount -t ext4 /dev/nullb0 /tmp/fs
ok $? "ext4" || note "$(cat /tmp/mkfs)"
for i in 0 1 2 3 4 5 6; do
	mkdir "/tmp/fs/cold.$i" "/tmp/fs/none.$i"
	echo "$i" >"/tmp/fs/cold.$i/file"
done
echo warm >/tmp/fs/warm

# cold: nothing of the file system is in memory. drop_caches leaves what its journal holds.
cold() {
	umount /tmp/fs
	mount -t ext4 /dev/nullb0 /tmp/fs
}

# sum KEY: over the lines of the input.
sum() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" | awk '{ sum += $1 } END { printf "%.0f", sum }'; }

# opens FILE: waiter's opens of FILE.0/file and so on; /tmp/out has the rows.
opens() {
	cold
	iosonar waits open --comm waiter --by dev,file --slow 20 -o json -- waiter "$1" open 7 1 >/tmp/all 2>/tmp/err
	is $? 0 "$1: exit status" || note "$(cat /tmp/err)"
	grep '^{' /tmp/all >/tmp/out
	whole /tmp/out "$1: the parts of each call add up, and nothing is lost"
}

# takes PATTERN: the calls with it took what their caller measured.
takes() {
	ours=$(grep '"type":"wait",' /tmp/out | grep "$1" | sum whole_ns)
	theirs=$(grep -v '^{' /tmp/all | cut -d' ' -f1)
	[ "$ours" -le "$theirs" ] && [ $((ours * 100)) -gt $((theirs * 97)) ] && [ "$theirs" -gt 140000000 ]
	ok $? "they took as long as the caller says" || note "$ours ns, the caller $theirs"
}

opens /tmp/fs/cold
is "$(grep '"type":"wait",' /tmp/out | grep -c '"dev":"nullb0",.*"file":"/tmp/fs/cold.[0-6]/file"')" 7 "seven opens waited, each has its file" ||
	note "$(cat /tmp/out)"
takes '"file":"/tmp/fs/cold.[0-6]/file"'
[ "$(grep '"type":"waits".*"dev":"nullb0".*"part":"device"' /tmp/out | sum sum_ns)" -gt 140000000 ]
ok $? "for their own reads" || note "$(cat /tmp/out)"

opens /tmp/fs/none
is "$(grep '"type":"wait",' /tmp/out | grep -c '"dev":null,.*"file":null')" 7 "seven opens that failed waited, without a file" ||
	note "$(cat /tmp/out)"
takes '"file":null'

iosonar waits open --file /tmp/fs/warm -o json -- sh -c 'for i in 1 2 3; do : </tmp/fs/warm; : </dev/null; : </tmp/fs/cold.0/file; done' \
	>/tmp/out 2>/tmp/err
is "$? $(grep '"type":"ledger"' /tmp/out | value calls)" "0 3" "--file: its opens, and no others" || note "$(cat /tmp/out /tmp/err)"
mkfifo /tmp/fifo
iosonar waits open --comm cat --min 50ms -o json -- sh -c 'cat /tmp/fifo & sleep 0.2; : >/tmp/fifo; wait; cat /dev/null' >/tmp/out 2>/tmp/err
is "$? $(grep -c '"type":"waits"' /tmp/out)" "0 0" "an open of a pipe is none" || note "$(cat /tmp/out /tmp/err)"
whole /tmp/out "and is not missed in the ledger"

cold
iosonar waits open --comm waiter --by dev,file -w /tmp/opens.cap -o json --out /tmp/live -- waiter /tmp/fs/none open 7 1 >/dev/null 2>/tmp/err
is $? 0 "-w" || note "$(cat /tmp/err)"
iosonar waits -r /tmp/opens.cap --by dev,file -o json --out /tmp/replayed 2>/tmp/err
grep -q '"call":"open".*"dev":null' /tmp/replayed && cmp /tmp/live /tmp/replayed
ok $? "a capture has them, and those without a file" || note "$(diff /tmp/live /tmp/replayed; cat /tmp/err)"
umount /tmp/fs
null_remove nullb0
done_testing
