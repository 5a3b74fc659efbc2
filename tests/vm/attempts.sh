# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: blkdebug
# kernels: 7.2
#
# attempts: a read that fails is sent six times: nvme_trace has a pair of lines for each attempt, `trace --attempts` a line
# or two, with the command ids that the kernel's own events have. Reading sector 2048 always fails.

dev=$(disk io0)
set_scheduler "$dev" none
nvme_trace >/tmp/pairs 2>/tmp/pairs.err &
pairs=$!
started trace /tmp/tries -d "$dev" --attempts --split -w /tmp/tries.cap
wait_for 60 grep -q Successfully /tmp/pairs
ftrace_start nvme/nvme_setup_cmd nvme/nvme_complete_rq
ftrace_settle
ftrace_clear
dd if="/dev/$dev" of=/dev/null bs=512 skip=2048 count=1 iflag=direct 2>/dev/null
sleep 0.5
measured
ok $? "--attempts: a read that fails is no loss"
kill -INT $pairs
wait $pairs
is $? 0 "nvme_trace: likewise" || note "$(cat /tmp/pairs.err)"
ftrace_stop /tmp/ftrace
ftrace_commands /tmp/ftrace | awk '$3 > 0 { print $4, $6 }' >/tmp/kernel
is "$(wc -l </tmp/kernel)" 6 "the kernel sends it six times"
cids=$(cut -d' ' -f1 /tmp/kernel | tr '\n' ' ')
is "$(sed -n "s/^[0-9]* $dev Submit .* cid=\([0-9]*\), .*opcode=2 (Read)$/\1/p" /tmp/pairs | tr '\n' ' ')" "$cids" "nvme_trace: six lines Submit, each with its cid"
is "$(sed -n "s/^[0-9]* $dev Complete .* cid=\([0-9]*\), .* retries=\([0-9]*\), .*status=\(.*\)$/\1 \2 \3/p" /tmp/pairs)" \
	"$(awk '{ printf "%s %d %s\n", $1, NR - 1, $2 }' /tmp/kernel)" "nvme_trace: six lines Complete, with retries and status"
is "$(cut -d' ' -f1 /tmp/pairs | grep -E '^[0-9]+$' | sort -nc 2>&1)" "" "nvme_trace: in order of time"
is "$(column /tmp/tries event | tr '\n' ' ')" "submit retry submit retry submit retry submit retry submit retry submit end " "--attempts: a line for each"
grep -v '"event":"submit"' /tmp/tries >/tmp/ends
is "$(column /tmp/ends cid | tr '\n' ' ')" "$cids" "with its cid"
is "$(column /tmp/ends attempts | tr '\n' ' ')" "1 2 3 4 5 6 " "and its number"
is "$(column /tmp/ends status_code)" "$(cut -d' ' -f2 /tmp/kernel | while read -r code; do echo $((code)); done)" "and its status"
is "$(sed -n 's/.*"event":"[re].*"last_ns":\([0-9]*\),"end_ns":\([0-9]*\),.*"attempt_ns":\([0-9]*\).*/\1 \2 \3/p' /tmp/tries |
	awk '$1 + $3 == $2 && $1 > before { n++ } { before = $2 } END { print n }')" 6 "and its two times" || note "$(cat /tmp/tries)"
is "$(ledger /tmp/tries issued) $(ledger /tmp/tries completed) $(ledger /tmp/tries retries)" "1 1 5" "--attempts: it is one command"
whole /tmp/tries "--attempts: the ledger balances"

# The same of captures; a plain trace keeps no attempts.
iosonar trace -d "$dev" -w /tmp/plain.cap -t 60s -- /usr/bin/dd if="/dev/$dev" of=/dev/null bs=512 skip=2048 count=1 iflag=direct >/dev/null 2>&1
iosonar trace -r /tmp/tries.cap --attempts --split -o json 2>/dev/null | cmp -s - /tmp/tries
ok $? "a capture says the same"
is "$(iosonar trace -r /tmp/tries.cap --split -o json 2>/dev/null | grep -c '"type":"trace"')" 2 "without --attempts it is one command"
iosonar trace -r /tmp/plain.cap --attempts -o json >/tmp/out 2>/tmp/err
grep -q '^iosonar: --attempts: 5 failed attempts are not in the part' /tmp/err
ok $? "a capture without attempts: it says so" || note "$(cat /tmp/err)"
done_testing
