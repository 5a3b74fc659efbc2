# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154,SC2317 # the libraries set variables; they call what is defined here
# shape: nvme
# timeout: 200
# kernels: 6.1
# brings: docs/one-liners.md tests/vm/oneliners_lib.sh
#
# oneliners_cpu: the section "CPU" of docs/one-liners.md: every line runs as it stands there, its ledger balances, and its
# figure is that of a second source. A line that this machine cannot run is refused in the words that stand below it.

# shellcheck source-path=SCRIPTDIR source=oneliners_lib.sh
. /tests/oneliners_lib.sh
page CPU
read_lists_once

# ---- programs, system calls, functions, threads ----

befores() { start_calls; }
afters() { finish_calls; }
loads() { run_calls; }
hears() {
	hear calls "$calls_pid" '' 'vfs_*'
	hear ls '' 'raw_syscalls/sys_enter raw_syscalls/sys_exit' '' 'COMM == "ls"'
	listen 1 ls # it runs before the load
}
# The only ls whose lines have a pid is that of 14; the other one is 13's.
ls_calls() { sed -n "s/^ *ls-\([0-9]*\) .* $1: .*/\1/p" /tmp/heard/ls | grep -c "$2" "$ls_pid"; }
checks() {
	for name in read write openat newfstatat brk; do
		is "$(total 22 "\"syscall_id\":\"$name\"")" "$(did $name)" "22: $name"
		is "$(total 61 "\"probe\":\"syscalls:sys_enter_$name\"")" "$(did $name)" "61: $name"
	done
	is "$(total 21 "\"pid\":$calls_pid,\"comm\":\"calls\"")" "$(total 22)" "21: as many as of all kinds together"
	is "$(total 59 '"comm":"calls"')" "$(total 22)" "59: the same"
	same 25 "functions, by name" "$(table 25 func)" "$(calls_of calls vfs_)"
	is "$(lines 26 '"probe":"user:/.*/libc.so.6:pthread_create"')" "$(did pthread_create)" "26: threads"
	rows 26 | grep -q calls_do
	ok $? "26: and who started them" || note "$(rows 26)"

	is "$(total 9)" "$(did execve)" "9: programs"
	is "$(lines 10 '"filename":"/bin/busybox"')" "$(did execve)" "10: by name"
	is "$(lines 19 '"args_entry_argv":"/bin/busybox true","ret":0')" "$(did execve)" "19: with their arguments"
	is "$(lines 20 '"comm":"calls".*"str_filename":"/bin/busybox"')" "$(did execve)" "20: and who started them"

	ls_pid=$(rows 14 | sed -n '1s/.*"pid":\([0-9]*\).*/\1/p')
	is "$(lines 14)" "$(ls_calls sys_enter -x)" "14: system calls of ls, a line for each"
	# Its execve began under another name, and exit_group does not end.
	is "$(lines 13)" "$(($(ls_calls sys_exit -vx) - 1))" "13: those that ended"
	same 13 "by name" "$(rows 13 | sed 's/.*"entry_id":"\([a-z0-9_]*\)".*/\1/' | each_name)" \
		"$(rows 14 | sed 's/.*"probe":"syscalls:sys_enter_\([a-z0-9_]*\)".*/\1/;s/^newuname/uname/;s/^sendfile64/sendfile/' | grep -v exit_group | each_name)"

	for key in 3 4 8 N1; do
		refused $key 4
	done
	# An emulated CPU of arm64 has some of these counters.
	if [ "$(cat /tmp/runs/2.status)" = 0 ]; then
		grep -qF "$(cat /tmp/lines/2.says)" /tmp/runs/2.err
		ok $? "2: names the counters that are missing" || note "$(cat /tmp/runs/2.err)"
	else
		refused 2 4
	fi
	[ "$(uname -m)" = x86_64 ] || refused 69 2
	is "$(cat /tmp/runs/1.status)" 0 "1: exits 0"
	grep -q '^soft:page-faults ' /tmp/runs/1.out && grep -q '^hw:cache-misses ' /tmp/runs/1.out
	ok $? "1: counters by name"
}
of_process='21 59 22 61 25 26' of_family='9 10 19 20'
besides='1 2 3 4 8 N1'
[ "$(uname -m)" = x86_64 ] || besides="$besides 69"
watch 61 14 25 26 21 59 22 9 10 19 20 13

# ---- who is on the CPU, who waits, who interrupts ----

