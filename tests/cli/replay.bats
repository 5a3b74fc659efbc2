#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Captures, shown again: what is said about those of tests/data is compared with tests/replay/*.golden, whole or damaged,
# and what makes no sense with a capture is refused. Needs no root.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
	cd "$root/tests/data" || return
}

# said ARGUMENT...: everything that iosonar says.
said() {
	local status=0
	LC_ALL=C "$iosonar" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	cat "$tmp/out"
	sed 's/^/stderr: /' "$tmp/err"
	echo "exit: $status"
}

@test "every capture is shown as its golden text has it" {
	while read -r name arguments; do
		case $name in '#'* | '') continue ;; esac
		case $name in sql-*) "$iosonar" --version | grep -qw sqlite || continue ;; esac
		eval "said $arguments" >"$tmp/said"
		golden=$root/tests/replay/$name.golden
		[ "${GOLDEN:-}" != write ] || cp "$tmp/said" "$golden"
		diff -a "$golden" "$tmp/said" || { echo "$name: iosonar $arguments"; return 1; }
	done <"$root/tests/replay/cases"
}

# same_for_all ARGUMENT...: with 1, 2 and 8 processes iosonar says the same.
same_for_all() {
	said "$@" -j 1 >"$tmp/one"
	for jobs in 2 8; do
		said "$@" -j $jobs >"$tmp/several"
		cmp "$tmp/one" "$tmp/several" || { echo "-j $jobs: $*"; diff -a "$tmp/one" "$tmp/several" | head -5; return 1; }
	done
}

@test "every number of processes says the same: the golden texts" {
	while read -r name arguments; do
		case $name in '#'* | '') continue ;; esac
		case $arguments in diff* | sql* | info*) continue ;; *' -r '*) ;; *) continue ;; esac
		eval "same_for_all $arguments" || return
	done <"$root/tests/replay/cases"
}

# 19 blocks, with errors, files, processes and stages; then the same file damaged in five blocks, and cut.
@test "every number of processes says the same: many blocks, whole, damaged and cut" {
	"$root/build/captures" many "$tmp/many.cap"
	bytes=$(stat -c %s "$tmp/many.cap")
	cp "$tmp/many.cap" "$tmp/damaged.cap"
	for part in 11 12 20 33 47; do
		printf '\125\252' | dd of="$tmp/damaged.cap" bs=1 seek=$((bytes * part / 50)) conv=notrunc status=none
	done
	head -c $((bytes * 2 / 3)) "$tmp/many.cap" >"$tmp/cut.cap"
	for file in many damaged cut; do
		while read -r arguments; do
			eval "same_for_all $arguments -r \"\$tmp/$file.cap\"" || return
			case $file:$arguments in damaged:latency | cut:latency) grep -q '^exit: 3$' "$tmp/one" || { cat "$tmp/one"; return 1; } ;; esac
		done <<-'EOF'
			latency
			latency -i 2s --by dev,op,size -o csv
			latency --from 20ms --to 500ms --no-hist
			latency -i 30ms -n 3 -o json
			layers -i 2s
			layers --if 'bytes >= 4Ki' -o csv
			errors --top 20
			errors -o json --op write
			slow --top 40 -o csv
			slow --each-device --top 2
			trace
			trace --columns lat_ns,bytes,command,lba --if 'bytes >= 4Ki'
			trace --attempts --split --cdw --to 300ms
			trace -o csv --attempts
			trace -o json --if 'lat > 100us' --from 20ms
			trace -o csv -n 20000
			export -o csv --op write
			export -o json
		EOF
	done
}

# The pipe is full, so it cannot be done before it is killed.
@test "a process of -j that is killed is said, and is exit 1" {
	"$root/build/captures" many "$tmp/many.cap"
	mkfifo "$tmp/lines"
	"$iosonar" export -o json -j 2 -r "$tmp/many.cap" >"$tmp/lines" 2>"$tmp/err" &
	run=$!
	exec 7<"$tmp/lines"
	head -c 1000 <&7 >"$tmp/some"
	kill -KILL "$(pgrep -P "$run" | head -1)"
	cat <&7 >"$tmp/rest"
	status=0
	wait "$run" || status=$?
	cat "$tmp/err"
	[ "$status" = 1 ]
	grep -qx 'iosonar: a process of -j was killed by signal 9 (Killed)' "$tmp/err"
	[ "$(grep -c . "$tmp/err")" = 1 ]
}

