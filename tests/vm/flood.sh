# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 6.18
# timeout: 90
#
# flood: 100,003 commands at queue depth 64 on two CPUs are 100,003, with a second copy and classic tracepoint programs
# running beside.

dev=$(disk io0)

# load_with ARGS...: fio on the drive.
load_with() { fio --name=t --filename="/dev/$dev" --direct=1 --norandommap --rw=randread --bs=512 "$@" >&2; }

# Beside others: a second copy, and a tool whose classic programs run in every system call and at every completion.
iosonar latency -o json --out /tmp/second -d "$dev" 2>/tmp/second.err &
second=$!
neighbour >/tmp/neighbour &
neighbour=$!
wait_for 20 grep -q running /tmp/neighbour
ok $? "a neighbour with classic programs runs"
wait_for 20 grep -q 'from .*_rq' /tmp/second.err
measure /tmp/many -d "$dev"
# Depth 64, sent and reaped in batches: seven times as fast in a guest without KVM.
load_with --iodepth=64 --numjobs=2 --number_ios=50001 --ioengine=io_uring --gtod_reduce=1 \
	--iodepth_batch=16 --iodepth_batch_complete_min=16
load_with --ioengine=libaio --iodepth=1 --number_ios=1
measured
ok $? "100,003 commands: exits 0"
kill -INT $second
wait $second
ok $? "the second copy exits 0"
is "$(row /tmp/many "$dev" read count)" 100003 "100,003 commands are 100,003"
is "$(row /tmp/second "$dev" read count)" 100003 "and the same for the second copy"
is "$(ledger /tmp/many issued)" "$(ledger /tmp/many completed)" "as many issued as completed"
whole /tmp/many "nothing is lost"
kill $neighbour
done_testing
