# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: hang
# kernels: 6.18
#
# patience: a drive does not answer for 8 s, the driver waits 1 s: abort, then reset. `errors` tells each as it happens.

dev=$(disk io0) ctrl=$(disk io0 | sed 's/n[0-9]*$//')
echo 1000 >"/sys/block/$dev/queue/io_timeout"
# seen WHAT [PATTERN]: lines of the run so far.
seen() { grep '"type":"errors"' /tmp/e | grep "\"what\":\"$1\"" | grep -c "${2:-}"; }
has_seen() { [ "$(seen "$@")" -ge 1 ]; }

# rank NAME CAUSE: of a finding in /tmp/NAME; 0: it is not found.
rank() { grep "\"finding\":\"$2\"" "/tmp/$1" | sed 's/.*"nr":\([0-9]*\).*/\1/' | grep . || echo 0; }

dmesg -c >/dev/null
started errors /tmp/e -d "$ctrl" -w /tmp/e.cap
dd if="/dev/$dev" of=/dev/null bs=4k skip=3 count=1 iflag=direct 2>/dev/null &
dd_pid=$!
wait_for 15 has_seen abort
ok $? "the abort is told while the command hangs"
is "$(seen timed-out)" 0 "whose end is not"
wait $dd_pid
wait_for 15 has_seen timed-out
sleep 1
measured
ok $? "exits 0"
grep '"what":"abort"' /tmp/e | grep -q '"status":"ok: not aborted qid=[12] cid=[0-9]*"'
ok $? "what it meant and what became of it" || note "$(grep '"what":"abort"' /tmp/e)"
grep '"what":"timed-out"' /tmp/e | grep '"dev":"'"$dev"'"' | grep '"lba":24' | grep -q '"comm":"dd"'
ok $? "the read, when it ended"
between "$(grep '"what":"timed-out"' /tmp/e | value lat_ns)" 2000000000 30000000000 "after seconds"
if grep -q 'time-outs are not shown' /tmp/e.err; then
	skip "timeout" "this kernel lets nobody watch nvme_timeout"
else
	[ "$(seen timeout '"lba":24')" -ge 1 ]
	ok $? "time-outs, while it hung" || note "$(cat /tmp/e.err)"
fi
if grep -q 'state changes of controllers are not shown' /tmp/e.err; then
	skip "state" "this kernel lets nobody watch nvme_change_ctrl_state"
else
	states=$(grep '"what":"state"' /tmp/e | sed 's/.*"status":"\([a-z]*\)".*/\1/' | tr '\n' ' ')
	case $states in "resetting connecting live "*) ok 0 "the reset, state by state" ;; *) ok 1 "the reset, state by state: $states" ;; esac
	is "$(seen state '"status":"resetting"')" "$(dmesg | grep -c 'timeout, reset controller')" "as often as the kernel logged it"
fi
whole /tmp/e "the ledger balances"
is "$(ledger /tmp/e in_flight)" 0 "nothing is left in flight"
iosonar errors -r /tmp/e.cap -o json 2>/dev/null | grep '"type":"errors' >/tmp/again
grep '"type":"errors' /tmp/e | cmp -s - /tmp/again
ok $? "a capture says the same" || note "$(diff /tmp/e /tmp/again)"
if [ "$(seen timeout)" -ge 1 ]; then
	iosonar why -r /tmp/e.cap -o json >/tmp/why 2>/tmp/said
	ok $? "why: exits 0" || note "$(cat /tmp/said)"
	between "$(rank why timeouts)" 1 2 "why: time-outs are first or second" || note "$(cat /tmp/why)"
else
	skip "why" "time-outs are not in the capture"
fi
done_testing