@test "a reader that closes the pipe ends all processes of -j without a word" {
	"$root/build/captures" many "$tmp/many.cap"
	"$iosonar" export -o csv -j 2 -r "$tmp/many.cap" 2>"$tmp/err" | head -1 >"$tmp/first"
	[ ! -s "$tmp/err" ] || { cat "$tmp/err"; return 1; }
	[ "$(cut -d, -f1 "$tmp/first")" = host ]
}

# No unit is of one option alone: whatever takes a duration takes minutes, whatever takes a size takes Gi.
@test "5m and 1Gi are understood wherever a duration or a size is" {
	local line
	while read -r line; do
		eval "said $line" >"$tmp/said"
		grep -q '^exit: 0$' "$tmp/said" || { echo "$line"; cat "$tmp/said"; return 1; }
	done <<-'EOF'
		trace -r nvme.cap --min 5m -i 5m -t 5m --from 0m --to 5m
		trace -r nvme.cap --if 'lat < 5m && bytes < 1Gi'
		latency -r nvme.cap --if 'p99 < 5m && mean < 0.1m'
		layers -r before.cap --min 0m
		calls -r calls.cap --min 5m
		class -r class.cap --summary --if 'bi_size < 1Gi' --min 5m --calls
		diff before.cap after.cap --from 0m --to 5m --if 'lat < 5m && bytes < 1Gi'
	EOF
	"$iosonar" --version | grep -qw sqlite || return 0
	said sql nvme.cap 'select 1' --limit-time 5m --limit-memory 1Gi >"$tmp/said"
	grep -q '^exit: 0$' "$tmp/said"
}

# Whoever may not attach is not told that the line is wrong, which is exit 2.
@test "5m and 1Gi are understood in the words of an event" {
	local line
	while read -r line; do
		eval "said $line -t 1ms" >"$tmp/said"
		! grep -q '^exit: 2$' "$tmp/said" || { echo "$line"; cat "$tmp/said"; return 1; }
	done <<-'EOF'
		hist raw:sched_switch of cpu --linear 0:5m:1m
		hist raw:sched_switch of cpu --linear 0:1Gi:1Mi
		count raw:sched_switch if 'cpu < 5m && cpu < 1Gi'
		count interval:5m
		count soft:page-faults:1Gi
	EOF
}

@test "a capture of calls whose functions are damaged is told, and no more" {
	for file in class calls; do
		cp "$file.cap" "$tmp/damaged.cap"
		at=$(grep -abo submit_bio_noacct "$file.cap" | head -1 | cut -d: -f1)
		printf X | dd of="$tmp/damaged.cap" bs=1 seek="$at" conv=notrunc status=none
		said "$file" -r "$tmp/damaged.cap" >"$tmp/said"
		grep -q '^stderr: iosonar: the capture is damaged: its list of traced functions is missing' "$tmp/said" || { cat "$tmp/said"; return 1; }
		grep -qx 'exit: 1' "$tmp/said" || { cat "$tmp/said"; return 1; }
	done
}

@test "every golden text belongs to a case" {
	for golden in "$root"/tests/replay/*.golden; do
		name=${golden##*/}
		grep -q "^${name%.golden} " "$root/tests/replay/cases" || { echo "$name"; return 1; }
	done
}

# columns NAME,...: of CSV on stdin, whose heading says where they are.
columns() {
	awk -F, -v names="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(names, name, ","); next }
		{ line = ""; for (i = 1; i <= n; i++) line = line $at[name[i]] " "; print line }'
}

@test "layers has of a command what latency has, whole and in each interval" {
	for file in nvme.cap v1.cap; do
		for at in request command; do
			"$iosonar" latency -r $file -o csv 2>/dev/null | columns span,time_s,dev,op,count,p50_ns,p99_ns,p99_9_ns,max_ns >"$tmp/latency"
			"$iosonar" layers --at $at -r $file -o csv 2>/dev/null | grep -E '^span,|,total,' |
				columns span,time_s,dev,op,count,p50_ns,p99_ns,p99_9_ns,max_ns >"$tmp/layers"
			[ -s "$tmp/latency" ]
			diff <(sort "$tmp/latency") <(sort "$tmp/layers") || { echo "$file at $at"; return 1; }
		done
	done
}

