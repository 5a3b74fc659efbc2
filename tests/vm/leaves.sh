# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# timeout: 300
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
n=0 seen=0
while [ $n -lt 20 ]; do
	iosonar latency -o json --out /tmp/killed 2>/tmp/killed.err &
	pid=$!
	usleep $((took * 12 * $(tr -dc 1-9 </dev/urandom | head -c 3) / 10)) # up to a fifth longer
	kill -9 $pid
	! grep -q 'from .*_rq' /tmp/killed.err || seen=$((seen + 1))
	wait $pid 2>/dev/null
	n=$((n + 1))
done
note "a start takes $took ms; attached at $seen of 20 kills"
between $seen 1 19 "some of the 20 were killed while attached, others while they started"
gone() { [ "$(bpf_objects)" -le "$before" ]; }
wait_for 5 gone
ok $? "20 kills leave nothing behind" || note "$(bpftool prog show | grep name)"
measure /tmp/ended
measured
wait_for 5 gone
ok $? "Ctrl-C leaves nothing behind"
done_testing
