# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: files
# kernels: 6.18
# timeout: 90
#
# cache_io: every miss is told, once; the commands that misses cause are the disk's own, by count, bytes and sector; the pages that were asked for
# are the misses, the others came ahead; a capture of the run shows the same.

dev=$(disk io0)
export DISK="$dev"
mkdir -p /tmp/iofs
load ext4 >/dev/null 2>&1
mke2fs -b 4096 "/dev/$dev" 8192 >/dev/null 2>&1 && mount -t ext4 "/dev/$dev" /tmp/iofs
ok $? "a file system"
f=/tmp/iofs/io-file
dd if=/dev/zero of=$f bs=64k count=16 2>/dev/null # 256 pages
sync
readahead() { echo "$1" >"/sys/block/$dev/queue/read_ahead_kb"; }

# sum COMM KEY: over the commands of one process; `commands` counts them, each once, however many bios it carries.
of_comm() { grep '"type":"command"' /tmp/io.json | grep "\"comm\":\"$1\""; }
sum() { of_comm "$1" | sed 's/.*"'"$2"'":\([0-9]*\).*/\1/' | awk '{ n += $1 } END { print n + 0 }'; }
commands() { of_comm "$1" | sed 's/.*"command_sector":\([0-9]*\).*/\1/' | sort -u | wc -l; }
misses() { grep '"type":"miss"' /tmp/io.json | grep "\"comm\":\"$1\"" | sed 's/.*"pages":\([0-9]*\).*/\1/' | awk '{ n += $1 } END { print n + 0 }'; }

# told NAME HOW ARGUMENT...: a process of that name, and what the disk did for it.
told() {
	pages - drop $f
	told_reads=$(stat_of "$dev" reads)
	told_sectors=$(stat_of "$dev" read_sectors)
	pages "$@" >>/tmp/io-truth
	echo "$1 $(($(stat_of "$dev" reads) - told_reads)) $((($(stat_of "$dev" read_sectors) - told_sectors) * 512))" >>/tmp/io-disk
}

started cache /tmp/io.json --then-io --file $f -w /tmp/io.cap
readahead 0
told ahead-off read $f 16384
told ahead-rnd random $f 40
readahead 128
told ahead-on read $f 4096
told ahead-big read $f 1048576
told mapped mmap $f 64
measured
ok $? "exits 0"
while read -r name reads bytes; do
	is "$(commands "$name")/$(sum "$name" bytes)" "$reads/$bytes" "$name: every command, and its bytes, as the disk counts"
done </tmp/io-disk
while read -r name _ _ misses; do
	is "$(sum "$name" missed)/$(misses "$name")" "$misses/$misses" "$name: the pages that were asked for are the misses"
done </tmp/io-truth
missed() { grep '"type":"miss"' /tmp/io.json | grep '"comm":"ahead-off"'; }
is "$(missed | wc -l)/$(missed | grep -c '"pages":4,.*"file":"/tmp/iofs/io-file"')" 64/64 "every request that missed is told, with its file and its pages"
is "$(missed | sed 's/.*"offset_bytes":\([0-9]*\).*/\1/' | awk '$1 == 16384 * (NR - 1)' | wc -l)/$(missed | grep -c '"wait_ns":null')" 64/0 \
	"with their offset, and how long it took"
is "$(sum ahead-off pages)/$(of_comm ahead-off | grep -c '"why":"miss"')" "256/$(of_comm ahead-off | wc -l)" "without readahead every command is for a miss"
is "$(sum ahead-on pages)" 256 "with readahead they bring the whole file"
between "$(of_comm ahead-on | grep -c '"why":"ahead"')" 1 64 "and most of it ahead"
is "$(of_comm ahead-off | sed 's/.*"offset_bytes":\([0-9]*\).*"file":"\([^"]*\)".*/\1 \2/' | sort -n | head -1)" "0 $f" "with file and offset"
is "$(of_comm ahead-off | grep -c "\"op\":\"read\".*\"disk\":\"$dev\".*\"status\":\"ok\"")/$(of_comm ahead-off | grep -c '"lat_ns":null')" \
	"$(of_comm ahead-off | wc -l)/0" "disk, operation, status and latency"
is "$(of_comm mapped | grep -c '"op":"mmap"')" "$(of_comm mapped | wc -l)" "a fault's are known as such"
whole /tmp/io.json "the ledger is whole"

iosonar cache -r /tmp/io.cap --then-io -o json >/tmp/io-replay.json 2>/tmp/io-replay.err
ok $? "the capture is read"
cmp /tmp/io.json /tmp/io-replay.json
ok $? "and says the same" || note "$(diff /tmp/io.json /tmp/io-replay.json | head -5)"
iosonar cache -r /tmp/io.cap --comm mapped --by comm,op -o csv >/tmp/io-rows 2>/dev/null
is "$(grep -c '^total,.*,mapped,mmap,' /tmp/io-rows)/$(grep -c ',ahead-' /tmp/io-rows)" 1/0 "its rows by what was not asked then"
pages - drop $f
iosonar cache --then-io -d "$dev" -- md5sum $f >/tmp/io-text 2>&1
ok $? "as people see it"
note "$(cat /tmp/io-text)"
umount /tmp/iofs
done_testing
