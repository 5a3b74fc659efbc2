#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Every line that nobody can mean gets one message that says what is wrong and what would be right: malformed.lines and what
# iosonar answers, malformed.golden. After a change that was meant, read the difference and run
#	IOSONAR_GOLDEN=write bats tests/cli/malformed.bats

setup() {
	here=$BATS_TEST_DIRNAME
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
}

# answer LINE: as a shell would read it. Whatever is not a plain refusal is written down, too: nothing may go to stdout.
answer() {
	local status=0 words own=$tmp/$BASHPID
	eval "words=($1)"
	echo "\$ iosonar $1"
	timeout 20 "$iosonar" "${words[@]}" >"$own.out" 2>"$own.err" </dev/null || status=$?
	[ "$status" -eq 2 ] || echo "exit $status"
	sed 's/^/stdout: /' "$own.out"
	cat "$own.err"
}

# part FIRST STEP: answers every STEPth line from FIRST on, each into its file.
part() {
	local i
	for ((i = $1; i < ${#lines[@]}; i += $2)); do
		answer "${lines[i]}" >"$tmp/$(printf '%04d' "$i").answer"
	done
}

# same_answers NAME: two at a time.
same_answers() {
	local lines
	mapfile -t lines < <(grep -vE '^(#|$)' "$here/$1.lines")
	part 0 2 3>&- &
	part 1 2
	wait
	cat "$tmp"/*.answer >"$tmp/answers"
	[ "${IOSONAR_GOLDEN:-}" != write ] || cp "$tmp/answers" "$here/$1.golden"
	diff "$here/$1.golden" "$tmp/answers"
}

@test "there are 300 lines, no two alike" {
	[ "$(cat "$here"/malformed*.lines | grep -vcE '^(#|$)')" -ge 300 ]
	[ -z "$(cat "$here"/malformed*.lines | grep -vE '^(#|$)' | sort | uniq -d)" ]
}

@test "every malformed line is answered" {
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	same_answers malformed
}

@test "every malformed line about tracepoints is answered" {
	[ -r /sys/kernel/tracing/available_events ] || skip "needs root: tracefs cannot be read"
	same_answers malformed_tracepoints
}

# One line, and for what stands in a clause that text with a caret below it.
@test "every answer is one message" {
	for file in "$here"/malformed*.golden; do
		awk '
			/^\$ iosonar / { line = $0; state = "asked"; next }
			state == "asked" && /^iosonar: ./ { state = "said"; next }
			state == "said" { state = "quoted"; next }
			state == "quoted" && /^ *\^$/ { state = "pointed"; next }
			{ print "after " line ": " $0; exit 1 }' "$file"
		[ "$(grep -vE '^\$ iosonar ' "$file" | grep -cE '\(null\)|\(nil\)')" -eq 0 ]
	done
}
