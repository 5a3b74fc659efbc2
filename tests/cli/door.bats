#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# The door: help, version, completion, wrong usage and the exit codes, without root and without BPF.
# stdout is data and stderr one line: both are checked apart, in $out and $err.

setup() {
	iosonar=${IOSONAR:-build/iosonar}
	tmp=$BATS_TEST_TMPDIR
}

# Runs iosonar with these words; leaves $status, $out, $err.
door() {
	status=0
	"$iosonar" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	out=$(cat "$tmp/out")
	err=$(cat "$tmp/err")
}

# refused CODE MESSAGE WORD…: exactly this line on stderr, nothing on stdout
refused() {
	local code=$1 message=$2
	shift 2
	door "$@"
	[ "$status" -eq "$code" ] || { echo "$*: exit $status, not $code: $err"; return 1; }
	[ -z "$out" ] || { echo "$*: stdout: $out"; return 1; }
	[ "$err" = "iosonar: $message" ] || { echo "$*: said '$err'"; return 1; }
}

fits() { # no line of stdout is longer than 80 columns
	[ -z "$(LC_ALL=C.UTF-8 awk 'length($0) > 80' "$tmp/out")" ]
}

@test "iosonar alone, help, -h and --help list the commands" {
	door
	[ "$status" -eq 0 ]
	[ -z "$err" ]
	[[ $out == "Usage: iosonar COMMAND [options]"* ]]
	[[ $out == *$'\nI/O\n  latency '* ]]
	[[ $out == *$'\n  3  done, but events were lost'* ]]
	[[ $out == *"man iosonar-COMMAND"* ]]
	fits
	local alone=$out
	for word in help -h --help; do
		door "$word"
		[ "$status" -eq 0 ]
		[ "$out" = "$alone" ]
	done
}

@test "help COMMAND is COMMAND --help" {
	door help latency
	[ "$status" -eq 0 ]
	[ -z "$err" ]
	[[ $out == "Usage: iosonar latency "* ]]
	fits
	local page=$out
	for words in "latency --help" "latency -t 1s --help" "latency -v --help"; do
		# shellcheck disable=SC2086
		door $words
		[ "$status" -eq 0 ]
		[ "$out" = "$page" ]
	done
}

@test "-h explains a command's own options, names the others, and fits 50 lines of 80 columns" {
	for command in $("$iosonar" help | awk '/^Exit/ { exit } /^  [a-z]/ { print $1 }'); do
		door "$command" -h
		[ "$status" -eq 0 ]
		fits || { echo "$command -h: a line is too long"; return 1; }
		[ "$(wc -l <"$tmp/out")" -le 50 ] || { echo "$command -h: $(wc -l <"$tmp/out") lines"; return 1; }
		[[ $out == *$'\n  Every command '* ]]
		[ "$out" != "$("$iosonar" "$command" --help)" ]
	done
	door latency -h
	[[ $out == *"--cumulative  "* && $out == *" -d --op -p "* && $out != *"--device DEV"* ]]
	door help
	[ "$(wc -l <"$tmp/out")" -le 54 ] # a line for each command
}

@test "a capture is a word or -r FILE, in every command that reads one" {
	data=$BATS_TEST_DIRNAME/../data
	for command in latency trace layers slow errors pattern export stacks; do
		[ "$("$iosonar" $command "$data/stacks.cap" 2>&1)" = "$("$iosonar" $command -r "$data/stacks.cap" 2>&1)" ]
	done
	[ "$("$iosonar" report "$data/stacks.cap" -o json 2>&1)" = "$("$iosonar" report -r "$data/stacks.cap" -o json 2>&1)" ]
	for command in cache class calls; do
		[ "$("$iosonar" $command "$data/$command.cap" 2>&1)" = "$("$iosonar" $command -r "$data/$command.cap" 2>&1)" ]
	done
	[ "$("$iosonar" info "$data/nvme.cap" 2>&1)" = "$("$iosonar" info -r "$data/nvme.cap" 2>&1)" ]
	[ "$("$iosonar" diff "$data/before.cap" "$data/after.cap" 2>&1)" = "$("$iosonar" diff -r "$data/before.cap" -r "$data/after.cap" 2>&1)" ]
	if "$iosonar" --version | grep -q sqlite; then
		for words in "$data/nvme.cap|SELECT count(*) FROM io" "-r|$data/nvme.cap|SELECT count(*) FROM io" "SELECT count(*) FROM io|-r|$data/nvme.cap"; do
			IFS='|' read -ra words <<<"$words"
			door sql "${words[@]}"
			[[ $out == *28 ]]
		done
	fi
	door cache --residency "$data/nvme.cap" # a PATH there
	[ "$status" -eq 0 ]
	[[ $out == *nvme.cap* ]]
	refused 2 "unexpected argument 'no-such-file': no such file; write COMMAND after --" latency no-such-file
	refused 2 "unexpected argument 'x.cap'; use -w x.cap, or -- COMMAND" record x.cap
}

