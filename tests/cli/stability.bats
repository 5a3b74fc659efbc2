#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# docs/stability.md: keys that are promised are there with their types, exit codes keep their meaning, and captures that released
# versions wrote are read as those versions read them.

setup() {
	iosonar=${IOSONAR:-build/iosonar}
	tmp=$BATS_TEST_TMPDIR
	released=tests/data/released
}

@test "no key that is promised has gone or changed its type, and old captures are read as they were" {
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
	[ "$(wc -l <"$tmp/out")" -eq 4 ]
}

@test "a value of an old capture that is read differently, and a row that is missing, are named" {
	mkdir -p "$tmp/tests/data/released"
	cp tests/stable "$tmp/tests/"
	cp -r "$released/keys" "$released/0.1.0" "$tmp/tests/data/released/"
	sed -i '2s/"lat_ns":[0-9]*/"lat_ns":1/' "$tmp/tests/data/released/0.1.0/nvme-trace.json"
	echo "a,row,too,many" >>"$tmp/tests/data/released/0.1.0/calls-graph.csv"
	local status=0
	"$tmp/tests/stable" "$iosonar" >"$tmp/out" || status=$?
	[ "$status" -eq 1 ]
	grep -qxE '0.1.0/nvme-trace.json: row 2, lat_ns: was 1, is [0-9]+' "$tmp/out"
	grep -qx '0.1.0/calls-graph.csv: had 18 rows, has 17' "$tmp/out"
	[ "$(wc -l <"$tmp/out")" -eq 4 ] || { cat "$tmp/out"; return 1; }
}

@test "outputs of old captures are of every kind, and --write changes none" {
	mkdir -p "$tmp/tests/data/released"
	cp tests/stable "$tmp/tests/"
	cp -r "$released/0.1.0" "$tmp/tests/data/released/"
	rm "$tmp/tests/data/released/0.1.0/errors.json"
	sed -i 's/./X/' "$tmp/tests/data/released/0.1.0/hang-trace.csv"
	"$tmp/tests/stable" --write "$iosonar"
	cmp "$released/0.1.0/errors.json" "$tmp/tests/data/released/0.1.0/errors.json"
	head -c 1 "$tmp/tests/data/released/0.1.0/hang-trace.csv" | grep -q X
	for capture in "$released"/0.1.0/*.cap; do
		grep -q " ${capture##*/} " "$released/0.1.0/cases" || { echo "no case of $capture"; return 1; }
	done
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
