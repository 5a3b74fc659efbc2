#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# calls and class at the door: which words their options take, and what they say of those that mean nothing. What they show
# is tested in tests/vm.

setup() {
	iosonar=${IOSONAR:-build/iosonar}
	tmp=$BATS_TEST_TMPDIR
}

# refused CODE MESSAGE WORD…: exactly this line on stderr, nothing on stdout
refused() {
	local code=$1 message=$2 status=0
	shift 2
	"$iosonar" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	[ "$status" -eq "$code" ] || { echo "$*: exit $status, not $code: $(cat "$tmp/err")"; return 1; }
	[ ! -s "$tmp/out" ] || { echo "$*: stdout: $(cat "$tmp/out")"; return 1; }
	[ "$(cat "$tmp/err")" = "iosonar: $message" ] || { echo "$*: said '$(cat "$tmp/err")'"; return 1; }
}

@test "calls wants functions" {
	refused 2 "calls requires FUNCTION or --path, e.g. iosonar calls vfs_read 'ext4_*' -- cat FILE, or iosonar calls --path read" calls
	refused 2 "calls requires FUNCTION or --path, e.g. iosonar calls vfs_read 'ext4_*' -- cat FILE, or iosonar calls --path read" calls --graph -o dot
	refused 2 "'user:/no/such:x': no such file: /no/such" calls user:/no/such:x
}

@test "calls attaches many functions only if it is told so" {
	local status=0 nr
	[ -r /proc/kallsyms ] || skip "needs /proc/kallsyms"
	"$iosonar" calls '*' >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq 2 ]
	[ ! -s "$tmp/out" ]
	nr=$(sed -n "s/^iosonar: calls '\*' would attach \([0-9]*\) functions; --most \1 allows that$/\1/p" "$tmp/err")
	[ "$nr" -gt 4096 ]
	status=0
	"$iosonar" calls 'vfs_*' --most 1 2>"$tmp/err" || status=$?
	[ "$status" -eq 2 ]
	nr=$(sed -n "s/.*would attach \([0-9]*\) functions; .*/\1/p" "$tmp/err")
	[ "$nr" -gt 1 ]
	refused 2 "calls 'vfs_*' would attach $nr functions; --most $nr allows that" calls vfs_read 'vfs_*' --most $((nr - 1))
	refused 2 "calls would attach $((nr + 1)) functions; --most $((nr + 1)) allows that" \
		calls vfs_read 'vfs_*' submit_bio --most "$nr"
	"$iosonar" calls vfs_read 'vfs_*' --most "$nr" -- true >"$tmp/out" 2>"$tmp/err" || true # it may not be allowed to attach
	if grep 'would attach' "$tmp/err"; then return 1; fi
}

@test "calls --path knows its ways" {
	refused 2 "--path up: unknown value 'up'; expected one of read, write, nvme-submit, nvme-complete" calls --path up
	refused 2 "--path read,up: unknown value 'up'; expected one of read, write, nvme-submit, nvme-complete" calls --path read,up
}

@test "formats of calls, and of calls alone" {
	for command in calls class; do
		refused 2 "-o pdf: unknown value 'pdf'; expected one of text, json, csv, folded, svg, dot, chrome, html" "$command" -o pdf bio
	done
	refused 2 "-o dot: unknown value 'dot'; expected one of text, json, csv, folded, svg" stacks -o dot
	for option in --list --names; do
		refused 2 "class --list and --names support only -o text, json and csv" class "$option" -o dot bio
	done
}

@test "source is shown by a page, and of a folder that is there" {
	refused 2 "--source requires -o html" calls -r tests/data/calls.cap --source "$tmp"
	refused 2 "--source: cannot open '/nonexistent': No such file or directory; give the directory of a kernel's source" \
		calls -r tests/data/calls.cap --source /nonexistent -o html
}

