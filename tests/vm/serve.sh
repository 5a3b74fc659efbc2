# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: blkdebug
# kernels: 5.10
# timeout: 90
#
# serve: a scraper gets the counts of an NVMe drive, with its model, and failed commands and their retries. Reading sector
# 2048 always fails (6 attempts). No count goes down while commands fail. With --keep: statuses, and a capture.

dev=$(disk io0)
model=$(sed 's/ *$//' "/sys/block/$dev/device/model")
ifconfig lo 127.0.0.1 up

scrape() { wget -qO "$1" http://127.0.0.1:9936/metrics; }
# value FILE METRIC [OP]
value() { sed -n "s/^$2${3:+{device=\"$dev\",model=\"$model\",op=\"$3\"\}} //p" "$1"; }
reads() { dd if="/dev/$dev" of=/dev/null bs=4096 count="$1" iflag=direct 2>/dev/null; }
failing_read() { ! dd if="/dev/$dev" of=/dev/null bs=512 skip=2048 count=1 iflag=direct 2>/dev/null; }

iosonar serve -d "$dev" 2>/tmp/err &
pid=$!
wait_for 30 grep -q "^serving http://127.0.0.1:9936\$" /tmp/err
ok $? "it serves" || note "$(cat /tmp/err)"
scrape /tmp/page
is "$(value /tmp/page iosonar_commands_total read) $(value /tmp/page iosonar_commands_total write)" "0 0" "the drive has its series at once"

reads 101
scrape /tmp/page
is "$(value /tmp/page iosonar_commands_total read)" 101 "101 reads"
is "$(value /tmp/page iosonar_bytes_total read)" 413696 "of 4 KiB"
is "$(value /tmp/page iosonar_command_latency_seconds_count read)" 101 "and in the histogram"

last=0 falls=0
for _ in 1 2 3; do
	failing_read || ok 1 "the read fails"
	for _ in 1 2 3 4 5; do
		scrape /tmp/page
		now=$(value /tmp/page iosonar_commands_total read)
		[ "$now" -ge "$last" ] || falls=$((falls + 1))
		last=$now
	done
done
is $falls 0 "no count goes down"
sleep 0.5
scrape /tmp/page
is "$(value /tmp/page iosonar_commands_total read)" 104 "a command that fails is one command"
sleep 2.2 # what has no status is known after a second
scrape /tmp/page
is "$(sed -n "s/^iosonar_failed_commands_total{device=\"$dev\",op=\"read\",status=\".*[Uu]nrecovered.*\"} //p" /tmp/page)" 3 "three failed, with their status" ||
	note "$(grep failed /tmp/page)"
is "$(value /tmp/page iosonar_failed_commands_total)" 0 "none without"
is "$(value /tmp/page iosonar_retries_total)" 15 "with five more attempts each"
is "$(value /tmp/page iosonar_in_flight)" 0 "nothing is in flight"
is "$(grep '^iosonar_lost_total' /tmp/page | grep -cv ' 0$')" 0 "nothing is lost"

kill -TERM $pid
wait $pid
is $? 0 "SIGTERM ends it, exit 0"
is "$(grep -c '^issued 104 = completed 104 + in flight 0; nothing lost$' /tmp/err)" 1 "the ledger has the same" || note "$(cat /tmp/err)"

# With --keep each command has a record: the status in words, and a capture.
iosonar serve -d "$dev" --keep 1m 2>/tmp/err &
pid=$!
wait_for 30 grep -q '^keeping the last 1m in memory, at most 64.0Mi$' /tmp/err
ok $? "--keep: it says how much it keeps" || note "$(cat /tmp/err)"
reads 101
failing_read || ok 1 "the read fails"
sleep 0.5
scrape /tmp/page
is "$(value /tmp/page iosonar_commands_total read)" 102 "--keep: every command is counted once"
is "$(grep -c "^iosonar_failed_commands_total{device=\"$dev\",op=\"read\",status=\".*[Uu]nrecovered.*\"} 1\$" /tmp/page)" 1 "--keep: a failure has its status" ||
	note "$(grep failed /tmp/page)"
wget -qO /tmp/kept.cap 'http://127.0.0.1:9936/capture?last=60s'
is "$(iosonar trace -r /tmp/kept.cap -o json 2>/dev/null | grep -c '"type":"trace"')" 102 "--keep: the capture has every command"
is "$(iosonar errors -r /tmp/kept.cap -o json 2>/dev/null | grep -o "\"attempt_ns\":" | wc -l | tr -d " ")" 5 "--keep: and five attempts before the last"
kill -TERM $pid
wait $pid
is $? 0 "--keep: SIGTERM ends it, exit 0"
is "$(grep -c '^issued 102 = completed 102 + in flight 0; nothing lost$' /tmp/err)" 1 "--keep: the ledger has the same" || note "$(cat /tmp/err)"
done_testing
