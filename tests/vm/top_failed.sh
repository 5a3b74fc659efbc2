# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: blkdebug
# kernels: 5.10
# timeout: 60
#
# top: failed commands as they happen, without records: reading sector 2048 always fails (6 attempts). Device, operation, status,
# number and time are those of errors; a read that fails once and then succeeds is none.

dev=$(disk io0)
iosonar errors -v -d "$dev" -o json --out /tmp/errors 2>/tmp/errors.err &
errors=$!
iosonar top -v -d "$dev" -i 200ms -o json --out /tmp/top 2>/tmp/top.err &
top=$!
wait_for 20 grep -q '^tables' /tmp/errors.err
wait_for 20 grep -q '^tables' /tmp/top.err
sleep 0.5
value() { sed -n "s/.*\"$1\":\"*\([^,\"}]*\).*/\1/p"; }
for _ in 1 2 3; do
	dd if="/dev/$dev" of=/dev/null bs=512 skip=2048 count=1 iflag=direct 2>/dev/null && ok 1 "the read fails"
	dd if="/dev/$dev" of=/dev/null bs=512 count=7 iflag=direct 2>/dev/null
	sleep 0.3
done
dd if="/dev/$dev" of=/dev/null bs=512 skip=4096 count=1 iflag=direct 2>/dev/null
nvme read "/dev/$dev" -s 2048 -c 0 -z 512 >/dev/null 2>&1 # without retries
sleep 0.7
kill -INT $top $errors
wait $top
ok $? "exits 0" || note "$(cat /tmp/top.err)"
wait $errors
grep '"type":"trouble"' /tmp/top >/tmp/troubles
# How errors has them: one line each.
grep '"type":"errors_sum"' /tmp/errors | grep '"what":"failed"' >/tmp/sums
is "$(value status </tmp/troubles | sort -u)" "$(value status </tmp/sums | sort -u)" "the statuses are those of errors"
is "$(value dev </tmp/troubles | sort -u) $(value op </tmp/troubles | sort -u) $(value what </tmp/troubles | sort -u)" "$dev read failed" "device and operation"
is "$(value recent </tmp/troubles | awk '{ n += $1 } END { print n + 0 }')" 4 "every failed command is told once" || note "$(cat /tmp/troubles)"
is "$(value count </tmp/troubles | sort -n | tail -n 1)" "$(value count </tmp/sums | sort -n | tail -n 1)" "the count is that of errors"
awk '{ if (match($0, /"time_s":[0-9.]+/)) t = substr($0, RSTART + 9, RLENGTH - 9)
	if (match($0, /"last_s":[0-9.]+/)) l = substr($0, RSTART + 9, RLENGTH - 9)
	if (l > t + 0.1 || t - l > 5) bad++ } END { exit bad > 0 || !NR }' /tmp/troubles
ok $? "each with the time at which it failed" || note "$(cat /tmp/troubles)"
is "$(ledger /tmp/top failed)" 4 "as the ledger has it"
whole /tmp/top "nothing is lost"
done_testing