@test "words of other tools lead to the command that answers the same question" {
	refused 2 "unknown command 'iotop'; use iosonar top --by pid,comm,op" iotop
	refused 2 "unknown command 'iostat'; use iosonar latency" iostat
	refused 2 "unknown command 'syscalls'; use iosonar count raw_syscalls:sys_enter by 'comm, id'" syscalls
	refused 2 "unknown command 'kprobe:vfs_read'; to count this event: iosonar count kprobe:vfs_read" kprobe:vfs_read
	refused 2 "'kprobe:vfs_read' is the syntax of another tool; write fn:vfs_read" count kprobe:vfs_read
	# Each names a command that exists, with options that exist.
	sed -n 's/^\t{ "[a-z_-]*", "\(.*\)" },$/\1/p' "$BATS_TEST_DIRNAME/../../src/main.c" >"$tmp/ours"
	[ "$(wc -l <"$tmp/ours")" -ge 30 ]
	while read -r command rest; do
		command=${command%,}
		"$iosonar" "$command" --help >"$tmp/help"
		while read -r option; do
			grep -qE -- "^ *(-., )?$option( |,)|^  $option, " "$tmp/help" || { echo "$command has no $option"; return 1; }
		done < <(grep -oE -- '--?[a-z-]+' <<<" $rest" | grep -E '^--[a-z]|^-[a-z]$')
	done <"$tmp/ours"
}

@test "help of latency has every shared option and its own" {
	door latency --help
	for name in device op pid comm cgroup nsid qid ctrl-id min failed interval duration count \
		allow-loss keep-privileges verbose format out color json-schema help by hist cumulative heat \
		lat-min-us lat-shift budget fail-if; do
		[[ $out == *" --$name"[[:space:]]* ]] || { echo "no --$name"; return 1; }
	done
	for letter in d p i t n v o h; do
		[[ $out == *$'\n'"  -$letter, --"* ]] || { echo "no -$letter"; return 1; }
	done
}

@test "help of layers, slow, stacks and pattern has every shared option and its own" {
	for of in "layers at tail write zstd read from to" "slow top each-device bio stack write zstd read from to" "stacks stack sort top hist" \
		"pattern by if fail-if write zstd read from to"; do
		read -r command own <<<"$of"
		door "$command" --help
		[ "$status" -eq 0 ]
		[ -z "$err" ]
		[[ $out == "Usage: iosonar $command [options] "*COMMAND...]* ]]
		fits
		for name in device op pid comm cgroup nsid qid ctrl-id min failed interval duration count allow-loss keep-privileges \
			verbose format out color json-schema help buffer $own; do
			[[ $out == *" --$name"[[:space:]]* ]] || { echo "$command: no --$name"; return 1; }
		done
	done
}

@test "help of the any-event commands has what they share, and tells of the line" {
	for of in "count top keys" "sum top keys" "hist top keys log2 linear" "print buffer" "pair top keys log2 linear each slow stack buffer"; do
		read -r command own <<<"$of"
		door "$command" --help
		[ "$status" -eq 0 ]
		[[ $(tr -s "\n " " " <<<"$out") == "Usage: iosonar $command [options] "*"[if CONDITION] [-- COMMAND...]"* ]]
		[[ $out == *"iosonar-line"* ]]
		[[ $out != *"(null)"* ]]
		fits
		for name in emit pid children follow cgroup interval duration count allow-loss keep-privileges verbose format out color json-schema help $own; do
			[[ $out == *" --$name"[[:space:]]* ]] || { echo "$command: no --$name"; return 1; }
		done
		for name in by if of show on device; do # clauses are words
			[[ $out != *" --$name"[[:space:]]* ]] || { echo "$command: --$name"; return 1; }
		done
	done
}

