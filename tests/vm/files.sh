# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 5.10
# timeout: 150
#
# files: every command is charged to its file: written back, read ahead, direct, metadata, swap, or the device itself;
# bytes are what was asked for, and a capture says the same.

dev=$(disk io0)
mkdir -p /tmp/fs
load ext4 >/dev/null 2>&1
mke2fs "/dev/$dev" >/dev/null 2>&1 && mount -t ext4 "/dev/$dev" /tmp/fs && mkdir -p /tmp/fs/a/b
ok $? "a file system"
sync

# of_file FILE OP PATH KEY: from the final row of latency.
of_file() { grep '"type":"latency","span":"total"' "$1" | grep "\"op\":\"$2\",\"file\":\"$3\"" | value "$4"; }
# is_all FILE OP PATH BYTES NAME: so many in all, as far as the mean's last digit tells.
is_all() {
	all_count=$(of_file "$1" "$2" "$3" count)
	between $((all_count * $(of_file "$1" "$2" "$3" size_bytes))) $(($4 - all_count)) "$4" "$5"
}

work() {
	dd if=/dev/zero of=/tmp/fs/a/b/written bs=64k count=16 conv=fsync
	dd if=/dev/zero of=/tmp/fs/direct bs=64k count=30 oflag=direct
	dd if=/dev/zero of=/tmp/fs/other bs=4k count=7 oflag=direct
	sync
	echo 3 >/proc/sys/vm/drop_caches
	cat /tmp/fs/a/b/written >/dev/null
	dd if=/tmp/fs/direct of=/dev/null bs=64k count=10 iflag=direct
	dd if="/dev/$dev" of=/dev/null bs=4k count=5 iflag=direct
} 2>/dev/null

measure /tmp/l -d "$dev" --by op,file -w /tmp/l.cap
work
measured
ok $? "latency --by file: exits 0"
is_all /tmp/l write /tmp/fs/a/b/written $((16 * 65536)) "written back: all its bytes, with its path"
is_all /tmp/l read /tmp/fs/a/b/written $((16 * 65536)) "read through the cache: all its bytes"
is_all /tmp/l write /tmp/fs/direct $((30 * 65536)) "direct writes"
is "$(of_file /tmp/l write /tmp/fs/other count)" 7 "and of another file apart"
is_all /tmp/l read /tmp/fs/direct $((10 * 65536)) "direct reads"
is "$(of_file /tmp/l read '\[device]' count)" 5 "direct reads of the device are no file's"
[ "$(of_file /tmp/l write '\[metadata of /tmp/fs]' count)" -ge 1 ] && [ "$(of_file /tmp/l read '\[metadata of /tmp/fs]' count)" -ge 1 ]
ok $? "metadata is named as such" || note "$(grep '"span":"total"' /tmp/l)"
whole /tmp/l "nothing is lost"

# A run of slow asks for the file when an I/O ends, and only of the slowest; record asks at its submission. Both say the
# same of each, also of the parts of a direct read that is split.
echo 64 >"/sys/block/$dev/queue/max_sectors_kb"
iosonar record -v -d "$dev" --stages -w /tmp/whole.cap 2>/tmp/record.err &
record_pid=$!
wait_for 60 grep -q '^tables' /tmp/record.err
started slow /tmp/s -d "$dev" --top 10000 --stack none
work
dd if=/tmp/fs/direct of=/dev/null bs=1M count=1 iflag=direct 2>/dev/null
measured
ok $? "slow: exits 0"
kill -INT $record_pid
wait $record_pid
iosonar slow -r /tmp/whole.cap --top 10000 --stack none -o json >/tmp/w 2>/tmp/err
# files_of FILE: operation, sector and file of each I/O, sorted.
files_of() { grep '"type":"slow"' "$1" | sed 's/.*"op":"\([^"]*\)".*"sector":\([0-9]*\).*"file":"*\([^",]*\).*/\1 \2 \3/' | sort; }
files_of /tmp/s >/tmp/s.files
files_of /tmp/w >/tmp/w.files
between "$(grep -c ' /tmp/fs/direct$' /tmp/s.files)" 56 1000 "split reads have their file: 16 parts more"
cmp -s /tmp/s.files /tmp/w.files
ok $? "each of $(wc -l </tmp/s.files) has the file that it had at its submission" || note "$(diff /tmp/s.files /tmp/w.files | head; head -2 /tmp/s)"
echo 512 >"/sys/block/$dev/queue/max_sectors_kb"

