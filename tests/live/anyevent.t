#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# count, sum, hist, print, pair and stacks of any event on this machine: do they count what happens, exactly? Second
# instruments: programs that do a known number of things under names of their own, and what the kernel says of a process.
# Functions of the kernel are probed where it has kprobes or fentry; where not, the refusal has to say why.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2317 # called by the trap
clean() { [ -z "$tmp" ] || rm -rf "$tmp"; }

# ask COMMAND WORD...: one run with JSON in $tmp/json, words in $tmp/err, exit code in $code. Some kernels hide tasks of
# the machine's owner from every program; what the kernel says it skipped is exit 3, proves nothing about us, and is
# repeated, once in a test.
ask() {
	ask_once "$@"
	[ "$code" = 3 ] && grep -q '"skipped":[1-9]' "$tmp/json" || return 0
	again "anyevent $1" "$(grep -h 'lost [0-9]' "$tmp/err")"
	ask_once "$@"
}
ask_once() {
	local view=$1
	shift
	timeout 60 "$IOSONAR" "$view" -o json --out "$tmp/json" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
}

# sum KEY [TEXT]: over the rows of the whole run that have this text in them.
sum() {
	grep -v '"type":"event_ledger"' "$tmp/json" | grep -v '"span":"interval"' | grep -F -- "${2-}" |
		sed -n "s/.*\"$1\":\(-*[0-9]*\).*/\1/p" | awk '{ n += $1 } END { print n + 0 }'
}
count() { sum count "${1-}"; }
lines() { grep -v '"type":"event_ledger"' "$tmp/json" | grep -cF -- "${1-}"; }
term() { sed -n "s/^{\"type\":\"event_ledger\",.*\"$1\":\([0-9]*\).*/\1/p" "$tmp/json"; }

# is_whole WHAT: exit 0, and every hit is somewhere.
is_whole() {
	is "$code" 0 "$1: exit 0"
	is "$(term hits)" "$(($(term refused) + $(term added) + $(term sent) + $(term begun) + $(term no_start)))" "$1: every hit is accounted for"
}

# ---- tracepoints ----

reads() { echo "if=/dev/zero of=/dev/null bs=512 count=$1 status=none"; }
mine='comm == "probe-dd"'

check_tracepoints() {
	# shellcheck disable=SC2046 # words are words
	ask count syscalls:sys_enter_read by comm if "$mine && count == 512" -- "$tmp/probe-dd" $(reads 17)
	is_whole "a tracepoint"
	is "$(count '"comm":"probe-dd"') $(count)" "17 17" "17 reads are counted"
	# shellcheck disable=SC2046
	ask sum syscalls:sys_exit_read of ret if "$mine && ret == 512" -- "$tmp/probe-dd" $(reads 17)
	is "$code $(sum sum)" "0 $((17 * 512))" "their bytes are added up"
	# shellcheck disable=SC2046
	ask hist syscalls:sys_exit_read of ret --log2 if "$mine && ret == 512" -- "$tmp/probe-dd" $(reads 17)
	is "$code $(grep '"type":"bucket"' "$tmp/json" | sed 's/.*"from":\([0-9]*\).*"count":\([0-9]*\).*/\1 \2/')" "0 512 17" "and are in their bucket"
	ask count 'syscalls:sys_enter_*' by probe if "$mine" -- "$tmp/probe-dd" if=/dev/null of=/dev/null status=none
	is "$code $(count sys_enter_exit_group)" "0 1" "one of hundreds of events"
	[ "$(grep -c '"count":0' "$tmp/json")" -gt 100 ]
	ok $? "those that never happened are there"
}

check_texts() {
	ask print 'syscalls:sys_enter_mkdir*' show 'str(pathname), args(pathname)' if 'comm == "probe-mkdir"' -- "$tmp/probe-mkdir" "$tmp/d1" "$tmp/d2"
	is "$code $(lines "$tmp/d1") $(lines "$tmp/d2") $(lines)" "0 1 1 2" "what a pointer points at is printed"
	is "$(term faults)" 2 "a text is no list of them: that is counted" # its 8 bytes are no address
}