@test "help of inflight has what a command in flight can be asked" {
	door inflight --help
	[[ $out == "Usage: iosonar inflight [options] [-- COMMAND...]"* ]]
	fits
	for name in older device op pid comm cgroup nsid qid ctrl-id min interval duration count format out; do
		[[ $out == *" --$name"[[:space:]]* ]] || { echo "no --$name"; return 1; }
	done
	for name in read write from to; do
		[[ $out != *" --$name"[[:space:]]* ]] || { echo "--$name is listed"; return 1; }
	done
}

@test "inflight refuses what has ended, and says what to do" {
	capture="a capture contains only commands that have ended; iosonar slow -r shows the slowest"
	refused 2 "-r run.cap: $capture" inflight -r run.cap
	refused 2 "--read run.cap: $capture" inflight --read run.cap
	refused 2 "-r FILE: $capture" inflight -r
	refused 2 "--failed does not apply to commands in flight; use iosonar trace --failed" inflight --failed
	refused 2 "--older 5: write a unit, 5s or 5ms" inflight --older 5
	refused 2 "unknown option -w; 'iosonar inflight -h' lists the options" inflight -w run.cap
}

@test "help of cache has what the page cache can be asked" {
	door cache --help
	[[ $out == "Usage: iosonar cache [options] [PATH...] [-- COMMAND...]"* ]]
	fits
	for name in by sort top events buffer pid tid comm cgroup file device residency interval duration count format out; do
		[[ $out == *" --$name"[[:space:]]* ]] || { echo "no --$name"; return 1; }
	done
}

@test "cache refuses what it cannot mean, and says what to do" {
	refused 2 "--residency and --events cannot be combined" cache --residency --events x
	refused 2 "'/tmp': PATH requires --residency; --file /tmp counts the pages of this file" cache /tmp
	refused 2 "--residency requires a file, e.g. iosonar cache --residency PATH" cache --residency
	refused 2 "--buffer requires --events or --then-io" cache --buffer 1M
	refused 2 "--then-io and --by cannot be combined" cache --then-io --by pid
	refused 2 "cache does not support --zstd" cache -w "$BATS_TEST_TMPDIR/x" --zstd
	refused 2 "--events requires --cache" record -w "$BATS_TEST_TMPDIR/x" --events
	refused 2 "--unwind requires --stacks" record -w "$BATS_TEST_TMPDIR/x" --unwind dwarf
	refused 2 "--buffer with --cache requires --events" record -w "$BATS_TEST_TMPDIR/x" --cache --buffer 1M
	refused 2 "--cache and --last cannot be combined" record -w "$BATS_TEST_TMPDIR/x" --cache --last 1s
	refused 2 "--by wxyz: unknown value 'wxyz'; expected one of comm, pid, file, cgroup, dev, op, host" cache --by wxyz
	refused 2 "/no/such/file: No such file or directory" cache --residency /no/such/file
	refused 2 "/tmp is a directory: only regular files and block devices have pages in the page cache" cache --residency /tmp
}

