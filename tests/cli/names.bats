#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# A column has a key, a heading in text, and a name without its unit: options take all of them. Needs no root.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
	cd "$root/tests/data" || return
}

# same WORD... -- WORD...: two lines with one meaning: output, and how they end.
same() {
	local first=() status=0 other=0
	while [ "$1" != -- ]; do first+=("$1"); shift; done
	shift
	"$iosonar" "${first[@]}" >"$tmp/first" 2>/dev/null || status=$?
	"$iosonar" "$@" >"$tmp/other" 2>/dev/null || other=$?
	[ -s "$tmp/first" ] && [ "$status" -ne 2 ]
	[ "$status" -eq "$other" ] || { echo "$status $other: $*"; return 1; }
	diff "$tmp/first" "$tmp/other"
}

# refused TEXT WORD...: exit 2, and the first line of what is said.
refused() {
	local text=$1 status=0
	shift
	"$iosonar" "$@" >/dev/null 2>"$tmp/err" || status=$?
	[ "$status" -eq 2 ]
	[ "$(head -n 1 "$tmp/err")" = "iosonar: $text" ] || { cat "$tmp/err"; return 1; }
}

@test "a condition takes the heading of a column, its key, and the key without its unit" {
	same trace -r nvme.cap --if 'lat > 5ms' -- trace -r nvme.cap --if 'latency > 5ms'
	same trace -r nvme.cap --if 'lat > 5ms' -- trace -r nvme.cap --if 'lat_ns > 5ms'
	same trace -r nvme.cap --if 'attempts == 1 && -nsid < 0' -- trace -r nvme.cap --if 'try == 1 && -nsid < 0'
	same latency -r nvme.cap --no-hist --if 'p99_9_ns > 1ms' -- latency -r nvme.cap --no-hist --if 'p99.9 > 1ms'
	same pattern -r nvme.cap --fail-if 'read_percent > 50' -- pattern -r nvme.cap --fail-if 'read > 50'
	same errors -r errors.cap --fail-if 'bytes > 0' -- errors -r errors.cap --fail-if 'size > 0'
}

@test "a word beside a text stays a text" {
	same pattern -r nvme.cap --by comm --fail-if 'comm == "read"' -- pattern -r nvme.cap --by comm --fail-if 'comm == read'
	same trace -r nvme.cap --if 'op == "write"' -- trace -r nvme.cap --if 'op == write'
}

@test "--columns and --sort take headings and keys" {
	same trace -r nvme.cap --columns time_s,wall,lat_ns,attempts -- trace -r nvme.cap --columns 'time,wall clock,latency,try'
	same trace -r nvme.cap --columns lat_ns,time_s -- trace -r nvme.cap --columns lat,time
	same latency -r nvme.cap --no-hist --sort p99 -- latency -r nvme.cap --no-hist --sort p99_ns
	same latency -r nvme.cap --no-hist --sort bytes -- latency -r nvme.cap --no-hist --sort MB/s
	same stacks -r stacks.cap --sort time -- stacks -r stacks.cap --sort total
	same cache -r cache.cap --by comm --sort readahead -- cache -r cache.cap --by comm --sort ahead
	refused "--sort p98: unknown value 'p98'; did you mean p99? expected one of keys, count, bytes, time, mean, p50, p99, max" \
		latency -r nvme.cap --sort p98
	"$iosonar" trace --columns help | grep -q '^lat_ns  *latency  *time from first issue to end$'
}

@test "an unknown name suggests the nearest key or heading; a heading of two columns names both" {
	refused "unknown column 'latnecy'; did you mean 'latency'?" trace -r nvme.cap --columns latnecy
	refused "unknown column 'lat_n'; did you mean 'lat_ns'?" trace -r nvme.cap --columns lat_n
	refused "--if: unknown field 'latencyy'; did you mean latency?" trace -r nvme.cap --if 'latencyy > 1ms'
	refused "--if: unknown field 'la'; did you mean lba or lat?" trace -r nvme.cap --if 'la > 1ms'
	refused "--if: 'ahead' is the heading of several columns: readahead and readahead_bytes" cache -r cache.cap --if 'ahead > 1'
}
