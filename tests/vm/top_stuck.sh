# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: broken
# kernels: 6.12
# timeout: 120
#
# top: a drive that stops answering. Commands that are in flight for more than a second are told while they are, also one that was
# sent before top started; inflight lists the same. serve has their number and the age of the oldest one.

dev=$(disk io0)
set_scheduler "$dev" none
echo 600000 >"/sys/block/$dev/queue/io_timeout" # nothing is aborted
rate() { monitor block_set_io_throttle d0 "$1" 0 0 0 0 0; }
gone() { ! kill -0 "$1"; }
metric() { wget -qO - http://127.0.0.1:9936/metrics | sed -n "s/^iosonar_$1 //p"; }
# As in inflight.sh: the first commands pass.
hangs() {
	hangs_left=60
	while [ $hangs_left -gt 0 ]; do
		hangs_left=$((hangs_left - 1))
		"$@" 2>/dev/null &
		hanging=$!
		wait_for 1 gone $hanging || return 0
	done
	return 1
}
ifconfig lo 127.0.0.1 up
iosonar serve -d "$dev" 2>/tmp/serve.err &
serve=$!
wait_for 30 grep -q '^serving ' /tmp/serve.err
is "$(metric in_flight) $(metric oldest_in_flight_seconds)" "0 0.000000000" "serve: nothing is in flight" || note "$(cat /tmp/serve.err)"
rate 1
hangs /usr/bin/dd if="/dev/$dev" of=/dev/null bs=12k skip=101 count=1 iflag=direct
ok $? "a read hangs"
reader=$hanging
iosonar top -v -d "$dev" -i 500ms -o json >/tmp/top 2>/tmp/top.err &
top=$!
wait_for 20 grep -q '"type":"trouble"' /tmp/top
ok $? "it is told" || note "$(cat /tmp/top /tmp/top.err)"
is "$(metric in_flight)" 1 "serve: one is in flight"
/usr/bin/dd if=/dev/zero of="/dev/$dev" bs=4k seek=7 count=1 oflag=direct 2>/dev/null &
writer=$!
wait_for 20 grep -q '"what":"stuck".*"op":"write"' /tmp/top
ok $? "one that was sent later is told, too" || note "$(cat /tmp/top)"
iosonar inflight --older 1s -d "$dev" -o json --out /tmp/inflight 2>/dev/null
is "$(sed -n 's/.*"type":"inflight".*"op":"\([a-z]*\)".*/\1/p' /tmp/inflight | sort | xargs)" "read write" "inflight lists both"
is "$(sed -n 's/.*"what":"stuck","dev":"\([^"]*\)","op":"\([a-z]*\)","status":"\([a-z-]*\)","count":\([0-9]*\).*/\1 \2 \3 \4/p' /tmp/top | sort -u | xargs)" \
	"$dev read sent 1 $dev write sent 1" "device, operation, state and number"
sed -n 's/.*"op":"read".*"oldest_ns":\([0-9]*\).*/\1/p' /tmp/top | awk '$1 < 1e9 || $1 < last { bad++ } { last = $1 } END { exit bad > 0 || !NR }'
ok $? "its age grows" || note "$(grep stuck /tmp/top)"
is "$(metric in_flight)" 2 "serve: two are in flight"
least=$(metric oldest_in_flight_seconds)
iosonar inflight -d "$dev" -o json --out /tmp/inflight 2>/dev/null
most=$(metric oldest_in_flight_seconds)
sed -n 's/.*"type":"inflight".*"age_ns":\([0-9]*\).*"op":"read".*/\1/p' /tmp/inflight |
	awk -v least="$least" -v most="$most" '{ age = $1 / 1e9 } END { exit !(1 < least && least < age && age < most) }'
ok $? "serve: the oldest is the read, and it is as old as inflight says" || note "$least $most $(cat /tmp/inflight)"
rate 0
wait "$reader" "$writer"
sleep 2
kill -INT $top
wait $top
ok $? "exits 0" || note "$(cat /tmp/top.err)"
tail -n 8 /tmp/top | grep '"type":"sample"' | tail -n 1 | grep -q '"in_flight":0,'
ok $? "nothing is in flight at the end"
! grep '"type":"sample"\|"type":"trouble"' /tmp/top | tail -n 2 | grep -q '"what":"stuck"'
ok $? "and nothing is stuck" || note "$(tail -n 8 /tmp/top)"
is "$(metric in_flight) $(metric oldest_in_flight_seconds)" "0 0.000000000" "serve: nothing is in flight at the end"
kill -TERM $serve
wait $serve
is "$? $(grep -c 'in flight 0; nothing lost$' /tmp/serve.err)" "0 1" "serve: nothing is lost" || note "$(cat /tmp/serve.err)"
done_testing