schedstat() { cut -d' ' -f"$1" "/proc/$calls_pid/schedstat"; }
befores() { start_calls; }
loads() {
	run_ns=$(schedstat 1) slices=$(schedstat 3)
	run_calls
	run_ns=$(($(schedstat 1) - run_ns)) slices=$(($(schedstat 3) - slices))
}
hears() { hear calls "$calls_pid" 'timer/hrtimer_expire_entry sched/sched_switch' 'smp_call*'; }
mine() { total "$1" "\"$2_comm\":\"calls\",\"$2_pid\":$calls_pid,"; }
checks() {
	# Each of the four has a timer of its own; a sample that interrupts a program is skipped.
	samples=$(happened calls hrtimer_expire_entry 'function=perf_swevent_hrtimer')
	taken=$(($(total 5) + $(total 23) + $(total 63) + $(total 66)))
	between "$taken" $((samples * 9 / 10)) $((samples * 11 / 10)) "5, 23, 63, 66: samples, as ftrace sees the timers"
	between "$(total 63 '"comm":"calls"')" 10 $((run_ns * 109 / 1000000000 + 3)) "63: about 99 a second of its time on the CPU, at most"
	between "$(total 23)" 5 $((run_ns * 54 / 1000000000 + 3)) "23: about 49 a second, at most"
	rows 23 | grep -q '"calls_burn","calls_do'
	ok $? "23: some are where it burns" || note "$(rows 23)"
	rows 5 '"comm":"calls"' | grep -q calls_burn
	ok $? "5: with the process's stack" || note "$(rows 5)"
	rows 5 '"comm":"calls"' | grep -q 'el0\|entry_SYSCALL\|asm_'
	ok $? "5: and the kernel's" || note "$(rows 5)"
	between "$(bucket 66 1)" $(($(total 66) / 2)) "$(total 66)" "66: most are on CPU 1, where it burns" || note "$(rows 66)"

	# /proc/PID/schedstat counts a slice only if the task was queued for it: one that is preempted on its way to sleep is not.
	switches=$(happened calls sched_switch "prev_pid=$calls_pid ")
	is "$(mine 11b prev)" "$switches" "11b: times on the CPU, as ftrace sees the switches"
	between "$slices" $((switches * 3 / 4)) "$switches" "11b: of which /proc/PID/schedstat counts most"
	on_ns=$(($(mine 11b prev) * $(rows 11b "\"prev_comm\":\"calls\",\"prev_pid\":$calls_pid," | value mean_ns)))
	between "$on_ns" $((run_ns * 9 / 10)) $((run_ns * 5 / 4)) "11b: and how long, together"
	is "$(mine 11c next)" $(($(mine 11b prev) - 1)) "11c: times off it, between those"
	between "$(mine 11 next)" 1 "$switches" "11: times that it was woken"

	same 68 "functions, by stack" "$(stacks 68 fn)" "$(calls_of calls smp_call)"
	! rows 68 | grep -q '"kstack_5":\["[^"]*"\(,"[^"]*"\)\{5\}'
	ok $? "68: of five frames"
}
stacks() { rows "$1" | sed -n "s/.*\"probe\":\"$2:\([^\"]*\)\".*\"count\":\([0-9]*\).*/\1 \2/p" | by_name; }
of_process='5 63 66 68' of_family='' besides=''
watch 68 5 23 63 66 11 11b 11c

# Interrupts come into programs, and a classic one is skipped then: these lines have nobody beside them.
befores() { start_calls; }
loads() { run_calls; }
ipis=
[ ! -e "$tracefs/events/ipi" ] || ipis=$(cd "$tracefs/events/ipi" && ls -d ipi_*)
hears() { hear calls "$calls_pid" "${ipis:+ipi}" 'x2apic_send_IPI*'; }
of_event() { sed -n "s/^$1 //p" | grep . || echo 0; }
checks() {
	# ftrace listens to the load alone. Their names are the architecture's.
	for name in $ipis; do
		heard=$(events_of calls ipi | of_event "$name")
		between "$(stacks 69b ipi | of_event "$name")" "$heard" $((heard + 5)) "69b: $name"
	done
	if [ -n "$ipis" ]; then
		[ -n "$(stacks 69b ipi)" ]
		ok $? "69b: there are interrupts between processors"
	else # x86_64 before 6.4
		is "$(cat /tmp/runs/69b.status) $(grep -c . /tmp/runs/69b.err)" "2 1" "69b: without such events the line is refused" ||
			note "$(cat /tmp/runs/69b.err)"
	fi
	[ "$(uname -m)" != x86_64 ] || is "$(stacks 69 fn)" "$(calls_of calls x2apic)" "69: functions, by stack"
}
of_process='69 69b'
on_x86=
[ "$(uname -m)" != x86_64 ] || on_x86=69
if [ -n "$ipis" ]; then
	# shellcheck disable=SC2086 # words are words
	watch 69b $on_x86
else
	besides=69b
	watch 69
fi

page_is_done
done_testing
