#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# why: exit codes, and the command lines that it names. What it finds in captures is golden (tests/replay/why*), what in planted
# causes is tests/unit/why.c.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
	cd "$root/tests/data" || return
}

# why CODE ARGUMENT...: ends so; what it said is in $tmp/out and $tmp/err.
why() {
	local want=$1 status=0
	shift
	LC_ALL=C "$iosonar" why "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	[ "$status" -eq "$want" ] || { echo "why $*: exit $status, not $want: $(cat "$tmp/err")"; return 1; }
}

@test "--watch exits with 6 if a window has a finding, and with 0 if none has" {
	why 6 -r why.cap --watch 100ms
	grep -q '^ 1 nvme0n1 culprit ' "$tmp/out"
	why 0 -r before.cap --watch 100ms
	grep -qx 'no window has a finding' "$tmp/out"
	why 0 -r before.cap --watch 100ms -o csv
	[ "$(grep -c ',none,' "$tmp/out")" -gt 1 ]
}

@test "--fail-if exits with 5, --if and --top choose rows" {
	why 5 -r why.cap --fail-if 'finding == errors'
	why 0 -r why.cap --fail-if 'finding == stalls'
	why 0 -r why.cap --if 'finding == errors' -o csv
	[ "$(cut -d, -f5 "$tmp/out" | tr '\n' ' ')" = 'finding errors ' ]
	why 0 -r why.cap --top 1 -o csv
	[ "$(cut -d, -f5 "$tmp/out" | tr '\n' ' ')" = 'finding culprit ' ]
	why 0 -r why.cap --at-least 99% -o csv
	[ "$(cut -d, -f5 "$tmp/out" | tr '\n' ' ')" = 'finding errors ' ]
}

@test "-p and --comm: only these commands are judged, and others are culprits" {
	why 0 -r why.cap -p 100 -o csv
	[ "$(cut -d, -f5,6 "$tmp/out" | tr '\n' ' ')" = 'finding,whose culprit,reads of postgres ' ]
	grep -q 'reads of postgres wait for writes of backup' "$tmp/out"
	why 0 -r why.cap --comm backup -o csv
	[ "$(cut -d, -f5,6 "$tmp/out" | tr '\n' ' ')" = "finding,whose saturated,tasks named 'backup' errors,tasks named 'backup' " ]
	why 0 -r why.cap -p 4711
	grep -qx 'no command was seen' "$tmp/out"
	grep -qx 'iosonar: no command of process 4711 was seen' "$tmp/err"
	why 0 -r why.cap --cgroup /a
	grep -qx '1511 commands have no cgroup: they are not explained' "$tmp/err"
}

@test "values that it cannot mean are refused" {
	why 2 -r why.cap --at-least 0%
	why 2 -r why.cap --at-least 101%
	why 2 -r why.cap --watch 1ms
	why 2 -r why.cap --top 0
	why 2 -r why.cap --buffer 4Mi
	why 2 -r why.cap -p 0
	why 2 -r why.cap --comm 1234567890123456
	why 2 -r why.cap --comm postgres --anonymous
	why 2 -p 4194303
}

@test "the command lines that it names run, also with a file that a shell would change" {
	cp why.cap "$tmp/it's; a cap"
	for file in why.cap 'why.cap -p 100' 'why.cap --comm backup' before.cap "$tmp/it's; a cap"; do
		case $file in
		*\ -*) eval "why 0 -r $file" ;;
		*) why 0 -r "$file" ;;
		esac
		grep '^   iosonar ' "$tmp/out" | sed 's/^ *//' >"$tmp/lines"
		[ -s "$tmp/lines" ]
		while read -r line; do
			PATH=$(dirname "$iosonar"):$PATH sh -c "$line" >/dev/null 2>"$tmp/err" </dev/null ||
				{ echo "$line: $(cat "$tmp/err")"; return 1; }
		done <"$tmp/lines"
	done
}