# What the page of a capture knows: the JSON that is in it. GOLDEN=write bats tests/cli/calls.bats writes it anew.
@test "a page holds what its golden text has" {
	"$iosonar" class -r tests/data/class.cap -o html 2>/dev/null |
		sed -n '/<script type="application\/json" id="trace">/,/<\/script>/p' >"$tmp/model"
	[ "${GOLDEN:-}" != write ] || cp "$tmp/model" tests/cli/trace_model.golden
	diff -a tests/cli/trace_model.golden "$tmp/model"
}

# Every output of a tree with 30,000 levels, in a stack of 256 KiB: a recursion ends there, and what grows with the square
# of the depth does not end in time.
@test "no depth breaks a view of calls" {
	local out lines
	build/captures deep "$tmp/deep.cap" 30000
	ulimit -s 256
	for command in calls class; do
		for out in "" "-o json" "-o csv" --graph "--graph -o json" "--graph -o csv" "-o folded" "-o svg" "-o dot" "-o html" \
			"-o chrome"; do
			# shellcheck disable=SC2086 # words
			timeout 60 "$iosonar" "$command" -r "$tmp/deep.cap" $out >"$tmp/out" 2>"$tmp/err" ||
				{ echo "$command $out: exit $?: $(cat "$tmp/err")"; return 1; }
			lines=$(wc -l <"$tmp/out")
			case $command$out in
			calls | calls--graph) [ "$lines" -eq 60001 ] || { echo "$command $out: $lines lines"; return 1; } ;;
			*folded)
				grep -q "paths are deeper than 128 functions: their time is added to the function at that depth" "$tmp/err"
				[ "$(awk -F';' 'NF > most { most = NF } END { print most }' "$tmp/out")" -eq 129 ]
				# f takes 4 us a level and 1 us more where it ends, the leaf 1 us of it: nothing is lost
				[ "$(awk '{ sum += $NF } END { print sum }' "$tmp/out")" -eq 119999000 ]
				;;
			*"--graph -o "*) grep -q "^59743 paths are deeper than 128 functions: they show the first 128 and the last one" "$tmp/err" ;;
			esac
		done
	done
	for out in "" --graph "--graph -o json" "-o csv"; do
		# shellcheck disable=SC2086 # words
		timeout 60 "$iosonar" diff "$tmp/deep.cap" "$tmp/deep.cap" $out >"$tmp/out" 2>"$tmp/err" ||
			{ echo "diff $out: exit $?: $(cat "$tmp/err")"; return 1; }
	done
	for out in folded chrome dot csv json; do
		timeout 60 "$iosonar" export -r "$tmp/deep.cap" -o $out >"$tmp/out" 2>"$tmp/err" ||
			{ echo "export $out: exit $?: $(cat "$tmp/err")"; return 1; }
	done
	[ "$("$iosonar" sql "$tmp/deep.cap" -o csv 'select count(*), max(depth) from call' 2>/dev/null | tail -1)" = 60000,30000 ]
}

# The kernel plants the returns of 64 user functions inside one another, the outermost ones.
@test "returns of a program that calls itself are those of the outermost calls" {
	local status=0
	build/captures user "$tmp/user.cap" 1000
	"$iosonar" calls -r "$tmp/user.cap" -o csv >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq 3 ] || { echo "exit $status"; return 1; }
	grep -qx "iosonar: 936 calls were inside 64 other user functions of their task: the kernel reports the returns of the outermost 64 only; the other calls have no duration and no nesting" "$tmp/err" ||
		{ cat "$tmp/err"; return 1; }
	[ "$(awk -F, 'NR > 1 && $8 != "" { timed++; if ($7 >= 64) deep++ } END { print timed, deep + 0, NR - 1 }' "$tmp/out")" = "64 0 1000" ]
	[ "$(sed -n 2p "$tmp/out" | cut -d, -f8)" -eq 1063000 ]
	build/captures user "$tmp/user.cap" 64
	"$iosonar" calls -r "$tmp/user.cap" -o csv >"$tmp/out" 2>"$tmp/err"
	[ ! -s "$tmp/err" ]
}

