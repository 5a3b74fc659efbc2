#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Captures of many hosts in one file: every command shows the file as it shows the captures, what was damaged stays told, and
# however a merge ends, nothing incomplete has the name of a whole file. Needs no root.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
	cd "$root/tests/data" || return
}

refused() { # refused MESSAGE ARGUMENT...
	local want=$1
	shift
	run "$iosonar" merge "$@"
	[ "$status" -eq 2 ] || { echo "exit $status: $output"; return 1; }
	[[ "$output" == *"$want"* ]] || { echo "$output"; return 1; }
}

@test "a merged file is shown as its captures are" {
	"$iosonar" merge -w "$tmp/all.cap" drives-db1.cap drives-db2.cap stacks.cap errors.cap 2>"$tmp/err"
	grep -qx "$tmp/all.cap: 8045 records; captures: 4, hosts: 3" "$tmp/err" || { cat "$tmp/err"; return 1; }
	while read -r arguments; do
		eval "$iosonar $arguments -r drives-db1.cap -r drives-db2.cap -r stacks.cap -r errors.cap" >"$tmp/want" 2>&1
		eval "$iosonar $arguments -r $tmp/all.cap" >"$tmp/got" 2>&1
		cmp "$tmp/want" "$tmp/got" || { echo "$arguments"; return 1; }
	done <<-'EOF'
		latency --no-hist -i 200000000s
		latency --by host,op -o csv -i 200000000s
		latency --by comm -o csv -i 200000000s
		trace -o csv
		layers -o csv -i 200000000s
		errors
		slow --top 20 -o csv
		export -o csv
		export -o json
	EOF
}

@test "two hosts' commands are never one row, unless that is asked" {
	"$iosonar" latency -r merged.cap -o csv --by pid -i 100s 2>/dev/null >"$tmp/rows" || [ $? -eq 3 ]
	[ "$(grep -c '^total,.*,db7,' "$tmp/rows")" -eq 1 ]
	[ "$(grep -c '^total,.*,db8,' "$tmp/rows")" -eq 1 ]
	[ "$("$iosonar" latency -r merged.cap -o csv --by op -i 100s 2>/dev/null | grep -c ^total)" -eq 1 ]
}

@test "what makes no sense is refused" {
	refused "merge requires -w FILE" nvme.cap
	refused "merge requires captures" -w "$tmp/x.cap"
	refused "hold the same part of the same recording" -w "$tmp/x.cap" nvme.cap nvme.cap
	refused "hold the same part of the same recording" -w "$tmp/x.cap" merged.cap merged.cap
	refused "calls.cap contains calls: merge takes captures of commands" -w "$tmp/x.cap" calls.cap
	refused "cache.cap contains page cache data" -w "$tmp/x.cap" nvme.cap cache.cap
	refused "waits.cap contains waits: merge takes captures of commands" -w "$tmp/x.cap" waits.cap nvme.cap
	refused "is not an iosonar capture" -w "$tmp/x.cap" nvme.cap "$root/README.md"
	cp nvme.cap "$tmp/one.cap"
	refused "is one of the captures to be merged" -w "$tmp/one.cap" stacks.cap "$tmp/one.cap"
	cmp nvme.cap "$tmp/one.cap"
	run "$iosonar" latency --by host -t 1s
	[ "$status" -eq 2 ]
	[[ "$output" == *"--by host requires captures"* ]]
	[ ! -e "$tmp/x.cap" ]
}

@test "what is damaged or cut is told, then and later" {
	head -c 15000 drives-db1.cap >"$tmp/cut.cap"
	run "$iosonar" merge -w "$tmp/all.cap" "$tmp/cut.cap" drives-db2.cap
	[ "$status" -eq 3 ]
	[[ "$output" == *"cut.cap is truncated after"* ]]
	run "$iosonar" latency -r "$tmp/all.cap" -o csv
	[ "$status" -eq 3 ]
	[[ "$output" == *"all.cap (1: db1) is truncated after"* ]]
	run "$iosonar" info --verify "$tmp/all.cap"
	[ "$status" -eq 3 ]
	[ "$(grep -c '^  intact' <<<"$output")" -eq 1 ]
}

@test "a full disk leaves the old file, and exit 3" {
	echo old >"$tmp/all.cap"
	run bash -c "ulimit -f 16; '$iosonar' merge -w '$tmp/all.cap' drives-db1.cap drives-db2.cap"
	[ "$status" -eq 3 ] || { echo "$output"; return 1; }
	[[ "$output" == *"File too large"* ]]
	[ "$(cat "$tmp/all.cap")" = old ]
}

# More than a pipe holds, and a reader that waits until the signal came.
@test "a signal ends it, and is said" {
	mkfifo "$tmp/slow"
	{ while [ ! -e "$tmp/sent" ]; do sleep 0.1; done && cat >/dev/null; } <"$tmp/slow" &
	"$iosonar" merge -w "$tmp/slow" drives-db1.cap drives-db2.cap v1.cap v1-stages.cap v1-zstd.cap 2>"$tmp/err" &
	pid=$!
	sleep 1
	kill -INT $pid
	touch "$tmp/sent"
	status=0
	wait $pid || status=$?
	[ "$status" -eq 1 ] || { echo "exit $status"; cat "$tmp/err"; return 1; }
	grep -q "interrupted: not all is in $tmp/slow" "$tmp/err"
}

# Longer than a second, because its reader waits.
@test "a bar on a terminal shows how far it is, and goes" {
	command -v script >/dev/null || skip "script is missing"
	mkfifo "$tmp/slow"
	{ sleep 2 && cat >"$tmp/all.cap"; } <"$tmp/slow" &
	script -qec "stty cols 80; '$iosonar' merge -w '$tmp/slow' drives-db1.cap drives-db2.cap v1.cap v1-stages.cap v1-zstd.cap" \
		/dev/null </dev/null | tr '\r' '\n' >"$tmp/out"
	wait
	grep -qE $'^\e\\[Kreading \\[#+ *\\] +[0-9]+ %' "$tmp/out" || { cat -v "$tmp/out"; return 1; }
	grep -q $'^\e\\[Kiosonar: v1.cap lacks 3 records' "$tmp/out" || { cat -v "$tmp/out"; return 1; }
	"$iosonar" info --verify "$tmp/all.cap" >/dev/null
}

@test "the reader of a pipe may go" {
	run bash -c "set -o pipefail; '$iosonar' merge -w /dev/stdout drives-db1.cap drives-db2.cap v1.cap v1-stages.cap v1-zstd.cap before.cap after.cap 2>'$tmp/err' | head -c 100 >/dev/null"
	[ "$status" -eq 0 ] || { cat "$tmp/err"; return 1; }
	"$iosonar" merge -w /dev/stdout drives-db1.cap drives-db2.cap 2>/dev/null | cat >"$tmp/piped.cap"
	"$iosonar" info --verify "$tmp/piped.cap" >/dev/null
}
