# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC1091,SC2034,SC2154 # tools.sh is tests/bench/tools.sh, which reads and sets these
# shape: nvme icount large
# kernels: make bench
# timeout: 300
#
# waits_peers: what tools add that show for how long a thread waits, in instructions of the guest, run-time statistics included: to a
# direct read of one I/O, and to a write of 4 KiB with the fsync after it, on ext4, whose journal has to be written. Other threads
# that wait meanwhile are in it. Part of `make bench`, which puts the tools into /files. Lines
# "waitcost TOOL CALL INSTRUCTIONS RUNS" are for tests/bench/report, and "waitstart MILLISECONDS", after which
# waits is attached.

. /files/tools.sh
iosonar=/usr/bin/iosonar peers=/files/peers
ln -s /proc/self/fd /dev/fd # bpftrace compiles through it
null_disk nullb0 irqmode=2 completion_nsec=100000 memory_backed=1
set_scheduler nullb0 none
load ext4
mkfs.ext4 -q /dev/nullb0 >/dev/null
mkdir /tmp/home
mount -t ext4 /dev/nullb0 /tmp/home
dd if=/dev/zero of=/tmp/home/file bs=1M count=4 conv=fsync 2>/dev/null

# calls NAME: does 200 of them; how many is in $done.
calls() {
	case $1 in
	read)
		dd if=/tmp/home/file of=/dev/null bs=4k count=200 iflag=direct 2>/dev/null
		done=200
		;;
	fsync)
		fio --name=t --filename=/tmp/home/file --size=4M --rw=randwrite --bs=4k --fsync=1 --ioengine=psync --number_ios=200 \
			--output-format=json --output=/tmp/fio.json >&2
		done=$(fio_ios /tmp/fio.json sync)
		;;
	esac
}

# instructions TOOL CALL: for each, over all programs of the tool. It has seen such calls before: waits knows where they sleep.
instructions() {
	call=$2
	start "$1" /tmp/out
	attached || note "$(tail -3 /tmp/out.err)"
	calls "$2"
	sleep 2
	statistics 1
	calls "$2"
	cost
	statistics 0
	stop
	[ "$done" -ge 199 ] && [ "$cost_runs" -ge "$done" ]
	ok $? "$(title "$1"), $2: its programs ran for every call" || note "$cost_runs runs for $done calls"
	note "waitcost $1 $2 $((cost_ns / done)) $((cost_runs / done))"
}

for call in read fsync; do
	for tool in $(wait_tools); do
		instructions "$tool" "$call"
	done
done

# In a guest whose clock counts instructions, 80 million of them are 80 ms.
up() { sed 's/ .*//;s/\.//' /proc/uptime; }
before=$(up)
began=$(iosonar waits -- /bin/cat /proc/uptime 2>/tmp/out.err | sed -n 's/^\([0-9]*\)\.\([0-9][0-9]\) [0-9.]*$/\1\2/p')
[ -n "$began" ]
ok $? "waits starts its command" || note "$(cat /tmp/out.err)"
note "waitstart $(((began - before) * 10))"
umount /tmp/home
null_remove nullb0
done_testing
