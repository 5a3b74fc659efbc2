# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 5.10
# timeout: 60
#
# compiled: functions that a process compiled itself have the names of its own /tmp/perf-PID.map, in its own namespaces, and
# its stacks go on behind them.

dev=$(disk io0)

# A file of that name that is not the process's: it must not be read.
echo '0 ffffffffffffffff foreign' >/tmp/perf-1.map

for how in auto dwarf; do
	started stacks /tmp/c -d "$dev" --stack user --top 1000 --unwind $how
	compiled "/dev/$dev"
	ok $? "$how: the program reads"
	measured
	ok $? "$how: exits 0"
	want='"read_one","~inner of script:1","between","outer","main",.*"_start"\],"user_truncated":false'
	is "$(sed -n "/$want/s/.*\"count\":\([0-9]*\),.*/\1/p" /tmp/c)" 37 "$how: every function, by its name" ||
		note "$(grep '"type":"stacks"' /tmp/c)"
	is "$(grep -c foreign /tmp/c)" 0 "$how: not from another's file"
	whole /tmp/c "$how: nothing is lost" || note "$(cat /tmp/c.err)"
done
rm -f /tmp/perf-1.map
done_testing
