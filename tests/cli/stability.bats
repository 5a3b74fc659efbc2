#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# docs/stability.md: keys that are promised are there with their types, exit codes keep their meaning, and captures that released
# versions wrote are read as those versions read them.

setup() {
	iosonar=${IOSONAR:-build/iosonar}
	tmp=$BATS_TEST_TMPDIR
	released=tests/data/released
}

@test "no key that is promised has gone or changed its type" {
	tests/stable "$iosonar"
}

@test "a key that went, and one that changed its type, are named" {
	mkdir -p "$tmp/tests/data/released"
	cp tests/stable "$tmp/tests/"
	{ grep -v "^latency latency dev " "$released/keys" && echo "latency latency gone integer" && echo "latency latency dev integer"; } >"$tmp/tests/data/released/keys"
	local status=0
	"$tmp/tests/stable" "$iosonar" >"$tmp/out" || status=$?
	[ "$status" -eq 1 ]
	grep -qx 'latency latency gone: was integer, is gone' "$tmp/out"
	grep -qx 'latency latency dev: was integer, is string' "$tmp/out"
	[ "$(wc -l <"$tmp/out")" -eq 3 ]
}

@test "the promise names the exit codes that help has" {
	local codes
	codes=$("$iosonar" help | sed -n 's/^  \([0-9]\)  *[a-z].*/\1/p' | paste -sd' ')
	[ "$codes" = "0 1 2 3 4 5 6" ] || { echo "$codes"; return 1; }
	grep -q '^| exit codes | 0 to 6 ' docs/stability.md
}

# Each VERSION.cap has VERSION.csv beside it: what that version's `export -o csv` printed. Columns that were renamed in 0.2.0
# have their new names there.
@test "captures of released versions are read as those versions read them" {
	local capture version nr=0
	for capture in "$released"/*.cap; do
		version=${capture##*/} version=${version%.cap}
		"$iosonar" info --verify "$capture" >"$tmp/info"
		grep -qE "^ +iosonar +$version\$" "$tmp/info"
		"$iosonar" export -r "$capture" -o csv >"$tmp/$version.csv"
		python3 - "$released/$version.csv" "$tmp/$version.csv" <<-'E'
			import csv, sys
			old, new = ([row for row in csv.DictReader(open(path, encoding="utf-8"))] for path in sys.argv[1:])
			assert len(old) == len(new) and len(old) > 100, (len(old), len(new))
			assert not set(old[0]) - set(new[0]), set(old[0]) - set(new[0])
			for number, (before, now) in enumerate(zip(old, new)):
			    for key, value in before.items():
			        assert now[key] == value, (number, key, value, now[key])
		E
		for command in latency layers slow errors pattern trace; do
			"$iosonar" "$command" -r "$capture" -o json >"$tmp/out"
			[ -s "$tmp/out" ] || [ "$command" = errors ]
		done
		nr=$((nr + 1))
	done
	[ "$nr" -ge 1 ]
}
