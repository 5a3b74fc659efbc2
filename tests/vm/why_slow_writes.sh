# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: whole-blocks retried
# kernels: 6.12
# timeout: 120
#
# why_slow_writes: writes that are not aligned to the blocks of a disk, which has to read these first, and reads of an NVMe drive that
# fail once, are found first or second; aligned writes are not.

load virtio_blk >/dev/null 2>&1
dev=vda
wait_for 10 test -e "/sys/block/$dev/mq/0"
set_scheduler "$dev" none

# judged NAME SCRIPT: what is found while this runs, in /tmp/NAME, with a capture.
judged() {
	iosonar why -d "$dev" -o json --out "/tmp/$1" -w "/tmp/$1.cap" -- sh -c "$2" >/tmp/said 2>&1
	ok $? "$1: exits 0" || note "$(cat /tmp/said)"
	whole "/tmp/$1" "$1: nothing is lost"
	note "$(iosonar why -r "/tmp/$1.cap" 2>&1)"
}
# rank NAME CAUSE: of a finding in /tmp/NAME; 0: it is not found.
rank() { grep "\"finding\":\"$2\"" "/tmp/$1" | sed 's/.*"nr":\([0-9]*\).*/\1/' | grep . || echo 0; }

is "$(cat "/sys/block/$dev/queue/logical_block_size" "/sys/block/$dev/queue/minimum_io_size" | tr '\n' ' ')" "512 4096 " \
	"a disk with blocks of 4096 bytes that takes less"
writes="fio --name=a --direct=1 --ioengine=psync --rw=randwrite --bs=4k --norandommap --size=32m --filename=/dev/$dev --output=/dev/null"
judged aligned "$writes --number_ios=150"
is "$(rank aligned misaligned)" 0 "aligned: not found" || note "$(cat /tmp/aligned)"
judged odd "$writes --number_ios=100; $writes --number_ios=100 --offset=1536"
between "$(rank odd misaligned)" 1 2 "odd: misaligned is first or second" || note "$(cat /tmp/odd)"

dev=$(disk io0)
set_scheduler "$dev" none
# shellcheck disable=SC2016 # of the inner shell
DEV=$dev judged retries 'for s in $(seq 100 159); do dd if=/dev/$DEV of=/dev/null bs=512 skip=$((s * 64)) count=1 iflag=direct
	dd if=/dev/$DEV of=/dev/null bs=512 skip=$((s * 64 + 32)) count=1 iflag=direct; done'
between "$(rank retries retries)" 1 2 "retries: first or second" || note "$(cat /tmp/retries)"
done_testing
