# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 6.12
# timeout: 90
# brings: tests/vm/waits_lib.sh
#
# waits_btrfs: reads, synchronous writes and fsync on btrfs are followed and take what their caller measures; its log is the journal
# part; --file and --by fs know its files, whose device is that of a subvolume. Each command of the disk takes 20 ms. Not under
# icount: the kernel measures its RAID 6 functions when the module is loaded, for 64 ms each.

# shellcheck source-path=SCRIPTDIR source=waits_lib.sh
. /tests/waits_lib.sh
null_disk nullb0 irqmode=2 completion_nsec=20000000 memory_backed=1 hw_queue_depth=128 size=256
ok $? "a disk that takes 20 ms for each command"
set_scheduler nullb0 none
echo 0 >/sys/block/nullb0/queue/wbt_lat_usec
mkdir -p /tmp/fs /tmp/bin
if ! command -v mkfs.btrfs >/dev/null || ! load btrfs >/dev/null 2>&1; then
	skip "btrfs" "no mkfs.btrfs or no module: install btrfs-progs"
	null_remove nullb0
	done_testing
fi
mkfs.btrfs -q -f -K -m single /dev/nullb0 >/tmp/mkfs 2>&1 && mount -t btrfs -o commit=300 /dev/nullb0 /tmp/fs
ok $? "btrfs" || note "$(cat /tmp/mkfs)"
dd if=/dev/zero of=/tmp/fs/file bs=1M count=2 conv=fsync 2>/dev/null
sync

calls_to /tmp/calls
cat >>/tmp/calls <<'END'
does pread /tmp/fs/file read 7 65536 direct
does dsync /tmp/fs/file write 7 65536 dsync
does fsync /tmp/fs/file fsync 7 65536
does fdatasync /tmp/fs/file fdatasync 7 65536
END
iosonar waits --by comm,fs --slow 40 -o json -- sh /tmp/calls >/tmp/out 2>/tmp/err
is $? 0 "exit status" || note "$(cat /tmp/err)"
whole /tmp/out "nothing is lost"

rows_of '"btrfs"' 0.9
# seven COMM CALL PART: that part is at least one command of each call.
seven() {
	[ "$(of "$1" "$2" "$3" sum_ns)" -ge $((7 * 20000000)) ]
	ok $? "$1: $3" || note "$(grep "\"$1\"" /tmp/out)"
}

follows pread read
seven pread read device
for name in dsync fsync fdatasync; do
	call=$name
	[ $name != dsync ] || call=syncwrite
	follows $name $call
	seven $name $call device
	seven $name $call journal
	# In rest is the wait for space, now and then.
	[ $(($(of $name $call rest sum_ns) * 10)) -le "$(of $name $call total sum_ns)" ]
	ok $? "$name: at most a tenth without a name" || grep -o '"sleeps".*' /tmp/out | head -3 | sed 's/^/# /'
done

iosonar waits read --file /tmp/fs/file -o json --out /tmp/out -- waiter /tmp/fs/file read 5 4096 direct >/dev/null 2>/tmp/err
is "$? $(ledger /tmp/out calls) $(ledger /tmp/out shown)" "0 5 5" "--file: the reads of that file" || note "$(cat /tmp/err)"
umount /tmp/fs
null_remove nullb0
done_testing