check_syscalls() {
	local none=$tmp/no-such-file
	ask print syscalls:sys_enter_openat syscalls:sys_exit_openat if 'comm == "probe-cat"' -- "$tmp/probe-cat" "$none"
	is "$(lines "\"dfd\":\"AT_FDCWD\",\"filename\":\"$none\",\"flags\":\"O_RDONLY\",\"mode\":\"0\"")" 1 "a system call's arguments in words"
	[ "$(lines '"ret":"ENOENT"')" -ge 1 ]
	ok $? "and its error"
	ask pair raw_syscalls:sys_enter raw_syscalls:sys_exit on tid --each if 'comm == "probe-cat"' -- "$tmp/probe-cat" "$none"
	is "$(grep -F "AT_FDCWD, \\\"$none\\\", O_RDONLY, 0" "$tmp/json" | grep '"entry_id":"openat"' | grep -c '"ret":"ENOENT"')" 1 "all calls of a program, with texts and errors"
	: >"$tmp/old-name"
	ask print raw_syscalls:sys_enter if 'comm == "probe-mv"' -- "$tmp/probe-mv" "$tmp/old-name" "$tmp/new-name"
	grep '"id":"rename' "$tmp/json" | grep -qE "$tmp/old-name.*$tmp/new-name"
	ok $? "both texts of a call"
	# shellcheck disable=SC2016 # it is for the other shell
	ask print syscalls:sys_enter_read --keep-privileges if 'comm == "probe-busy"' -- "$tmp/probe-busy" -c 'exec 9</etc/passwd; read -u 9 x; sleep 0.5; :'
	[ "$(lines '"fd":"9</etc/passwd>"')" -ge 1 ]
	ok $? "a file descriptor has its path"
}

# ask_unread EVENT [CLAUSE]... -- WORD...: what a program does whose paths are in pages that were never touched.
ask_unread() {
	local view=$1
	shift
	ask "$view" "${@:1:$#-2}" if 'comm == "unread"' -- "$tmp/operands" "${@: -2}"
}

check_unread() {
	if ! cc -O1 -o "$tmp/operands" "$(dirname "$0")/../vm/operands.c" 2>"$tmp/err"; then
		skip "texts that are not in memory" "there is no compiler"
		return
	fi
	ask_unread print syscalls:sys_enter_execve show 'str(filename), args(argv), comm' exec 1
	is_whole "a path in a page that was never touched"
	is "$(lines '"str_filename":"/bin/true","args_argv":"true unread","by_comm":"unread"') $(term faults)" "1 0" "execve: it is there, and all else is the caller's"
	ask_unread print syscalls:sys_enter_execve show 'str(filename)' thread 1
	is "$code $(lines '"str_filename":"/bin/true"')" "0 1" "execve by another thread than the first one"
	ask_unread print syscalls:sys_enter_execve show 'str(filename)' failing 1
	is "$code $(lines '"str_filename":"/nowhere"') $(lines)" "0 1 2" "execve that fails"
	ask_unread count 'syscalls:sys_enter_rename*' by 'str(oldname), str(newname)' rename 17
	is_whole "both paths"
	is "$(count '"str_oldname":"/tmp/unread-a","str_newname":"/tmp/unread-b"')" 17 "in a key"
	ask_unread print raw_syscalls:sys_enter rename 17
	is "$code $(lines '\"/tmp/unread-a\", \"/tmp/unread-b\"')" "0 17" "among all system calls"
	ask_unread print raw_syscalls:sys_enter exec 1
	is "$code $(lines '"id":"execve","args":"\"/bin/true\", ')" "0 1" "execve among them"
	ask_unread print syscalls:sys_enter_openat show 'str(filename)' invalid 13
	is_whole "an address of no memory"
	is "$(lines '"str_filename":null') $(term faults)" "13 13" "is no text, and counted"
	mkfifo /tmp/unread-fifo 2>/dev/null
	# shellcheck disable=SC2016 # it is for the other shell
	ask print syscalls:sys_enter_openat show 'str(filename)' if 'comm == "unread"' -- sh -c 'timeout 3 "$1" fifo & sleep 1' sh "$tmp/operands"
	is "$code $(term lost_text) $(lines)" "3 1 0" "a call that has not ended is lost, and said"
	rm -f /tmp/unread-fifo
}

