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

# same_as_apart MERGED "FILE..." < lines of ARGUMENTS: what is shown of the merged file is what is shown of its captures.
same_as_apart() {
	local merged=$1 apart=() file
	for file in $2; do apart+=(-r "$file"); done
	while read -r arguments; do
		eval "$iosonar $arguments" '"${apart[@]}"' >"$tmp/want" 2>&1 || [ $? -eq 3 ]
		[ "$(wc -l <"$tmp/want")" -ge 4 ] || { echo "$arguments:" && cat "$tmp/want" && return 1; }
		eval "$iosonar $arguments -r $merged" >"$tmp/got" 2>&1 || [ $? -eq 3 ]
		diff "$tmp/want" "$tmp/got" || { echo "$arguments"; return 1; }
	done
}

@test "captures of waits, merged, are shown as they are" {
	"$iosonar" merge -w "$tmp/all.cap" waits-db8.cap waits-db7.cap 2>"$tmp/err"
	grep -qx "$tmp/all.cap: 44 waits; captures: 2, hosts: 2" "$tmp/err" || { cat "$tmp/err"; return 1; }
	same_as_apart "$tmp/all.cap" "waits-db8.cap waits-db7.cap" <<-'EOF'
		waits
		waits --slow 40
		waits --slow 40 -o json
		waits --by dev,file,comm,cgroup -o csv -i 500ms
		waits --by host,pid fsync --from 1s
		waits --file /data/pg_wal/8 -o json
	EOF
	"$iosonar" info --verify "$tmp/all.cap" >"$tmp/info"
	[ "$(grep -c 'every block was read and checked' "$tmp/info")" -eq 2 ]
}

@test "captures of the page cache, merged, are shown as they are" {
	"$iosonar" merge -w "$tmp/all.cap" cache-db8.cap cache-db7.cap 2>"$tmp/err"
	grep -qx "$tmp/all.cap: 6 readings of the page cache; captures: 2, hosts: 2" "$tmp/err" || { cat "$tmp/err"; return 1; }
	same_as_apart "$tmp/all.cap" "cache-db8.cap cache-db7.cap" <<-'EOF'
		cache
		cache --by comm,pid,file,cgroup,dev,op -o json
		cache --by host -o csv -i 2s
		cache --by file -d nvme0n1 --comm backup
		cache --then-io -o json
		cache --events
		cache --from 1500ms -n 1
	EOF
}

# By an independent reader: the file itself is in order, so that a stream of it can be read as it comes.
@test "chunks of waits and of the page cache are in order of the wall clock" {
	for kind in waits cache; do
		"$iosonar" merge -w "$tmp/$kind.cap" $kind-db7.cap $kind-db8.cap 2>/dev/null
		PYTHONDONTWRITEBYTECODE=1 python3 - "$root/tests/replay" "$tmp/$kind.cap" >"$tmp/$kind" <<-'E'
			import sys
			sys.path.insert(0, sys.argv[1])
			import capture
			with open(sys.argv[2], "rb") as file:
			    data = file.read()
			for head, _ in capture.chunks(data, version=2):
			    if head["type"] in (12, 13, 18):
			        print(head["number"], end=" ")
		E
	done
	[ "$(cat "$tmp/waits")" = "1 2 1 2 " ] || { cat "$tmp/waits"; return 1; }
	[ "$(cat "$tmp/cache")" = "1 2 1 2 1 2 1 2 " ] || { cat "$tmp/cache"; return 1; }
}

# Each host's rows are what its own capture has; only the time since the start, of the whole, may differ.
@test "of several hosts each has its own rows, of waits and of the page cache" {
	for host in db7 db8; do
		"$iosonar" waits -o csv --by dev,file,comm -r waits-$host.cap 2>/dev/null >"$tmp/alone"
		"$iosonar" waits -o csv --by dev,file,comm -r waits-db7.cap -r waits-db8.cap 2>/dev/null >"$tmp/both"
		[ "$(wc -l <"$tmp/both")" -eq $((2 * $(wc -l <"$tmp/alone") - 1)) ]
		"$iosonar" cache -o csv --by file,dev,comm,pid -r cache-$host.cap 2>/dev/null >"$tmp/cache-alone" || [ $? -eq 3 ]
		"$iosonar" cache -o csv --by file,dev,comm,pid -r cache-db7.cap -r cache-db8.cap 2>/dev/null >"$tmp/cache-both" || [ $? -eq 3 ]
		python3 - $host "$tmp" <<-'E'
			import csv, sys
			host, tmp = sys.argv[1:]
			def rows(name, prefix=""):
			    for row in csv.DictReader(open(f"{tmp}/{name}", newline="")):
			        if row["span"] != "total" or not row["dev"].startswith(prefix):
			            continue
			        row["dev"] = row["dev"].removeprefix(prefix)
			        yield tuple(sorted((k, v) for k, v in row.items() if k not in ("host", "time_s", "wall")))
			for kind in "", "cache-":
			    alone = [row for row in rows(kind + "alone") if ("dev", "other") not in row]
			    assert len(alone) > 2 and sorted(alone) == sorted(rows(kind + "both", host + ":")), kind
		E
	done
}

