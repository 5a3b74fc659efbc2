#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# ./try is what a stranger runs first: what it prints of itself is so. tests/fresh runs it whole.

# function_of NAME: defines this function of ./try.
function_of() {
	eval "$(sed -n "/^$1() {/,/^}/p" try)"
}

@test "the lines that it shows are those that it runs" {
	mapfile -t shown < <(sed -n 's/^\t*echo "# iosonar \(.*\) -- fio \.\.\."$/\1/p' try)
	[ "${#shown[@]}" -eq 2 ]
	grep -qF "build/iosonar ${shown[0]} -- fio " try
	# shellcheck disable=SC2016 # the script's own words
	sed 's/"$dev"/nvme0n1/' tests/vm/show.sh | grep -qF "iosonar ${shown[1]} -- fio "
}

@test "a file system is named as it is mounted" {
	function_of file_system
	for dir in / /proc /dev; do
		type=$(awk -v dir="$dir" '$5 == dir { sub(/.* - /, ""); type = $1 } END { print type }' /proc/self/mountinfo)
		[ -n "$type" ] || continue
		echo "$dir: $(file_system "$dir"), not $type"
		[ "$(file_system "$dir")" = "$type" ]
	done
}

@test "in a chroot, where nothing says how it is mounted, ext4 is not called ext2" {
	function_of file_system
	df() { printf 'Type\n-\n'; }
	# shellcheck disable=SC2317 # file_system calls it
	stat() { echo ext2/ext3; }
	[ "$(file_system /)" = "ext2 to ext4" ]
	stat() { echo btrfs; }
	[ "$(file_system /)" = btrfs ]
}