@test "every row with a time has its wall clock; --wall shows that in text" {
	for of in "latency nvme" "layers nvme" "pattern nvme" "errors errors" "slow nvme" "cache cache" "calls calls" "class class"; do
		read -r command file <<<"$of"
		for format in json csv; do
			"$iosonar" "$command" -r "$file.cap" -o $format 2>/dev/null >"$tmp/rows" || [ $? -eq 3 ]
			grep -q time_s "$tmp/rows"
			! grep time_s "$tmp/rows" | grep -vE 'time_s,wall,|"time_s":[0-9.]+,"wall":("20[0-9T:.-]+Z"|null),' || { echo "$command -o $format"; return 1; }
		done
	done
	"$iosonar" report -r nvme.cap -o json 2>/dev/null | grep '"time_s"' >"$tmp/rows"
	grep -q '"type":"latency"' "$tmp/rows"
	! grep -vE '"time_s":[0-9.]+,"wall":"20[0-9T:.-]+Z",' "$tmp/rows" || { echo "report -o json"; return 1; }
	for command in latency layers pattern trace; do
		"$iosonar" $command -r nvme.cap --wall 2>/dev/null >"$tmp/rows"
		head -2 "$tmp/rows" | tr '\n' ' ' | grep -qE '^ *wall clock .* 2026-11-15T07:39:[0-9.]+Z ' || { cat "$tmp/rows"; return 1; }
	done
	"$iosonar" cache -r cache.cap --wall 2>/dev/null | grep -q '^wall clock  *accesses' # that capture has no clock
}

@test "rows of cache whose span is total add up to the run, whatever --by tells apart" {
	all=$("$iosonar" cache -r cache.cap -o csv 2>/dev/null | columns span,accesses,misses | sed -n 's/^total //p')
	[ -n "$all" ]
	for by in comm pid file,op; do
		"$iosonar" cache -r cache.cap --by $by -o csv 2>/dev/null | columns span,accesses,misses >"$tmp/rows"
		[ "$(sed -n 's/^sum //p' "$tmp/rows")" = "$all" ]
		[ "$(awk '$1 == "total" { a += $2; m += $3 } END { print a, m " " }' "$tmp/rows")" = "$all" ]
	done
}

@test "slow has the slowest lines of trace" {
	for file in nvme.cap v1.cap; do
		"$iosonar" trace -r $file -o csv --columns lat_ns,dev,op,bytes,attempts,pid,start_ns,end_ns 2>/dev/null | tail -n +2 |
			sort -t, -k1,1nr -k8,8n | head -5 | tr , ' ' | sed 's/$/ /' >"$tmp/trace"
		"$iosonar" slow -r $file --top 5 -o csv 2>/dev/null | columns lat_ns,dev,op,bytes,attempts,pid,start_ns,end_ns >"$tmp/slow"
		[ "$(wc -l <"$tmp/slow")" -eq 5 ]
		diff "$tmp/trace" "$tmp/slow" || { echo "$file"; return 1; }
	done
}

@test "slow -r heeds filters, --each-device and --min" {
	[ "$("$iosonar" slow -r nvme.cap --op write --top 1 -o csv 2>/dev/null | columns op)" = "write " ]
	devices=$("$iosonar" trace -r nvme.cap -o csv --columns dev 2>/dev/null | tail -n +2 | sort -u)
	[ "$(echo "$devices" | wc -l)" -gt 1 ]
	[ "$("$iosonar" slow -r nvme.cap --each-device --top 1 -o csv 2>/dev/null | columns dev | tr -d ' ' | sort)" = "$devices" ]
	want=$("$iosonar" trace -r nvme.cap --min 4ms -o csv --columns end_ns 2>/dev/null | tail -n +2)
	[ -n "$want" ]
	[ "$("$iosonar" slow -r nvme.cap --min 4ms -o csv 2>/dev/null | columns end_ns | tr -d ' ')" = "$want" ]
	[ -z "$("$iosonar" slow -r nvme.cap --min 4ms -o csv 2>/dev/null | columns rank | tr -d ' \n')" ]
}

@test "pattern counts what latency counts, whole and in each interval" {
	for file in nvme.cap v1.cap v1-stages.cap; do
		"$iosonar" latency -r $file --by dev -o csv 2>/dev/null | columns span,time_s,dev,count >"$tmp/latency"
		"$iosonar" pattern -r $file -o csv 2>/dev/null | columns span,time_s,dev,count >"$tmp/pattern"
		[ -s "$tmp/latency" ]
		diff <(sort "$tmp/latency") <(sort "$tmp/pattern") || { echo "$file"; return 1; }
	done
}

# added: the numbers of stdin.
added() { awk '{ n += $1 } END { print n + 0 }'; }

