# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: icount
# kernels: 6.12
# timeout: 150
#
# why_saturated: a disk that takes 128 commands and serves one at a time, a loop device over one that takes 5 ms for each, is found
# saturated when 16 tasks read from it, and not when one does.

null_disk nullb0 size=64 irqmode=2 completion_nsec=5000000 memory_backed=1 hw_queue_depth=8 submit_queues=1
ok $? "a disk that takes 5 ms for each command"
set_scheduler nullb0 none
load loop >/dev/null 2>&1
dev=loop0
losetup "/dev/$dev" /dev/nullb0
ok $? "a loop device over it"
set_scheduler "$dev" none

# judged NAME SCRIPT: what is found while this runs, in /tmp/NAME, with a capture.
judged() {
	iosonar why -d "$dev" -o json --out "/tmp/$1" -w "/tmp/$1.cap" -- sh -c "$2" >/tmp/said 2>&1
	ok $? "$1: exits 0" || note "$(cat /tmp/said)"
	whole "/tmp/$1" "$1: nothing is lost"
	note "$(iosonar why -r "/tmp/$1.cap" 2>&1)"
}
# rank NAME CAUSE: of a finding in /tmp/NAME; 0: it is not found.
rank() { grep "\"finding\":\"$2\"" "/tmp/$1" | sed 's/.*"nr":\([0-9]*\).*/\1/' | grep . || echo 0; }

reads="fio --name=a --direct=1 --ioengine=psync --norandommap --rw=randread --bs=4k --size=64m --time_based --output=/dev/null --filename=/dev/$dev"
judged calm "$reads --runtime=1"
is "$(rank calm saturated)" 0 "one task: not found" || note "$(cat /tmp/calm)"
judged saturated "$reads --runtime=1; $reads --runtime=2 --numjobs=16"
between "$(rank saturated saturated)" 1 2 "16 tasks: saturated is first or second" || note "$(cat /tmp/saturated)"
losetup -d "/dev/$dev"
null_remove nullb0
done_testing
