#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# diff: files that were saved, files that are wrong, cut or damaged, exit codes. What it finds in captures is golden
# (tests/replay/diff-*). Needs no root.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
	cd "$root/tests/data" || return
}

# diff CODE ARGUMENT...: ends so; what it said is in $tmp/out and $tmp/err.
diff_() {
	local want=$1 status=0
	shift
	LC_ALL=C "$iosonar" diff "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	[ "$status" -eq "$want" ] || { echo "diff $*: exit $status, not $want: $(cat "$tmp/err")"; return 1; }
}

# one LINE: that, and nothing else, was said.
one() { [ "$(cat "$tmp/err")" = "iosonar: $1" ] || { echo "said: $(cat "$tmp/err")"; return 1; }; }

# save FILE ARGUMENT...: latency -o json of a capture.
save() { "$iosonar" latency -o json --out "$@" 2>/dev/null; }

# cell OP WHAT COLUMN: of CSV in $tmp/out.
cell() {
	awk -F, -v op="$1" -v what="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["op"] == op && $at["what"] == what { print $at[name] }' "$tmp/out"
}

# near VALUE FROM TO
near() { awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(v != "" && v >= a && v <= b) }' || { echo "$1 is not in $2..$3"; return 1; }; }

@test "what was saved shows the same shift as the captures" {
	save "$tmp/a.json" -r before.cap
	save "$tmp/b.json" -r after.cap
	for pair in "before.cap after.cap" "$tmp/a.json $tmp/b.json" "before.cap $tmp/b.json"; do
		# shellcheck disable=SC2086
		diff_ 0 $pair -o csv --pair nvme0n1=nvme1n1
		near "$(cell read p50 shift)" 18 22
		[ "$(cell read p50 verdict)" = slower ]
		[ "$(cell write p50 verdict)" = noise ]
		[ "$(cell read mean verdict)" = slower ]
	done
	grep -q "b.json has no data on variation over time" "$tmp/err"
}

@test "what version 0.1 saved is read: its buckets are called hist" {
	for file in before after; do
		"$iosonar" latency -r $file.cap -o json 2>/dev/null >"$tmp/$file.json"
		sed 's/"type":"bucket"/"type":"hist"/' "$tmp/$file.json" >"$tmp/$file.old"
		! cmp -s "$tmp/$file.json" "$tmp/$file.old"
	done
	"$iosonar" diff "$tmp/before.json" "$tmp/after.json" -o csv 2>/dev/null >"$tmp/new" || [ $? -eq 6 ]
	"$iosonar" diff "$tmp/before.old" "$tmp/after.old" -o csv 2>/dev/null >"$tmp/old" || [ $? -eq 6 ]
	[ "$(wc -l <"$tmp/new")" -gt 1 ]
	cmp "$tmp/new" "$tmp/old"
}

@test "a saved run has the sizes and counts of its capture" {
	save "$tmp/a.json" -r before.cap
	diff_ 0 before.cap "$tmp/a.json" -o csv
	for op in read write; do
		[ "$(cell $op count a)" -eq "$(cell $op count b)" ]
		near "$(($(cell $op size a) - $(cell $op size b)))" -1 1
		near "$(cell $op mean shift)" -0.01 0.01
	done
	[ "$(cell read size a)" -ne "$(cell write size a)" ]
}

@test "a drive of the same name with another serial number is told" {
	diff_ 0 before.cap before.cap
	[ "$(grep -c 'serial numbers differ' "$tmp/err")" -eq 0 ]
	diff_ 0 before.cap after.cap --pair nvme0n1=nvme1n1
	[ "$(grep -c 'serial numbers differ' "$tmp/err")" -eq 0 ]
	diff_ 0 stacks.cap before.cap
	grep -q '^nvme0n1 is nvme0n1 in B: the same name, but the serial numbers differ$' "$tmp/err"
}

@test "a loss in either run of calls is told, and exits 3" {
	head -c -20 calls.cap >"$tmp/cut.cap"
	diff_ 0 calls.cap calls.cap
	diff_ 3 "$tmp/cut.cap" calls.cap
	diff_ 3 calls.cap "$tmp/cut.cap"
	diff_ 3 "$tmp/cut.cap" "$tmp/cut.cap"
}

@test "saved with --hist it has blocks, and the rate its intervals" {
	save "$tmp/a.json" -r before.cap -i 10ms --hist
	save "$tmp/b.json" -r after.cap -i 10ms --hist
	diff_ 0 "$tmp/a.json" "$tmp/b.json" -o csv
	[ "$(grep -c 'no data on variation' "$tmp/err")" -eq 0 ]
	[ "$(cell read p50 verdict)" = slower ]
	[ "$(cell read p50 blocks)" -ge 32 ]
	[ "$(cell read iops verdict)" = noise ]
	[ "$(cell read count a)" -eq 1209 ]
	grep -q "^nvme0n1 is compared with nvme1n1 of B: each is the only disk left in its run" "$tmp/err"
	save "$tmp/a.json" -r before.cap -i 10ms
	diff_ 0 "$tmp/a.json" "$tmp/b.json" -o csv
	[ "$(cell read iops verdict)" = noise ]
	[ "$(cell read size verdict)" = unknown ]
}

