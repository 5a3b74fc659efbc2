#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# drives: baselines that are kept, that are wrong, and exit codes. What it finds in captures is golden (tests/replay/drives*).
# Needs no root.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
	cd "$root/tests/data" || return
}

# drives CODE ARGUMENT...: ends so; what it said is in $tmp/out and $tmp/err.
drives() {
	local want=$1 status=0
	shift
	LC_ALL=C "$iosonar" drives "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	[ "$status" -eq "$want" ] || { echo "drives $*: exit $status, not $want: $(cat "$tmp/err")"; return 1; }
}

# refused TEXT: a baseline of this text is.
refused() {
	printf '%s' "$1" >"$tmp/wrong"
	drives 2 -r drives-db1.cap --baseline "$tmp/wrong"
	[ "$(cat "$tmp/err")" = "iosonar: $tmp/wrong$2" ] || { echo "said: $(cat "$tmp/err")"; return 1; }
	[ ! -s "$tmp/out" ]
}

@test "a drive is as fast as it was, and one that is slower than its baseline is found" {
	drives 0 -r drives-db1.cap -r drives-db2.cap --learn "$tmp/base"
	drives 0 -r drives-db2.cap --baseline "$tmp/base" -o csv --if 'beside == past'
	[ "$(grep -c ',past,.*,ok,' "$tmp/out")" -eq 2 ]
	# The slow drive was as fast as the other one.
	grep '"DRIVE10"' "$tmp/base" | sed 's/DRIVE10/DRIVE11/' >"$tmp/other"
	drives 5 -r drives-db2.cap --baseline "$tmp/other" -o csv --if 'beside == past' --fail-if slow
	grep -q '^db2,nvme1n1,.*,past,.*,slow,' "$tmp/out"
	grep -q '^db2,nvme0n1,.*,unknown,0,0,not in the baseline$' "$tmp/out"
}

@test "a drive is known by its serial number wherever it is, and learns anew" {
	drives 0 -r drives-db1.cap --learn "$tmp/base"
	sed -i 's/db1/elsewhere/; s/nvme0n1/nvme7n1/' "$tmp/base"
	drives 0 -r drives-db1.cap --baseline "$tmp/base" --learn "$tmp/base" -o csv --if 'beside == past'
	[ "$(grep -c ',past,.*,ok,' "$tmp/out")" -eq 2 ]
	[ "$(grep -c elsewhere "$tmp/base")" -eq 0 ]
}

@test "a baseline that is none is refused in one line" {
	refused "" " has no drive: it is empty"
	refused "x" ": line 1 is not of 'drives --learn'"
	refused '{"type":"latency"}' ": line 1 is not of 'drives --learn'"
	drives 0 -r drives-db1.cap --learn "$tmp/base"
	refused "$(sed '2s/"blocks":[0-9]*/"blocks":4000000000/' "$tmp/base")" ": line 2 is not of 'drives --learn'"
	refused "$(sed '3s/"service_ns":[0-9.]*/"service_ns":-1/' "$tmp/base")" ": line 3 is not of 'drives --learn'"
	refused "$(sed '4s/"depth_by":"start"/"depth_by":"end"/' "$tmp/base")" ": line 4 is not of 'drives --learn'"
	refused "$(head -c 1000 "$tmp/base")" ": line 5 is not of 'drives --learn'"
	drives 1 -r drives-db1.cap --baseline "$tmp/missing"
	[ "$(cat "$tmp/err")" = "iosonar: cannot read $tmp/missing: No such file or directory" ]
}

@test "what is learned is not the capture, and a difference of less than --at-least is none" {
	drives 2 -r drives-db1.cap --learn drives-db1.cap
	drives 0 -r drives-db1.cap -r drives-db2.cap --at-least 40 --fail-if slow
	drives 5 -r drives-db1.cap -r drives-db2.cap --at-least 20 --fail-if slow
	drives 2 -r drives-db1.cap --at-least 0
}
