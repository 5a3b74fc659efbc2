# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: files
# kernels: 7.2
# timeout: 180
#
# cache_views: the page cache by process, file and device; filters count what they name and nothing else; two readers of
# one file share its misses; what is evicted, truncated and written back; the ledger's pages are
# the kernel's own.

dev=$(disk io0)
export DISK="$dev"
mkdir -p /tmp/fs
load ext4 >/dev/null 2>&1
mke2fs -b 4096 "/dev/$dev" 8192 >/dev/null 2>&1 && mount -t ext4 "/dev/$dev" /tmp/fs && mkdir /tmp/fs/dir
ok $? "a file system"
a=/tmp/fs/dir/a
b=/tmp/fs/b
for f in $a $b; do
	dd if=/dev/zero of="$f" bs=64k count=16 2>/dev/null # 256 pages
done
sync
echo 0 >"/sys/block/$dev/queue/read_ahead_kb"
drop() { for f; do pages - drop "$f"; done; }

# of FILE PATTERN KEY: from the final row that matches; the total has no tags.
of() { grep '"type":"cache","span":"total"' "$1" | grep -e "$2" | value "$3"; }
total() { grep -E '"type":"cache","span":"(sum|total)"' "$1" | head -1 | value "$2"; }

# One run, every row: two processes, two files.
drop $a $b
started cache /tmp/out --by comm,file,dev,op -i 600s
pages one read $a 4096 >/dev/null
pages two read $a 4096 >/dev/null
pages three read $b 4096 >/dev/null
pages one read "/dev/$dev" 4096 10000 7 >/dev/null
measured
ok $? "--by comm,file,dev,op: exits 0"
is "$(of /tmp/out "\"one\",\"file\":\"$a\",\"dev\":\"$dev\",\"op\":\"read\"" misses)" 256 "the first reader of a file misses"
is "$(of /tmp/out "\"two\",\"file\":\"$a\"" misses)/$(of /tmp/out "\"two\",\"file\":\"$a\"" hits)" 0/256 "the second hits"
is "$(of /tmp/out "\"three\",\"file\":\"$b\"" misses)" 256 "another file is another row"
is "$(of /tmp/out "\"one\",\"file\":\"\[metadata of /tmp/fs]\",\"dev\":\"$dev\",\"op\":\"read\"" accesses)" 7 "the device's own cache is told apart"
whole /tmp/out "the ledger is whole"

# Filters: what they name, and nothing else. Three runs at once, each with one of them; starting takes its time.
drop $a $b
pages - cached $a >/tmp/n
is "$(cat /tmp/n)" 0 "nothing is cached"
sh -c 'echo $$ >/tmp/views-pid; while [ ! -e /tmp/views-go ]; do sleep 0.05; done; exec pages filtered read '$a' 4096' >/dev/null &
reader=$!
wait_for 10 test -s /tmp/views-pid
runs=
beside() {
	beside_out=$1
	shift
	iosonar cache -v -o json --out "$beside_out" -i 600s "$@" 2>"$beside_out.err" &
	runs="$runs $!"
}
beside /tmp/p -p "$(cat /tmp/views-pid)"
beside /tmp/f --file $b --by comm
beside /tmp/d -d "$dev" --comm filtered
for out in /tmp/p /tmp/f /tmp/d; do
	wait_for 60 grep -q '^tables' $out.err || note "$(cat $out.err)"
done
pages other read $b 4096 >/dev/null
touch /tmp/views-go
wait $reader
pages filtered read /usr/bin/pages 4096 >/dev/null
pages filtered read "/dev/$dev" 4096 10000 7 >/dev/null
# shellcheck disable=SC2086 # words
kill -INT $runs
# shellcheck disable=SC2086
wait $runs
is "$(total /tmp/p misses)" 256 "-p: this process's misses alone" || note "$(grep '"span":"total"' /tmp/p)"
is "$(of /tmp/f '"comm":"filtered"' accesses)/$(of /tmp/f '"comm":"other"' misses)" 0/256 "--file: this file alone"
is "$(total /tmp/d accesses)/$(total /tmp/d misses)" 263/256 "-d and --comm: files on this device, and its own cache, by that task alone" ||
	note "$(grep '"span":"total"' /tmp/d)"

# What leaves.
started cache /tmp/w --by file,op -i 600s --top 100
dd if=/dev/zero of=/tmp/fs/new bs=64k count=8 2>/dev/null
sync
drop $b
rm /tmp/fs/new
measured
is "$(of /tmp/w '"file":"/tmp/fs/new","op":"write"' dirtied)/$(of /tmp/w '"file":"/tmp/fs/new","op":"none"' written)" 128/128 "dirtied and written back"
is "$(of /tmp/w '"file":"/tmp/fs/new","op":"none"' truncated)/$(of /tmp/w '"file":"/tmp/fs/new","op":"none"' evicted)" 128/0 "removed with its file: truncated"
is "$(of /tmp/w "\"file\":\"$b\",\"op\":\"none\"" evicted)" 256 "dropped: evicted"
grown=$(($(total /tmp/w added) - $(total /tmp/w removed)))
change=$(($(ledger /tmp/w cached_after) - $(ledger /tmp/w cached_before)))
between $((grown - change)) -16 16 "added - removed is what the kernel counts"

# Residency.
drop $a
pages - read $a 4096 16 99 >/dev/null
is "$(iosonar cache --residency $a -o json | grep '"type":"residency"' | value cached_pages)/$(pages - cached $a)" 99/99 "--residency: what mincore says"

# As people see it.
drop $a $b
echo 128 >"/sys/block/$dev/queue/read_ahead_kb"
iosonar cache --by comm,op,file --top 8 -- sh -c "/usr/bin/dd if=$a of=/dev/null bs=4k; cat $a $a >/dev/null; md5sum $b >/dev/null" >/tmp/text 2>&1
ok $? "a text"
note "$(cat /tmp/text)"
umount /tmp/fs
done_testing