@test "pattern: the parts of the whole add up to it" {
	for file in nvme.cap v1.cap v1-stages.cap; do
		"$iosonar" pattern -r $file -o json >"$tmp/json" 2>/dev/null || [ $? -eq 3 ]
		counts() { sed -n "s/^{\"type\":\"$1\".*\"op\":\"$2\".*\"count\":\([0-9]*\).*/\1/p" "$tmp/json" | added; }
		all=$(sed -n 's/^{"type":"pattern","span":"total".*"count":\([0-9]*\).*/\1/p' "$tmp/json" | added)
		[ "$all" -gt 0 ]
		[ "$(counts pattern_op '[^"]*')" -eq "$all" ]
		[ "$(sed -n 's/^{"type":"pattern_depth".*"count":\([0-9]*\).*/\1/p' "$tmp/json" | added)" -eq "$all" ]
		for op in read write; do
			[ "$(counts pattern_size $op)" -eq "$(counts pattern_op $op)" ]
		done
	done
}

@test "pattern --if leaves the commands that trace --if shows" {
	for if in 'op == read && bytes >= 4096' 'lat > 4ms' 'comm == dd'; do
		shown=$("$iosonar" trace -r nvme.cap --if "$if" -o csv --columns op 2>/dev/null | sed 1d | wc -l)
		[ "$shown" -gt 0 ]
		[ "$("$iosonar" pattern -r nvme.cap --if "$if" -o csv 2>/dev/null | columns span,count | sed -n 's/^total //p' | added)" -eq "$shown" ]
	done
}

@test "a job is one that fio takes, and hostile names make no line of it" {
	for file in nvme.cap v1-stages.cap v1.cap; do
		"$iosonar" pattern -r $file -o fio --by comm --out "$tmp/job.fio" 2>"$tmp/err" || [ $? -eq 3 ]
		! grep -avE '^(#[ -~]*|\[[a-z0-9-]+\]|[a-z_]+=[a-zA-Z0-9/,:._-]+|)$' "$tmp/job.fio" || { echo "$file"; return 1; }
		grep -q '^filename=/dev/nvme0n1$' "$tmp/job.fio"
		! command -v fio >/dev/null || fio --parse-only "$tmp/job.fio" || { cat "$tmp/job.fio"; return 1; }
	done
	command -v fio >/dev/null || skip "fio is missing"
}

@test "without reads and writes there is no job: exit 1 and one line" {
	status=0
	"$iosonar" pattern -r nvme.cap -d nvme0 --op admin -o fio >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq 1 ]
	[ ! -s "$tmp/out" ]
	[ "$(cat "$tmp/err")" = "iosonar: cannot make a job: no reads or writes of a usable device were seen" ]
}

# shows CODE FILE: trace's exit code for this file; what it said is in $tmp/out and $tmp/err.
shows() {
	local status=0
	"$iosonar" trace -r "$2" -o json >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq "$1" ] || { echo "$2: exit $status, not $1: $(cat "$tmp/err")"; return 1; }
}

@test "a capture that is cut is shown as far as it goes, and exits 3" {
	size=$(stat -c %s nvme.cap)
	all=$("$iosonar" trace -r nvme.cap -o json 2>/dev/null | grep -c '"type":"trace"')
	before=0
	for bytes in 100 4200 5000 6000 7000 $((size - 300)) $((size - 1)); do
		head -c "$bytes" nvme.cap >"$tmp/cut.cap"
		shows 3 "$tmp/cut.cap"
		grep -q "cut.cap is truncated" "$tmp/err"
		now=$(grep -c '"type":"trace"' "$tmp/out") || true
		[ "$now" -ge "$before" ]
		before=$now
		[ "$(grep -c '"type":"ledger"' "$tmp/out")" -eq 0 ]
	done
	[ "$now" -eq "$all" ]
	status=0
	"$iosonar" trace -r "$tmp/cut.cap" --allow-loss >/dev/null 2>&1 || status=$?
	[ "$status" -eq 0 ]
	status=0
	"$iosonar" info "$tmp/cut.cap" >"$tmp/out" || status=$?
	[ "$status" -eq 3 ]
	grep -q '^  cut ' "$tmp/out"
}

# edges.cap: build/captures edges
@test "each reason of a loss is told, with its own number" {
	said latency -r edges.cap >"$tmp/said"
	grep -qx 'stderr: iosonar: edges.cap lacks 5 records: ring full' "$tmp/said" || { cat "$tmp/said"; return 1; }
	grep -qx 'stderr: iosonar: edges.cap lacks 7 records: disk full' "$tmp/said" || { cat "$tmp/said"; return 1; }
	[ "$(grep -c lacks "$tmp/said")" -eq 2 ]
	grep -qx 'exit: 3' "$tmp/said"
}