check_pairs() {
	# shellcheck disable=SC2046
	ask pair syscalls:sys_enter_read syscalls:sys_exit_read on tid by 'entry.count, ret' if "$mine && entry.count == 512" -- "$tmp/probe-dd" $(reads 19)
	is_whole "a pair"
	is "$(grep '"type":"pair"' "$tmp/json" | grep '"ret":512' | sed 's/.*"count":\([0-9]*\).*/\1/')" 19 "19 reads have both ends"
	# shellcheck disable=SC2046
	ask pair raw:sys_enter raw:sys_exit on tid --each by 'syscall(id)' if "$mine" -- "$tmp/probe-dd" $(reads 11)
	[ "$(lines '"syscall_id":"read"')" -ge 11 ]
	ok $? "a line for each of them"
}

# ---- raw ----

# The loader reads, too, but as often each time.
check_raw() {
	local few
	# shellcheck disable=SC2046
	ask count raw:sys_enter by 'syscall(id), probe' if "$mine" -- "$tmp/probe-dd" $(reads 23)
	is_whole "a raw tracepoint"
	few=$(count '"syscall_id":"read"')
	is "$(sed -n 's/.*"exact":\([a-z]*\).*/\1/p' "$tmp/json")" true "is exact"
	# shellcheck disable=SC2046
	ask count raw:sys_enter by 'syscall(id), probe' if "$mine" -- "$tmp/probe-dd" $(reads 120)
	is "$(($(count '"syscall_id":"read"') - few))" 97 "97 reads more are 97 more"
	ask count raw:sys_enter by 1 if 'pid == 1 && pid == 2' -t 1ms
	is "$code $(count '"1":1')" "0 0" "a constant key without a hit"
	"$IOSONAR" count raw:sys_enter by 1 if 'pid == 1 && pid == 2' -t 1ms >"$tmp/out" 2>"$tmp/err"
	is "$? $(awk 'NR == 2 { print $1, $2 }' "$tmp/out")" "0 1 0" "is a row of zeros in text"
	"$IOSONAR" count raw:sys_enter raw:sys_exit by '1, probe' if 'pid == 1 && pid == 2' -t 1ms >"$tmp/out" 2>"$tmp/err"
	is "$? $(tail -1 "$tmp/out")" "0   raw:sys_enter raw:sys_exit " "with probes beside it they are named"
	ask count raw:sched_process_exec by 'p->comm, str(bprm->filename)' if "$mine" -- "$tmp/probe-dd" if=/dev/null of=/dev/null status=none
	is "$code $(count "$tmp/probe-dd")" "0 1" "members of structs are read"
}

# ---- samples ----

