# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: none
# kernels: 6.12
# timeout: 120
#
# full: more commands in flight than the table has places. A disk that comes while it runs brings 2,048, the table has 1,024.
# What finds no place is counted, to the last one; no other is mistaken for it; later the places are free again.

null_disk nullb0 hw_queue_depth=64
measure /tmp/full -v
is "$(sed -n 's/^tables: \([0-9]*\) slots.*/\1/p' /tmp/full.err)" 1024 "1,024 commands can be in flight"
null_disk nullb1 irqmode=2 completion_nsec=2500000000 hw_queue_depth=1024 submit_queues=2
wait_for 20 grep -q '^nullb1 appeared' /tmp/full.err
ok $? "another disk comes" || note "$(cat /tmp/full.err)"
sleep 0.5
fio --name=t --filename=/dev/nullb1 --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=1024 --numjobs=2 --cpus_allowed=0,1 \
	--cpus_allowed_policy=split --number_ios=1024 --norandommap --output-format=json --output=/tmp/f.json >&2
ok $? "it is read, with all that it takes at once"
is "$(fio_ios /tmp/f.json read)" 2048 "2,048 times"
sleep 12 # places that nobody uses for 10 s are free again
reads_all=$(stat_of nullb1 reads)
dd if=/dev/nullb0 of=/dev/null bs=4k count=37 iflag=direct 2>/dev/null
measured >/dev/null
is $? 3 "exit 3: it is incomplete"
lost=$(ledger /tmp/full lost_no_slot)
between "$lost" 1000 2047 "some found no place: $lost"
grep -q "lost $lost: no slot: the table of commands in flight was full" /tmp/full.err
ok $? "which is said, with their number" || note "$(cat /tmp/full.err)"
is $(($(row /tmp/full nullb1 read count) + lost)) "$reads_all" "counted and lost are all that the kernel counts"
is "$(ledger /tmp/full unaccounted) $(ledger /tmp/full in_flight)" "0 0" "the ledger balances, nothing is in flight"
between "$(row /tmp/full nullb1 read mean_ns)" 2500000000 20000000000 "none got the start of another: each took 2.5 s"
is "$(row /tmp/full nullb0 read count)" 37 "later commands have places again"
done_testing
