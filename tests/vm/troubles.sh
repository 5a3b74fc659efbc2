# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: blkdebug
# kernels: 7.2
#
# troubles: `errors` has a line for each command that failed or was tried again, with each attempt, none for the others,
# and says so if there was nothing. Reading sector 2048 always fails, sector 6144 fails once.

dev=$(disk io0)
set_scheduler "$dev" none
# of KEY LINE
# of KEY ROW: of the row itself, not of its attempts.
of() { echo "$2" | sed -n 's/"tries":\[[^]]*]//;p' | sed -n "s/.*\"$1\":\"*\([^,\"}]*\).*/\1/p"; }

started errors /tmp/e -d "$dev" -w /tmp/e.cap
dmesg -c >/dev/null
dd if="/dev/$dev" of=/dev/null bs=512 count=7 iflag=direct 2>/dev/null
dd if="/dev/$dev" of=/dev/null bs=512 skip=2048 count=1 iflag=direct 2>/dev/null
dd if="/dev/$dev" of=/dev/null bs=512 skip=6144 count=1 iflag=direct 2>/dev/null
sleep 0.5
measured
ok $? "errors: exits 0"
dmesg >/tmp/dmesg
is "$(grep -c '"type":"errors"' /tmp/e)" 2 "a line for each of two, none for the others"
failed=$(grep '"what":"failed"' /tmp/e | head -1) recovered=$(grep '"what":"recovered"' /tmp/e | head -1)
is "$(of lba "$failed") $(of bytes "$failed") $(of attempts "$failed") $(of comm "$failed")" "2048 512 6 dd" "the one that failed"
is "$(($(of status_code "$failed") & 0x7ff))" $((0x281)) "with its status"
echo "$failed" | grep -q '"status":"unrecovered read error (2/81)'
ok $? "in words"
tries=$(echo "$failed" | sed 's/.*"tries":\[\([^]]*\)].*/\1/' | grep -o '"attempt_ns":[0-9]*,"status_code":[0-9]*' | sed 's/[^0-9,]//g; s/,/ /')
is "$(echo "$tries" | while read -r ns code; do echo $((code & 0x7ff)) $((ns > 0)); done | grep -c "^$((0x281)) 1$")" 5 "five attempts before, each with its status" || note "$tries"
is "$(echo "$tries" | awk -v all="$(of lat_ns "$failed")" '{ sum += $1 } END { print sum < all }')" 1 "their times are below the total"
is "$(of lba "$recovered") $(of attempts "$recovered") $(of status "$recovered")" "6144 2 ok" "the one that succeeded at last"
is "$(ledger /tmp/e issued) $(ledger /tmp/e completed)" "9 9" "every command was watched"
is "$(grep '"type":"errors_sum"' /tmp/e | sed 's/.*"what":"\([a-z]*\)","count":\([0-9]*\).*/\1 \2/' | sort | tr '\n' ' ')" "failed 1 recovered 1 " "the sums"
whole /tmp/e "nothing is lost"

# The same from the capture, and as the kernel says it.
iosonar errors -r /tmp/e.cap -o json 2>/dev/null | grep '"type":"errors' >/tmp/again
grep '"type":"errors' /tmp/e | cmp -s - /tmp/again
ok $? "a capture says the same" || note "$(diff /tmp/e /tmp/again)"
line=$(iosonar errors -r /tmp/e.cap -o kernel 2>/dev/null)
is "$line" "$dev: Read(0x2) @ LBA 2048, 1 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) " "-o kernel"
if grep -q 'Read(0x2) @ LBA 2048' /tmp/dmesg; then
	is "$line" "$(sed -n 's/^\[[^]]*\] \(nvme[^ ]*: Read(0x2) @ LBA 2048.*\)/\1/p' /tmp/dmesg | head -1)" "is the kernel's own line"
fi
iosonar record -d "$dev" -w /tmp/r.cap -t 60s -- /usr/bin/dd if="/dev/$dev" of=/dev/null bs=512 skip=2048 count=1 iflag=direct 2>/dev/null
is "$(iosonar errors -r /tmp/r.cap -o json 2>/dev/null | grep -c '"attempts":6.*"tries":\[{[^}]*}\(,{[^}]*}\)\{4\}]')" 1 "record keeps attempts, too"

iosonar errors -d "$dev" -t 60s -- /usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k count=31 iflag=direct >/tmp/out 2>/tmp/err
ok $? "nothing wrong: exits 0"
grep -q '^nothing went wrong in 31 commands' /tmp/err
ok $? "and says so" || note "$(cat /tmp/err)"
is "$(cat /tmp/out)" "" "and prints nothing"
done_testing
