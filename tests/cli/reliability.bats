#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# docs/reliability.md: each fault has a row, the tests and cases that a row names exist, and every fuzz target is in its tables, with
# its corpus and the features that tests/fuzz/run demands.

page=docs/reliability.md

# proofs PAGE: of each row of a fault its name, and a line for each case: FILE<tab>CASE. What has none: NAME and why, if it says so.
proofs() {
	awk '
	!/^\| [LDP][0-9]+ \|/ { next }
	{
		nr = split($0, cell, / \| /)
		name = substr(cell[1], 3)
		print "row\t" name "\t" nr
		text = cell[4]
		if (text ~ /^No test: ./)
			print "none\t" name
		file = ""
		while (match(text, /`tests\/[^`]+`|"[^"]+"/)) {
			token = substr(text, RSTART + 1, RLENGTH - 2)
			if (substr(text, RSTART, 1) == "`")
				file = token
			else
				print "case\t" name "\t" file "\t" token
			text = substr(text, RSTART + RLENGTH)
		}
	}' "$1"
}

# missing PAGE: what the page names and the tree does not have. A case ends a string of its test; what is before it may be a variable.
missing() {
	local kind name file case
	proofs "$1" | while IFS=$'\t' read -r kind name file case; do
		[ "$kind" = case ] || continue
		[ -f "$file" ] || { echo "$name: there is no '$file'" && continue; }
		grep -qF -- "$case\"" "$file" || echo "$name: $file has no case '$case'"
	done
	# shellcheck disable=SC2016 # backquotes of Markdown
	grep -oE '`tests/[a-z_/.]+`' "$1" | tr -d '`' | sort -u | while read -r file; do
		[ -e "$file" ] || echo "there is no '$file'"
	done
}

@test "every fault has one row of five cells, with a case or a reason" {
	proofs "$page" >"$BATS_TEST_TMPDIR/proofs"
	want="$(for i in {1..12}; do echo "L$i"; done; for i in {1..13}; do echo "D$i"; done; for i in {1..8}; do echo "P$i"; done)"
	[ "$(sed -n 's/^row\t\([^\t]*\)\t5$/\1/p' "$BATS_TEST_TMPDIR/proofs")" = "$want" ]
	[ "$(grep -E '^(case|none)' "$BATS_TEST_TMPDIR/proofs" | cut -f2 | uniq)" = "$want" ]
}

@test "the page adds up: how many faults have a test, and which have none" {
	local without
	proofs "$page" >"$BATS_TEST_TMPDIR/proofs"
	without=$(sed -n 's/^none\t//p' "$BATS_TEST_TMPDIR/proofs" | paste -sd' ')
	[ "$without" = L3 ]
	grep -q "^$((33 - $(wc -w <<<"$without"))) of the 33 faults have a test\. $without has none, and its row says why\." "$page"
}

@test "the tests and cases that it names exist" {
	missing "$page" >"$BATS_TEST_TMPDIR/missing"
	[ ! -s "$BATS_TEST_TMPDIR/missing" ] || { cat "$BATS_TEST_TMPDIR/missing"; return 1; }
}

@test "a case that went, and a test that went, are named" {
	sed 's/"a health event"/"a health evening"/; s,tests/vm/many.sh,tests/vm/few.sh,' "$page" >"$BATS_TEST_TMPDIR/page"
	[ "$(missing "$BATS_TEST_TMPDIR/page")" = "D4: tests/vm/events.sh has no case 'a health evening'
D13: there is no 'tests/vm/few.sh'
there is no 'tests/vm/few.sh'" ]
}

# The page, the fuzzers' own default, make's and what ./check says.
@test "a fuzzer gets as much time as the page says" {
	local seconds
	seconds=$(sed -n 's/.*gives each \([0-9]*\) s of CPU time.*/\1/p' "$page")
	[ "$seconds" -ge 60 ]
	grep -qx "seconds=\${FUZZ_SECONDS:-$seconds}" tests/fuzz/run
	grep -qF "CPU time [$seconds]" tests/fuzz/run
	grep -qx "FUZZ_SECONDS ?= $seconds" Makefile
	grep -qF "tools, $seconds s of CPU time each" check
	[ "$(grep -c 'FUZZ_SECONDS=' check)" -eq 0 ]
}

@test "every fuzz target has a row" {
	for file in tests/fuzz/*.c; do
		file=${file##*/}
		[ "$(grep -c "^| ${file%.c} | " "$page")" -eq 2 ] || { echo "no rows for ${file%.c}"; return 1; }
	done
}

# rows PAGE: of each target in the table of coverage: name, inputs, bytes, features, features demanded; as plain numbers.
rows() { sed -nE 's/^\| ([a-z]+) \| ([0-9,]+) \| ([0-9,]+) \| [0-9,]+ of [0-9,]+ \| ([0-9,]+) \| ([0-9,]+) \|$/\1 \2 \3 \4 \5/p' "$1" | tr -d ,; }

# What a corpus has to reach is four fifths of what it reached, rounded down to tens.
@test "the table of coverage has the corpora of the tree, and what tests/fuzz/run demands of them" {
	local name inputs bytes features least nr=0
	while read -r name inputs bytes features least; do
		nr=$((nr + 1))
		[ "$(sed -n "s/^$name) least=\([0-9]*\) ;;$/\1/p" tests/fuzz/run)" = "$least" ] || { echo "$name: another floor"; return 1; }
		[ "$(awk -v n="$features" 'BEGIN { print int(n * 8 / 100) * 10 }')" = "$least" ] || { echo "$name: $least is not four fifths of $features"; return 1; }
		[ "$(tar -tvzf "tests/fuzz/corpus/$name.tar.gz" | awk '/^-/ { n++; bytes += $3 } END { print n, bytes }')" = "$inputs $bytes" ] ||
			{ echo "$name: another corpus"; return 1; }
	done < <(rows "$page")
	[ "$nr" -eq "$(find tests/fuzz -name '*.c' | wc -l)" ]
}
