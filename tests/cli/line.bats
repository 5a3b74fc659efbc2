#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The any-event commands at the door: which clauses and values a shell offers, what their options do, and that rows that
# look alike are one. What they count is tested in tests/live and tests/vm.

setup() {
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
}

needs_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
}

needs_tracefs() {
	needs_root
	[ -r /sys/kernel/tracing/available_events ] || skip "tracefs cannot be read here"
}

# Runs it with these words; leaves $status, and what it said in $tmp. What a kernel skips now and then is no fault of the
# line, and counts as 0; any other loss is one.
runs() {
	status=0
	"$iosonar" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	[ "$status" -eq 3 ] && grep -q '^iosonar: lost ' "$tmp/err" || return 0
	[ "$(grep '^iosonar: lost ' "$tmp/err" | grep -vc ': the kernel was running another program on that CPU$')" -gt 0 ] || status=0
}

# completes WORD...: what bash would offer for the last word, on one line; it cuts words at colons
completes() {
	COMP_WORDS=("$iosonar" "$@")
	COMP_CWORD=$#
	_iosonar
	echo "${COMPREPLY[*]}"
}

@test "bash completes events for every command" {
	# shellcheck disable=SC1090
	source <("$iosonar" --completion bash)
	for command in count sum hist print pair stacks; do
		[ "$(completes "$command" soft : page)" = page-faults ] || { echo "$command"; return 1; }
		[ "$(completes "$command" use)" = "user: userret:" ] || { echo "$command"; return 1; }
		[ "$(completes "$command" --dur)" = --duration ] || { echo "$command"; return 1; }
	done
	[ -z "$(completes count --b)" ] # clauses have no dashes
}

@test "bash completes the clauses that a command has and the line has not" {
	# shellcheck disable=SC1090
	source <("$iosonar" --completion bash)
	has() { [[ " $(completes "${@:2}") " == *" $1 "* ]]; }
	lacks() { [[ " $(completes "${@:2}") " != *" $1 "* ]]; }
	has if count soft : page-faults : 1 i
	has by count soft : page-faults : 1 b
	lacks of count soft : page-faults : 1 o
	lacks on count soft : page-faults : 1 o
	has of sum soft : page-faults : 1 o
	has of hist soft : page-faults : 1 o
	has show print soft : page-faults : 1 sh
	lacks by print soft : page-faults : 1 b
	has on pair soft : page-faults : 1 soft : cpu-clock : 10000 o
	has by stacks soft : page-faults : 1 b
	[ "$(completes count soft : page-faults : 1 by comm i)" = if ]
	[ -z "$(completes count soft : page-faults : 1 by comm b)" ] # it is there
	[ -z "$(completes count soft : page-faults : 1 by i)" ] # a value has to come first
}