@test "version names itself, its commit, libbpf and what is in it" {
	door --version
	[ "$status" -eq 0 ]
	[[ $(sed -n 1p "$tmp/out") =~ ^iosonar\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	[[ $(sed -n 2p "$tmp/out") =~ ^commit\ ([0-9a-f]{12}(-dirty)?|unknown)$ ]]
	local commit=${iosonar%/*}/commit # not beside one that is installed
	[ ! -e "$commit" ] || [ "$(sed -n 2p "$tmp/out")" = "commit $(cat "$commit")" ]
	[[ $(sed -n 3p "$tmp/out") =~ ^libbpf\ v[0-9]+\.[0-9]+$ ]]
	[[ $(sed -n 4p "$tmp/out") =~ ^optional\ parts:\ .+$ ]]
	[ "$(sed -n 5p "$tmp/out")" = "linked: $(readelf -lW "$iosonar" | grep -q INTERP && echo dynamic || echo static)" ]
	[ "$(wc -l <"$tmp/out")" -eq 5 ]
	local long=$out
	door -V
	[ "$out" = "$long" ]
}

@test "json-schema is JSON and knows every object" {
	door latency --json-schema
	[ "$status" -eq 0 ]
	[ -z "$err" ]
	for type in latency bucket ledger; do
		[[ $out == *"{\"title\":\"$type\",\"type\":\"object\""* ]] || { echo "no $type"; return 1; }
	done
	command -v python3 >/dev/null || skip "python3 is missing"
	python3 -m json.tool "$tmp/out" >/dev/null
}

@test "the list of the kernel's own tags has no ledger" {
	door inflight --json-schema
	[ "$status" -eq 0 ]
	[[ $out == *'{"title":"inflight","type":"object"'* && $out == *'{"title":"look","type":"object"'* ]]
	[[ $out != *'"title":"ledger"'* ]]
}

@test "so are those of layers, slow, stacks and pattern" {
	for command in layers slow stacks pattern; do
		door "$command" --json-schema
		[ "$status" -eq 0 ]
		[ -z "$err" ]
		for type in $command ledger; do
			[[ $out == *"{\"title\":\"$type\",\"type\":\"object\""* ]] || { echo "$command: no $type"; return 1; }
		done
		! command -v python3 >/dev/null || python3 -m json.tool "$tmp/out" >/dev/null
	done
	command -v python3 >/dev/null || skip "python3 is missing"
}

@test "unknown commands are refused with the nearest" {
	refused 2 "unknown command 'latncy'; did you mean latency?" latncy
	refused 2 "unknown command 'lat'; did you mean latency?" help lat
	refused 2 "unknown command 'zebra'; 'iosonar help' lists the commands" zebra
	refused 2 "unknown command ''; 'iosonar help' lists the commands" ""
	refused 2 "unknown option '--verison'; did you mean --version?" --verison
	refused 2 "unknown option '-d'; a command's options come after its name" -d nvme0 latency
	refused 2 "unexpected argument 'x' after --version" --version x
	refused 2 "unexpected argument 'x' after help" help latency x
}

@test "unknown options are refused with the nearest, abbreviations too" {
	refused 2 "unknown option --intervl; did you mean --interval?" latency --intervl 5s
	refused 2 "unknown option --dur; did you mean --duration?" latency --dur 5s
	refused 2 "unknown option --cumul; did you mean --cumulative?" latency --cumul
	refused 2 "unknown option --zebra; 'iosonar latency -h' lists the options" latency --zebra
	refused 2 "unknown option -x; 'iosonar latency -h' lists the options" latency -x
	refused 2 "unknown option -pid; did you mean --pid?" latency -pid 5
	refused 2 "unexpected argument 'fio': no such file; write COMMAND after --" latency fio
}

@test "numbers and units are refused with what would be right" {
	refused 2 "-i 5: write a unit, 5s or 5ms" latency -i 5
	refused 2 "-t -5s: not a duration; write 100us, 5ms, 1.5s, 2m, 1h or 1d" latency -t -5s
	refused 2 "-t 1y: not a duration; write 100us, 5ms, 1.5s, 2m, 1h or 1d" latency -t 1y
	refused 2 "--min 5 us: not a duration; write 100us, 5ms, 1.5s, 2m, 1h or 1d" latency --min "5 us"
	refused 2 "-t 99999999999999999999s: too large" latency -t 99999999999999999999s
	refused 2 "-i 1us: too small; give at least 1ms" latency -i 1us
	refused 2 "-p 12x: not a whole number; write 16 or 0x10" latency -p 12x
	refused 2 "-p 0: out of range; give 1 to 4194304" latency -p 0
	refused 2 "--qid 65536: out of range; give 0 to 65535" latency --qid 65536
	refused 2 "-n 0: too small; give at least 1" latency -n 0
	refused 2 "-o xml: unknown value 'xml'; expected one of text, json, csv" latency -o xml
	refused 2 "-i DURATION: the value is missing" latency -i
	refused 2 "-d DEV: the value is missing" latency -d ""
	refused 2 "--failed x: the option takes no value" latency --failed=x
}

@test "a wrong word of --by names the right ones" {
	door latency --by dev,qeue
	[ "$status" -eq 2 ]
	[[ $err == "iosonar: --by dev,qeue: unknown value 'qeue'; did you mean queue? expected one of "* ]]
}

@test "layers refuses a layer and a tail there is not" {
	refused 2 "--at foo: unknown value 'foo'; expected one of request, command, bio" layers --at foo
	refused 2 "--at reqest: unknown value 'reqest'; did you mean request? expected one of request, command, bio" layers --at reqest
	refused 2 "--at LAYER: the value is missing" layers --at
	for tail in 100 -1 1e3 nan 99% "99 " x; do
		refused 2 "--tail '$tail': expected a percentile from 0 to 99.99" layers --tail "$tail"
	done
	refused 2 "--tail PERCENT: the value is missing" layers --tail
}

@test "slow and stacks refuse numbers and words there are not" {
	refused 2 "--top 0: out of range; give 1 to 10000" slow --top 0
	refused 2 "--top 10001: out of range; give 1 to 10000" slow --top 10001
	refused 2 "--top 0: out of range; give 1 to 65536" stacks --top 0
	refused 2 "--top x: not a whole number; write 16 or 0x10" stacks --top x
	refused 2 "--stack boht: unknown value 'boht'; did you mean both? expected one of kernel, user, both, none" slow --stack boht
	refused 2 "--stack none: unknown value 'none'; expected one of kernel, user, both" stacks --stack none
	refused 2 "--sort tme: unknown value 'tme'; did you mean time? expected one of count, bytes, time" stacks --sort tme
	refused 2 "--buffer 1: out of range; give 4Ki to 1Gi" slow --buffer 1
	refused 2 "unknown option --each-device; 'iosonar stacks -h' lists the options" stacks --each-device
	refused 2 "unknown option --tail; 'iosonar slow -h' lists the options" slow --tail 5
}

@test "a picture is drawn by stacks, and by nobody else" {
	for command in latency trace layers slow; do
		refused 2 "-o svg: unknown value 'svg'; expected one of text, json, csv" "$command" -o svg
		refused 2 "-o folded: unknown value 'folded'; expected one of text, json, csv" "$command" -o folded
	done
	refused 2 "-o svgg: unknown value 'svgg'; did you mean svg? expected one of text, json, csv, folded, svg" stacks -o svgg
	for format in json csv folded svg; do
		refused 2 "--hist requires -o text" stacks --hist -o "$format"
	done
}

@test "a job is written by pattern, and by nobody else" {
	for command in latency trace layers slow; do
		refused 2 "-o fio: unknown value 'fio'; expected one of text, json, csv" "$command" -o fio
	done
	refused 2 "-o svg: unknown value 'svg'; expected one of text, json, csv, fio" pattern -o svg
	refused 2 "--by dev: unknown value 'dev'; expected one of pid, comm, cgroup, host" pattern --by dev
	refused 2 "--buffer 1: out of range; give 4Ki to 1Gi" pattern --buffer 1
}

@test "options that exclude each other are refused" {
	refused 2 "--hist and --heat cannot be combined" latency --heat --hist
	for command in layers slow pattern; do
		refused 2 "--buffer and --read cannot be combined" "$command" --buffer 1Mi -r no-such-file
		refused 2 "--write and --read cannot be combined" "$command" -w no-such-file -r no-such-file
		refused 2 "--from requires -r FILE" "$command" --from 1s
	done
}

@test "control characters of a bad word do not reach the terminal" {
	refused 2 "unknown command '\\x1b[2J'; 'iosonar help' lists the commands" $'\e[2J'
}

# The status of iosonar at the left of a pipe whose reader has gone before it writes.
left_of_closed_pipe() {
	{ sleep 0.3; "$iosonar" "$@" 2>"$tmp/err"; } | true
	echo "${PIPESTATUS[0]}"
}

@test "a reader that has gone is no error" {
	[ "$(left_of_closed_pipe help)" -eq 0 ]
	[ ! -s "$tmp/err" ]
	[ "$(left_of_closed_pipe latency -h)" -eq 0 ]
	[ ! -s "$tmp/err" ]
	[ "$(left_of_closed_pipe --completion zsh)" -eq 0 ]
	[ ! -s "$tmp/err" ]
}

@test "a full disk is exit 1 and one line" {
	for words in help "latency -h" --version "--completion bash"; do
		status=0
		# shellcheck disable=SC2086
		"$iosonar" $words >/dev/full 2>"$tmp/err" || status=$?
		[ "$status" -eq 1 ]
		[ "$(cat "$tmp/err")" = "iosonar: cannot write the output: No space left on device" ]
	done
}

@test "a closed stdout is exit 1, and no other file takes its number" {
	status=0
	"$iosonar" help 2>"$tmp/err" >&- || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat "$tmp/err")" = "iosonar: cannot write the output: Bad file descriptor" ]
	status=0
	"$iosonar" nonsense 2>"$tmp/err" >&- || status=$?
	[ "$status" -eq 2 ]
}

@test "without privileges it is exit 4 and one line" {
	local nobody=()
	if [ "$(id -u)" -eq 0 ]; then
		command -v setpriv >/dev/null || skip "setpriv is missing"
		nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all)
		"${nobody[@]}" test -x "$iosonar" || skip "$iosonar is out of reach for another user"
	fi
	status=0
	"${nobody[@]}" "$iosonar" latency -t 1s >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq 4 ]
	[ ! -s "$tmp/out" ]
	[ "$(grep -c '^iosonar: ' "$tmp/err")" -eq 1 ]
}

@test "completion scripts parse" {
	door --completion bash
	[ "$status" -eq 0 ]
	bash -n "$tmp/out"
	door --completion zsh
	[ "$status" -eq 0 ]
	[[ $out == "#compdef iosonar"* ]]
	refused 2 "--completion csh: unsupported shell; give bash, fish or zsh" --completion csh
	refused 2 "--completion: the shell is missing; give bash, fish or zsh" --completion
}

@test "the zsh completion parses in zsh" {
	command -v zsh >/dev/null || skip "zsh is missing"
	door --completion zsh
	zsh -n "$tmp/out"
}

# completes WORD…: what bash would offer for the last word, on one line
completes() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_iosonar
	echo "${COMPREPLY[*]}"
}

@test "bash completes commands, options, choices, devices and files" {
	door --completion bash
	# shellcheck disable=SC1091
	source "$tmp/out"
	[[ $(completes iosonar "") == *latency*help* ]]
	[ "$(completes iosonar lat)" = latency ]
	[ "$(completes iosonar help lat)" = latency ]
	[ "$(completes iosonar --completion z)" = zsh ]
	[ "$(completes iosonar latency --int)" = --interval ]
	[ "$(completes iosonar latency -o "")" = "text json csv" ]
	[ "$(completes iosonar latency --format = j)" = json ]
	[ "$(completes iosonar latency --by dev,qu)" = dev,queue ]
	[ -z "$(completes iosonar latency -t "")" ]
	for path in /sys/class/block/*; do
		[ -e "$path" ] || continue
		[[ " $(completes iosonar latency -d "") " == *" ${path##*/} "* ]]
	done
	touch "$tmp/capture-one"
	[ "$(completes iosonar latency --out "$tmp/capture-o")" = "$tmp/capture-one" ]
	[ "$(completes iosonar latency -- bats "$tmp/capture-o")" = "$tmp/capture-one" ]
	[[ $(completes iosonar latency -- ba) == *bash* ]]
}

@test "bash completes layers, slow, stacks and pattern with their choices" {
	door --completion bash
	# shellcheck disable=SC1091
	source "$tmp/out"
	[ "$(completes iosonar la)" = "latency layers" ]
	[ "$(completes iosonar help s)" = "slow stacks serve sum sql" ]
	[ "$(completes iosonar layers --at "")" = "request command bio" ]
	[ "$(completes iosonar layers --ta)" = --tail ]
	[ "$(completes iosonar inflight --ol)" = --older ]
	[ -z "$(completes iosonar inflight --rea)" ]
	[ -z "$(completes iosonar layers --tail "")" ]
	[ "$(completes iosonar slow --stack "")" = "kernel user both none" ]
	[ "$(completes iosonar slow --each)" = --each-device ]
	[ "$(completes iosonar stacks --stack "")" = "kernel user both" ]
	[ "$(completes iosonar stacks --sort "")" = "count bytes time" ]
	[ "$(completes iosonar stacks -o "")" = "text json csv folded svg" ]
	[ "$(completes iosonar stacks --format = s)" = svg ]
	[ "$(completes iosonar layers -o "")" = "text json csv" ]
	[ "$(completes iosonar pat)" = pattern ]
	[ "$(completes iosonar pattern -o "")" = "text json csv fio" ]
	[ "$(completes iosonar pattern --by pid,cg)" = pid,cgroup ]
}

# zsh_choices COMMAND OPTION: what zsh would offer for its value
zsh_choices() { sed -n "/^_iosonar_$1() {/,/^}/p" "$tmp/out" | sed -n "s/^.*$2=}\{0,1\}'\[.*:(\([^)]*\))' .*/\1/p"; }

@test "zsh completes them with the same" {
	door --completion zsh
	for command in layers slow stacks pattern; do
		[[ $out == *"'$command:"* ]] || { echo "no $command"; return 1; }
		[[ $out == *$'\n\t'"$command) _iosonar_$command ;;"* ]] || { echo "$command leads nowhere"; return 1; }
	done
	[ "$(zsh_choices layers --at)" = "request command bio" ]
	[ "$(zsh_choices slow --stack)" = "kernel user both none" ]
	[ "$(zsh_choices stacks --stack)" = "kernel user both" ]
	[ "$(zsh_choices stacks --sort)" = "count bytes time" ]
	[ "$(zsh_choices stacks --format)" = "text json csv folded svg" ]
	[ "$(zsh_choices layers --format)" = "text json csv" ]
	[ "$(zsh_choices pattern --format)" = "text json csv fio" ]
}

# lent MODE: a copy of the program with this mode, run by an ordinary user. It is the one without sanitizers, whose search for
# leaks fails where a process may not look at itself.
lent() {
	local dir program=${IOSONAR_STATIC:-$iosonar}
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	dir=$(mktemp -d) # the test's own folder is closed to others
	chmod 755 "$dir"
	install -m "$1" "$program" "$dir/iosonar"
	status=0
	setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/iosonar" --version >"$tmp/out" 2>"$tmp/err" || status=$?
	rm -r "$dir"
	out=$(cat "$tmp/out")
	err=$(cat "$tmp/err")
}

@test "installed setuid or setgid it refuses to run; installed plainly it runs" {
	local message="iosonar: must not be installed setuid or setgid: run chmod u-s,g-s on it, then use sudo or setcap"
	lent 0755
	[ "$status" -eq 0 ]
	[[ $out == "iosonar "* ]]
	for mode in 4755 2755 6755; do
		lent "$mode"
		[ "$status $out $err" = "4  $message" ] || { echo "$mode: $status '$out' '$err'"; return 1; }
	done
}

@test "waits refuses a call that it does not know, and what a capture cannot have" {
	refused 2 "unknown call 'nonsense': expected read, write, fsync, fault or open" waits read nonsense
	refused 2 "waits does not support --zstd" waits -w file --zstd
	refused 2 "--anonymous requires -r FILE" waits --anonymous
	refused 2 "--async follows requests, not calls: remove 'read'" waits --async read
	refused 2 "$BATS_TEST_DIRNAME/../data/waits.cap contains calls, no requests: remove --async" waits --async -r "$BATS_TEST_DIRNAME/../data/waits.cap"
	refused 2 "$BATS_TEST_DIRNAME/../data/requests.cap contains requests, no calls: add --async" waits -r "$BATS_TEST_DIRNAME/../data/requests.cap"
	refused 2 "$BATS_TEST_DIRNAME/../data/nvme.cap contains no requests; waits --async -w keeps them" waits --async -r "$BATS_TEST_DIRNAME/../data/nvme.cap"
	refused 2 "--file /nowhere: no request of the capture is on this file" waits --async -r "$BATS_TEST_DIRNAME/../data/requests.cap" --file /nowhere
	refused 2 "--file /nowhere: no call of the capture is on this file" waits -r "$BATS_TEST_DIRNAME/../data/waits.cap" --file /nowhere
	refused 2 "--cgroup nobody: no call of the capture is from this cgroup" waits -r "$BATS_TEST_DIRNAME/../data/waits.cap" --cgroup nobody
}