@test "of a run with itself nothing is found, whatever it was kept in" {
	save "$tmp/a.json" -r before.cap
	save "$tmp/b.json" -r before.cap -i 10ms --hist --by dev,op,size
	for file in *.cap "$tmp/a.json" "$tmp/b.json"; do
		case $file in cache*.cap | waits*.cap | requests.cap | callless.cap) continue ;; v1.cap | v1-zstd.cap | index.cap | astray.cap | repeated.cap | edges.cap | merged.cap) code=3 ;; *) code=0 ;; esac
		[ "$file" != v1-zstd.cap ] || "$iosonar" --version | grep -q zstd || continue
		diff_ "$code" "$file" "$file" -o json
		[ -s "$tmp/out" ]
		! grep -vE '"verdict":("noise"|null)' "$tmp/out" || { echo "$file"; return 1; }
		! grep -E '"shift":-?[0-9.]*[1-9]' "$tmp/out" || { echo "$file"; return 1; }
	done
}

@test "--fail-if exits 5 for a shift, and not for noise" {
	diff_ 5 before.cap after.cap --fail-if 'p50 > +10%'
	grep -q "^iosonar: --fail-if 'p50 > +10%' is true: nvme0n1 read$" "$tmp/err"
	diff_ 0 before.cap after.cap --fail-if 'p50 > +25%'
	diff_ 0 before.cap after.cap --fail-if 'p50 > +10% && op == write'
	diff_ 0 after.cap before.cap --fail-if 'p50 > +10%'
	diff_ 5 after.cap before.cap --fail-if 'p50 < -10%'
	diff_ 5 before.cap after.cap --fail-if 'errors > +1%'
	diff_ 0 before.cap after.cap --fail-if 'p99 > +10%' # 22 %, but noise
	diff_ 0 before.cap after.cap --fail-if 'p99.9 > +10% || p99.9 <= +10%' # too few: neither
	diff_ 2 before.cap after.cap --fail-if 'p98 > +10%'
	diff_ 2 before.cap after.cap --fail-if 'p99 > +10us'
	diff_ 2 before.cap after.cap --fail-if 'p99 > +op'
}

# unsure WHY: too short to tell, said once.
unsure() { grep -qF "iosonar: --fail-if '$1' cannot be decided: nvme0n1 read: $2" "$tmp/err" || { cat "$tmp/err"; return 1; }; }

@test "--fail-if says when the runs are too short to tell, and --unsure decides" {
	diff_ 0 before.cap after.cap --op read --fail-if 'p99 > +10%'
	unsure 'p99 > +10%' "p99 is between -87.9% and +1096%"
	diff_ 0 before.cap after.cap --op read --fail-if 'p99 > +10%' --unsure pass
	unsure 'p99 > +10%' "p99 is between -87.9% and +1096%"
	diff_ 6 before.cap after.cap --op read --fail-if 'p99 > +10%' --unsure fail
	unsure 'p99 > +10%' "p99 is between -87.9% and +1096%"
	diff_ 6 before.cap after.cap --op read --fail-if 'p99.9 > +10% || size < -5%' --unsure fail
	unsure 'p99.9 > +10% || size < -5%' "p99.9 has too few I/Os, size is between -6.5% and +13.0%"
	# Sure, or sure not to be: neither word nor 6. An interval that leaves no room for it; an operation that is not meant.
	diff_ 5 before.cap after.cap --op read --fail-if 'p99 > +10% || p50 > +10%' --unsure fail
	diff_ 0 before.cap after.cap --op read --fail-if 'p50 > +25%' --unsure fail
	diff_ 0 before.cap after.cap --op read --fail-if 'p99 > +2000%' --unsure fail
	diff_ 0 before.cap after.cap --op read --fail-if 'p99 > +10% && op == write' --unsure fail
	diff_ 0 before.cap after.cap --op read --fail-if 'p99 > +10% && p50 > +25%' --unsure fail
	[ "$(grep -c "cannot be decided" "$tmp/err")" -eq 0 ]
	diff_ 0 before.cap before.cap --op read --fail-if 'p50 > +10%' --unsure fail
	diff_ 2 before.cap after.cap --unsure fail
	one "--unsure fail requires --fail-if"
	diff_ 2 before.cap after.cap --fail-if 'p50 > +10%' --unsure maybe
}

@test "a number that a file has without its variation cannot be told" {
	save "$tmp/a.json" -r before.cap -i 10ms
	save "$tmp/b.json" -r after.cap -i 10ms --hist
	diff_ 6 "$tmp/a.json" "$tmp/b.json" --op read --fail-if 'size > +1%' --unsure fail
	unsure 'size > +1%' "size is a single number: its variation is unknown"
}

