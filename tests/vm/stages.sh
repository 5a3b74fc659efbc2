# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: none icount
# kernels: 6.12
#
# stages: a device that takes exactly 1 ms has exactly that in its step, whatever lies before it: no scheduler, one, a
# device mapper that waits. Written-back pages are charged to the cgroup that dirtied them.

# Under icount time is instructions: what is not the device is some microseconds.
null_disk nullb0 irqmode=2 completion_nsec=1000000 >&2 || ok 1 "null_blk makes a disk"
for scheduler in none mq-deadline; do
	set_scheduler nullb0 $scheduler
	started layers /tmp/l -d nullb0
	dd if=/dev/nullb0 of=/dev/null bs=4k count=101 iflag=direct 2>/dev/null
	measured
	ok $? "$scheduler: exits 0"
	[ $scheduler = none ] && path="Q2G G2D D2C Q2C " || path="Q2G G2I I2D D2C Q2C "
	is "$(steps /tmp/l nullb0 read)" "$path" "$scheduler: the steps of the path"
	between "$(step /tmp/l nullb0 read D2C p50_ns)" 984000 1016000 "$scheduler: the device takes 1 ms"
	between "$(($(step /tmp/l nullb0 read D2C sum_ns) / 101))" 1000000 1010000 "$scheduler: in the mean within 10 us"
	for s in $path; do
		case $s in D2C | Q2C) continue ;; esac
		between "$(step /tmp/l nullb0 read "$s" p50_ns)" 100 60000 "$scheduler: $s takes microseconds"
	done
	adds_up /tmp/l nullb0 read "$scheduler: the steps are the whole"
	[ "$(step /tmp/l nullb0 read D2C share_percent | cut -d. -f1)" -ge 90 ]
	ok $? "$scheduler: and the device's share is nearly all"
	whole /tmp/l "$scheduler: nothing is lost"
done

# A volume that holds reads back for 20 ms and writes for 40: its own time, and that of the disk below.
load dm_mod >/dev/null 2>&1
load dm_delay >/dev/null 2>&1
set_scheduler nullb0 none
sectors=$(cat /sys/block/nullb0/size)
dmsetup create delay --table "0 $sectors delay /dev/nullb0 0 20 /dev/nullb0 0 40" >&2
ok $? "dm-delay is there"
dm=$(cd /sys/block && echo dm-*)
started layers /tmp/l --at bio -d "$dm" -d nullb0
dd if="/dev/$dm" of=/dev/null bs=4k count=11 iflag=direct 2>/dev/null
dd if=/dev/zero of="/dev/$dm" bs=4k count=7 oflag=direct 2>/dev/null
measured
ok $? "dm-delay: exits 0"
is "$(step /tmp/l "$dm" read Q2C count) $(step /tmp/l "$dm" write Q2C count)" "11 7" "dm-delay: every bio of the volume"
is "$(step /tmp/l nullb0 read Q2C count) $(step /tmp/l nullb0 write Q2C count)" "11 7" "dm-delay: and of the disk below"
between "$(step /tmp/l "$dm" read Q2C p50_ns)" 19000000 33000000 "dm-delay: reads take 20 ms, the disk's 1 ms and a tick"
between "$(step /tmp/l "$dm" write Q2C p50_ns)" 39000000 53000000 "dm-delay: writes 40 ms"
between "$(step /tmp/l nullb0 read Q2C p50_ns)" 1000000 1200000 "dm-delay: of which the disk has its 1 ms"
dmsetup remove delay
null_remove nullb0

# Who dirtied it pays for it, not the kernel thread that writes it back.
null_disk nullb0 memory_backed=1 >&2
group=/sys/fs/cgroup/dirty
mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null
if echo "+io +memory" >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null && mkdir -p $group && mkdir -p /tmp/fs &&
	mke2fs /dev/nullb0 >/dev/null 2>&1 && load ext4 >/dev/null 2>&1 && mount -t ext4 /dev/nullb0 /tmp/fs 2>/dev/null; then
	measure /tmp/c -d nullb0 --by dev,op,comm,cgroup
	sh -c "echo \$\$ >$group/cgroup.procs; exec /usr/bin/dd if=/dev/zero of=/tmp/fs/file bs=64k count=32" 2>/dev/null
	sync
	measured
	ok $? "writeback: exits 0"
	bytes=$(grep '"span":"total"' /tmp/c | grep '"op":"write"' | grep '"cgroup":"/dirty"' |
		sed 's/.*"count":\([0-9]*\).*"size_bytes":\([0-9]*\).*/\1 \2/' | awk '{ sum += $1 * $2 } END { printf "%.0f", sum }')
	[ "${bytes:-0}" -ge $((32 * 65536 * 9 / 10)) ]
	ok $? "writeback: charged to the cgroup that dirtied: $bytes bytes" || note "$(grep '"span":"total"' /tmp/c)"
	umount /tmp/fs
else
	skip "writeback" "no cgroup of version 2 with an io controller, or no ext4, in this kernel"
fi
done_testing
