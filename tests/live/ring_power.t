#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# record --ring and power loss, on ext4 and xfs: the file system is shut down at a random moment without its journal being
# flushed (the ioctl of xfs_io's "shutdown"), so that its disk has only what had reached it. After the journal was replayed, no
# file may be incomplete under its final name, and the next start goes on. Second instruments: info --verify, sha256sum.
# IOSONAR_POWER_LOSSES: on each file system [4].
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
losses=${IOSONAR_POWER_LOSSES:-4}
disk='' home='' load=''

# shellcheck disable=SC2317 # called by the trap
clean() {
	[ -n "$load" ] && kill "$load" 2>/dev/null
	wait 2>/dev/null
	[ -n "$home" ] && umount -l "$home"
	[ -n "$disk" ] && losetup -d "$disk"
	[ -n "$tmp" ] && rm -rf "$tmp"
}

lose_power() { # lose_power DIR: XFS_IOC_GOINGDOWN without a flush; ext4 has the same
	python3 -c 'import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack("I", 2))' "$1"
}

# The recorder's deputy ends a moment after it.
mount_again() {
	local left=100
	until umount "$home" 2>/dev/null; do
		[ $((left -= 1)) -gt 0 ] || return 1
		sleep 0.1
	done
	mount -o loop "$tmp/home" "$home"
}

start() {
	"$IOSONAR" record -d "$name" --ring "$home/ring" --size 8Mi --files 20 >"$tmp/out" 2>"$tmp/err" &
	pid=$!
}

# damaged: files that are not what the manifest and their end say.
damaged() {
	local f
	for f in "$home/ring"/*.cap; do
		[ ! -e "$f" ] || "$IOSONAR" info --verify "$f" 2>&1 | grep -q '^  intact' || echo "$f"
	done
	[ ! -s "$home/ring/manifest.jsonl" ] || (cd "$home/ring" && sed 's/.*"file":"\([^"]*\)".*"sha256":"\([^"]*\)".*/\2  \1/' manifest.jsonl |
		sha256sum -c --quiet 2>&1 | grep -v 'No such file\|could not be read')
}

# newest SECONDS: when the newest record until then was made, in whole seconds.
newest() {
	sed -n 's/.*"end_ns":\([0-9]*\).*/\1/p' "$home/ring/manifest.jsonl" | cut -c1-10 | awk -v most="$1" '$1 <= most && $1 > n { n = $1 } END { print n + 0 }'
}

# one_loss SECONDS: the recorder runs, the power goes; what is wrong is added to $wrong.
one_loss() {
	start
	sleep "$1"
	lose_power "$home"
	at=$(date +%s)
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	mount_again || wrong+="cannot mount again "
	wrong+=$(damaged)
	start
	sleep 2
	kill -INT "$pid"
	wait "$pid" || grep -q 'lost [0-9]*: completion never seen' "$tmp/err" || wrong+="the next start fails: $(cat "$tmp/err") "
	wrong+=$(damaged)
	left=$(find "$home/ring" -name '.*' -type f)
	wrong+=$left
}

check_losses() { # check_losses FILE-SYSTEM
	local wrong='' at left pid
	rm -f "$tmp/home" && truncate -s 320M "$tmp/home"
	mkdir -p "$tmp/mnt"
	if ! mkfs."$1" -q "$tmp/home" >/dev/null 2>&1 || ! mount -o loop "$tmp/home" "$tmp/mnt" 2>/dev/null; then
		skip "$1" "it cannot be made or mounted here"
		return
	fi
	home=$tmp/mnt
	mkdir "$home/ring"
	for _ in $(seq "$losses"); do
		one_loss "$((RANDOM % 3)).$((RANDOM % 1000))"
	done
	is "$wrong" '' "$1, $losses power losses: no incomplete file under its name, and the next start goes on"
	check_bound "$1"
	umount "$home" && home=''
}

# After 13 seconds, all but the last 6 are on the disk: the newest record before the next start says so.
check_bound() {
	local at pid last
	start
	sleep 13
	lose_power "$home"
	at=$(date +%s)
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	mount_again
	sleep 2
	start
	sleep 2
	kill -INT "$pid"
	wait "$pid"
	last=$(newest "$at")
	[ $((at - last)) -le 7 ]
	ok $? "$1: at most 6 seconds are lost: $((at - last))"
}

begin_load() {
	fio --name=mixed --filename="$disk" --direct=1 --ioengine=libaio --iodepth=4 --rw=randrw --bs=4k --time_based --runtime=1h \
		--size=16M --norandommap --rate_iops=5000 --thread --output=/dev/null &
	load=$!
}

[ "$(id -u)" = 0 ] || skip_all "requires root"
for tool in fio python3 sha256sum; do command -v $tool >/dev/null || skip_all "requires $tool"; done
tmp=$(mktemp -d /tmp/iosonar-power.XXXXXX)
trap clean EXIT
truncate -s 64M "$tmp/disk"
disk=$(losetup -f --show "$tmp/disk" 2>/dev/null) || skip_all "no loop device"
name=${disk#/dev/}
timeout 30 "$IOSONAR" latency -d "$name" -t 200ms >/dev/null 2>"$tmp/err" || skip_all "iosonar cannot measure here: $(head -1 "$tmp/err")"
begin_load
check_losses ext4
check_losses xfs
echo "1..$nr"
exit $((failed > 0))
