# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC1091,SC2034,SC2154 # tools.sh is tests/bench/tools.sh, which reads and sets these
# shape: nvme icount large
# kernels: make bench
# timeout: 300
#
# read_peers: what tools add to a whole direct read of 4 KiB from a null_blk disk, in instructions of the guest, as its caller sees it:
# also tools whose work is not done by BPF programs. The process of the tool stands still meanwhile, so what it does with its
# records is not in the figures. Part of `make bench`, which puts the tools into /files. Lines "readcost TOOL INSTRUCTIONS" are
# for tests/bench/report.

. /files/tools.sh
iosonar=/usr/bin/iosonar peers=/files/peers layer=block only=nullb0
reads=500
null_disk nullb0 irqmode=0 queue_mode=2
set_scheduler nullb0 none

# per_read: instructions, the least of three; the first read is not timed.
per_read() { for _ in 1 2 3; do pages - time-direct /dev/nullb0 4096 $reads; done | sort -n | head -1; }
all=$((3 * (reads + 1)))

# traces: blktrace or perf looks at the disk.
traces() {
	case $tool in
	blktrace) [ -e /sys/kernel/debug/block/nullb0/trace0 ] ;;
	perf) [ "$(find "/proc/$tool_pid/fd" -exec readlink {} \; | grep -c perf_event)" -ge 2 ] ;;
	esac
}

# seen: how many ends of requests the tool showed, or all if it does not say.
seen() {
	case $tool in
	latency | record) sed -n 's/^issued .* = completed \([0-9]*\) .*/\1/p' /tmp/out.err ;;
	trace) grep -c ' nullb0 ' /tmp/out ;;
	perf) sed -n 's/.*(\([0-9]*\) samples).*/\1/p' /tmp/out.err | awk '{ print int($1 / 2) }' ;; # issues and ends
	blktrace) sed -n 's/.* \([0-9]*\) events,.*/\1/p' /tmp/out | tail -1 | awk '{ print int($1 / 5) }' ;; # five at least for each
	*) echo $all ;;
	esac
}

without=$(per_read)
note "readcost nothing $without"
for tool in $(read_tools); do
	start "$tool" /tmp/out
	case $tool in
	blktrace | perf) wait_for 60 traces ;;
	*) attached ;;
	esac
	ok $? "$(title "$tool") starts" || note "$(tail -3 /tmp/out.err)"
	sleep 2
	kill -STOP "$tool_pid"
	with=$(per_read)
	kill -CONT "$tool_pid"
	sleep 1
	stop
	[ "$with" -gt "$without" ] && [ "$(seen)" -ge "$all" ]
	ok $? "$(title "$tool"): it saw every read" || note "$(seen) of $all, $with and $without; $(tail -3 /tmp/out.err)"
	note "readcost $tool $with"
done
null_remove nullb0
done_testing
