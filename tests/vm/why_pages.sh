# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: files
# kernels: 6.12
# timeout: 300
#
# why_pages: with a capture of the page cache beside one of commands, data that are read again after they have left the cache are
# found first; reads that use all that they bring, once, are neither evicted nor wasted. Wasted read-ahead is in unit/why alone.

dev=$(disk io0)
export DISK="$dev"
mkdir -p /tmp/whyfs
load ext4 >/dev/null 2>&1
mke2fs -b 4096 "/dev/$dev" 7000 >/dev/null 2>&1 && mount -t ext4 "/dev/$dev" /tmp/whyfs
ok $? "a file system"
f=/tmp/whyfs/file
dd if=/dev/zero of=$f bs=64k count=256 2>/dev/null # 4096 pages
sync

# once KIB HOW ARGUMENT...: a process that reads the file so, with this much read-ahead, and what it brought leaves.
cat >/tmp/once <<'EOF2'
echo "$1" >"/sys/block/$DISK/queue/read_ahead_kb"
how=$2
shift 2
pages reader "$how" /tmp/whyfs/file "$@" >/dev/null
pages - drop /tmp/whyfs/file
EOF2

# judged NAME SCRIPT: what is found, in /tmp/NAME.
judged() {
	pages - drop $f
	iosonar record --cache --events -w "/tmp/$1.cache" -- iosonar record --stages -d "$dev" -w "/tmp/$1.cap" -- sh -c "$2" >/tmp/said 2>&1
	ok $? "$1: exits 0" || note "$(cat /tmp/said)"
	iosonar why -r "/tmp/$1.cap" -r "/tmp/$1.cache" -o json >"/tmp/$1" 2>/tmp/said
	ok $? "$1: judged" || note "$(cat /tmp/said)"
	note "$(iosonar why -r "/tmp/$1.cap" -r "/tmp/$1.cache" 2>&1)"
}
# rank NAME CAUSE: its rank; 0: it is not found.
rank() {
	grep "\"finding\":\"$2\"" "/tmp/$1" | sed 's/.*"nr":\([0-9]*\).*/\1/' | grep . || echo 0
}

judged again 'for _ in 1 2 3 4 5; do sh /tmp/once 64 read 16384 0 1024; done'
between "$(rank again evicted)" 1 2 "again: what is read five times is read again" # the emulated drive may be slow itself
share=$(grep '"finding":"evicted"' /tmp/again | sed 's/.*"share_percent":\([0-9]*\).*/\1/')
between "${share:-0}" 60 81 "again: four of five times"
is "$(rank again readahead)" 0 "again: none of it is wasted"
judged fine 'sh /tmp/once 32 read 16384'
is "$(rank fine evicted)$(rank fine readahead)" 00 "fine: what is read once and used is neither"
iosonar why -r /tmp/again.cap >/tmp/said 2>&1
is "$(grep -c 'evicted' /tmp/said)" 0 "without a capture of the page cache nothing is said of it"
iosonar why -r /tmp/again.cap -r /tmp/again.cache 2>/dev/null | grep '^   iosonar cache' | sed 's/^ *//' >/tmp/line
sh /tmp/line >/tmp/out 2>&1 && grep -q ' /tmp/whyfs/file$' /tmp/out
ok $? "the command line that it names shows the file" || note "$(cat /tmp/line; tail -40 /tmp/out)"
umount /tmp/whyfs
done_testing
