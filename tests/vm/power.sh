# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154 # the kernel's command line sets life, last, killed and ran
#
# power: one life of a machine that records to two rings, on ext4 and xfs, until its power goes. Run by the script of this name, which
# says which life it is, when the one before was killed, and how many seconds it had recorded by then (empty: it may not have).
# Second instruments: info --verify, sha256sum.

# ring_disk SERIAL: vda or vdb.
ring_disk() {
	for power_disk in /sys/block/vd*; do
		[ "$(cat "$power_disk/serial")" != "$1" ] || basename "$power_disk"
	done
}

# damaged RING: files that are not what their end and the manifest say, and names that were given twice.
damaged() {
	for power_file in "$1"/*.cap; do
		[ ! -e "$power_file" ] || iosonar info --verify "$power_file" 2>&1 | grep -q '^  intact' || echo "$power_file"
	done
	[ -e "$1/manifest.jsonl" ] || return 0
	sed -n 's/.*"file":"\([^"]*\)".*/\1/p' "$1/manifest.jsonl" | sort | uniq -d
	sed 's/.*"file":"\([^"]*\)".*"sha256":"\([^"]*\)".*/\1 \2/' "$1/manifest.jsonl" | while read -r power_file power_sum; do
		[ ! -e "$1/$power_file" ] || echo "$power_sum  $1/$power_file" | sha256sum -c >/dev/null 2>&1 || echo "$power_file's sum"
	done
}

# newest RING SECONDS: when the newest record until then was made, in whole seconds.
newest() {
	sed -n 's/.*"end_ns":\([0-9]*\).*/\1/p' "$1/manifest.jsonl" | cut -c1-10 |
		awk -v most="$2" '$1 <= most && $1 > n { n = $1 } END { print n + 0 }'
}

# begin_life FS: its disk is mounted, what the life before left is looked at, and the recorder starts.
begin_life() {
	eval "ring=/mnt/$1/ring"
	mkdir -p "/mnt/$1"
	load "$1"
	[ "$life" -gt 1 ] || "mkfs.$1" -q "/dev/$(ring_disk "$1")" >/dev/null
	mount -t "$1" "/dev/$(ring_disk "$1")" "/mnt/$1"
	ok $? "$1: mounted"
	mkdir -p "$ring"
	is "$(damaged "$ring")" '' "$1: no incomplete file has a final name"
	iosonar record -v -d "$dev" --ring "$ring" --size 4Mi --files 8 >"/tmp/$1.out" 2>"/tmp/$1.err" &
	eval "recorder_$1=$!"
}

# only_its_own RING: the file that it writes and the spare, besides at most eight.
only_its_own() {
	[ "$(find "$1" -name '.*.part' | wc -l)" -eq 2 ] && [ "$(find "$1" -name '*.cap' | wc -l)" -le 8 ]
}

# What the recorder says of the life before, and what it could keep of it.
judge() {
	wait_for 60 grep -q '^tables' "/tmp/$1.err"
	ok $? "$1: the recorder starts" || note "$(cat "/tmp/$1.err")"
	grep 'was left' "/tmp/$1.err" | while read -r power_said; do
		note "$1: $power_said"
	done
	wait_for 10 only_its_own "/mnt/$1/ring"
	ok $? "$1: the only incomplete files are its own, and there are not too many" || note "$(ls -la "/mnt/$1/ring")"
	[ "${ran:-0}" -ge 1 ] || return 0
	grep -q 'was left' "/tmp/$1.err"
	ok $? "$1: it says what the power loss took" || note "$(cat "/tmp/$1.err")"
	[ "$ran" -ge 8 ] || return 0
	lost=$((killed - $(newest "/mnt/$1/ring" "$killed")))
	[ "$lost" -le 7 ]
	ok $? "$1: of $ran seconds at most the last 7 are lost: $lost"
}

# end_life FS: the last one ends as it should.
end_life() {
	eval "kill -INT \$recorder_$1; wait \$recorder_$1"
	ok $? "$1: the recorder ends well" || note "$(cat "/tmp/$1.err")"
	is "$(damaged "/mnt/$1/ring")" '' "$1: every file is whole"
	is "$(find "/mnt/$1/ring" -name '.*')" '' "$1: nothing else is left"
	umount "/mnt/$1"
	ok $? "$1: unmounted"
}

dev=$(disk io0)
set_scheduler "$dev" none
load virtio_blk
wait_for 10 test -b /dev/vdb
begin_life ext4
begin_life xfs
echo "@power mounted" >&3
judge ext4
judge xfs
fio --name=t --filename="/dev/$dev" --rw=randrw --bs=4k --direct=1 --ioengine=psync --rate_iops=200 --time_based --runtime=1h \
	--norandommap --output=/dev/null >/dev/null 2>&1 &
load=$!
echo "@power recording" >&3
if [ -z "$last" ]; then
	sleep 3600
	ok 1 "the power goes"
fi
sleep 3
kill $load
wait $load
end_life ext4
end_life xfs
done_testing