@test "where returns are not seen the first line says so" {
	build/captures entries "$tmp/entries.cap" 3
	for command in calls class; do
		"$iosonar" $command -r "$tmp/entries.cap" >"$tmp/out" 2>"$tmp/err"
		[ "$(head -1 "$tmp/err")" = "returns were not recorded: durations and nesting are not available; record with calls or class --returns -w" ] ||
			{ cat "$tmp/err"; return 1; }
	done
	"$iosonar" calls -r "$tmp/entries.cap" -o csv 2>/dev/null | awk -F, 'NR > 1 && ($7 != 0 || $8 != "") { bad = 1 } END { exit bad || NR != 4 }'
	"$iosonar" calls -r tests/data/calls.cap >/dev/null 2>"$tmp/err"
	[ "$(grep -c "returns were not recorded" "$tmp/err")" -eq 0 ]
}

@test "a view of commands says that a file holds calls" {
	local status=0
	for view in trace latency slow errors; do
		"$iosonar" $view -r tests/data/class.cap >/dev/null 2>"$tmp/err"
		grep -qx "tests/data/class.cap contains calls, no commands; iosonar calls -r or class -r shows them" "$tmp/err" ||
			{ echo "$view: $(cat "$tmp/err")"; return 1; }
	done
	"$iosonar" report -r tests/data/class.cap --out "$tmp/page" 2>"$tmp/err"
	grep -q "class.cap contains calls, no commands" "$tmp/err"
	"$iosonar" calls -r tests/data/class.cap >/dev/null 2>"$tmp/err"
	[ "$(grep -c "no commands" "$tmp/err")" -eq 0 ]
}

# A chunk of calls is taken out of a file: its records are missing, and that is why it exits 3.
@test "calls -r says why a file is not whole" {
	local status=0
	"$iosonar" calls -r tests/data/callless.cap >/dev/null 2>"$tmp/err" || status=$?
	[ "$status" -eq 3 ]
	grep -qx "iosonar: tests/data/callless.cap lacks [0-9]* records of calls that were recorded: blocks are missing" "$tmp/err"
}

@test "a page tells the calls that the kernel skipped" {
	for skipped in 0 7; do
		python3 - "$tmp/skipped.cap" $skipped <<-'EOF'
			import pathlib, sys
			sys.path.insert(0, "tests/pages")
			import traced
			capture = traced.Capture("bio", traced.FIELDS, traced.FUNCTIONS, traced.LAYOUTS)
			traced.life(capture, 0, 0xffff0000, 1, (5, 5, b"dd"), (0, 0, b"swapper/1"), b"nvme0n1")
			capture.write(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
		EOF
		status=0
		"$iosonar" class -r "$tmp/skipped.cap" -o html >"$tmp/page" 2>"$tmp/err" || status=$?
		[ "$status" -eq $((skipped ? 3 : 0)) ]
		grep -q "\"hits\":12,\"lost\":$skipped," "$tmp/page"
	done
}

@test "what bounds calls is a number, or has a unit" {
	refused 2 "--depth 0: out of range; give 1 to 1000" calls --depth 0 vfs_read
	refused 2 "--min 5: write a unit, 5s or 5ms" calls --min 5 vfs_read
}

@test "the schema has calls and their graph" {
	for command in calls class; do
		"$iosonar" "$command" --json-schema >"$tmp/schema"
		for type in call graph event_ledger; do
			grep -q "^{\"title\":\"$type\"," "$tmp/schema" || { echo "$command: no $type"; return 1; }
		done
	done
}

@test "bash completes functions" {
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	# shellcheck disable=SC1090
	source <("$iosonar" --completion bash)
	COMP_WORDS=("$iosonar" calls vfs_fallo)
	COMP_CWORD=2
	_iosonar
	[ "${COMPREPLY[*]}" = vfs_fallocate ]
	COMP_WORDS=("$iosonar" calls submit_bio --gra)
	COMP_CWORD=3
	_iosonar
	[ "${COMPREPLY[*]}" = --graph ]
}
