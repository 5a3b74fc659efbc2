#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# why: exit codes, the command lines that it names, and captures of planted causes. What it finds in one capture is golden
# (tests/replay/why*), what in 20 runs of each planted cause is tests/unit/why.c.

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

# runs_each: every command line that why named in $tmp/out runs; what these said is in $tmp/said.
runs_each() {
	sed -n 's/^   \(iosonar \)/\1/p' "$tmp/out" >"$tmp/lines"
	[ -s "$tmp/lines" ]
	while read -r line; do
		PATH=$(dirname "$iosonar"):$PATH sh -c "$line" >>"$tmp/said" 2>"$tmp/err" </dev/null ||
			{ echo "$line: $(cat "$tmp/err")"; return 1; }
	done <"$tmp/lines"
}

@test "--watch exits with 6 if a window has a finding, and with 0 if none has" {
	why 6 -r why.cap --watch 100ms
	grep -q '^ 1 nvme0n1 culprit ' "$tmp/out"
	why 0 -r before.cap --watch 100ms
	grep -qx 'no window has a finding' "$tmp/out"
	why 0 -r before.cap --watch 100ms -o csv
	[ "$(grep -c ',none,' "$tmp/out")" -gt 1 ]
}

@test "--watch says that it does not judge the page cache and waits" {
	"$root/build/planted" "$tmp"
	for kind in cache waits; do
		[ $kind = cache ] && cause=evicted || cause=dirty
		why 0 -r "$tmp/$cause.cap" -r "$tmp/$cause.$kind" --watch 1s
		grep -qx 'no window has a finding' "$tmp/out"
		grep -qx -- '--watch does not judge the page cache and waits: evicted, readahead and dirty are not found; without it they are' "$tmp/err" || { cat "$tmp/err"; return 1; }
	done
	why 0 -r "$tmp/dirty.cap" --watch 1s
	! grep -- --watch "$tmp/err" || return 1
	why 0 -r "$tmp/dirty.cap" -r "$tmp/dirty.waits"
	! grep -- --watch "$tmp/err" || return 1
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
		runs_each
	done
}

# Names longer than 400 bytes in all; the finding is of the last capture.
@test "the command lines that it names judge all captures, however many they are" {
	long=$(printf 'of-%0120d' 1)
	for host in 1 2 3 4; do
		mkdir -p "$tmp/$long/$host"
		"$root/build/planted" "$tmp/$long/$host" db$host
		files+=(-r "$tmp/$long/$host/healthy-$host.cap")
	done
	files[7]=$tmp/$long/4/culprit.cap
	why 0 "${files[@]}" --at-least 50%
	runs_each
	[ "$(cat "$tmp/lines")" = "iosonar blame ${files[*]} -d db4:nvme0n1 --victim postgres" ] || { cat "$tmp/lines"; return 1; }
	grep -q '^db4:nvme0n1 *postgres .*backup' "$tmp/said" || { cat "$tmp/said"; return 1; }
	why 0 "${files[@]}" --at-least 50% -o json
	grep -qF "\"more\":\"$(cat "$tmp/lines")\"" "$tmp/out"
	why 0 "${files[@]}" --at-least 50% --from 1ms --to 1h
	runs_each
	grep -qF -- " -d db4:nvme0n1 --from 1000000ns --to 3600000000000ns --victim postgres" "$tmp/lines"
}

@test "of captures of two hosts in one file, a command line shows the disk of its finding" {
	for host in db7 db8; do
		mkdir "$tmp/$host"
		"$root/build/planted" "$tmp/$host" $host
	done
	"$iosonar" merge -w "$tmp/all.cap" "$tmp/db7/culprit.cap" "$tmp/db8/discards.cap" 2>/dev/null
	why 0 -r "$tmp/all.cap"
	runs_each
	[ "$(sed 's/.* -d //' "$tmp/lines" | sort)" = "$(printf 'db%s:nvme0n1 --victim postgres\n' 7 8)" ] || { cat "$tmp/lines"; return 1; }
	for host in db7 db8; do
		PATH=$(dirname "$iosonar"):$PATH sh -c "$(grep $host "$tmp/lines")" 2>/dev/null >"$tmp/said"
		[ "$(grep -o '^db[78]:nvme0n1' "$tmp/said" | sort -u)" = $host:nvme0n1 ] || { cat "$tmp/said"; return 1; }
	done
}

