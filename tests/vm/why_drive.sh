# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 6.12
# timeout: 150
#
# why_drive: causes that are planted in an emulated NVMe drive: stalls, which the test asks QEMU for, and swap. Each is found first or
# second.

dev=$(disk io0)
set_scheduler "$dev" none
ln -sf "$(command -v fio)" /tmp/reader

# limit IOPS: as many commands a second does the drive serve from now on.
limit() { monitor block_set_io_throttle d0 0 0 0 "$1" 0 0; }

# judged NAME SCRIPT: what is found while this runs, in /tmp/NAME, with a capture.
judged() {
	iosonar why -d "$dev" -o json --out "/tmp/$1" -w "/tmp/$1.cap" -- sh -c "$2" >/tmp/said 2>&1
	ok $? "$1: exits 0" || note "$(cat /tmp/said)"
	whole "/tmp/$1" "$1: nothing is lost"
	note "$(iosonar why -r "/tmp/$1.cap" 2>&1)"
}
# rank NAME CAUSE: of a finding in /tmp/NAME; 0: it is not found.
rank() { grep "\"finding\":\"$2\"" "/tmp/$1" | sed 's/.*"nr":\([0-9]*\).*/\1/' | grep . || echo 0; }

job="--direct=1 --ioengine=psync --norandommap --time_based --output=/dev/null --filename=/dev/$dev --name=a --size=64m --thread"
reads="/tmp/reader $job --rw=randread --bs=4k"

is_still() {
	still_reads=$(stat_of "$dev" reads)
	sleep 0.5
	[ "$(stat_of "$dev" reads)" = "$still_reads" ]
}
is_busy() { ! is_still; }

# Twice nothing is answered for half a second, while eight wait. What the monitor is told takes effect when the host has the time.
$reads --runtime=60 --numjobs=8 --rate_iops=50 &
pid=$!
started why /tmp/stalled -d "$dev" -w /tmp/stalled.cap
sleep 2
for _ in 1 2; do
	limit 1
	wait_for 2 is_still
	ok $? "a stall"
	limit 100000
	wait_for 2 is_busy
	sleep 1
done
measured
ok $? "stalled: exits 0"
kill $pid
wait $pid
note "$(iosonar why -r /tmp/stalled.cap 2>&1)"
between "$(rank stalled stalls)" 1 2 "stalled: first or second" || note "$(cat /tmp/stalled)"
grep -qE 'stalls?, the longest ([5-9][0-9][0-9]ms|[0-9.]+s)' /tmp/stalled
ok $? "stalled: what was planted, not what the host does" || note "$(cat /tmp/stalled)"

mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null
if mkswap "/dev/$dev" >/dev/null 2>&1 && swapon "/dev/$dev" 2>/dev/null && echo +memory >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null &&
	mkdir -p /sys/fs/cgroup/small && echo 8M >/sys/fs/cgroup/small/memory.max; then
	# Small commands, and no large pages, or there are too few to tell. Zeroes are not swapped (6.12).
	echo 16 >"/sys/block/$dev/queue/max_sectors_kb"
	echo never >/sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null
	sysctl -w vm.page-cluster=2 >/dev/null
	# shellcheck disable=SC2016 # of the inner shell
	judged swap 'echo $$ >/sys/fs/cgroup/small/cgroup.procs; exec /usr/bin/dd if=/dev/urandom of=/dev/null bs=14M count=2'
	between "$(rank swap swap)" 1 2 "swap: first or second" || note "$(cat /tmp/swap)"
	swapoff "/dev/$dev"
else
	skip "swap" "no swap, or no memory controller, in this kernel"
fi
done_testing