@test "a zoom has each command once, however fast it was" {
	said latency -r edges.cap -o json --lat_min_us 0 --lat_shift 0 >"$tmp/said"
	# 3, 20 and 26 ns; 5000 and 5999 ns; 100 us
	diff <(sed -nE 's/.*"from_ns":([0-9]+),"to_ns":([0-9]+),"count":([0-9]+),.*/\1 \2 \3/p' "$tmp/said") - <<-'END'
		0 1000 3
		4000 8000 2
		64000 128000 1
	END
}

@test "a span begins at --from, ends before --to, and may reach beyond the end of time" {
	# its only miss begins 100 ms after the start
	for span in "--to 100ms 0" "--to 100000001ns 1" "--from 100ms 1" "--from 100000001ns 0"; do
		read -r option when nr <<<"$span"
		said cache -r cache.cap --events -o json "$option" "$when" >"$tmp/said"
		[ "$(grep -c '"type":"miss"' "$tmp/said")" -eq "$nr" ] || { echo "$span"; return 1; }
	done
	said trace -r nvme.cap -o csv >"$tmp/all"
	[ "$(wc -l <"$tmp/all")" -gt 20 ]
	said trace -r nvme.cap -o csv --to 18446744073s | diff "$tmp/all" -
	said trace -r nvme.cap -o csv --from 18446744073s >"$tmp/none"
	[ "$(grep -c nvme0n1 "$tmp/none")" -eq 0 ]
}

@test "a condition that came true is told before a loss" {
	status=0
	"$iosonar" latency -r v1.cap --fail-if 'count > 0' >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq 5 ]
	status=0
	"$iosonar" latency -r v1.cap --fail-if 'count > 1000000' >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq 3 ]
}

@test "a damaged block is skipped and counted, and exits 3" {
	# v1.cap's first block of records: after its header of 64 bytes
	at=$(grep -abo IOC1 v1.cap | cut -d: -f1 | while read -r at; do
		[ "$(od -An -tu1 -j$((at + 4)) -N1 v1.cap | tr -d ' ')" = 5 ] && echo "$at" && break
	done)
	cp v1.cap "$tmp/bad.cap"
	printf 'XXXX' | dd of="$tmp/bad.cap" bs=1 seek=$((at + 80)) conv=notrunc status=none
	shows 3 "$tmp/bad.cap"
	grep -q 'bad.cap is damaged: ' "$tmp/err"
	status=0
	"$iosonar" info "$tmp/bad.cap" >/dev/null || status=$?
	[ "$status" -eq 0 ] # only --verify reads blocks
	"$iosonar" info --verify "$tmp/bad.cap" >"$tmp/out" || status=$?
	[ "$status" -eq 3 ]
	grep -q '^  damaged ' "$tmp/out"
}

@test "what is no capture is exit 1 and one line" {
	: >"$tmp/empty"
	echo "no capture" >"$tmp/text"
	for command in "trace -r" "latency -r" "info"; do
		for file in "$tmp/text" "$tmp/none" "$tmp"; do
			status=0
			# shellcheck disable=SC2086
			"$iosonar" $command "$file" >"$tmp/out" 2>"$tmp/err" || status=$?
			[ "$status" -eq 1 ] || { echo "$command $file: exit $status"; return 1; }
			[ ! -s "$tmp/out" ]
			[ "$(wc -l <"$tmp/err")" -eq 1 ]
		done
	done
}

# refused MESSAGE WORD...: exit 2, this one line, nothing else.
refused() {
	local message=$1 status=0
	shift
	"$iosonar" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	[ "$status" -eq 2 ] || { echo "$*: exit $status: $(cat "$tmp/err")"; return 1; }
	[ ! -s "$tmp/out" ]
	[ "$(cat "$tmp/err")" = "iosonar: $message" ] || { echo "$*: said '$(cat "$tmp/err")'"; return 1; }
}

