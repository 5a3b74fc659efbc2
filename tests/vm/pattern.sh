# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 6.1
#
# pattern: streams, however they are submitted, are sequential and random accesses are not; misaligned writes are counted
# exactly; a capture says the same.

dev=$(disk io0)
set_scheduler "$dev" none
load="--direct=1 --ioengine=libaio --norandommap --output-format=json --output=/tmp/f.json"

# of FILE KEY: from the line of the whole run.
of() { grep '"type":"pattern","span":"total"' "$1" | grep "\"dev\":\"$dev\"" | value "$2"; }

# holds EXPRESSION NAME: of awk.
holds() {
	awk "BEGIN { exit !($1) }"
	ok $? "$2" || note "$1"
}

# seen NAME COMMAND...: pattern of what the command does, in /tmp/p, with a capture, which has to say the same.
seen() {
	seen_name=$1
	shift
	iosonar pattern -d "$dev" -o json --out /tmp/p -w /tmp/p.cap -- "$@" >/tmp/said 2>&1
	ok $? "$seen_name: exits 0" || note "$(cat /tmp/said)"
	whole /tmp/p "$seen_name: nothing is lost"
	iosonar pattern -r /tmp/p.cap -o json >/tmp/again 2>/tmp/said
	ok $? "$seen_name: replayed: exits 0" || note "$(cat /tmp/said)"
	grep -E '"span":"total"|"ledger"' /tmp/p >/tmp/live
	grep -E '"span":"total"|"ledger"' /tmp/again | cmp - /tmp/live
	ok $? "$seen_name: a capture says the same, every part of it"
}

# Three at once, each with a queue of its own, 12 in flight.
# shellcheck disable=SC2086 # words are words
seen streams fio $load --filename="/dev/$dev" --bs=4k --iodepth=4 --number_ios=1009 --name=a --rw=read --offset=0 --size=60m \
	--name=b --rw=read --offset=64m --size=60m --name=c --rw=read --offset=128m --size=60m
is "$(of /tmp/p count)" "$(fio_ios /tmp/f.json read)" "streams: as many as fio counts"
holds "$(of /tmp/p seq_percent) >= 99" "streams: three are sequential: $(of /tmp/p seq_percent) %"
is "$(of /tmp/p read_streams)" 3 "streams: and are three"
between "$(of /tmp/p depth_max)" 10 12 "streams: their depths add up"
note "late $(of /tmp/p late), depth mean $(of /tmp/p depth_mean)"

# In batches, which must not be merged: a plug of 6.1 hands its requests on backwards.
echo 2 >"/sys/block/$dev/queue/nomerges"
# shellcheck disable=SC2086
seen batches fio $load --filename="/dev/$dev" --bs=4k --iodepth=16 --iodepth_batch=16 --iodepth_batch_complete_min=16 --number_ios=1009 \
	--name=a --rw=read
is "$(of /tmp/p count)" 1009 "batches: are not merged"
holds "$(of /tmp/p seq_percent) >= 99" "batches: are sequential: $(of /tmp/p seq_percent) %"
iosonar trace -r /tmp/p.cap -o csv --columns start_ns,lba 2>/dev/null | sed 1d | sort -n | cut -d, -f2 |
	awk 'NR > 1 { up += $1 == last + 8 } { last = $1 } END { printf "%.0f %% of them were issued in order\n", 100 * up / NR }' >/tmp/issued
note "$(cat /tmp/issued)"
echo 0 >"/sys/block/$dev/queue/nomerges"

# A bio larger than a command may be.
seen split dd if="/dev/$dev" of=/dev/null bs=2M count=101 iflag=direct
holds "$(of /tmp/p seq_percent) >= 99" "split: parts are sequential: $(of /tmp/p seq_percent) %"
[ "$(of /tmp/p count)" -gt 101 ]
ok $? "split: there are parts: $(of /tmp/p count)"

# shellcheck disable=SC2086
seen random fio $load --filename="/dev/$dev" --bs=4k --iodepth=8 --number_ios=2003 --name=a --rw=randread
holds "$(of /tmp/p seq_percent) <= 1" "random: $(of /tmp/p seq_percent) % are sequential"
is "$(of /tmp/p read_streams)" 0 "random: there are no streams"
between "$(of /tmp/p depth_max)" 7 8 "random: the depth that was asked for"

# Misaligned: 13 begin badly, 7 end badly; 101 do neither.
seen misaligned sh -c "/usr/bin/dd if=/dev/zero of=/dev/$dev bs=4k count=101 oflag=direct
	/usr/bin/dd if=/dev/zero of=/dev/$dev bs=4k count=13 seek=512 oflag=direct,seek_bytes
	/usr/bin/dd if=/dev/zero of=/dev/$dev bs=512 count=7 seek=1048576 oflag=direct,seek_bytes"
is "$(of /tmp/p misaligned_writes)" 20 "misaligned: 20 writes, exactly"
done_testing
