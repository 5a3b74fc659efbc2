# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: none
# kernels: 6.12
# timeout: 120
#
# backwards: commands whose end seems to precede their start. The starts of 13 are moved forward while they are in flight. Each is
# counted as lost, with the reason, and gives no latency, neither as a row nor as a record; those after them have theirs.

null_disk nullb0 irqmode=2 completion_nsec=2500000000 hw_queue_depth=64 submit_queues=1 || ok 1 "null_blk makes a disk"
reads() {
	fio --name=t --filename=/dev/nullb0 --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth="$1" --number_ios="$1" \
		--norandommap --output-format=json --output=/tmp/f.json >&2
}
in_flight() { [ "$(stat_of nullb0 inflight)" -eq "$1" ]; }
slots() { sed -n 's/^tables: \([0-9]*\) slots.*/\1/p' "$1"; }

# moved_and_not VIEW FILE: 13 reads are moved, 7 are not.
moved_and_not() {
	reads 13 &
	load=$!
	wait_for 20 in_flight 13
	ok $? "$1: 13 reads are in flight"
	is "$(ahead "$(slots "$2.err")")" 13 "$1: all of them are moved ahead"
	wait $load
	ok $? "$1: they end"
	reads 7
	measured >/dev/null
	is $? 3 "$1: exit 3: it is incomplete"
	is "$(ledger "$2" lost_clock) $(ledger "$2" issued) $(ledger "$2" completed)" "13 20 7" "$1: the end of 13 of 20 precedes their start"
	is "$(ledger "$2" unaccounted) $(ledger "$2" in_flight)" "0 0" "$1: the ledger balances"
	grep -q "lost 13: clock went backwards" "$2.err"
	ok $? "$1: which is said, with their number" || note "$(cat "$2.err")"
}

measure /tmp/a -v -d nullb0
moved_and_not latency /tmp/a
is "$(row /tmp/a nullb0 read count)" 7 "latency: the others are counted"
between "$(row /tmp/a nullb0 read max_ns)" 2500000000 20000000000 "latency: none took an hour"

traced /tmp/t -d nullb0
moved_and_not trace /tmp/t
is "$(grep -c '"type":"trace"' /tmp/t)" 7 "trace: the others are shown"
done_testing
