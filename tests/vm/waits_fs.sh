# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: 6.12
# timeout: 120
#
# waits --by fs: calls on ext4, on XFS and on the block device itself have rows of their own, live, from a capture, and as requests
# of libaio and io_uring.

null_disk nullb0 irqmode=2 completion_nsec=2000000 memory_backed=1 size=256
null_disk nullb1 irqmode=2 completion_nsec=2000000 memory_backed=1 size=256
ok $? "two disks"
mkdir -p /tmp/fs /tmp/xfs
load ext4 >/dev/null 2>&1
mkfs.ext4 -q -b 4096 -E nodiscard /dev/nullb0 48M >/tmp/mkfs 2>&1 && mount -t ext4 -o commit=300 /dev/nullb0 /tmp/fs
ok $? "ext4" || note "$(cat /tmp/mkfs)"
xfs=0
if command -v mkfs.xfs >/dev/null && load xfs >/dev/null 2>&1 &&
	TEST_DIR=x TEST_DEV=x QA_CHECK_FS=x mkfs.xfs -f -q -K /dev/nullb1 >/tmp/mkfs 2>&1 && mount -t xfs /dev/nullb1 /tmp/xfs; then
	xfs=5
else
	skip "xfs" "no mkfs.xfs: install xfsprogs" && note "$(cat /tmp/mkfs)"
fi
dd if=/dev/zero of=/tmp/fs/read bs=64k count=16 conv=fsync 2>/dev/null

cat >/tmp/calls <<'END'
waiter /tmp/fs/file fsync 7 65536
[ "$1" = 0 ] || waiter /tmp/xfs/file fsync 5 65536
waiter /dev/nullb0 read 3 65536 direct
END
iosonar waits read fsync --by fs --comm waiter -o json -w /tmp/waits.cap --out /tmp/out -- sh /tmp/calls $xfs >/tmp/said 2>/tmp/err
is $? 0 "exit status" || note "$(cat /tmp/err)"
whole /tmp/out "nothing is lost"

# of FS CALL: how many there are.
of() {
	grep '"type":"waits","span":"total"' /tmp/out | grep "\"call\":\"$2\",\"fs\":\"$1\",.*\"part\":\"total\"" | value count
}
is "$(of ext4 fsync)" 7 "ext4: seven" || note "$(grep total /tmp/out)"
[ $xfs = 0 ] || is "$(of xfs fsync)" 5 "xfs: five" || note "$(grep total /tmp/out)"
is "$(of bdev read)" 3 "the block device itself: three" || note "$(grep total /tmp/out)"
is "$(grep '"part":"total"' /tmp/out | grep -c '"fs":null')" 0 "every file system is known"

iosonar waits -r /tmp/waits.cap read fsync --by fs -o json --out /tmp/again 2>/tmp/err
is $? 0 "-r: exit status" || note "$(cat /tmp/err)"
cmp /tmp/out /tmp/again
ok $? "the capture shows what the live run did" || note "$(diff /tmp/out /tmp/again | head -c 2000)"
iosonar waits -r /tmp/waits.cap --by fs --if 'fs == "ext4" && part == "total"' -o csv >/tmp/csv 2>/dev/null
is "$(grep -c ',ext4,' /tmp/csv) $(grep -c 'xfs\|bdev' /tmp/csv)" "1 0" "--if takes the file system" || note "$(cat /tmp/csv)"

if command -v fio >/dev/null; then
	iosonar waits --async --by fs -o json --out /tmp/out -- fio --name=a --ioengine=libaio --iodepth=4 --direct=1 --rw=read \
		--bs=64k --size=1M --filename=/tmp/fs/read >/tmp/said 2>/tmp/err
	is $? 0 "requests: exit status" || note "$(cat /tmp/err)"
	is "$(grep '"span":"total"' /tmp/out | grep '"op":"aio_read","fs":"ext4",' | grep '"step":"total"' | value count)" 16 \
		"requests: 16 of ext4" || note "$(grep total /tmp/out)"
else
	skip "requests" "no fio"
fi
umount /tmp/fs
[ $xfs = 0 ] || umount /tmp/xfs
null_remove nullb0
null_remove nullb1
done_testing