@test "what makes no sense with a capture is refused" {
	refused "--write and --read cannot be combined" trace -r nvme.cap -w "$tmp/x"
	refused "--buffer and --read cannot be combined" trace -r nvme.cap --buffer 1Mi
	refused "--zstd and --read cannot be combined" latency -r nvme.cap --zstd
	refused "-r takes no COMMAND (got 'true')" trace -r nvme.cap -- true
	refused "--cgroup: this capture does not name the cgroup of commands; record it with --stages" latency -r nvme.cap --cgroup /
	refused "--by cpu: this capture does not name the CPU of commands; record it with --stages" latency -r nvme.cap --by cpu
	refused "--by cgroup: this capture does not name the cgroup of commands; record it with --stages" latency -r nvme.cap --by op,cgroup
	refused "--cgroup /x: no command of the capture is from this cgroup; it has e.g. /system.slice/a.service" \
		trace -r v1-stages.cap --cgroup /x
	refused "--from requires -r FILE" trace --from 1s
	refused "--to requires -r FILE" latency --to 1s
	refused "-j requires -r FILE" latency -j 2
	refused "-j 9: out of range; give 1 to 8" latency -r nvme.cap -j 9
	refused "--to must be later than --from" trace -r nvme.cap --from 1s --to 1s
	refused "-d nvme0n1p1: this capture has no partitions (its iosonar did not record them); name the disk: -d nvme0n1" \
		trace -r nvme.cap -d nvme0n1p1
	refused "-d: unknown disk 'nvme0n1p9'; the capture has: nvme0n1, nvme0n2, sda" trace -r v1-stages.cap -d nvme0n1p9
	refused "--op: unknown operation 'raed'; did you mean 'read'?" trace -r nvme.cap --op raed
	refused "info requires a capture, e.g. iosonar info FILE" info
}

@test "record is told what it lacks" {
	refused "record requires -w FILE or --ring DIR" record
	refused "--ring requires --size SIZE, of all files together" record --ring "$tmp"
	refused "--ring requires at least --files 2" record --ring "$tmp" --size 1Gi --files 1
	refused "--size is too small for 20 files: each has an equal share, at least 256 KiB" record --ring "$tmp" --size 5119Ki
	refused "--when requires --last DURATION" record -w "$tmp/x" --when 'lat > 1s'
	refused "--files requires --size SIZE or --last DURATION" record -w "$tmp/x" --files 2
	refused "--zstd requires -w FILE" trace --zstd
	refused "--host requires -w FILE" trace --host db7
	refused "--host: expected a name of 1 to 255 bytes" trace -w "$tmp/x" --host "$(printf %0256d 0)"
	refused "--size 1k: too small; give at least 64Ki" record -w "$tmp/x" --size 1k
	[ ! -e "$tmp/x" ]
}

@test "a device is named as it is live" {
	for name in nvme0n1 /dev/nvme0n1 259:0; do
		[ "$("$iosonar" trace -r nvme.cap -d $name -o csv --columns dev 2>/dev/null | sed 1d | sort -u)" = nvme0n1 ]
	done
	[ "$("$iosonar" trace -r nvme.cap -d nvme0 -o csv --columns dev 2>/dev/null | sed 1d | sort -u | xargs)" = "nvme0 nvme0n1" ]
}

# ops ARGUMENT...: how many of each operation a trace of v1-stages.cap shows.
ops() {
	"$iosonar" trace -r v1-stages.cap -o csv --columns op "$@" 2>"$tmp/err" | sed 1d | sort | uniq -c | xargs
}

@test "a partition is that part of its disk, and parts add up" {
	whole=$(ops -d nvme0n1)
	first=$(ops -d nvme0n1p1)
	grep -q '^iosonar: [0-9]* NVMe discards are left out: ' "$tmp/err"
	second=$(ops -d /dev/nvme0n1p2)
	both=$(ops -d nvme0n1p1 -d nvme0n1p2)
	[ "$first" != "$second" ]
	reads() { echo "$1" | grep -o '[0-9]* read' | cut -d' ' -f1; }
	[ $(($(reads "$first") + $(reads "$second"))) -eq "$(reads "$both")" ]
	# every sector of the first 2^32 but the first 2048 is in one of the two; discards are in neither
	[ "$both" = "${whole#* dsm }" ]
	[ "$(ops -d nvme0n1p1 -d nvme0n1)" = "$whole" ]
	# the same by its addresses: blocks of 512 bytes
	[ "$first" = "$("$iosonar" trace -r v1-stages.cap -d nvme0n1 --if 'lba >= 2048 && lba < 1073743872' -o csv --columns op 2>/dev/null |
		sed 1d | sort | uniq -c | xargs)" ]
	# flushes have no sector
	ops -d sda | grep -q flush
	case $(ops -d sda1) in *flush*) return 1 ;; esac
}

