# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC1091,SC2034,SC2154 # tools.sh is tests/bench/tools.sh, which reads and sets these
# shape: nvme icount
# kernels: 6.12
# brings: tests/bench/tools.sh
# timeout: 120
#
# floors: what programs cost that do nothing, only read the clock or only take the kernel's stack, at the events of latency, layers
# (with a scheduler and without) and stacks; in instructions of the guest, run-time statistics included. What iosonar promises
# cannot be below.

. /tests/tools.sh
ios=1500
iosonar=/usr/bin/iosonar floor=/usr/bin/floor layer=nvme
dev=$(disk io0)
set_scheduler "$dev" none

# instructions FLOOR RUNS: sets per_io; its programs run so often for each read.
instructions() {
	start "$1" /tmp/out
	attached
	statistics 1
	dd if="/dev/$dev" of=/dev/null bs=4k count=$ios iflag=direct 2>/dev/null
	cost
	statistics 0
	stop
	per_io=$((cost_ns / ios))
	is $((cost_runs / ios)) "$2" "$(title "$1"): $2 runs for each read" || note "$(cat /tmp/out.err)"
	note "floor $1: $per_io instructions per I/O"
}

instructions floor 2
two=$per_io
instructions floor-beside 4
between "$per_io" $((two * 3 / 2)) $((two * 5 / 2)) "four empty programs cost about twice of two"
instructions floor-clocks 7
[ "$per_io" -gt $((two * 7 / 2)) ]
ok $? "seven clocks cost more than seven empty programs" || note "$per_io; two empty ones: $two"
seven=$per_io
instructions floor-few 4
between "$per_io" $((seven / 2)) $((seven * 2 / 3)) "four of them cost four sevenths"
set_scheduler "$dev" mq-deadline
instructions floor-inserted 8
between "$per_io" $((seven * 21 / 20)) $((seven * 5 / 4)) "one more, where a scheduler inserts, costs a seventh more"
set_scheduler "$dev" none
instructions floor-stack 2
[ "$per_io" -gt $((two * 3)) ]
ok $? "a stack costs more than an empty program" || note "$per_io; two empty ones: $two"
done_testing