@test "wrong files are one line" {
	diff_ 1 before.cap "$tmp/none"
	one "cannot read '$tmp/none': No such file or directory"
	echo "no capture" >"$tmp/text"
	diff_ 1 before.cap "$tmp/text"
	one "'$tmp/text' is not an iosonar capture"
	: >"$tmp/empty"
	diff_ 3 "$tmp/empty" before.cap # as any that is cut at its first byte
	grep -q "^iosonar: $tmp/empty is truncated " "$tmp/err"
	[ "$(grep -c 'only B$' "$tmp/out")" -eq 2 ]
	diff_ 1 before.cap /dev/null
	[ "$(wc -l <"$tmp/err")" -eq 1 ]
	echo '{"some":"json"}' >"$tmp/other.json"
	diff_ 1 "$tmp/other.json" before.cap
	one "$tmp/other.json holds no rows of 'latency -o json'"
	printf '{"type":"latency","span":"total"\n' >"$tmp/cut.json"
	diff_ 1 "$tmp/cut.json" before.cap
	one "$tmp/cut.json: line 1 is not a complete line of 'latency -o json': the file is truncated, or of another format"
	diff_ 2 before.cap
	one "diff takes two files (1 is given), e.g. iosonar diff A B"
	diff_ 2 before.cap after.cap nvme.cap
	one "diff takes two files (3 are given), e.g. iosonar diff A B"
	diff_ 2 before.cap after.cap --from 2s --to 1s
	one "--to must be later than --from"
	diff_ 2 before.cap after.cap --pair nvme0n1
	one "--pair nvme0n1: expected the device of A, =, the device of B, e.g. nvme0n1=sda"
	diff_ 2 calls.cap class.cap --op read
	one "a filter applies to commands; these captures contain calls"
	diff_ 2 before.cap after.cap --graph
	one "--graph requires captures of calls; before.cap contains no calls"
}

@test "what was saved in another way is refused, with the way on" {
	save "$tmp/op.json" -r before.cap --by op
	diff_ 1 "$tmp/op.json" "$tmp/op.json"
	one "$tmp/op.json is not split by device and operation: save it without --by, or with --by dev,op"
	save "$tmp/zoom.json" -r before.cap --lat_min_us 50 --lat_shift 2
	diff_ 1 "$tmp/zoom.json" "$tmp/zoom.json"
	one "$tmp/zoom.json has zoomed buckets: save it without --lat-min-us and --lat-shift"
	save "$tmp/a.json" -r before.cap
	diff_ 2 "$tmp/a.json" "$tmp/a.json" --from 1ms
	one "--from requires a capture: $tmp/a.json holds only summaries"
	diff_ 2 "$tmp/a.json" "$tmp/a.json" --if 'lat > 1us'
	head -c -20 "$tmp/a.json" >"$tmp/cut.json"
	diff_ 1 "$tmp/cut.json" "$tmp/a.json"
	[ "$(wc -l <"$tmp/err")" -eq 1 ]
	grep '"span":"interval"' "$tmp/a.json" >"$tmp/part.json" || true
	save "$tmp/many.json" -r before.cap -i 100ms
	grep '"span":"interval"' "$tmp/many.json" >"$tmp/part.json"
	diff_ 1 "$tmp/part.json" "$tmp/a.json"
	one "$tmp/part.json has no rows of the whole run: the file is truncated"
	diff_ 0 "$tmp/a.json" "$tmp/a.json" --op read -o csv
	[ "$(sed 1d "$tmp/out" | cut -d, -f4 | sort -u)" = read ]
}

@test "a capture that is cut is compared as far as it goes, and exits 3" {
	head -c 11000 after.cap >"$tmp/cut.cap"
	diff_ 3 before.cap "$tmp/cut.cap"
	grep -q "cut.cap is truncated" "$tmp/err"
	diff_ 0 before.cap "$tmp/cut.cap" --allow-loss
	[ -s "$tmp/out" ]
	diff_ 5 before.cap "$tmp/cut.cap" --fail-if 'p50 > +5%'
}

@test "texts of a file are escaped, in every format" {
	save "$tmp/a.json" -r before.cap
	sed 's/"dev":"nvme0n1"/"dev":"\\u001b[2J<b>\\",\\n"/' "$tmp/a.json" >"$tmp/evil.json"
	diff_ 0 "$tmp/evil.json" "$tmp/evil.json"
	[ "$(cat "$tmp/out" "$tmp/err" | grep -c "$(printf '\033')")" -eq 0 ]
	grep -qF '\x1b[2J<b>",\x0a' "$tmp/out"
	diff_ 0 "$tmp/evil.json" "$tmp/evil.json" -o csv
	grep -q '<b>""' "$tmp/out"
	diff_ 0 "$tmp/evil.json" "$tmp/evil.json" -o json
	grep -qF '"dev":"\\x1b[2J<b>\",\\x0a"' "$tmp/out"
}

@test "the output goes to a file; a disk that is full is told" {
	diff_ 0 before.cap after.cap -o csv --out "$tmp/diff.csv"
	[ ! -s "$tmp/out" ]
	[ "$(wc -l <"$tmp/diff.csv")" -gt 20 ]
	diff_ 1 before.cap after.cap --out /dev/full
	grep -q "^iosonar: cannot write /dev/full: " "$tmp/err"
	diff_ 1 before.cap after.cap --out "$tmp/none/x"
	grep -q "^iosonar: cannot write $tmp/none/x: No such file or directory" "$tmp/err"
}
