# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 6.12
# timeout: 90
#
# late_cpu: a CPU that comes while commands are recorded has a small ring of cells behind the large ones: each of its commands
# is seen, also when the ring has been gone through, and the memory is for the CPUs that were online.

dev=$(disk io0)
cpu1=/sys/devices/system/cpu/cpu1/online
set_scheduler "$dev" none

# reads CPU COUNT
reads() { taskset -c "$1" /usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k count="$2" iflag=direct 2>/dev/null; }

# cells FILE FIRST NR LATE: what -v says.
cells() {
	is "$(sed -n 's/^cells: \(.*\), [0-9.]* MiB$/\1/p' "$1")" "$3 for each of the first $2 CPUs, $4 for each other" \
		"cells: $3 for $2 CPUs"
}

# late VIEW: a run of VIEW that one CPU joins after its start.
late() {
	echo 0 >$cpu1
	is "$(nproc)" 1 "$1: one of two CPUs is online"
	started "$1" /tmp/late -d "$dev"
	echo 1 >$cpu1
	wait_for 10 taskset -c 1 true
	reads 0 211
	reads 1 1511
	measured
	ok $? "$1: exits 0"
	whole /tmp/late "$1: nothing is lost"
	cells /tmp/late.err 1 16384 512
}

late trace
is "$(grep -c '"type":"trace"' /tmp/late)" 1722 "a record of each read"
is "$(column /tmp/late comm | sort -u)" dd "all of dd"
late layers
is "$(step /tmp/late "$dev" read Q2C count)" 1722 "layers counts each read"

started trace /tmp/both -d "$dev"
reads 1 101
measured
cells /tmp/both.err 2 16384 512
done_testing