# The same from a capture, and in slow.
iosonar record --stages -d "$dev" -w /tmp/r.cap -t 60s -- sh -c "dd if=/tmp/fs/direct of=/dev/null bs=64k count=9 iflag=direct; dd if=/dev/zero of=/tmp/fs/late bs=64k count=3 oflag=direct" 2>/tmp/err
ok $? "record --stages: exits 0" || note "$(cat /tmp/err)"
iosonar latency -r /tmp/r.cap --by op,file -o json >/tmp/r 2>/tmp/err
is_all /tmp/r read /tmp/fs/direct $((9 * 65536)) "a capture has the path that was read"
is_all /tmp/r write /tmp/fs/late $((3 * 65536)) "and that which was written"
is "$(iosonar slow -r /tmp/r.cap --top 100 -o json 2>/dev/null | grep -c '"file":"/tmp/fs/direct"')" \
	"$(of_file /tmp/r read /tmp/fs/direct count)" "slow shows them"

# An inode that is used again is another file; the same name again is the same file. Without a journal ext4 gives a number
# anew at once only if no other is left.
umount /tmp/fs
mke2fs -b 1024 -i 65536 "/dev/$dev" 2048 >/dev/null 2>&1 && mount -t ext4 "/dev/$dev" /tmp/fs
ok $? "a file system of few inodes"
left=0
while touch /tmp/fs/filler$left 2>/dev/null && [ $left -lt 100 ]; do left=$((left + 1)); done
rm /tmp/fs/filler3
sync
comes_and_goes() {
	dd if=/dev/zero of="/tmp/fs/$1" bs=4k count="$2" oflag=direct 2>/dev/null
	stat -c %i "/tmp/fs/$1"
	rm "/tmp/fs/$1"
}
measure /tmp/l -d "$dev" --by op,file
{ comes_and_goes journal 3 && comes_and_goes secret 5 && comes_and_goes journal 2; } >/tmp/inodes
measured
is "$(sort -u /tmp/inodes | grep -c .) $(grep -c . /tmp/inodes)" "1 3" "three files, one after the other, have one inode"
is_all /tmp/l write /tmp/fs/journal $((5 * 4096)) "what comes again under its name is one file" || note "$(grep '"span":"total"' /tmp/l)"
is_all /tmp/l write /tmp/fs/secret $((5 * 4096)) "what has its number in between has its own name"
iosonar record --stages -d "$dev" -w /tmp/r.cap -t 60s -- sh -c "$(cat <<'END'
dd if=/dev/zero of=/tmp/fs/one bs=4k count=3 oflag=direct; rm /tmp/fs/one; dd if=/dev/zero of=/tmp/fs/two bs=4k count=7 oflag=direct
END
)" 2>/tmp/err
iosonar latency -r /tmp/r.cap --by op,file -o json >/tmp/r 2>/tmp/err
is_all /tmp/r write /tmp/fs/one $((3 * 4096)) "in a capture, too"
is_all /tmp/r write /tmp/fs/two $((7 * 4096)) "the second one's own"
umount /tmp/fs
mke2fs "/dev/$dev" >/dev/null 2>&1 && mount -t ext4 "/dev/$dev" /tmp/fs && mkdir -p /tmp/fs/a/b
work
sync

# Who has no addresses of functions still knows the files of the page cache.
echo 3 >/proc/sys/vm/drop_caches
echo 2 >/proc/sys/kernel/kptr_restrict
measure /tmp/l -d "$dev" --by op,file
cat /tmp/fs/a/b/written >/dev/null
dd if=/tmp/fs/direct of=/dev/null bs=64k count=10 iflag=direct 2>/dev/null
measured
is_all /tmp/l read /tmp/fs/a/b/written $((16 * 65536)) "without kallsyms: the page cache's"
is_all /tmp/l read '\[direct]' $((10 * 65536)) "and direct I/O is called that"
is "$(grep -c 'files of direct I/O are shown as \[direct]' /tmp/l.err)" 1 "which is said once"
echo 0 >/proc/sys/kernel/kptr_restrict
umount /tmp/fs

# Swap, pushed out by a small group.
mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null
if mkswap "/dev/$dev" >/dev/null 2>&1 && swapon "/dev/$dev" 2>/dev/null && echo +memory >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null &&
	mkdir -p /sys/fs/cgroup/small && echo 8M >/sys/fs/cgroup/small/memory.max; then
	measure /tmp/l -d "$dev" --by op,file
	sh -c 'echo $$ >/sys/fs/cgroup/small/cgroup.procs; exec /usr/bin/dd if=/dev/zero of=/tmp/big bs=24M count=1' 2>/dev/null
	rm -f /tmp/big
	measured
	[ "$(of_file /tmp/l write '\[swap]' count)" -ge 1 ] && [ "$(of_file /tmp/l read '\[swap]' count)" -ge 1 ]
	ok $? "swap is named as such" || note "$(grep '"span":"total"' /tmp/l)"
	swapoff "/dev/$dev"
else
	skip "swap" "no swap, or no memory controller, in this kernel"
fi
done_testing
