#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# events: what it lists of this machine is what the machine's own files say; wrong names get the nearest right one; shells
# complete events and what they know. What needs tracefs or BTF is skipped where there is none.

setup() {
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
	tracing=/sys/kernel/tracing
}

# Runs it with these words; leaves $status, $out, $err.
events() {
	status=0
	"$iosonar" events "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	out=$(cat "$tmp/out")
	err=$(cat "$tmp/err")
}

# refused CODE MESSAGE WORD...: exactly this line on stderr, nothing on stdout
refused() {
	local code=$1 message=$2
	shift 2
	events "$@"
	[ "$status" -eq "$code" ] || { echo "$*: exit $status, not $code: $err"; return 1; }
	[ -z "$out" ] || { echo "$*: stdout: $out"; return 1; }
	[ "$err" = "iosonar: $message" ] || { echo "$*: said '$err'"; return 1; }
}

needs_tracefs() { [ -r "$tracing"/available_events ] || skip "tracefs cannot be read here"; }
needs_btf() { [ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"; }

@test "every tracepoint of the kernel's list is listed" {
	needs_tracefs
	events --names '*' -o csv
	[ "$status" -eq 0 ]
	diff <(sed 1d "$tmp/out") <(sort "$tracing"/available_events | LC_ALL=C sort)
	events -o csv
	[ "$status" -eq 0 ]
	[ "$(grep -c ',tracepoint,' "$tmp/out")" -eq "$(wc -l <"$tracing"/available_events)" ]
	grep -q '^soft:page-faults,soft,,,$' "$tmp/out"
	grep -q '^hw:cycles,hw,,,$' "$tmp/out"
	[ "$(grep -c '^name,' "$tmp/out")" -eq 1 ]
}

@test "fields are those of the format file" {
	needs_tracefs
	[ -e "$tracing"/events/sched/sched_switch ] || skip "this kernel has no sched:sched_switch"
	events -v -o csv sched:sched_switch
	[ "$status" -eq 0 ]
	diff <(sed 1d "$tmp/out" | awk -F, '{ print $2, $4, $5 }') <(sed -n 's/^\tfield:\([^;]*\);\toffset:\([0-9]*\);\tsize:\([0-9]*\);.*/\1 \2 \3/p' \
		"$tracing"/events/sched/sched_switch/format | grep -v ' common_' | sed -E 's/\[[0-9]+\] / /' | awk '{ print $(NF - 2), $(NF - 1), $NF }')
}

@test "text, JSON and CSV have the same events" {
	events soft hw -o csv
	cp "$tmp/out" "$tmp/csv"
	events soft hw
	diff <(sed 1d "$tmp/out" | cut -d' ' -f1) <(sed 1d "$tmp/csv" | cut -d, -f1)
	events soft hw -o json
	diff <(sed 's/.*"name":"\([^"]*\)".*/\1/' "$tmp/out") <(sed 1d "$tmp/csv" | cut -d, -f1)
	[[ $out == '{"type":"event","name":"soft:alignment-faults","kind":"soft","module":null,"prototype":null,"fields":null}'* ]]
}

@test "-v shows a prototype, its values and their members" {
	needs_btf
	events -v raw:block_rq_issue
	[ "$status" -eq 0 ] || skip "there is no raw:block_rq_issue"
	[ "$(head -1 "$tmp/out")" = "raw:block_rq_issue  void block_rq_issue(struct request *rq)" ]
	grep -qE '^rq +struct request \* +- +8$' "$tmp/out"
	grep -qE '^rq->q +struct request_queue \* +0 +8$' "$tmp/out"
	events -v raw:block_rq_issue -o json
	[ "$(head -1 "$tmp/out" | cut -d'"' -f4)" = event ]
	grep -q '^{"type":"value","event":"raw:block_rq_issue","value":"rq","c_type":"struct request \*","offset_bytes":null,"size_bytes":8}$' "$tmp/out"
}

@test "libraries and programs show their functions" {
	lib=$(echo /lib/*/libc.so.6)
	[ -e "$lib" ] || lib=/lib/libc.so.6
	[ -e "$lib" ] || skip "there is no libc.so.6"
	events -o csv "user:$lib:pthread_create"
	[ "$status" -eq 0 ]
	[ "$(sed 1d "$tmp/out")" = "user:$lib:pthread_create,user,,," ]
	refused 2 "'user:$lib:pthread_craete': $lib has no function 'pthread_craete'; did you mean pthread_create?" "user:$lib:pthread_craete"
}

@test "wrong names get the nearest right one" {
	refused 2 "unknown software event 'page-falts'; did you mean soft:page-faults?" soft:page-falts
	refused 2 "'kprobe:vfs_read' is the syntax of another tool; write fn:vfs_read" kprobe:vfs_read
	refused 2 "'user:/no/such:x': no such file: /no/such" user:/no/such:x
	refused 2 "'profile' is not a complete event; write e.g. profile:99" profile
	refused 2 "events takes no COMMAND (got 'true')" soft -- true
	refused 2 "--names and --verbose cannot be combined" --names -v soft
	events soft:page-faults soft:nonsense
	[ "$status" -eq 2 ]
	[[ $out == *soft:page-faults* ]]
	needs_tracefs
	refused 2 "unknown event 'sched:sched_swich'; did you mean sched:sched_switch?" sched:sched_swich
	refused 2 "no event matches 'nonsense:*'; 'iosonar events' lists the events" 'nonsense:*'
	refused 2 "unknown event 'shced'; did you mean sched?" shced
}

@test "without root it shows what it can and says what it cannot" {
	[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || skip "needs root and setpriv"
	nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all)
	"${nobody[@]}" test -x "$iosonar" || skip "$iosonar is out of reach for another user"
	needs_tracefs
	! "${nobody[@]}" test -r "$tracing"/available_events || skip "everybody may read tracefs here"
	status=0
	"${nobody[@]}" "$iosonar" events >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq 4 ]
	[ "$(cat "$tmp/err")" = "iosonar: cannot read the events in /sys/kernel/tracing: Permission denied; run it as root, without lockdown" ]
	grep -q '^soft:page-faults ' "$tmp/out"
	needs_btf
	"${nobody[@]}" "$iosonar" events fn:vfs_read >"$tmp/out" 2>"$tmp/err"
	grep -q '^fn:vfs_read .*struct file \*file' "$tmp/out"
	[ "$(cat "$tmp/err")" = "cannot tell which functions can be traced: available_filter_functions of tracefs cannot be read" ]
}

@test "on a terminal a line ends where the terminal does" {
	needs_tracefs
	command -v script >/dev/null || skip "script is missing"
	script -qec "stty cols 60; '$iosonar' events sched" /dev/null </dev/null >"$tmp/out"
	[ "$(wc -l <"$tmp/out")" -gt 3 ]
	[ -z "$(tr -d '\r' <"$tmp/out" | awk 'length($0) > 69')" ] # a long name takes what it needs
	tr -d '\r' <"$tmp/out" | grep -q '\.\.\.$'
	events sched
	[ "$(grep -c '\.\.\.$' "$tmp/out")" -eq 0 ]
}

# completes WORD...: what bash would offer for the last word, on one line; it cuts words at colons
completes() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_iosonar
	echo "${COMPREPLY[*]}"
}

@test "bash completes events" {
	# shellcheck disable=SC1090
	source <("$iosonar" --completion bash)
	[ "$(completes "$iosonar" events soft : page)" = page-faults ]
	[ "$(completes "$iosonar" events use)" = "user: userret:" ]
	[ "$(completes "$iosonar" events --na)" = --names ]
	touch "$tmp/program"
	[ "$(completes "$iosonar" events user : "$tmp/prog")" = "$tmp/program" ]
	needs_tracefs
	[ "$(completes "$iosonar" events sche)" = sched: ]
	[ "$(completes "$iosonar" events sched : sched_swit)" = sched_switch ]
	[[ " $(completes "$iosonar" events sched :) " == *" sched_switch "* ]]
}

# A function's name comes from a file, and could be anything.
@test "bash runs nothing that is in a name" {
	command -v cc >/dev/null && command -v objcopy >/dev/null || skip "there is no compiler"
	printf 'int f(void) { return 0; }\nint main(void) { return f(); }\n' >"$tmp/name.c"
	cc -c -o "$tmp/name.o" "$tmp/name.c"
	# shellcheck disable=SC2016 # that is the point
	objcopy --redefine-sym 'f=f$(touch ran)`touch ran`' "$tmp/name.o"
	cc -o "$tmp/program" "$tmp/name.o"
	# shellcheck disable=SC1090
	source <("$iosonar" --completion bash)
	cd "$tmp"
	[[ $(completes "$iosonar" events user : "$tmp/program" : f) == *touch* ]]
	[ ! -e ran ]
}

@test "bash completes what an event knows" {
	needs_tracefs
	# shellcheck disable=SC1090
	source <("$iosonar" --completion bash)
	line() {
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		# shellcheck disable=SC2034 # the completion reads it
		cur=${COMP_WORDS[COMP_CWORD]}
		COMPREPLY=()
		_iosonar_line
		echo "${COMPREPLY[*]}"
	}
	[ "$(line "$iosonar" count sched : sched_switch by next_c)" = next_comm ]
	[ "$(line "$iosonar" count sched : sched_switch by "'next_comm, prev_p")" = "next_comm, prev_pid next_comm, prev_prio" ]
	[ "$(line "$iosonar" count sched : sched_switch by com)" = comm ]
	[ "$(line "$iosonar" count sched : sched_switch sched : sched_wakeup_n)" = sched_wakeup_new ]
	needs_btf
	[ "$(line "$iosonar" count raw : block_rq_issue of "'rq->__sect")" = "rq->__sector" ]
}

@test "no function of the completion has the name of another" {
	for shell in bash zsh; do
		twice=$("$iosonar" --completion $shell | grep -oE '^_iosonar[a-z_]*\(\)' | sort | uniq -d)
		[ -z "$twice" ] || { echo "$shell: $twice"; return 1; }
	done
}
