# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# timeout: 150
# kernels: 6.18
#
# probes: every way of attaching a program counts what happens, no more and no less: 17 direct reads of the drive, 13 calls
# of a function of a process. One bad function among many is named and does not spoil the others; when a run ends nothing
# of it stays.

dev=$(disk io0)
reads="dd if=/dev/$dev of=/dev/null bs=4k count=17 iflag=direct status=none"
calls="probing --call 13"
self=/usr/bin/probing
before=$(bpf_objects)

# count OPTION... WORD...: what probing says, with what $load does, which is ours alone.
count() {
	# shellcheck disable=SC2086 # words are words
	probing -v -p "$@" -- $load >/tmp/probed 2>/tmp/probed.err
	count_status=$?
	note "$(grep -h -e '^attached' -e '^tables' -e '^hits' /tmp/probed.err /tmp/probed | tr '\n' ' ')"
	[ $count_status -eq 0 ] || note "$(cat /tmp/probed.err)"
	return $count_status
}

# seen EVENT WANT NAME: its hits, in what the last run says.
seen() { is "$(sed -n "s,^$1 ,,p" /tmp/probed)" "$2" "$3"; }

load=$reads
count count block:block_rq_issue raw:block_rq_issue raw:nvme_setup_cmd fn:blk_mq_start_request ret:blk_mq_start_request \
	fn:nvme_setup_cmd ret:nvme_setup_cmd by probe
seen block:block_rq_issue 17 "a tracepoint"
seen raw:block_rq_issue 17 "a raw tracepoint"
seen raw:nvme_setup_cmd 17 "a raw tracepoint of a module"
seen fn:blk_mq_start_request 17 "a function's entry"
seen ret:blk_mq_start_request 17 "a function's return"
seen fn:nvme_setup_cmd 17 "a module's function"
seen ret:nvme_setup_cmd 17 "its return"
load=$calls
count count "user:$self:probing_target" "userret:$self:probing_target" by probe
seen "user:$self:probing_target" 13 "a user function"
seen "userret:$self:probing_target" 13 "its return"
count count "usdt:$self:probing:call" by arg0
is "$(sort -n /tmp/probed | grep -v hits | tr '\n' ',')" "0 1,1 1,2 1,3 1,4 1,5 1,6 1,7 1,8 1,9 1,10 1,11 1,12 1," "a USDT probe with a semaphore, and its argument"

# Many functions, of which one is none.
load=$reads
count -b count 'fn:blk_mq_s*' fn:nvme_setup_cmd by probe
ok $? "many functions and one that is none"
seen fn:blk_mq_start_request 17 "one of many is counted"
seen fn:nvme_setup_cmd 17 "and one of a module"
grep -q 'fn:trace_call_bpf is left out: ' /tmp/probed.err
ok $? "the one that is none is named" || note "$(cat /tmp/probed.err)"
[ "$(grep -c '^fn:.* 0$' /tmp/probed)" -gt 10 ]
ok $? "those that were never called are there"
! grep -q trace_call_bpf /tmp/probed
ok $? "but not the one that is none"
count count 'ret:blk_mq_s*' by func
seen blk_mq_start_request 17 "one of many returns is counted"
count -b print 'fn:blk_mq_s*' fn:nvme_setup_cmd show func
is "$(grep -c '^fn:blk_mq_start_request .* blk_mq_start_request $' /tmp/probed)" 17 "a record knows which of many it is about"
grep -q '^records in order' /tmp/probed
ok $? "and records come in order of time"
count count fn:blk_mq_start_request 'fn:blk_mq_s*' by probe
is "$(sed -n 's/^fn:blk_mq_start_request //p' /tmp/probed | tr '\n' ' ')" "17 17 " "one that was named twice has two rows"
# Where addresses are hidden a program cannot tell functions apart by them: each has its own.
echo 2 >/proc/sys/kernel/kptr_restrict
count count fn:nvme_setup_cmd 'fn:nvme_q*' 'fn:blk_mq_st*' by func
seen blk_mq_start_request 17 "where addresses are hidden they are found by name"
echo 0 >/proc/sys/kernel/kptr_restrict

# A thousand at once, within a second; a guest whose CPUs are emulated, and shared, takes its time. What comes before it is
# the kernel's lists of functions, which take it seconds to write here.
probing -v count 'fn:e*' by func -- true >/tmp/probed 2>/tmp/probed.err
ok $? "a thousand functions" || note "$(tail -3 /tmp/probed.err)"
many=$(sed -n 's/^attached: \([0-9]*\) by kprobe.multi.*/\1/p' /tmp/probed.err)
took=$(sed -n 's/^tables .* attached within \([0-9]*\)\..* ms$/\1/p' /tmp/probed.err)
# How many there are depends on the machine.
listed=$(grep -c '^e[^ ]*$' /sys/kernel/tracing/available_filter_functions)
note "$many functions by kprobe.multi within $took ms; the kernel itself lists $listed"
[ "$listed" -ge 500 ] && [ "${many:-0}" -ge $((listed * 9 / 10)) ] && [ "${took:-9999}" -lt 8000 ]
ok $? "$many functions by one program, at once"

# Two events that belong together.
count pair raw:nvme_setup_cmd raw:nvme_complete_rq on arg0
is "$(grep -v -e hits -e open /tmp/probed | awk '{ sum += $1 } END { print sum }')" 17 "17 pairs across contexts"
is "$(sed -n 's/^open //p' /tmp/probed)" 0 "none is left open"
count hist fn:blk_mq_start_request of cpu by comm
is "$(grep -v hits /tmp/probed | awk '{ sum += $2 } END { print sum }')" 17 "a histogram has 17"
count stacks raw:block_rq_issue by comm
is "$(grep -v hits /tmp/probed | awk '$2 + 0 >= 5 { sum += $3 } END { print sum }')" 17 "17 stacks of five frames at least"

# Samples: as many as time allows; a busy host takes some of it.
probing count profile:49 interval:100ms by probe -- sleep 2 >/tmp/probed 2>/tmp/probed.err
note "$(cat /tmp/probed /tmp/probed.err)"
between "$(sed -n 's/^profile:49 //p' /tmp/probed)" 20 250 "49 samples a second on each of two CPUs"
between "$(sed -n 's/^interval:100ms //p' /tmp/probed)" 3 25 "ten a second on one"
load=$calls
count count soft:context-switches by probe
between "$(sed -n 's/^soft:context-switches //p' /tmp/probed)" 10 60 "13 sleeps are counted by the machine itself"
count count soft:context-switches:1 by probe
between "$(sed -n 's/^soft:context-switches.* //p' /tmp/probed)" 10 60 "or by a program"

# Killed, it leaves a process that closes what takes time, and then nothing.
rm -f /tmp/probed.err
probing -v count 'fn:blk_mq_s*' by probe -- sleep 5 >/tmp/probed 2>/tmp/probed.err &
wait_for 60 grep -q '^tables' /tmp/probed.err
ok $? "many functions again"
kill -9 $!
nothing_left() { [ "$(bpf_objects)" = "$before" ]; }
wait_for 60 nothing_left
ok $? "no program, link or map stays"
no_process() { ! pidof probing >/dev/null && ! grep -q iosonar-close /proc/[0-9]*/comm; }
wait_for 10 no_process
ok $? "nor a process"
done_testing