@test "bash completes values of the events that are typed" {
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	# shellcheck disable=SC1090
	source <("$iosonar" --completion bash)
	[ "$(completes count raw : sched_switch by pre)" = "$("$iosonar" events -v -o csv raw:sched_switch | cut -d, -f2 | grep '^pre' | paste -sd' ')" ]
	[ "$(completes sum raw : sched_wakeup of "'p->pi")" = "$("$iosonar" events -v -o csv raw:sched_wakeup | cut -d, -f2 | grep '^p->pi' | paste -sd' ')" ]
	[[ " $(completes print raw : sched_wakeup show "'comm, p->pi") " == *" p->pid "* ]]
	[ "$(completes hist raw : sched_switch of cpu if lat)" = latency ]
	[ "$(completes stacks raw : sched_switch by com)" = comm ]
	[[ " $(completes pair raw : sched_wakeup raw : sched_switch on "") " == *" prev "* ]]
	[[ " $(completes pair raw : sched_wakeup raw : sched_switch on "") " == *" p "* ]]
}

@test "the zsh completion offers the same clauses" {
	command -v zsh >/dev/null || skip "zsh is missing"
	"$iosonar" --completion zsh >"$tmp/_iosonar"
	cat >"$tmp/offers" <<-'E'
		_files() { : }
		_normal() { : }
		compset() { : }
		compdef() { : }
		compadd() { while [[ ${1:-} == -[^-]* ]]; do shift; done; [[ ${1:-} != -- ]] || shift; print -r -- "$@" }
		source "$1"
		shift
		words=("$@") CURRENT=$#
		_iosonar_offer_events() { : }
		_iosonar_offer_line
	E
	offers() { zsh -f "$tmp/offers" "$tmp/_iosonar" "$@" 2>/dev/null | head -1; }
	[ "$(offers count soft:page-faults:1 '')" = "by if" ]
	[ "$(offers hist soft:page-faults:1 '')" = "of by if" ]
	[ "$(offers print soft:page-faults:1 '')" = "show if" ]
	[ "$(offers pair a b '')" = "on by if" ]
	[ "$(offers pair a b on tid '')" = "by if" ]
	[ "$(offers stacks a by comm '')" = "if" ]
}

@test "--emit prints instructions on stderr, and the run goes on" {
	needs_root
	runs count raw:sched_switch --emit -t 100ms -o csv
	[ "$status" -eq 0 ]
	grep -qE '^ +1: r1 = map' "$tmp/err"
	grep -qE '^ +[0-9]+: exit$' "$tmp/err"
	[ "$(head -1 "$tmp/out")" = span,time_s,wall,count,per_s ]
	[ "$(wc -l <"$tmp/out")" -eq 2 ]
}

@test "-n counts intervals of rows, and lines where there are lines" {
	needs_root
	runs count raw:sched_switch -i 50ms -n 3 -o csv
	[ "$(grep -c '^interval,' "$tmp/out")" -eq 3 ]
	[ "$(grep -c '^total,' "$tmp/out")" -eq 1 ]
	runs print raw:sched_switch show cpu -n 3 -o csv
	[ "$(wc -l <"$tmp/out")" -eq 4 ]
	runs pair raw:sched_switch raw:sched_switch on 'next->pid = prev->pid' --each -n 3 -o json
	[ "$(grep -c '"type":"each"' "$tmp/out")" -eq 3 ]
}

@test "a column has the name of its value" {
	needs_root
	runs print raw:sched_switch show 'prev->comm, cpu, errno(-5), prev->pid + 1, prev->pid, PREV_x' -n 1
	[ "$status" -eq 2 ] # the last one is none
	runs print raw:sched_switch show 'prev->comm, cpu, errno(-5), prev->pid + 1, prev->pid' -n 1 -o csv
	[ "$(head -1 "$tmp/out")" = time_s,wall,cpu,comm,pid,tid,probe,prev_comm,by_cpu,errno_5,prev_pid_1,prev_pid ]
}

@test "events whose values agree share one heading; else each value has its name" {
	needs_tracefs
	# The command's tasks switch, and who writes wakes who reads, whatever else this machine does. Names of tasks may have blanks.
	runs print raw:sched_switch raw:sched_waking show 'cpu, func' -- \
		sh -c 'for i in 1 2 3 4; do { sleep 0.1; echo; } | cat; done >/dev/null'
	[ "$(grep -c '^ *time ' "$tmp/out")" -eq 1 ]
	grep -qE ' raw:sched_switch +[0-9]+ +sched_switch *$' "$tmp/out"
	grep -qE ' raw:sched_waking +[0-9]+ +sched_waking *$' "$tmp/out" || { sort "$tmp/err" "$tmp/out" | tail -50; false; }
	runs print sched:sched_switch syscalls:sys_enter_read syscalls:sys_exit_read if 'cpu >= 0' -n 60 -o csv
	[ "$(grep -c '^time_s' "$tmp/out")" -eq 1 ]
	runs print syscalls:sys_enter_openat sched:sched_process_exec show 'filename, kstack(1)' -- sh -c 'cat /dev/null; :'
	[ "$(grep -c '^ *time ' "$tmp/out")" -eq 1 ]
	grep -q ' sched:sched_process_exec  */.*/cat$' "$tmp/out"
	grep -q ' syscalls:sys_enter_openat  *0x[0-9a-f]*$' "$tmp/out"
	runs print syscalls:sys_enter_openat sched:sched_process_exec show 'pid, kstack(1)' -- sh -c 'cat /dev/null; :'
	[ "$(grep -c '^ *time ' "$tmp/out")" -eq 1 ]
	grep -q ' sched:sched_process_exec  *pid=[0-9]*$' "$tmp/out" # a field, and signed
	grep -q ' syscalls:sys_enter_openat  *pid=[0-9]*$' "$tmp/out"
	[ "$(grep -c '^      [a-z]' "$tmp/out")" -gt 2 ] # stacks stand below
}

@test "what never happened is named, but not without end" {
	needs_tracefs
	runs count 'syscalls:sys_enter_*' by probe -t 50ms
	[ "$(sed -n '/^never:/,$p' "$tmp/out" | grep -c .)" -lt 20 ]
	grep -qE '^  and [0-9]+ more; -v lists them$' "$tmp/out"
	runs count 'syscalls:sys_enter_*' by probe -t 50ms -v
	[ "$(sed -n '/^never:/,$p' "$tmp/out" | wc -w)" -gt 100 ]
	[ "$(grep -c 'more; -v' "$tmp/out")" -eq 0 ]
	runs count 'syscalls:sys_enter_*' by probe -t 50ms -o json
	[ "$(grep -c '"count":0,' "$tmp/out")" -gt 100 ]
}

@test "what is exact instead is said where there is such a thing" {
	needs_root
	runs count profile:99 -t 100ms
	[ "$(grep '^counts are ' "$tmp/err")" = "counts are approximate (~): the kernel skips samples without counting them while another program runs on the CPU" ]
	runs count user:/usr/lib/*/libc.so.6:malloc -t 100ms
	[ "$(grep -c 'counts are ' "$tmp/err")" -eq 0 ]
}

@test "latency may stand in any value of a function, time from entry to return" {
	needs_root
	read='user:/lib/*/libc.so.6:read'
	of_dd() { "$iosonar" "$@" --follow -o csv --allow-loss -- dd if=/dev/zero of=/dev/null bs=1 count=1013 status=none >"$tmp/out" 2>"$tmp/err"; }
	of_dd hist "$read" of 'latency / 1000' by comm
	grep -q '^span,time_s,wall,comm,count,per_s,mean,' "$tmp/out" # no time any more
	grep -q '^total,[^,]*,[^,]*,dd,1013,' "$tmp/out"
	of_dd sum "$read" of latency by comm
	grep -q '^total,[^,]*,[^,]*,dd,[0-9]*,[0-9.]*,1013,' "$tmp/out"
	of_dd count "$read" by 'comm, latency >= 0' if 'latency < 100s'
	grep -q '^total,[^,]*,[^,]*,dd,1,1013,' "$tmp/out"
	of_dd print "$read" show 'latency, arg0' if 'latency < 100s && comm == "dd"'
	[ "$(grep -c ',dd,.*,[1-9][0-9]*,0$' "$tmp/out")" -eq 1013 ]
	runs count raw:sched_switch if 'latency > 1us' -t 1ms
	[ "$status" -eq 2 ]
}

@test "behind a clause's name a minus is one, elsewhere it begins an option" {
	needs_root
	runs sum raw:sched_switch of -cpu by -nsecs/nsecs, comm -t 50ms -o csv
	[ "$status" -eq 0 ]
	[[ $(head -1 "$tmp/out") == span,time_s,wall,nsecs_nsecs,by_comm,* || $(head -1 "$tmp/out") == span,time_s,wall,nsecs_nsecs,comm,* ]]
	grep -q '^total,[^,]*,[^,]*,-1,' "$tmp/out"
	runs count raw:sched_switch if -1 -t 50ms -o csv
	[ "$status" -eq 0 ]
	runs count raw:sched_switch by --top 3
	[ "$status" -eq 2 ]
	grep -q "nothing follows 'by'" "$tmp/err"
	runs count -ret raw:sched_switch
	[ "$status" -eq 2 ]
}

@test "what we do ourselves is next to nothing, and can be left out" {
	needs_tracefs
	# Only this run and the processes that it forks: the machine may run other copies.
	status=0
	bash -c 'exec "$0" count "syscalls:sys_enter_*" by probe -p $$ --children -t 50ms -o csv --allow-loss' "$iosonar" >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq 0 ]
	[ "$(sed -n 's/.*:sys_enter_bpf,\([0-9]*\),.*/\1/p' "$tmp/out")" -lt 10 ]
	[ "$(sed -n 's/.*:sys_enter_close_range,\([0-9]*\),.*/\1/p' "$tmp/out")" -eq 0 ]
	runs count raw_syscalls:sys_enter by comm if 'comm != "iosonar"' -t 50ms -o csv
	[ "$(grep -c ',iosonar,' "$tmp/out")" -eq 0 ]
}

@test "stacks that look alike are one row" {
	needs_root
	runs count raw:sched_switch by 'kstack(1)' -t 500ms -o json
	[ "$status" -eq 0 ]
	grep -q '"kstack_1":\["__schedule"]' "$tmp/out"
	[ -z "$(grep -o '"kstack_1":\(null\|\[.*"]\)' "$tmp/out" | sort | uniq -d)" ]
	runs stacks raw:sched_switch -t 500ms -o json
	[ -z "$(grep -o '"kstack":\(null\|\[.*"]\)' "$tmp/out" | sort | uniq -d)" ]
	[ "$(grep -o '"count":[0-9]*' "$tmp/out" | awk -F: '{ n += $2 } END { print n }')" = "$(sed -n 's/.*"hits":\([0-9]*\).*/\1/p' "$tmp/out")" ]
}

@test "without root a line is understood before anything is asked of the kernel" {
	[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || skip "needs root and setpriv"
	nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all)
	"${nobody[@]}" test -x "$iosonar" || skip "$iosonar is out of reach for another user"
	status=0
	"${nobody[@]}" "$iosonar" count profile:99 by com 2>"$tmp/err" || status=$?
	[ "$status" -eq 2 ]
	[ "$(head -1 "$tmp/err")" = "iosonar: by: unknown field 'com'; did you mean comm?" ]
	status=0
	"${nobody[@]}" "$iosonar" count profile:99 by comm -t 100ms 2>"$tmp/err" || status=$?
	[ "$status" -eq 4 ]
	[ "$(cat "$tmp/err")" = "iosonar: cannot load BPF programs: run it as root, or with CAP_BPF and CAP_PERFMON" ]
}