@test "captures of all kinds in one file: each command shows its own" {
	"$iosonar" merge -w "$tmp/all.cap" waits-db7.cap drives-db1.cap cache-db8.cap 2>/dev/null
	for kind in waits-db7 cache-db8; do
		"$iosonar" ${kind%-*} -r $kind.cap 2>&1 >/dev/null | grep -F " = " >"$tmp/want"
		"$iosonar" ${kind%-*} -r "$tmp/all.cap" 2>&1 >/dev/null | grep -F " = " >"$tmp/got"
		[ -s "$tmp/want" ]
		diff "$tmp/want" "$tmp/got"
	done
	[ "$("$iosonar" export -r "$tmp/all.cap" -o csv 2>/dev/null | wc -l)" -eq 4420 ]
	"$iosonar" merge -w "$tmp/io.cap" drives-db1.cap drives-db2.cap 2>/dev/null
	run "$iosonar" waits -r "$tmp/io.cap"
	[ "$status" -eq 2 ]
	[[ "$output" == *"io.cap contains no waits"* ]]
	run "$iosonar" cache -r "$tmp/io.cap"
	[ "$status" -eq 2 ]
	[[ "$output" == *"io.cap contains no page cache data"* ]]
	run "$iosonar" cache -r cache-db7.cap -r drives-db1.cap
	[ "$status" -eq 2 ]
	[[ "$output" == *"drives-db1.cap contains no page cache data"* ]]
}

# A block of the second capture, behind its header.
@test "damage in waits and in readings is told, then and later" {
	for kind in waits cache; do
		cp $kind-db8.cap "$tmp/$kind.cap"
		printf '\125\252' | dd of="$tmp/$kind.cap" bs=1 seek=$(($(stat -c %s $kind-db8.cap) / 2)) conv=notrunc status=none
		"$iosonar" info --verify "$tmp/$kind.cap" >/dev/null && return 1
		run "$iosonar" merge -w "$tmp/all.cap" $kind-db7.cap "$tmp/$kind.cap"
		[ "$status" -eq 3 ] || { echo "$output"; return 1; }
		[[ "$output" == *"$tmp/$kind.cap"* ]]
		run "$iosonar" $kind -r "$tmp/all.cap"
		[ "$status" -eq 3 ] || { echo "$output"; return 1; }
		[[ "$output" == *"all.cap (2: db8)"* ]] || { echo "$output"; return 1; }
	done
}

@test "--by host, wherever there is --by: with captures only" {
	for command in latency top waits cache stacks pattern blame; do
		run "$iosonar" $command --by host -t 1s -o json
		[ "$status" -eq 2 ]
		[[ "$output" == *"--by host requires captures: -r FILE"* ]] || { echo "$command: $output"; return 1; }
	done
	"$iosonar" pattern -r merged.cap --by host -o csv 2>/dev/null >"$tmp/rows" || [ $? -eq 3 ]
	grep -q '^total,5.5,[^,]*,db8,db8:nvme0n1,15,' "$tmp/rows" || { cat "$tmp/rows"; return 1; }
	"$iosonar" blame -r merged.cap --by host --victim db7 -o csv 2>/dev/null >"$tmp/rows" || [ $? -eq 3 ]
	grep -q '^db7:nvme0n1,db7,db7,' "$tmp/rows" && ! grep -q db8 "$tmp/rows" || { cat "$tmp/rows"; return 1; }
}

@test "equal stacks of two hosts are two rows and two flames" {
	"$iosonar" stacks -r stacks.cap -o folded 2>/dev/null >"$tmp/one"
	"$iosonar" stacks -r stacks.cap -r drives-db1.cap -o folded 2>/dev/null >"$tmp/two"
	[ "$(wc -l <"$tmp/one")" -ge 3 ]
	sed 's/^/?;/' "$tmp/one" | cmp - "$tmp/two"
	run "$iosonar" stacks -r stacks.cap -r drives-db1.cap --top 1
	[[ "$output" == *" host "* ]]
	[ "$("$iosonar" stacks -r stacks.cap --top 1 2>/dev/null | grep -c ' host ')" -eq 0 ]
}

@test "report: equal processes of two hosts are two rows" {
	"$iosonar" report -r drives-db1.cap -o json 2>/dev/null | grep '"type":"process"' >"$tmp/one"
	"$iosonar" report -r drives-db1.cap -r drives-db2.cap -o json 2>/dev/null | grep '"type":"process"' >"$tmp/two"
	grep -q '"host":null,"pid":100,"comm":"postgres","count":4419,' "$tmp/one" || { cat "$tmp/one"; return 1; }
	grep -q '"host":"db1","pid":100,"comm":"postgres","count":4419,' "$tmp/two" || { cat "$tmp/two"; return 1; }
	grep -q '"host":"db2","pid":100,"comm":"postgres","count":3590,' "$tmp/two" || { cat "$tmp/two"; return 1; }
}

@test "a format without a place for the machine refuses two of them" {
	for format in fio blktrace; do
		run "$iosonar" export -r drives-db1.cap -r drives-db2.cap -o $format --out "$tmp/out"
		[ "$status" -eq 2 ] || { echo "$format: $status $output"; return 1; }
		[[ "$output" == *"which this format cannot tell apart: export the captures of one machine"* ]]
		[ ! -e "$tmp/out" ]
		"$iosonar" export -r drives-db1.cap -o $format --out "$tmp/out" 2>/dev/null
		rm "$tmp/out"
	done
	run "$iosonar" pattern -r drives-db1.cap -r drives-db2.cap -o fio
	[ "$status" -eq 2 ]
	[[ "$output" == *"a job is for the disks of one machine, the captures are of db"* ]] || { echo "$output"; return 1; }
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
	refused "hold the same part of the same recording" -w "$tmp/x.cap" waits.cap waits-db8.cap waits.cap
	refused "hold the same part of the same recording" -w "$tmp/x.cap" cache-db8.cap cache-db8.cap
	refused "calls.cap contains calls: merge takes captures of commands, waits and the page cache" -w "$tmp/x.cap" nvme.cap calls.cap
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
