#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# top without a screen: what it refuses, and samples of a capture. tests/live/top.t has the screen. Needs no root.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
	data=$root/tests/data
}

# refused MESSAGE WORD...: exit 2, and exactly this line on stderr, with nothing on stdout.
refused() {
	local message=$1 status=0
	shift
	"$iosonar" top "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	[ "$status" -eq 2 ] || { echo "$*: exit $status: $(cat "$tmp/err")"; return 1; }
	[ ! -s "$tmp/out" ] || { echo "$*: stdout: $(cat "$tmp/out")"; return 1; }
	[ "$(cat "$tmp/err")" = "iosonar: $message" ] || { echo "$*: said '$(cat "$tmp/err")'"; return 1; }
}

# on_terminal WORDS: of iosonar top, which a shell reads, on a terminal; what it says and its exit status.
on_terminal() {
	command -v script >/dev/null || skip "script is missing"
	script -qec "$1" /dev/null </dev/null | tr -d '\r'
}

@test "without a terminal it names -o json" {
	refused "top requires a terminal, and standard input is none; -o json prints samples without a screen"
	status=0
	command -v script >/dev/null || skip "script is missing"
	script -qec "'$iosonar' top >'$tmp/out' 2>'$tmp/err'" /dev/null </dev/null || status=$?
	[ "$status" -eq 2 ]
	[ "$(cat "$tmp/err")" = "iosonar: top requires a terminal, and standard output is none; -o json prints samples without a screen" ]
	[ ! -s "$tmp/out" ]
}

@test "what the screen cannot do is refused" {
	refused "top -r takes -n only with -o json: its keys end it" -r "$data/nvme.cap" -n 2
	refused "top requires a terminal, and standard input is none; -o json prints samples without a screen" -r "$data/nvme.cap" </dev/null
	refused "top takes a COMMAND only with -o json: its output would be on the screen (got 'true')" -- true
}

@test "mistakes in options are refused" {
	local words
	for words in '--by' '--by nothing' '-o csv' '-i 0' '-n 0' '--sort p99'; do
		status=0
		# shellcheck disable=SC2086
		"$iosonar" top $words >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
		[ "$status" -eq 2 ] || { echo "$words: exit $status"; return 1; }
		[ "$(grep -c '^iosonar: ' "$tmp/err")" -eq 1 ]
	done
	status=0
	"$iosonar" top -o json -d no-such-disk -n 1 >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq 2 ]
	grep -q "^iosonar: no block device named 'no-such-disk'" "$tmp/err"
}

@test "a terminal without a description, or without a cursor, is refused before anything is drawn" {
	"$iosonar" --version | grep -qw ncurses || skip "built without ncurses"
	[ "$(id -u)" -eq 0 ] && [ -r /sys/kernel/btf/vmlinux ] || skip "needs root and BTF"
	for term in no-such-terminal dumb; do
		on_terminal "TERM=$term '$iosonar' top; echo exit \$?" >"$tmp/out"
		tr '\n' ' ' <"$tmp/out" | sed 's/  */ /g' | grep -q "TERM=$term; -o json prints samples without a screen exit 4" || { cat "$tmp/out"; return 1; }
		! grep -q $'\x1b' "$tmp/out"
	done
}

@test "without ncurses one line says so" {
	! "$iosonar" --version | grep -qw ncurses || skip "built with ncurses"
	[ "$(id -u)" -eq 0 ] && [ -r /sys/kernel/btf/vmlinux ] || skip "needs root and BTF"
	on_terminal "'$iosonar' top; echo exit \$?" >"$tmp/out"
	grep -q 'built without ncurses' "$tmp/out"
	grep -qx 'exit 4' "$tmp/out"
}

# total KEY FILE: the sum of a key in the rows of the whole run.
total() { grep '"span":"total"' "$2" | sed -n "s/.*\"$1\":\([0-9]*\),.*/\1/p" | awk '{ n += $1 } END { print n + 0 }'; }

@test "samples of a capture have what latency has" {
	for by in dev,op op,dev comm,dev,op; do
		"$iosonar" top -o json --by "$by" -r "$data/stacks.cap" -i 100ms 2>/dev/null >"$tmp/top"
		"$iosonar" latency -o json --by "$by" --no-hist -r "$data/stacks.cap" -i 100ms 2>/dev/null >"$tmp/latency"
		for span in interval total; do
			diff <(grep "\"type\":\"top\",\"span\":\"$span\"" "$tmp/top" | sed 's/"type":"top"//; s/,"in_flight":null//' | sort) \
				<(grep "\"type\":\"latency\",\"span\":\"$span\"" "$tmp/latency" | sed 's/"type":"latency"//' | sort)
		done
		[ "$(total count "$tmp/top")" -gt 0 ]
		diff <(grep '"type":"ledger"' "$tmp/top") <(grep '"type":"ledger"' "$tmp/latency")
	done
}

@test "--if: the rows that latency shows; samples are of all" {
	for words in 'op == read' 'p99 > 1ms && iops > 2'; do
		"$iosonar" top -o json -r "$data/stacks.cap" -i 100ms --if "$words" 2>/dev/null >"$tmp/top"
		"$iosonar" latency -o json --no-hist -r "$data/stacks.cap" -i 100ms --if "$words" 2>/dev/null >"$tmp/latency"
		for span in interval total; do
			diff <(grep "\"type\":\"top\",\"span\":\"$span\"" "$tmp/top" | sed 's/"type":"top"//; s/,"in_flight":null//' | sort) \
				<(grep "\"type\":\"latency\",\"span\":\"$span\"" "$tmp/latency" | sed 's/"type":"latency"//' | sort)
		done
		[ "$(grep -c '"type":"top"' "$tmp/top")" -gt 1 ]
		diff <(grep '"type":"sample"' "$tmp/top" | sed 's/"cpu_percent.*//') \
			<("$iosonar" top -o json -r "$data/stacks.cap" -i 100ms 2>/dev/null | grep '"type":"sample"' | sed 's/"cpu_percent.*//')
	done
	status=0
	"$iosonar" top -o json -r "$data/stacks.cap" --if 'p9x > 1' >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq 2 ] && [ ! -s "$tmp/out" ]
	grep -q "^iosonar: --if: unknown field 'p9x'" "$tmp/err"
}

@test "a sample is the sum of its rows" {
	"$iosonar" top -o json -r "$data/stacks.cap" -i 100ms 2>/dev/null >"$tmp/top"
	[ "$(grep -c '"type":"sample"' "$tmp/top")" -ge 2 ]
	jq -se 'map(select(.span == "interval")) | group_by(.time_s) |
		all((map(select(.type == "top").count) | add // 0) == (map(select(.type == "sample").count) | add))' "$tmp/top"
	jq -se 'map(select(.type == "sample")) | all(.in_flight == null and .issued == null and .cpu_percent >= 0)' "$tmp/top"
}