check_samples() {
	local ticks
	ask count profile:99 by comm if 'comm == "probe-busy"' -- "$tmp/probe-busy" -c "end=\$((SECONDS + 2)); while [ \$SECONDS -lt \$end ]; do :; done; read -ra s </proc/\$\$/stat; echo \$((s[13] + s[14]))"
	ticks=$(cat "$tmp/out")
	is_whole "a profile"
	near "$(count)" "$ticks" 35 "99 a second of its CPU time, which is $ticks/100 s by the kernel's clock"
	ask stacks profile:99 --stack user if 'comm == "probe-busy"' -- "$tmp/probe-busy" -c "end=\$((SECONDS + 2)); while [ \$SECONDS -lt \$end ]; do :; done"
	is "$code" 0 "stacks of samples"
	[ "$(grep -c '"ustack":\["[^"]*","[^"]*' "$tmp/json")" -gt 0 ]
	ok $? "have functions"
	# shellcheck disable=SC2016 # it is for the other shell
	ask count soft:page-faults:1 by comm if 'comm == "probe-busy"' -- "$tmp/probe-busy" -c 'printf -v x "%5000000s" a; read -ra s </proc/$$/stat; echo $((s[9] + s[11]))'
	is_whole "a counter of the kernel, each time"
	near "$(count)" "$(cat "$tmp/out")" 15 "as many page faults as the kernel says"
	ask count soft:page-faults by probe -t 300ms
	is "$code" 0 "a counter without a program"
	# No machine has all of them: some of ARM's and Intel's exclude each other.
	ask count soft:page-faults 'hw:*' by probe -t 300ms
	is "$code $(grep -c 'left out: ' "$tmp/err")" "0 1" "one line says which counters this machine lacks"
	[ "$(count '"probe":"soft:page-faults"')" -gt 0 ]
	ok $? "and the others count"
	is "$(grep -c '"probe":"hw:L1-icache-prefetch-misses"' "$tmp/json")" 0 "one that is left out has no row"
	ask count interval:100ms -t 1s
	# A machine that lends its CPUs to others misses some; ten times as many or as few would be another unit.
	between "$(count)" 3 11 "ten intervals a second"
}

near() { # near GOT WANT PERCENT WHAT
	[ "$1" -gt 0 ] && [ $(($1 * 100)) -ge $(($2 * (100 - $3))) ] && [ $(($1 * 100)) -le $(($2 * (100 + $3))) ]
	ok $? "$4" || echo "# got $1, want $2 within $3 %"
}
between() { # between GOT LOW HIGH WHAT
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
	ok $? "$4" || echo "# got $1, want $2 to $3"
}

# ---- functions of programs ----

check_user() {
	local libc='user:/lib/*/libc.so.6'
	ask count "$libc:mkdir" by comm if 'comm == "probe-mkdir"' -- "$tmp/probe-mkdir" "$tmp"/u{1..7}
	is_whole "a function of libc"
	is "$(count)" 7 "7 calls of it are counted"
	ask print "$libc:mkdir" show 'str(arg0), arg1' if 'comm == "probe-mkdir"' -- "$tmp/probe-mkdir" "$tmp"/v{1..3}
	is "$code $(lines "$tmp/v") $(lines '"arg1":511')" "0 3 3" "with their arguments"
	ask count "userret:${libc#user:}:mkdir" by ret if 'comm == "probe-mkdir"' -- "$tmp/probe-mkdir" "$tmp"/v{1..5}
	is "$(count '"ret":0,')" 2 "and what they returned"
	ask hist "$libc:mkdir" of latency if 'comm == "probe-mkdir"' -- "$tmp/probe-mkdir" "$tmp"/w{1..7}
	is "$code $(grep '"type":"hist"' "$tmp/json" | sed 's/.*"count":\([0-9]*\).*/\1/')" "0 7" "how long each took"
	ask stacks "$libc:chdir" --stack user if 'comm == "probe-busy"' -- "$tmp/probe-busy" -c 'cd /; cd /dev; sleep 0.5; :'
	# Programs without frame pointers, as on x86_64, show the function alone.
	is "$code $(sum count '"ustack":["chdir')" "0 2" "and where it was called, though the process has ended"
	ask count "$libc:no_such_function" -- true
	is "$code" 2 "one that is not there is refused"
	check_nested
}

# The kernel reports 64 returns of the calls that a task has open, and asks whether these are there before it forgets what
# longjmp left: the program at the entries has to do the same.
check_nested() {
	local f=$tmp/nested:nested_call
	if ! cc -O2 -o "$tmp/nested" "$(dirname "$0")/../vm/nested.c" 2>"$tmp/err"; then
		skip "returns that are nested deeper than 64" "no compiler"
		return
	fi
	nested() { ask count "userret:$f" "user:$f" by probe -- "$tmp/nested" "$@"; }
	nested 60
	is "$code $(count '"userret:') $(count '"user:') $(term omitted)" "0 61 61 0" "61 nested calls, 61 returns"
	is "$(sed -n 's/.*"exact":\([a-z]*\).*/\1/p' "$tmp/json")" false "that are not called exact"
	nested 1000
	is "$code $(count '"userret:') $(count '"user:') $(term omitted)" "3 64 1001 937" "of 1,001 the kernel reports 64, and 937 are counted as omitted"
	nested 40 3
	is "$code $(count '"userret:') $(term omitted)" "0 41 0" "calls that longjmp ended take no place"
	nested 63 5
	is "$code $(count '"userret:') $(term omitted)" "3 0 256" "unless they take all"
}

check_usdt() {
	local probing=${IOSONAR%/*}/vm/probing
	[ -x "$probing" ] || { skip "a USDT probe" "$probing is not built (make helpers)"; return; }
	ask count "usdt:$probing:probing:call" by arg0 -- "$probing" --call 13
	is_whole "a USDT probe"
	is "$(count) $(count '"arg0":12,')" "13 1" "13 hits, each with its argument"
}

# ---- kernel functions ----

check_functions() {
	ask count fn:do_mkdirat if 'comm == "probe-mkdir"' -- "$tmp/probe-mkdir" "$tmp"/f{1..7}
	if [ "$code" = 0 ]; then
		is "$(count)" 7 "a function of the kernel is counted"
		return
	fi
	is "$code" 4 "kernel functions cannot be probed here"
	grep -qE 'functions cannot be probed here: .*(no kprobes|locked down|CAP_)' "$tmp/err"
	ok $? "and it says why"
	is "$(grep -c . "$tmp/err")" 1 "in one line"
	[ ! -e "$tmp/f1" ]
	ok $? "the command was not run"
	for words in "calls vfs_read" "class bio" "class bio --calls"; do
		# shellcheck disable=SC2086 # words are words
		ask $words -- mkdir "$tmp/f1"
		is "$code $(grep -c '^iosonar: functions cannot be probed here: ' "$tmp/err") $(grep -c . "$tmp/err")" "4 1 1" "$words: one line, too"
		[ ! -e "$tmp/f1" ]
		ok $? "and the command was not run"
	done
}

# What is wrong with the line is said before anything is attached.
check_class_words() {
	ask class bio --if 'nosuch > 3' -- true
	is "$code $(grep -c "^iosonar: --if: unknown field 'nosuch'" "$tmp/err")" "2 1" "class: a condition on a member that is none"
	ask class bio --fields nosuch -- true
	is "$code $(grep -c "^iosonar: --fields: unknown member 'nosuch' of struct bio" "$tmp/err")" "2 1" "class: a field that is none"
}

# ---- the run ----

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
[ -r /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
[ -e /sys/kernel/tracing/events/syscalls ] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
[ -e /sys/kernel/tracing/events/syscalls ] || skip_all "this kernel has no events of system calls"
trap clean EXIT
trap "exit 1" HUP INT TERM
tmp=$(mktemp -d /tmp/iosonar-anyevent.XXXXXX) || skip_all "no room in /tmp"
ln -s "$(command -v dd)" "$tmp/probe-dd"
ln -s "$(command -v mkdir)" "$tmp/probe-mkdir"
ln -s "$(command -v cat)" "$tmp/probe-cat"
ln -s "$(command -v mv)" "$tmp/probe-mv"
ln -s "$(command -v bash)" "$tmp/probe-busy"

check_tracepoints
check_texts
check_syscalls
check_unread
check_pairs
check_raw
check_samples
check_user
check_usdt
check_functions
check_class_words
echo "1..$nr"
exit $((failed > 0))