@test "CPUs and cgroups are those of stages; what has none is told" {
	rows() { "$iosonar" latency -r v1-stages.cap -o csv "$@" 2>"$tmp/err" | sed 1d | grep -c ^total; }
	sum() { "$iosonar" latency -r v1-stages.cap -o csv "$@" 2>"$tmp/err" | columns count | awk '{ n += $1 } END { print n }'; }
	[ "$(rows --by cpu)" -eq 5 ]
	grep -q '^iosonar: [0-9]* commands are in a separate row' "$tmp/err"
	[ "$(rows --by cgroup)" -eq 4 ]
	[ "$(sum --by cpu)" -eq "$(sum --by cgroup)" ]
	[ "$(sum --by cgroup --cgroup /)" -eq "$(sum --by cgroup)" ]
	[ "$(rows --by cgroup --cgroup /system.slice)" -eq 2 ]
	grep -q '^iosonar: [0-9]* commands are left out: their records do not name the cgroup' "$tmp/err"
	[ "$(rows --by cgroup --cgroup system.slice/a.service/)" -eq 1 ]
}

@test "captures with zstd are the same" {
	"$iosonar" --version | grep -q zstd || skip "built without zstd"
	"$iosonar" trace -r v1.cap -o json 2>/dev/null | grep '"type":"trace"' >"$tmp/plain"
	"$iosonar" trace -r v1-zstd.cap -o json 2>/dev/null | grep '"type":"trace"' >"$tmp/zstd"
	[ -s "$tmp/plain" ]
	cmp "$tmp/plain" "$tmp/zstd"
}

@test "a reader that has gone is no error" {
	{ sleep 0.3; "$iosonar" trace -r v1.cap 2>"$tmp/err"; echo $? >"$tmp/code"; } | true
	[ "$(cat "$tmp/code")" -eq 0 ]
	[ ! -s "$tmp/err" ]
}

# slowly WORD...: its output is taken after two seconds, so that it takes longer than one; stderr is a terminal.
slowly() {
	python3 - "$iosonar" "$@" <<-'EOF'
		import os, pty, subprocess, sys, time
		ours, theirs = pty.openpty()
		child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=theirs, stdin=subprocess.DEVNULL)
		os.close(theirs)
		time.sleep(2)
		child.stdout.read()
		said = b""
		try:
		    while True:
		        part = os.read(ours, 4096)
		        said += part
		        if not part:
		            break
		except OSError:
		    pass
		child.wait()
		sys.stdout.buffer.write(said)
	EOF
}

@test "what takes more than a second to read has a bar, and it goes" {
	files=() same=()
	for _ in {1..40}; do files+=(v1.cap) same+=(-r v1.cap); done
	slowly trace "${same[@]}" -o json >"$tmp/said"
	grep -aq 'reading \[#* *\] *[0-9]* %' "$tmp/said" || { cat "$tmp/said"; return 1; }
	# the last of it is cleared, and what is said at the end stands alone
	[ "$(tr '\r' '\n' <"$tmp/said" | grep -a reading -A1 | tail -1 | cut -c1-3)" = "$(printf '\033[K')" ]
	if "$iosonar" --version | grep -qw sqlite; then
		slowly sql "${files[@]}" -o json 'SELECT * FROM io' >"$tmp/said"
		grep -aq 'reading \[#* *\] *[0-9]* %' "$tmp/said" || { cat "$tmp/said"; return 1; }
	fi
	# what is quick has none, and neither has a file
	slowly trace -r nvme.cap -o json >"$tmp/said"
	[ "$(grep -ac reading "$tmp/said")" -eq 0 ]
	"$iosonar" trace "${same[@]}" -o json 2>"$tmp/err" | { sleep 2; cat; } >/dev/null
	[ "$(grep -ac reading "$tmp/err")" -eq 0 ]
}

@test "a hole of 100 GB costs nothing, and what is behind it is found" {
	head -c 16 nvme.cap >"$tmp/hole.cap"
	tail -c +17 nvme.cap | dd of="$tmp/hole.cap" bs=1M seek=100000 conv=notrunc status=none || skip "no sparse files here"
	for command in "info --verify" "latency -o csv -r"; do
		# shellcheck disable=SC2086
		run timeout 20 "$iosonar" $command "$tmp/hole.cap"
		[ "$status" -eq 3 ]
		[[ $output = *"damaged"* ]] || { echo "$output"; return 1; }
	done
	[ "$("$iosonar" trace -r "$tmp/hole.cap" -o csv 2>/dev/null | wc -l)" -eq "$("$iosonar" trace -r nvme.cap -o csv 2>/dev/null | wc -l)" ]
}

