#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# stacks on this machine: 4096 reads from as many stacks, more than find places of their own. What was not taken is told of
# the disk that -d names, and of no other. Second instrument: what the rows themselves lack.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
disks=()

# shellcheck disable=SC2317 # called by the trap
clean() {
	local disk
	for disk in "${disks[@]}"; do losetup -d "$disk"; done
	[ -z "$tmp" ] || rm -rf "$tmp"
}

# taken DISK: the stacks of reads of the second disk, asked for those of DISK.
taken() {
	"$IOSONAR" stacks -d "${1#/dev/}" --stack user --top 10000 -o json -- "$branches" "${disks[1]}" >"$tmp/out" 2>"$tmp/err"
}
# said WORDS: how many stacks, or I/Os, a line with these words says.
said() { sed -n "s|^\([0-9]*\) .*$1.*|\1|p" "$tmp/err" | awk '{ sum += $1 } END { print sum + 0 }'; }

check_other() {
	taken "${disks[0]}"
	ok $? "-d with another disk busy: exits 0"
	is "$(said 'stacks are missing') $(said 'I/Os without')" "0 0" "the other disk's stacks are not counted as not taken"
}

check_own() {
	taken "${disks[1]}"
	ok $? "-d with this disk busy: exits 0"
	[ "$(said 'stacks are missing: stacks collided')" -gt 0 ]
	ok $? "some of 4096 stacks find no place"
	is "$(said 'stacks are missing')" "$(said 'I/Os without a user stack')" "as many as I/Os lack one"
}

branches=${IOSONAR%/*}/vm/branches
[ "$(id -u)" -eq 0 ] || skip_all "needs root"
[ -x "$branches" ] || skip_all "there is no $branches: make helpers"
command -v losetup >/dev/null || skip_all "there is no losetup"
[ -e /dev/loop-control ] || skip_all "this kernel has no loop devices"
[ -r /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
trap clean EXIT
trap "exit 1" HUP INT TERM
tmp=$(mktemp -d /dev/shm/iosonar-stacks.XXXXXX) || skip_all "no room on /dev/shm"
for i in 0 1; do
	truncate -s 8M "$tmp/disk$i"
	disks[i]=$(losetup -f --show "$tmp/disk$i" 2>"$tmp/err") || skip_all "no loop device: $(head -1 "$tmp/err")"
done

check_other
check_own
echo "1..$nr"
exit $((failed > 0))
