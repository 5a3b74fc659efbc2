# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: 7.2
# timeout: 90
# brings: tests/vm/waits_lib.sh
#
# waits_calls: every call that waits for a file is followed, under its name, and takes what its caller measures: vectors of
# buffers, synchronous writes, parts of a file, page faults; and the log of XFS. Each command of the disk takes 20 ms.

# shellcheck source-path=SCRIPTDIR source=waits_lib.sh
. /tests/waits_lib.sh
null_disk nullb0 irqmode=2 completion_nsec=20000000 memory_backed=1 hw_queue_depth=128 size=256
ok $? "a disk that takes 20 ms for each command"
echo 0 >/sys/block/nullb0/queue/wbt_lat_usec
mkdir -p /tmp/fs /tmp/bin
load ext4 >/dev/null 2>&1
mkfs.ext4 -q -b 4096 -E nodiscard /dev/nullb0 48M >/tmp/mkfs 2>&1 && mount -t ext4 -o commit=300 /dev/nullb0 /tmp/fs
ok $? "ext4" || note "$(cat /tmp/mkfs)"
dd if=/dev/zero of=/tmp/fs/file bs=1M count=8 conv=fsync 2>/dev/null
cp /tmp/fs/file /tmp/fs/stored
sync

calls_to /tmp/calls
cat >>/tmp/calls <<'END'
does pread /tmp/fs/file read 7 65536 direct
does readv /tmp/fs/file readv 7 65536 direct
does preadv2 /tmp/fs/file preadv2 7 65536 direct
does dsync /tmp/fs/file write 7 65536 dsync
does writev /tmp/fs/file writev 7 65536 direct
does writevs /tmp/fs/file writev 7 65536 sync
does pwritev2 /tmp/fs/file pwritev2 7 65536
does fsync /tmp/fs/file fsync 7 65536
does fdatasync /tmp/fs/file fdatasync 7 65536
does range /tmp/fs/file range 7 65536
echo 3 >/proc/sys/vm/drop_caches
cat /tmp/fs/stored >/dev/null
does load /tmp/fs/file load 7 65536
sysctl -w vm.dirty_bytes=1048576 >/dev/null
does store /tmp/fs/stored store 1500 4096
sysctl -w vm.dirty_ratio=20 >/dev/null
END
iosonar waits read write fsync fault --by comm -o json -- sh /tmp/calls >/tmp/out 2>/tmp/err
is $? 0 "exit status" || note "$(cat /tmp/err)"
whole /tmp/out "nothing is lost"

rows_of null 0.97
follows pread read
follows readv read
follows preadv2 read
follows dsync syncwrite
follows writev write
follows writevs syncwrite
follows pwritev2 syncwrite
follows fsync fsync
follows fdatasync fdatasync
follows range syncrange
follows load fault
[ "$(of load fault device sum_ns)" -ge 140000000 ]
ok $? "a fault waits for its own read"
[ "$(of store fault dirty sum_ns)" -ge 100000000 ]
ok $? "one that makes a page dirty waits for others to be written" || note "$(grep '"store"' /tmp/out)"
umount /tmp/fs

# The log of XFS, which fsync forces to the disk after the data: 20 ms each.
mkdir -p /tmp/xfs
if command -v mkfs.xfs >/dev/null && load xfs >/dev/null 2>&1 &&
	TEST_DIR=x TEST_DEV=x QA_CHECK_FS=x mkfs.xfs -f -q -K /dev/nullb0 >/tmp/mkfs 2>&1 && mount -t xfs /dev/nullb0 /tmp/xfs; then
	iosonar waits fsync --by comm --slow 9 -o json -- waiter /tmp/xfs/file fsync 7 65536 >/tmp/out 2>/tmp/err
	is $? 0 "xfs: exit status" || note "$(cat /tmp/err)"
	grep -v '^{' /tmp/out >/tmp/waiter
	follows waiter fsync
	[ "$(of waiter fsync journal sum_ns)" -ge 140000000 ] && [ "$(of waiter fsync device sum_ns)" -ge 140000000 ]
	ok $? "xfs: its data, then its log" || note "$(grep '"waiter"' /tmp/out)"
	whole /tmp/out "xfs: the parts of each call add up, and nothing is lost"
	is "$(of waiter fsync rest sum_ns) $(of waiter fsync lock sum_ns)" "0 0" "xfs: and nothing else" || note "$(grep '"waiter"' /tmp/out)"
	umount /tmp/xfs
else
	skip "xfs" "no mkfs.xfs: install xfsprogs" && note "$(cat /tmp/mkfs)"
fi
null_remove nullb0
done_testing
