# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# disk.sh: a loop device on tmpfs for a live test, with an ext4 if it asks for one. Brought in after lib.sh. However the test
# ends, the device and the folder $tmp are removed.
disk='' name='' mounted=''

# shellcheck disable=SC2317 # called by the trap
drop_disk() {
	[ -z "$mounted" ] || umount "$mounted"
	[ -z "$disk" ] || losetup -d "$disk"
	[ -z "$tmp" ] || rm -rf "$tmp"
}
trap drop_disk EXIT
trap "exit 1" HUP INT TERM

# needs TOOL...: skips the test where a tool is missing, or no loop device can be made and traced.
needs() {
	local tool
	[ "$(id -u)" -eq 0 ] || skip_all "needs root"
	for tool in losetup "$@"; do
		command -v "$tool" >/dev/null || skip_all "there is no $tool"
	done
	[ -e /dev/loop-control ] || skip_all "this kernel has no loop devices"
	[ -r /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
}

make_image() { # make_image SIZE: $tmp/disk, a file of this size
	tmp=$(mktemp -d /dev/shm/iosonar-live.XXXXXX) || skip_all "no room on /dev/shm"
	truncate -s "$1" "$tmp/disk"
}

attach_image() {
	disk=$(losetup -f --show "$tmp/disk" 2>"$tmp/err") || { disk='' && skip_all "no loop device: $(head -1 "$tmp/err")"; }
	# shellcheck disable=SC2034 # for the test
	name=${disk#/dev/}
}

make_disk() { # make_disk SIZE: /dev/$name, which is $disk
	make_image "$1"
	attach_image
}

make_ext4() { # make_ext4 SIZE: with an ext4, which is at $mounted
	make_image "$1"
	mkfs.ext4 -q -F "$tmp/disk" 2>"$tmp/err" || skip_all "mkfs.ext4: $(head -1 "$tmp/err")"
	mkdir "$tmp/mnt"
	attach_image
	mount -t ext4 "$disk" "$tmp/mnt" 2>"$tmp/err" || skip_all "mount: $(head -1 "$tmp/err")"
	mounted=$tmp/mnt
}
