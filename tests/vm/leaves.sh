# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 5.10
# timeout: 90
#
# leaves: killed at any moment it leaves no program, link or map behind; ended properly neither.

dev=$(disk io0)
/usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k iflag=direct 2>/dev/null &
before=$(bpf_objects)
now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }
start=$(now_ms)
measure /tmp/whole
took=$(($(now_ms) - start)) # from the start until it is attached
measured
# killed N: starts one, beside another, and kills it N tenths of that later; the first two at once, the last two when they
# are attached.
killed() {
	iosonar latency -o json --out "/tmp/killed$1" 2>"/tmp/killed$1.err" &
	pid=$!
	usleep $((took * 100 * $1))
	[ "$1" -lt 18 ] || until grep -q 'from .*_rq' "/tmp/killed$1.err"; do usleep 10000; done
	kill -9 $pid
	wait $pid 2>/dev/null
}
n=0
while [ $n -lt 20 ]; do
	killed $n &
	first=$!
	killed $((n + 1)) &
	wait $first $!
	n=$((n + 2))
done
seen=$(cat /tmp/killed*.err | grep -c 'from .*_rq')
note "a start takes $took ms; attached at $seen of 20 kills"
between "$seen" 1 19 "some of the 20 were killed while attached, others while they started"
gone() { [ "$(bpf_objects)" -le "$before" ]; }
wait_for 5 gone
ok $? "20 kills leave nothing behind" || note "$(bpftool prog show | grep name)"
measure /tmp/ended
measured
wait_for 5 gone
ok $? "Ctrl-C leaves nothing behind"
done_testing