# Numbers of golden texts that are broken on purpose: the golden text, and what becomes of one of its numbers.
broken_numbers() {
	cat <<-'EOF'
		trace-json 1s/"bytes":4096/"bytes":4097/
		latency-tasks 2s/4328144,4328144$/4328144,4328145/
		latency-hostile 4s/,105471,/,107200,/
		layers-file 3s/343104,343104/343104,343103/
		errors-csv 2s/2221843328/2221843327/
		slow-file 2s/G2S=26340944/G2S=26340945/
		stacks-folded 1s/1024$/1023/
		export-csv 3s/1000112973/1000112972/
		info-json 1s/"clocks":4/"clocks":5/
		sql-groups 2s/113878/113877/
		cache-by-csv 2s/,400,280,/,400,281,/
		cache-then-io-json 3s/"lat_ns":950000/"lat_ns":950001/
		calls-graph 2s/,1116304,/,1116305,/
		class-csv 8s/bi_size 0 -> 4096/bi_size 0 -> 4097/
		class-json 7s/PAGE_PINNED/CLONED/
		class-pid 1s/objects 3/objects 4/
		diff-calls-csv 2s/418748480/418748481/
		pattern-cgroups 14s/Z,nvme0n1,,99,/Z,nvme0n1,,98,/
		diff-csv 7s/104655/104656/
		report-hostile 322s/"count":1/"count":2/
		export-chrome s/"dur":103.038/"dur":103.039/
		trace-text 2s/16394/16395/
		latency-text 6s/9.79ms/9.81ms/
		export-dot 13s/61,/62,/
		errors-none 2s/completed 28/completed 29/
		errors-hang 4s/28700/28701/
		slow-stacks 5s/D2K 475us/D2K 477us/
		slow-json 1s/"D2K":475280/"D2K":475281/
		errors-json s/"attempt_ns":439904,"status_code":641/"attempt_ns":439904,"status_code":640/
		calls-graph-json 3s/"vfs_read","blkdev_read_iter"/"vfs_read","blkdev_write_iter"/
		diff-calls-graph-json 1s/"functions":\[/"functions":["main",/
		class-if 4s/37.2ms/38.9ms/
		diff-calls-graph 3s/7.86ms/7.87ms/
	EOF
}

@test "every line of JSON is what --json-schema states" {
	command -v python3 >/dev/null || skip "python3 is missing"
	python3 "$root/tests/replay/schema.py" "$iosonar" "$root/tests/replay"
	mkdir "$tmp/wrong"
	while read -r name edit; do
		cp "$root"/tests/replay/*.golden "$root/tests/replay/cases" "$tmp/wrong"
		sed -i "$edit" "$tmp/wrong/$name.golden"
		run python3 "$root/tests/replay/schema.py" "$iosonar" "$tmp/wrong"
		[ "$status" -eq 1 ]
		grep -q "^$name: " <<<"$output" || { echo "$name: not found"; echo "$output"; return 1; }
	done <<-'EOF'
		slow-json 1s/"steps":{[^}]*}/"steps":"Q2G=1200"/
		slow-json 1s/"Q2G":[0-9]*/"Q2G":"750224"/
		stacks-json s/"user_stack":\[/"user_stack":[12,/
		errors-json s/{"attempt_ns"/{"ns"/
		class-json s/"born":true/"born":"yes"/
		latency-json s/"type":"latency"/"type":"other"/
	EOF
}

@test "another reader, written from docs/capture-format.md, finds the numbers of the golden texts" {
	command -v python3 >/dev/null && command -v zstd >/dev/null || skip "python3 or zstd is missing"
	python3 "$root/tests/replay/reader.py" . "$root/tests/replay"
	mkdir "$tmp/wrong"
	cp "$root"/tests/replay/*.golden "$root/tests/replay/cases" "$tmp/wrong"
	while read -r name edit; do
		sed -i "$edit" "$tmp/wrong/$name.golden"
		if cmp -s "$tmp/wrong/$name.golden" "$root/tests/replay/$name.golden"; then echo "$name: $edit changes nothing"; return 1; fi
	done < <(broken_numbers)
	echo "other trace -r nvme.cap" >>"$tmp/wrong/cases"
	echo "exit: 0" >"$tmp/wrong/other.golden"
	run python3 "$root/tests/replay/reader.py" . "$tmp/wrong"
	[ "$status" -eq 1 ]
	grep -q '^other: nothing compares it' <<<"$output"
	while read -r name edit; do
		grep -q "^$name: .* by the reader, .* in the golden text$" <<<"$output" || { echo "$name: not found"; echo "$output"; return 1; }
	done < <(broken_numbers)
}
