# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: blkdebug
# kernels: 5.10 7.2
#
# errors: a command is one command however often it is tried. Reading sector 2048 always fails (6 attempts), sector 4096
# fails once (2 attempts).

dev=$(disk io0)
for scheduler in none mq-deadline; do
	set_scheduler "$dev" $scheduler
	measure /tmp/bad -d "$dev"
	dd if="/dev/$dev" of=/dev/null bs=512 skip=2048 count=1 iflag=direct 2>/dev/null && ok 1 "the read fails"
	sleep 0.5
	measured
	ok $? "$scheduler: a read that fails is no loss"
	is "$(row /tmp/bad "$dev" read count)" 1 "$scheduler: it is one command"
	is "$(ledger /tmp/bad issued)" 1 "$scheduler: issued once"
	is "$(ledger /tmp/bad retries)" 5 "$scheduler: with 5 more attempts"
	is "$(ledger /tmp/bad failed)" 1 "$scheduler: that failed"
	whole /tmp/bad "$scheduler: the ledger balances"
done

measure /tmp/once -d "$dev"
dd if="/dev/$dev" of=/dev/null bs=512 skip=4096 count=1 iflag=direct 2>/dev/null
ok $? "a read that fails once succeeds"
sleep 0.3
measured
is "$(row /tmp/once "$dev" read count)" 1 "it is one command"
is "$(ledger /tmp/once retries)" 1 "with one more attempt"
is "$(ledger /tmp/once failed)" 0 "that did not fail"

measure /tmp/failed -d "$dev" --failed
dd if="/dev/$dev" of=/dev/null bs=512 skip=2048 count=1 iflag=direct 2>/dev/null
dd if="/dev/$dev" of=/dev/null bs=512 count=7 iflag=direct 2>/dev/null
sleep 0.3
measured
is "$(row /tmp/failed "$dev" read count)" 1 "--failed shows only the one that failed"

# With stages the same command waits for the end of its request; its failed attempts are a step.
started layers /tmp/steps -d "$dev"
dd if="/dev/$dev" of=/dev/null bs=512 skip=2048 count=1 iflag=direct 2>/dev/null
sleep 0.3
measured
ok $? "layers: a read that fails is no loss"
is "$(steps /tmp/steps "$dev" read)" "Q2G G2I I2S S2A A2D D2K K2N N2C Q2C " "layers: failed attempts are a step"
is "$(step /tmp/steps "$dev" read Q2C count) $(ledger /tmp/steps issued) $(ledger /tmp/steps retries)" "1 1 5" "layers: one command, tried six times"
adds_up /tmp/steps "$dev" read "layers: the steps are the whole"
whole /tmp/steps "layers: the ledger balances"

# A passthrough command is not retried and leaves no block error: its first answer ends it.
measure /tmp/pass -d "$dev"
nvme read "/dev/$dev" -s 2048 -c 0 -z 512 >/dev/null 2>&1
sleep 0.3
measured
ok $? "a passthrough read that fails is no loss"
is "$(row /tmp/pass "$dev" read count)" 1 "it is one command"
is "$(ledger /tmp/pass failed)" 1 "that failed"
whole /tmp/pass "the ledger balances"

# The same in words, one line a command.
iosonar trace -v -o json --out /tmp/words -d "$dev" 2>/tmp/words.err &
pid=$!
wait_for 20 grep -q '^tables' /tmp/words.err
sleep 0.3
dd if="/dev/$dev" of=/dev/null bs=512 skip=2048 count=1 iflag=direct 2>/dev/null
sleep 0.5
kill -INT $pid
wait $pid
is "$(grep -c '"op":"read"' /tmp/words)" 1 "trace: one line"
grep -q '"status":"unrecovered read error' /tmp/words && grep -q '"attempts":6' /tmp/words
ok $? "with its status in words and its attempts" || note "$(cat /tmp/words)"
done_testing