# Their disks have the same numbers, and their writers the same name.
@test "of captures of two hosts, each has the findings of its own page cache and its own waits" {
	for host in db7 db8; do
		mkdir "$tmp/$host"
		"$root/build/planted" "$tmp/$host" $host
	done
	for seed in {1..10}; do # both read the same places, each once
		why 0 -r "$tmp/db7/healthy-$seed.cap" -r "$tmp/db7/healthy-$seed.cache" -r "$tmp/db8/healthy-$seed.cap" -r "$tmp/db8/healthy-$seed.cache" -o csv
		! grep -E ',(evicted|readahead),' "$tmp/out" || return 1
	done
	for cause in evicted readahead dirty; do
		for host in db7 db8; do
			[ $host = db7 ] && other=db8 || other=db7
			files=("$tmp/$host/$cause".{cap,cache,waits} "$tmp/$other/healthy-3".{cap,cache,waits})
			"$iosonar" merge -w "$tmp/all.cap" "${files[@]}" 2>/dev/null
			for given in "${files[*]/#/-r }" "-r $tmp/all.cap"; do
				eval "why 0 $given -o csv"
				[ "$(awk -F, 'NR > 1 { print $4, $5 }' "$tmp/out")" = "$host:nvme0n1 $cause" ] || { cat "$tmp/out"; return 1; }
				eval "why 0 $given"
				: >"$tmp/said"
				runs_each
				! grep -q "$other" "$tmp/said" || { cat "$tmp/lines" "$tmp/said"; return 1; }
			done
		done
	done
}

# cells NAME: what docs/verdicts.md has of it in its last two columns.
cells() { sed -n "s/^| $1 | .* | \([^|]*\) | \([^|]*\) |\$/\1,\2/p" "$root/docs/verdicts.md"; }

@test "each planted cause is found first or second in its capture, and docs/verdicts.md has its rank" {
	"$root/build/planted" "$tmp"
	rm "$tmp"/healthy-*
	for file in "$tmp"/*.cap; do
		cause=$(basename "$file" .cap)
		echo "$cause" >>"$tmp/causes"
		[ "$(cells "$cause" | cut -d, -f1)" != - ] || continue # a capture does not have it
		why 0 -r "$file" -r "$tmp/$cause.cache" -r "$tmp/$cause.waits" -o csv
		rank=$(awk -F, -v cause="$cause" '$5 == cause { print $3 }' "$tmp/out")
		[ "${rank:-9}" -le 2 ] || { echo "$cause: $(cat "$tmp/out")"; return 1; }
		(PATH=$(dirname "$iosonar"):$PATH sh -ec "$(sed -n 's/.*\(iosonar [^"]*\).*/\1/p' "$tmp/out")") >/dev/null 2>"$tmp/err" ||
			{ echo "$cause: what it names does not run: $(cat "$tmp/err")"; return 1; }
		[ "$(cells "$cause")" = "$rank,$(cells "$cause" | cut -d, -f2)" ] || { echo "$cause has rank $rank"; return 1; }
		nr=$((${nr:-0} + 1))
	done
	[ "$nr" -ge 25 ]
	[ "$(sort "$tmp/causes")" = "$(sed -n 's/^| \([a-z-]*\) | 20 |.*/\1/p' "$root/docs/verdicts.md" | sort)" ]
}

@test "healthy captures have as many findings as docs/verdicts.md says" {
	"$root/build/planted" "$tmp"
	nr=0
	for file in "$tmp"/healthy-*.cap; do
		why 0 -r "$file" -r "${file%.cap}.cache" -r "${file%.cap}.waits" -o csv
		grep -q ',none,' "$tmp/out" || nr=$((nr + 1))
	done
	[ "$(cells healthy | cut -d, -f1)" = "$nr of 10" ]
}

@test "a guest's test that docs/verdicts.md names plants the cause" {
	nr=0
	while read -r cause guest; do
		[ "$guest" = - ] && continue
		grep -qE "^(first|among) [a-z]+ $cause\$|\\\$\(rank [a-z]+ $cause\)\" 1 2" "$root/tests/vm/$guest.sh" || { echo "$cause: not in $guest"; return 1; }
		nr=$((nr + 1))
	done < <(sed -n 's/^| \([a-z-]*\) | 20 | .* | \([^|]*\) |$/\1 \2/p' "$root/docs/verdicts.md")
	[ "$nr" -ge 15 ]
}
