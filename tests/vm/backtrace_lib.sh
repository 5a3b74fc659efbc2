# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
#
# backtrace_lib.sh: compares stacks of Debian's programs with gdb's; backtrace and backtrace_few source it.
#	in_debian prepare_something	# on the fast drive
#	slow_down			# each I/O takes 100 ms from here on
#	compared <<CASES		# as backtrace.py reads them
#
# The rule: the process is stopped while it waits, and gdb lists its frames. Ours are as many, in the same order. Where gdb
# names a function, ours is the same one by its address: any of its names in the file's .symtab or .dynsym. gdb has nothing
# else to name with: no debugging information is there, so no inlined function has a frame of its own. Where gdb has no name,
# ours is that of the same file in brackets.

debian=/mnt/debian

# in_debian COMMAND...: there.
in_debian() { chroot $debian /usr/bin/env PATH=/usr/sbin:/usr/bin HOME=/tmp LC_ALL=C "$@"; }

# A disk in memory keeps what is written when it is made anew, slower.
fast_disk() { null_disk nullb0 memory_backed=1 size=512 blocksize=4096 queue_mode=2 irqmode=0; }

set_up() {
	load ext4 && load virtio_blk || return
	set_up_disk=$(grep -l '^debian$' /sys/block/vd*/serial) || return
	set_up_disk=${set_up_disk%/serial}
	mkdir -p $debian && mount -t ext4 -o ro "/dev/${set_up_disk##*/}" $debian || return
	for set_up_dir in dev proc sys tmp; do
		mount -o rbind /$set_up_dir $debian/$set_up_dir || return
	done
	mount -t tmpfs tests $debian/tests && cp /tests/backtrace.py $debian/tests/ || return
	mount -t tmpfs run $debian/run || return
	# What gdb has of libc's own functions.
	mkdir -p /usr/lib/debug /dev/shm && mount -o bind $debian/usr/lib/debug /usr/lib/debug || return
	fast_disk && in_debian mke2fs -q -t ext4 -b 4096 /dev/nullb0 && mount /dev/nullb0 $debian/slow
}

slow_down() {
	umount $debian/slow || return
	echo 0 >/sys/kernel/config/nullb/nullb0/power || return
	echo 2 >/sys/kernel/config/nullb/nullb0/irqmode || return
	echo 100000000 >/sys/kernel/config/nullb/nullb0/completion_nsec || return
	echo 1 >/sys/kernel/config/nullb/nullb0/power || return
	echo 0 >/sys/block/nullb0/queue/read_ahead_kb # a thread waits for what it asked for itself
	mount -o noatime /dev/nullb0 $debian/slow
}

# compared: the cases are its input. Stacks are those of one run.
compared() {
	cat >/tmp/cases
	started slow /tmp/slow -d nullb0 --min 1ms -i 200ms --stack user --unwind dwarf
	rm -f /tmp/verdicts
	mkfifo /tmp/verdicts
	in_debian python3 /tests/backtrace.py /tmp/slow </tmp/cases >/tmp/verdicts 2>/tmp/said &
	compared_pid=$!
	while read -r line; do
		case $line in
		'ok - '*) ok 0 "${line#ok - }" ;;
		'not ok - '*) ok 1 "${line#not ok - }" ;;
		*) echo "$line" ;;
		esac
	done </tmp/verdicts
	wait $compared_pid
	ok $? "all programs were compared" || note "$(cat /tmp/said)"
	measured
	ok $? "iosonar exits 0"
	note "$(tail -2 /tmp/slow.err)"
	whole /tmp/slow "nothing is lost"
}
