# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: icount
# kernels: 6.12
# timeout: 60
#
# why_waits: a queue that is frozen again and again, and dirty pages that a writer waits for, are found first or second. Flushes are
# those of the journal that asks for them, with its mount point.

dev=nullb0

# judged NAME SCRIPT: what is found while this runs, in /tmp/NAME.
judged() {
	iosonar why -d "$dev" -o json --out "/tmp/$1" -w "/tmp/$1.cap" -- sh -c "$2" >/tmp/said 2>&1
	ok $? "$1: exits 0" || note "$(cat /tmp/said)"
	whole "/tmp/$1" "$1: nothing is lost"
	note "$(iosonar why -r "/tmp/$1.cap" 2>&1)"
}
# rank NAME CAUSE: of a finding in /tmp/NAME; 0: it is not found.
rank() { grep "\"finding\":\"$2\"" "/tmp/$1" | sed 's/.*"nr":\([0-9]*\).*/\1/' | grep . || echo 0; }

# To be frozen it has to serve first those that wait for one of 8 requests.
null_disk "$dev" size=64 irqmode=2 completion_nsec=5000000 memory_backed=1 hw_queue_depth=8 submit_queues=1
ok $? "a disk with 8 requests"
set_scheduler "$dev" none
if grep -q ' __bio_queue_enter$' /proc/kallsyms; then
	# shellcheck disable=SC2016 # of the inner shell
	judged frozen 'i=0; while [ $i -lt 24 ]; do waiter /dev/nullb0 read 40 4096 direct & i=$((i + 1)); done
		i=0; while [ $i -lt 20 ]; do for n in 4 8; do sleep 0.01; echo $n >/sys/block/nullb0/queue/nr_requests; done; i=$((i + 1)); done
		wait'
	between "$(rank frozen frozen)" 1 2 "a frozen queue"
else
	skip "frozen" "this kernel asks each I/O whether its queue is frozen, in one function"
fi

# 16 MiB are written, of which 1 MiB may be dirty.
echo 512 >"/sys/block/$dev/queue/max_sectors_kb"
sysctl -w vm.dirty_bytes=1048576 >/dev/null
iosonar waits -o json -w /tmp/dirty.waits -- iosonar record --stages -d "$dev" -w /tmp/dirty.cap -- waiter "/dev/$dev" write 256 65536 \
	>/tmp/said 2>&1
ok $? "dirty: recorded, with waits" || note "$(cat /tmp/said)"
sysctl -w vm.dirty_ratio=20 >/dev/null
iosonar why -r /tmp/dirty.cap -r /tmp/dirty.waits -o json >/tmp/dirty 2>/tmp/said
ok $? "dirty: judged" || note "$(cat /tmp/said)"
note "$(iosonar why -r /tmp/dirty.cap -r /tmp/dirty.waits 2>&1)"
between "$(rank dirty dirty)" 1 2 "dirty: a writer that waits for dirty pages" || note "$(cat /tmp/dirty)"
null_remove "$dev"

# An NVMe drive with a write cache. Whether its flushes dominate is its matter; whose they are is not.
dev=$(disk io0)
mkdir -p /tmp/journal.at
load ext4 >/dev/null 2>&1
mkfs.ext4 -q -b 4096 -E nodiscard "/dev/$dev" 26M >/tmp/mkfs 2>&1 && mount -t ext4 "/dev/$dev" /tmp/journal.at
ok $? "a file system with a journal" || note "$(cat /tmp/mkfs)"
judged journal "for i in \$(seq 60); do dd if=/dev/zero of=/tmp/journal.at/\$i bs=4k count=1 conv=fsync 2>/dev/null; done"
if [ "$(rank journal flushes)" = 0 ]; then
	skip "flushes" "those of this drive do not take the time"
else
	grep '"finding":"flushes"' /tmp/journal | grep "flushes of jbd2/$dev-8 (journal of $dev)" | grep -q "$dev is mounted at /tmp/journal.at"
	ok $? "flushes: of the journal, and where it is mounted" || note "$(cat /tmp/journal)"
fi
umount /tmp/journal.at
done_testing
