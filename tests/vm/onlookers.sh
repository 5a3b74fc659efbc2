# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2086 # words are words
# shape: nvme
# kernels: 7.2
# timeout: 120
#
# onlookers: nothing that iosonar attaches changes what others see. Beside it perf's counters (onlooker counts as
# `perf stat -a` does), ftrace's buffer and a second copy of iosonar count 101 direct reads and 13 calls of a function of a
# process, and so does iosonar: with classic tracepoints, switched on and switched off, kprobes, fentry, uprobes, latency
# and cache.

dev=$(disk io0)
set_scheduler "$dev" none
reads="dd if=/dev/$dev of=/dev/null bs=4k count=101 iflag=direct status=none"
self=/usr/bin/probing

# runs NAME WORD...: starts iosonar into /tmp/NAME and waits until it is attached; `ends NAME` gives its exit status.
runs() {
	runs_name=$1
	shift
	rm -f "/tmp/$runs_name.err"
	iosonar "$@" -v -o json --out "/tmp/$runs_name" 2>"/tmp/$runs_name.err" &
	eval "runs_$runs_name=$!"
	wait_for 60 grep -q '^tables' "/tmp/$runs_name.err" || note "$(cat "/tmp/$runs_name.err")"
}
ends() {
	eval "kill -INT \$runs_$1 && wait \$runs_$1"
	ends_status=$?
	[ $ends_status -eq 0 ] || note "$(cat "/tmp/$1.err")"
	return $ends_status
}

# looks EVENT... -- COMMAND...: what the onlooker counts, into /tmp/looked.
looks() { onlooker "$@" >/tmp/looked 2>/tmp/looked.err || note "$(cat /tmp/looked.err)"; }
looked() { sed -n "s,^$1 ,,p" /tmp/looked; }
# counted NAME PATTERN: iosonar's own count, of the rows that match.
counted() { grep '"type":"count"' "/tmp/$1" | grep '"span":"total"' | grep "$2" | grep -o '"count":[0-9]*' | cut -d: -f2 | awk '{ s += $1 } END { print s + 0 }'; }

# --- classic tracepoints, and a second copy ---

looks block/block_rq_issue -- $reads
is "$(looked block/block_rq_issue)" 101 "perf counts 101 reads without iosonar"
runs one count block:block_rq_issue if 'comm == "dd"'
runs two count block:block_rq_issue if 'comm == "dd"'
ftrace_start block/block_rq_issue
looks block/block_rq_issue -- $reads
ftrace_stop /tmp/ftrace
ends one
ok $? "count block:block_rq_issue exits 0"
ends two
ok $? "so does its second copy"
is "$(looked block/block_rq_issue)" 101 "perf counts 101 beside both"
is "$(ftrace_count /tmp/ftrace block_rq_issue)" 101 "ftrace has 101"
is "$(counted one .) $(counted two .)" "101 101" "each copy counts 101"

# A system call's tracepoint has a way of its own through the kernel; a condition that refuses is another way out.
runs one count syscalls:sys_enter_sync if 'pid == 1'
looks syscalls/sys_enter_sync -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do sync; done'
ends one
ok $? "count syscalls:sys_enter_sync exits 0"
is "$(looked syscalls/sys_enter_sync)" 13 "perf counts 13 calls that the condition refuses"

# Five and more have a switch. It is off as soon as the run ends; the process that closes the programs is stopped so that
# they stay attached, switched off.
runs one count block:block_rq_issue block:block_rq_complete block:block_bio_queue block:block_getrq block:block_split by probe
looks block/block_rq_issue block/block_rq_complete -- $reads
is "$(looked block/block_rq_issue) $(looked block/block_rq_complete)" "101 101" "perf counts 101 beside programs with a switch"
closer=$(pidof iosonar-close)
kill -STOP "$closer"
ok $? "the process that closes them is there and stopped"
ends one
ok $? "five tracepoints: exits 0"
is "$(counted one '"probe":"block:block_rq_issue"')" 101 "iosonar counts 101 itself"
looks block/block_rq_issue block/block_rq_complete -- $reads
is "$(looked block/block_rq_issue) $(looked block/block_rq_complete)" "101 101" "perf counts 101 while they are switched off"
kill -CONT "$closer"

# --- functions: by fentry or kprobe, and many by kprobe.multi where there is that ---

fns="kprobe:blk_mq_start_request kretprobe:blk_mq_start_request"
runs one count fn:blk_mq_start_request ret:blk_mq_start_request fn:nvme_setup_cmd by probe
runs two count 'fn:blk_mq_sta*' by func
looks $fns kprobe:nvme_setup_cmd -- $reads
ends one
ok $? "three functions: exits 0"
ends two
ok $? "many functions: exits 0"
note "$(grep -h '^attached' /tmp/one.err /tmp/two.err)"
is "$(cut -d' ' -f2 /tmp/looked | tr '\n' ' ')" "101 101 101 " "kprobes of others, of the same functions, count 101"
is "$(counted one '"probe":"fn:blk_mq_start_request"') $(counted one '"probe":"ret:blk_mq_start_request"')" "101 101" "iosonar's count 101"
is "$(counted two '"func":"blk_mq_start_request"')" 101 "the second copy's count 101"

# --- a process's function ---

runs one count "user:$self:probing_target" "userret:$self:probing_target" by probe
runs two count "user:$self:probing_target" "userret:$self:probing_target" by probe
looks "uprobe:$self:probing_target" "uretprobe:$self:probing_target" -- probing --call 13
ends one
ok $? "a user function: exits 0"
ends two
ok $? "so does its second copy"
is "$(cut -d' ' -f2 /tmp/looked | tr '\n' ' ')" "13 13 " "uprobes of others, of the same function, count 13"
is "$(counted one '"probe":"user:')" 13 "iosonar counts 13 calls"
is "$(counted one '"probe":"userret:')" 13 "and 13 returns"
is "$(counted two '"probe":"user:') $(counted two '"probe":"userret:')" "13 13" "the second copy's too"

# --- the collectors ---

runs one latency -d "$dev"
runs two cache
looks block/block_rq_issue block/block_rq_complete nvme/nvme_setup_cmd $fns -- $reads
ends one
ok $? "latency: exits 0"
ends two
ok $? "cache: exits 0"
is "$(cut -d' ' -f2 /tmp/looked | tr '\n' ' ')" "101 101 101 101 101 " "tracepoints and kprobes of others count 101 beside latency and cache"
done_testing
