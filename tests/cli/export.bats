#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Captures for other programs: each format is read by one that is not ours, and what it says is compared with what we say.
# A loop device is used where there is root; nothing else needs it.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
	disk=''
	cd "$root/tests/data" || return
}

teardown() {
	[ -z "$disk" ] || losetup -d "$disk"
}

# export_of FILE FORMAT ARGUMENT...: into $tmp/out; a capture that is not whole is none of our business.
export_of() {
	local file=$1 format=$2
	shift 2
	"$iosonar" export -r "$file" -o "$format" --out "$tmp/out" "$@" 2>"$tmp/err" || [ $? -eq 3 ] || { cat "$tmp/err"; return 1; }
}

needs() { command -v "$1" >/dev/null || skip "$1 is missing"; }

# traced FILE COLUMNS ARGUMENT...: what trace has of each command, as CSV without its heading.
traced() {
	local file=$1 columns=$2
	shift 2
	"$iosonar" trace -r "$file" -o csv --columns "$columns" "$@" 2>/dev/null | tail -n +2
}

@test "without a capture there is nothing to hand on: exit 2 and one line" {
	run "$iosonar" export -o csv
	[ "$status" -eq 2 ]
	[ "$output" = "iosonar: export requires -r FILE" ]
	run "$iosonar" export -r nvme.cap -o csv -i 1s
	[ "$status" -eq 2 ]
	[ "$output" = "iosonar: -i is not supported with -o csv" ]
}

@test "every format is in the manual, in both lists" {
	formats=$("$iosonar" --completion bash | sed -n 's,^[[:space:]]*export/-o | export/--format) _iosonar_words "\(.*\)" ;;,\1,p')
	[ "$(wc -w <<<"$formats")" -ge 10 ]
	for format in $formats; do
		grep -qE "^\.It Cm (.* , )?$format( |\$)" "$root/man/iosonar-export.8" || { echo "$format is not described"; return 1; }
		sed -n '/^\.It Fl o Ar FORMAT/,/^See$/p' "$root/man/iosonar-export.8" | grep -qE "^\.Cm $format( |\$)" || { echo "$format is not listed"; return 1; }
	done
}

@test "csv: every command of trace, by a reader of CSV" {
	needs python3
	for file in nvme.cap v1.cap v1-stages.cap errors.cap stacks.cap; do
		export_of $file csv
		python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
	print(",".join(row[key] for key in "end_ns dev qid cid op nsid bytes status_code attempts lat_ns pid cpu".split()))' "$tmp/out" >"$tmp/got"
		traced $file end_ns,dev,qid,cid,op,nsid,bytes,status_code,attempts,lat_ns,pid,cpu >"$tmp/want"
		[ -s "$tmp/want" ]
		diff "$tmp/want" "$tmp/got" || { echo $file; return 1; }
	done
}

@test "json: every command of trace, by jq" {
	needs jq
	for file in nvme.cap v1-stages.cap; do
		export_of $file json
		[ "$(jq -r .type "$tmp/out" | sort -u)" = io ]
		jq -r '[.end_ns, .dev, .op, .bytes, .lat_ns, .comm] | @csv' "$tmp/out" | tr -d '"' >"$tmp/got"
		traced $file end_ns,dev,op,bytes,lat_ns,comm >"$tmp/want"
		[ -s "$tmp/want" ]
		diff "$tmp/want" "$tmp/got" || { echo $file; return 1; }
	done
}

@test "rows heed filters, --if, --from, --to and -n; several captures are merged" {
	rows() { "$iosonar" export -o csv "$@" 2>/dev/null | tail -n +2 | wc -l; }
	[ "$(rows -r nvme.cap --op write)" -eq "$(traced nvme.cap op --op write | wc -l)" ]
	[ "$(rows -r nvme.cap --if 'lat > 4ms')" -eq "$(traced nvme.cap op --if 'lat > 4ms' | wc -l)" ]
	[ "$(rows -r nvme.cap --from 1s)" -eq "$(traced nvme.cap op --from 1s | wc -l)" ]
	[ "$(rows -r nvme.cap -n 3)" -eq 3 ]
	[ "$(rows -r nvme.cap -r stacks.cap)" -eq $(($(rows -r nvme.cap) + $(rows -r stacks.cap))) ]
}

# loop_of SIZE: a loop device on tmpfs, gone with the test.
loop_of() {
	local file
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	[ -e /dev/loop-control ] || skip "this kernel has no loop devices"
	file=$(mktemp /dev/shm/iosonar-export.XXXXXX)
	truncate -s "$1" "$file"
	disk=$(losetup -f --show "$file") || disk=''
	rm -f "$file" # the device keeps it
	[ -n "$disk" ] || skip "no loop device can be made here"
}

# summed COLUMNS...: how many rows the CSV in $tmp/out has, and the sum of each column, where all of them are known.
summed() {
	python3 -c 'import csv, sys
rows = [row for row in csv.DictReader(open(sys.argv[1], newline="")) if all(row[key] for key in sys.argv[2:])]
print(len(rows), *(sum(int(row[key]) for row in rows) for key in sys.argv[2:]))' "$tmp/out" "$@"
}

@test "fio replays what was recorded: as many, as many bytes" {
	needs fio && needs jq && needs python3
	loop_of 256M
	export_of nvme.cap fio
	grep -q '^1 commands are left out: they failed$' "$tmp/err" || { cat "$tmp/err"; return 1; }
	mv "$tmp/out" "$tmp/iolog"
	fio --name=replay --read_iolog="$tmp/iolog" --replay_redirect="$disk" --replay_no_stall=1 --ioengine=psync --direct=1 \
		--output-format=json --output="$tmp/fio.json"
	for op in read write; do
		export_of nvme.cap csv --op $op --if 'status == ok'
		[ "$(summed bytes)" = "$(jq -r ".jobs[0].$op | \"\(.total_ios) \(.io_bytes)\"" "$tmp/fio.json")" ] || { echo $op; return 1; }
		[ "$(summed bytes | cut -d' ' -f1)" -gt 5 ]
	done
	[ "$(jq .jobs[0].error "$tmp/fio.json")" -eq 0 ]
}

@test "fio replays at the times at which it happened" {
	needs fio && needs jq
	loop_of 256M
	export_of nvme.cap fio --op read # 11 of them, two seconds, 5 more
	fio --name=replay --read_iolog="$tmp/out" --replay_redirect="$disk" --ioengine=psync --direct=1 --output-format=json --output="$tmp/fio.json"
	[ "$(jq .jobs[0].job_runtime "$tmp/fio.json")" -gt 2000 ]
}

# btt_of NAME: count and mean of what btt calls so, of all devices.
btt_of() { awk -v name="$1" '$1 == name { print $5, $3; exit }' "$tmp/btt.out"; }

# ours STEP: the same of the rows that have Q, in its precision. Only NVMe tells D from S and C from N.
ours() {
	python3 -c 'import csv, sys
def at(row, event):
	nvme = row["nsid"] != ""
	return int({ "Q": row["queued_ns"], "D": nvme and row["issued_ns"] or row["start_ns"], "C": nvme and row["done_ns"] or row["end_ns"] }[event])
rows = [row for row in csv.DictReader(open(sys.argv[1], newline="")) if row["queued_ns"]]
steps = [at(row, sys.argv[2][2]) - at(row, sys.argv[2][0]) for row in rows]
print(len(steps), "%.9f" % (sum(steps) / len(steps) / 1e9))' "$tmp/out" "$1"
}

@test "blkparse reads every event, btt has our Q2C and D2C" {
	needs blkparse && needs btt && needs python3
	for file in stacks.cap v1-stages.cap; do
		export_of $file blktrace
		blkparse -i - -d "$tmp/bin" <"$tmp/out" >"$tmp/parsed"
		(cd "$tmp" && btt -i bin >btt.out) # it leaves files where it is
		export_of $file csv
		rows=$(($(wc -l <"$tmp/out") - 1))
		for event in D C; do # a flush has no sector, nor has what only one line of a summary is about
			[ "$(awk -v event=$event '$1 ~ /^[0-9]+,[0-9]+$/ && $6 == event' "$tmp/parsed" | wc -l)" -eq "$rows" ] || { echo "$file: $event"; return 1; }
		done
		grep -q '^Skips: 0 forward' "$tmp/parsed"
		for step in Q2C D2C; do
			[ "$(btt_of $step)" = "$(ours $step)" ] || { echo "$file: $step: btt $(btt_of $step), ours $(ours $step)"; return 1; }
		done
	done
}

@test "blktrace: a capture without stages has D and C only, and that is said" {
	needs blkparse
	export_of nvme.cap blktrace
	grep -q 'commands have only D (built) and C (completed)' "$tmp/err"
	blkparse -i - <"$tmp/out" >"$tmp/parsed"
	[ "$(awk '$1 ~ /^[0-9]+,[0-9]+$/ { print $6 }' "$tmp/parsed" | sort -u | tr '\n' ' ')" = "C D " ]
	awk '$6 == "C" && / R / { print $8, $10 }' "$tmp/parsed" | head -11 >"$tmp/got"
	traced nvme.cap lba,bytes --op read | awk -F, '{ print $1, $2 / 512 }' | head -11 >"$tmp/want"
	[ -s "$tmp/want" ]
	diff "$tmp/want" "$tmp/got"
}

# returned.cap has commands that end on another CPU than they were built on, and some that failed with NVMe's numbers.
@test "blktrace: D is on the CPU that submitted, C on the one that ended it, and an NVMe error is EIO" {
	needs blkparse
	export_of returned.cap blktrace
	blkparse -i - <"$tmp/out" >"$tmp/parsed"
	awk '$6 == "D" { print $8, $2 }' "$tmp/parsed" | sort >"$tmp/issued"
	awk '$6 == "C" { print $8, $2, $NF }' "$tmp/parsed" | sort >"$tmp/ended"
	export_of returned.cap csv
	sed 1d "$tmp/out" | tr -d '\r' | awk -F, '{ print $10, $23 }' | sort | diff - "$tmp/issued"
	# EIO is 5; blkparse reads 16 bits without a sign
	sed 1d "$tmp/out" | awk -F, '{ print $10, $24, $13 ? "[65531]" : "[0]" }' | sort | diff - "$tmp/ended"
	[ "$(grep -c 65531 "$tmp/ended")" -eq 3 ]
}

@test "fio: a drive that came back under its name is one file, added once" {
	export_of returned.cap fio
	[ "$("$iosonar" latency -r returned.cap --by dev -o csv 2>/dev/null | grep -c ^total)" -eq 2 ]
	[ "$(grep -c ' add$' "$tmp/out") $(grep -c ' open$' "$tmp/out") $(grep -c ' close$' "$tmp/out")" = "1 1 1" ]
	[ "$(grep -cE '^[0-9]+ /dev/nvme0n1 (read|write) ' "$tmp/out")" -eq 21 ]
	# one each 100 ms, the longer it takes the earlier: in microseconds
	[ "$(awk '/ (read|write) / { last = $1 } END { print last }' "$tmp/out")" -eq 2299771 ]
}

@test "promtool and a strict reader of OpenMetrics take the metrics, and their counts are ours" {
	needs promtool
	for file in nvme.cap v1-stages.cap errors.cap; do
		export_of $file openmetrics
		promtool check metrics <"$tmp/out" || { echo $file; return 1; }
		[ "$(tail -1 "$tmp/out")" = "# EOF" ]
		awk '/^iosonar_latency_seconds_count/ { n += $NF } END { print n + 0 }' "$tmp/out" >"$tmp/got"
		[ "$(cat "$tmp/got")" -eq "$(traced $file op | wc -l)" ]
	done
	[ "$(sed -n 's/^iosonar_latency_seconds_sum{device="nvme0n1",op="read"} //p' <("$iosonar" export -r nvme.cap -o openmetrics 2>/dev/null))" = \
		"$(traced nvme.cap lat_ns --op read | awk '{ ns += $1 } END { printf "%.9f", ns / 1e9 }')" ]
	/usr/bin/python3 -c 'import prometheus_client' 2>/dev/null || skip "python3-prometheus-client is missing"
	export_of v1-stages.cap openmetrics
	/usr/bin/python3 -c 'import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(open(sys.argv[1]).read()):
	print(family.name, family.type)' "$tmp/out" >"$tmp/got"
	[ "$(grep -c histogram "$tmp/got")" -eq 2 ]
}

@test "failures and retries of the metrics are those of trace" {
	for file in errors.cap returned.cap hang.cap; do
		export_of $file openmetrics
		traced $file status_code,attempts | awk -F, '{ failed += $1 != 0; retries += $2 > 1 ? $2 - 1 : 0 } END { print failed, retries }' >"$tmp/want"
		awk '/^iosonar_failed_commands\{/ { failed += $NF } /^iosonar_retries\{/ { retries += $NF } END { print failed + 0, retries + 0 }' "$tmp/out" |
			diff "$tmp/want" -
	done
	[ "$(traced errors.cap attempts | awk '$1 > 1' | wc -l)" -gt 0 ]
	[ "$(traced returned.cap status_code | grep -vcx 0)" -eq 3 ]
}

# A reader of HdrHistogram's log, as its format is published: tag, count, begin and end of each line.
read_hdr() {
	python3 -c 'import base64, struct, sys, zlib
def numbers(data):
	at = 0
	while at < len(data):
		n = shift = 0
		while True:
			byte = data[at]
			at += 1
			n |= (byte if shift == 56 else byte & 127) << shift
			if shift == 56 or not byte & 128:
				break
			shift += 7
		yield n >> 1 ^ -(n & 1)
def lowest(index):
	bucket = index >> 10
	return index if not bucket else (index & 1023) + 1024 << bucket - 1
for line in open(sys.argv[1]):
	if line[0] in "#\"":
		continue
	tag, start, length, most, packed = line.rstrip().split(",")
	packed = base64.b64decode(packed)
	cookie, size = struct.unpack(">II", packed[:8])
	assert cookie == 0x1c849314 and size == len(packed) - 8
	data = zlib.decompress(packed[8:])
	cookie, size, offset, digits, low, high, ratio = struct.unpack(">IIIIQQd", data[:40])
	assert (cookie, size, offset, digits, low, ratio) == (0x1c849313, len(data) - 40, 0, 3, 1, 1.0)
	index = count = largest = 0
	for n in numbers(data[40:]):
		if n > 0:
			count, largest = count + n, lowest(index)
		index += -n if n < 0 else 1
	assert largest <= float(most) * 1e6 + 500 < largest * 1.001 + 1500, (largest, most)
	print(tag.split("=")[1], count, start, "%.3f" % (float(start) + float(length)))' "$1"
}

@test "hdr: as many in each interval as latency has" {
	needs python3
	for file in nvme.cap v1.cap v1-stages.cap; do
		export_of $file hdr
		read_hdr "$tmp/out" | cut -d' ' -f1,2 | sort >"$tmp/got"
		[ -s "$tmp/got" ]
		"$iosonar" latency -r $file --by dev,op -o csv 2>/dev/null | awk -F, '$1 == "interval" { print $4 ":" $5, $6 }' | sort >"$tmp/whole"
		# What came after the last whole interval is a line of its own.
		awk '{ n[$1] += $2 } END { for (tag in n) print tag, n[tag] }' "$tmp/got" | sort >"$tmp/sums"
		"$iosonar" latency -r $file --by dev,op -o csv 2>/dev/null | awk -F, '$1 == "total" { print $4 ":" $5, $6 }' | sort >"$tmp/total"
		diff "$tmp/total" "$tmp/sums" || { echo $file; return 1; }
		[ -z "$(comm -23 "$tmp/whole" "$tmp/got")" ] || { echo $file; return 1; }
	done
}

@test "hdr: an interval begins where the one before it ended, and has the commands that ended in it" {
	needs python3
	export_of returned.cap hdr -i 500ms
	read_hdr "$tmp/out" >"$tmp/lines"
	[ "$(cut -d' ' -f3,4 "$tmp/lines" | uniq | tr '\n' ' ')" = "0.000 0.500 0.500 1.000 1.000 1.500 1.500 2.000 2.000 2.300 " ]
	awk '{ n[$4] += $2 } END { for (end in n) print end, n[end] }' "$tmp/lines" | sort >"$tmp/got"
	# a command every 100 ms; the first ended when the run began
	printf '%s\n' "0.500 5" "1.000 5" "1.500 5" "2.000 5" "2.300 4" | diff - "$tmp/got"
}

@test "hdr: a library that is not ours reads the same" {
	needs node && needs python3
	modules=$("$root/tests/npm" hdr-histogram-js@3.0.1 2>"$tmp/why") || skip "$(cat "$tmp/why")"
	export_of nvme.cap hdr -i 500ms
	NODE_PATH=$modules node -e 'const hdr = require("hdr-histogram-js");
const log = new hdr.HistogramLogReader(require("fs").readFileSync(process.argv[1], "utf8"));
for (let h; (h = log.nextIntervalHistogram()); )
	console.log(h.tag, h.totalCount);' "$tmp/out" | sort >"$tmp/got"
	read_hdr "$tmp/out" | cut -d' ' -f1,2 | sort >"$tmp/want"
	[ "$(wc -l <"$tmp/want")" -gt 5 ]
	diff "$tmp/want" "$tmp/got"
}

# The part of Perfetto's format that is used, as published in its protos.
perfetto_proto() {
	cat <<-'END'
		syntax = "proto2";
		message Trace { repeated TracePacket packet = 1; }
		message TracePacket {
			optional ClockSnapshot clock_snapshot = 6;
			optional uint64 timestamp = 8;
			optional uint32 trusted_packet_sequence_id = 10;
			optional TrackEvent track_event = 11;
			optional uint32 sequence_flags = 13;
			optional uint32 timestamp_clock_id = 58;
			optional TrackDescriptor track_descriptor = 60;
		}
		message ClockSnapshot {
			message Clock { optional uint32 clock_id = 1; optional uint64 timestamp = 2; }
			repeated Clock clocks = 1;
			optional uint32 primary_trace_clock = 2;
		}
		message TrackDescriptor {
			optional uint64 uuid = 1;
			optional string name = 2;
			optional uint64 parent_uuid = 5;
			optional CounterDescriptor counter = 8;
		}
		message CounterDescriptor { optional uint32 unit = 3; }
		message TrackEvent {
			repeated DebugAnnotation debug_annotations = 4;
			optional uint32 type = 9;
			optional uint64 track_uuid = 11;
			repeated string categories = 22;
			optional string name = 23;
			optional int64 counter_value = 30;
		}
		message DebugAnnotation { optional uint64 uint_value = 3; optional string string_value = 6; optional string name = 10; }
	END
}

# slices FILE: of a decoded trace: a line "TRACK BEGIN END DEPTH NAME" for each slice, and what is wrong with their nesting.
slices() {
	python3 -c 'import re, sys
packets, depth, packet = [], 0, {}
for line in open(sys.argv[1]):
	line = line.strip()
	if line.endswith("{"):
		depth += 1
		packet = {} if depth == 1 else packet
	elif line == "}":
		depth -= 1
		depth or packets.append(packet)
	elif depth <= 2:
		key, value = line.split(": ", 1)
		packet[key] = value
order = sorted((p for p in packets if "type" in p), key=lambda p: int(p["timestamp"]))
stacks = {}
for p in order:
	stack = stacks.setdefault(p["track_uuid"], [])
	if p["type"] == "1":
		stack.append(p)
	elif p["type"] == "2":
		begin = stack.pop()
		print(p["track_uuid"], begin["timestamp"], p["timestamp"], len(stack), begin["name"], begin["categories"])
assert not any(stacks.values()), "a slice has no end"' "$1"
}

@test "perfetto: protoc finds every command as a slice, its steps inside, none across another" {
	needs protoc && needs python3
	perfetto_proto >"$tmp/perfetto.proto"
	for file in stacks.cap v1-stages.cap; do
		export_of $file perfetto
		protoc -I "$tmp" --decode=Trace "$tmp/perfetto.proto" <"$tmp/out" >"$tmp/decoded"
		! grep -qE '^ *[0-9]+:' "$tmp/decoded" || { echo "$file: a field that is not there"; return 1; }
		slices "$tmp/decoded" >"$tmp/slices"
		# A step lies inside its command: nothing of depth 0 is a step, nothing deeper is a command.
		[ "$(awk '{ print $4, $NF }' "$tmp/slices" | sort -u | tr '\n' ' ')" = '0 "command" 1 "step" ' ]
		export_of $file csv
		awk '$4 == 0 { print $3 - $2 }' "$tmp/slices" | sort -n >"$tmp/got"
		python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
	nvme = row["nsid"] != ""
	print(int(nvme and row["done_ns"] or row["end_ns"]) - int(row["queued_ns"] or row["start_ns"]))' "$tmp/out" | sort -n >"$tmp/want"
		diff "$tmp/want" "$tmp/got" >/dev/null || { echo "$file: other times"; return 1; }
		# Steps add up to their command, which comes after them.
		[ "$(awk '$4 { sum[$1] += $3 - $2; next } sum[$1] { bad += sum[$1] != $3 - $2; nr++; sum[$1] = 0 } END { print bad + 0, (nr > 20) }' "$tmp/slices")" = "0 1" ]
	done
}

@test "perfetto: protoc's raw view has the fields of a command, counters and tracks" {
	needs protoc
	export_of stacks.cap perfetto -n 1
	protoc --decode_raw <"$tmp/out" >"$tmp/raw"
	tr -d '\n' <"$tmp/raw" | sed 's/  */ /g' >"$tmp/line"
	has() { grep -qF -- "$1" "$tmp/line" || { echo "no $1"; cat "$tmp/raw"; return 1; }; }
	has '6 { 1 { 1: 3 2: 30451649360 }'
	has '60 { 1: 1099511627778 2: "nvme0n1" }'
	has '60 { 1: 4398046511105 2: "queue 1" 5: 1099511627778 }'
	has '1 { 8: 34799393296 58: 3 10: 1 11 { 9: 1 11: 4398046511105 23: "write" 22: "command" 4 { 10: "sector" 3: 770 }'
	has '1 { 8: 34823580176 58: 3 10: 1 11 { 9: 2 11: 4398046511105 }}'
	has '1 { 8: 34816810672 58: 3 10: 1 11 { 9: 4 11: 3298534883330 30: 3127808 }}' # latency
	has '1 { 8: 34813682864 58: 3 10: 1 11 { 9: 4 11: 2199023255554 30: 1 }}'	  # one in flight
	has '1 { 8: 34816810672 58: 3 10: 1 11 { 9: 4 11: 2199023255554 30: 0 }}'
}

@test "perfetto: hostile names are text" {
	needs protoc
	perfetto_proto >"$tmp/perfetto.proto"
	export_of v1-stages.cap perfetto
	protoc -I "$tmp" --decode=Trace "$tmp/perfetto.proto" <"$tmp/out" | grep -F 'string_value: "/system.slice/b\\x1b[2J"' | head -1 >"$tmp/got"
	[ -s "$tmp/got" ]
}

@test "chrome: the same slices and counters as JSON" {
	needs jq && needs protoc && needs python3
	perfetto_proto >"$tmp/perfetto.proto"
	for file in stacks.cap v1-stages.cap; do
		export_of $file perfetto
		protoc -I "$tmp" --decode=Trace "$tmp/perfetto.proto" <"$tmp/out" >"$tmp/decoded"
		slices "$tmp/decoded" | awk '{ printf "%.3f\n", ($3 - $2) / 1000 }' | sort -n >"$tmp/want"
		export_of $file chrome
		jq -r '.traceEvents[] | select(.ph == "X") | .dur' "$tmp/out" | awk '{ printf "%.3f\n", $1 }' | sort -n >"$tmp/got"
		[ -s "$tmp/want" ]
		diff "$tmp/want" "$tmp/got" >/dev/null || { echo $file; return 1; }
		# Steps follow their command: the first begins with it, each where the one before it ended, the last ends with it.
		python3 -c 'import json, sys
command, at, nr = None, 0, 0
for e in json.load(open(sys.argv[1]))["traceEvents"]:
	if e.get("cat") == "command":
		assert not nr or abs(at - command["ts"] - command["dur"]) < 0.002, (command, at)
		command, at, nr = e, e["ts"], 0
	elif e.get("cat") == "step":
		assert abs(e["ts"] - at) < 0.002, (command, e)
		at, nr = e["ts"] + e["dur"], nr + 1
assert nr' "$tmp/out" || { echo $file; return 1; }
		# Lanes of a device are threads of a process, and no two commands of one overlap.
		[ "$(jq -r '[.traceEvents[] | select(.cat == "command")] | group_by([.pid, .tid])[] | sort_by(.ts) |
			[range(1; length) as $i | select(.[$i - 1].ts + .[$i - 1].dur > .[$i].ts + 0.0005)] | length' "$tmp/out" | sort -u)" = 0 ]
	done
	[ "$(jq -r '[.traceEvents[] | select(.name == "in flight") | .args.commands] | max' "$tmp/out")" -gt 1 ]
	[ "$(jq -r '[.traceEvents[] | select(.name == "in flight")] | last | .args.commands' "$tmp/out")" -eq 0 ]
}

@test "folded: the lines of stacks, whose counts are all commands that have a stack" {
	export_of stacks.cap folded
	"$iosonar" stacks -r stacks.cap --stack both -o folded 2>/dev/null | diff - "$tmp/out"
	# What every tool that draws stacks expects: frames, a space, a number.
	! grep -vE '^[^;]+(;[^;]+)* [0-9]+$' "$tmp/out" || return 1
	[ "$(awk '{ n += $NF } END { print n }' "$tmp/out")" -eq "$(traced stacks.cap op | wc -l)" ]
	run "$iosonar" export -r nvme.cap -o folded
	[ "$status" -eq 2 ]
	[ "$output" = "iosonar: this capture has no stacks: record it with --stacks" ]
}

@test "dot: Graphviz draws every step that layers has" {
	needs dot
	for file in stacks.cap v1-stages.cap; do
		export_of $file dot
		dot -Tplain "$tmp/out" >"$tmp/plain"
		"$iosonar" layers -r $file -o json 2>/dev/null | grep '"span":"total"' | grep -v '"what":"total"' | sed 's/.*"count":\([0-9]*\),.*/\1/' | sort -n >"$tmp/want"
		sed -n 's/.*\\n\([0-9]*\), [0-9.]*% of the time.*/\1/p' "$tmp/plain" | sort -n >"$tmp/got"
		[ -s "$tmp/want" ]
		diff "$tmp/want" "$tmp/got" || { echo $file; return 1; }
	done
}

@test "calls: what calls -r shows, in the formats that it has" {
	for file in calls.cap class.cap; do
		for format in json csv chrome folded dot; do
			export_of $file $format
			"$iosonar" calls -r $file -o $format 2>/dev/null | diff - "$tmp/out" >/dev/null || { echo "$file $format"; return 1; }
		done
	done
	run "$iosonar" export -r calls.cap -o perfetto
	[ "$status" -eq 2 ]
	[ "$output" = "iosonar: -o perfetto: calls.cap contains calls; use json, csv, chrome, folded or dot" ]
	run "$iosonar" export -r calls.cap -o dot -d nvme0n1
	[ "$status" -eq 2 ]
	[ "$output" = "iosonar: -d applies to commands; calls.cap contains calls" ]
}

# names FILE: every name in a capture that --anonymous is about, one a line.
names() {
	"$iosonar" export -r "$1" -o json 2>/dev/null | jq -r '.comm, .serial, .cgroup, .file, .host | select(. != null and . != "/" and . != "" and (startswith("[") or startswith("cgroup-") | not))' | sort -u
}

@test "--anonymous: no format has a name of the capture, equal ones stay equal" {
	needs jq
	head -c 32 /dev/urandom >"$tmp/key"
	for file in stacks.cap v1-stages.cap; do
		[ "$(names $file | wc -l)" -gt 4 ]
		names $file | grep -E '.{5}' >"$tmp/names" # shorter ones are part of other words
		for format in json csv fio blktrace openmetrics hdr perfetto chrome dot; do
			export_of $file $format --anonymous --key "$tmp/key"
			[ -s "$tmp/out" ]
			! grep -aqFf "$tmp/names" "$tmp/out" || { echo "$file $format: $(grep -aoFf "$tmp/names" "$tmp/out" | head -3)"; return 1; }
		done
		# As many names as there were, each for the same commands.
		"$iosonar" export -r $file --anonymous --key "$tmp/key" -o json 2>/dev/null | jq -r '[.comm, .serial, .cgroup, .file] | @csv' >"$tmp/as"
		"$iosonar" export -r $file -o json 2>/dev/null | jq -r '[.comm, .serial, .cgroup, .file] | @csv' | paste "$tmp/as" - | sort -u >"$tmp/pairs"
		[ "$(cut -f1 "$tmp/pairs" | sort -u | wc -l)" -eq "$(wc -l <"$tmp/pairs")" ]
		[ "$(cut -f2 "$tmp/pairs" | sort -u | wc -l)" -eq "$(wc -l <"$tmp/pairs")" ]
	done
	export_of stacks.cap folded --anonymous
	! grep -E '^(dd|fio|kworker|sh)|\[(dd|fio|libc)' "$tmp/out" || return 1
	grep -q '^comm-[0-9a-f]*;' "$tmp/out"
}

@test "--anonymous: filters mean the real names; each run has its own key, unless one is given" {
	hidden() { "$iosonar" export -r stacks.cap --anonymous -o csv "$@" 2>/dev/null; }
	head -c 32 /dev/urandom >"$tmp/key"
	[ "$(hidden --comm fio | wc -l)" -eq "$("$iosonar" export -r stacks.cap -o csv --comm fio 2>/dev/null | wc -l)" ]
	[ "$(hidden --comm fio | wc -l)" -gt 3 ]
	[ "$(hidden)" != "$(hidden)" ]
	[ "$(hidden --key "$tmp/key")" = "$(hidden --key "$tmp/key")" ]
	run "$iosonar" export -r stacks.cap --anonymous --key /dev/null
	[ "$status" -eq 2 ]
	run "$iosonar" export -r stacks.cap --key "$tmp/key"
	[ "$status" -eq 2 ]
	[ "$output" = "iosonar: --key requires --anonymous" ]
}

@test "--anonymous: every view of commands has it with -r, and refuses it without" {
	for view in trace slow stacks "latency --by comm,file,cgroup" "pattern --by comm,cgroup" report errors layers; do
		# shellcheck disable=SC2086 # words
		"$iosonar" $view -r stacks.cap --anonymous -o json >"$tmp/out" 2>/dev/null
		! grep -qE '"(dd|fio|io0)"|/mnt|kworker|iosonar record' "$tmp/out" || { echo "$view: $(grep -oE '"(dd|fio|io0)"|/mnt|kworker' "$tmp/out" | head -1)"; return 1; }
		case $view in errors | layers) ;; *) grep -q comm- "$tmp/out" || { echo "$view"; return 1; } ;; esac
	done
	for view in "class -r class.cap" "class -r class.cap --calls" "calls -r calls.cap" "export -r calls.cap"; do
		for format in json html; do
			case $view:$format in export*:html) continue ;; esac
			# shellcheck disable=SC2086 # words
			"$iosonar" $view --anonymous -o $format --out "$tmp/out" 2>/dev/null
			! grep -qE '"(dd|sh)"|calls (-w|vfs)|class bio -' "$tmp/out" || { echo "$view $format"; return 1; }
			grep -q comm- "$tmp/out" || { echo "$view $format"; return 1; }
		done
	done
	run "$iosonar" trace --anonymous -t 1s
	[ "$status" -eq 2 ]
	[ "$output" = "iosonar: --anonymous requires -r FILE" ]
}

@test "record --anonymous: the file itself has no name" {
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	loop_of 16M
	cp "$(command -v dd)" "$tmp/tellingly"
	"$iosonar" record --stages --anonymous -d "$disk" -w "$tmp/hidden.cap" -- "$tmp/tellingly" if="$disk" of=/dev/null bs=4k count=101 iflag=direct 2>"$tmp/err" ||
		[ $? -eq 3 ] || { cat "$tmp/err"; return 1; }
	[ "$("$iosonar" export -r "$tmp/hidden.cap" -o csv 2>/dev/null | grep -c comm-)" -eq 101 ]
	! grep -aoE "tellingly|$(uname -n)" "$tmp/hidden.cap" || return 1
	[ "$("$iosonar" info -o json "$tmp/hidden.cap" | sed -n 's/.*"name":"host","text":"\([^-]*\)-.*/\1/p')" = host ]
}

# recorded HOST NAME: 31 reads by a task of that name on a machine of that name, into $tmp/HOST.cap.
recorded() {
	cp "$(command -v dd)" "$tmp/$2"
	# shellcheck disable=SC2016 # for the inner shell
	unshare --uts sh -c 'hostname "$1" && shift && exec "$@"' - "$1" "$iosonar" record -d "$disk" -w "$tmp/$1.cap" -- \
		"$tmp/$2" if="$disk" of=/dev/null bs=4k count=31 iflag=direct status=none 2>"$tmp/err" || [ $? -eq 3 ] || { cat "$tmp/err"; return 1; }
}

@test "captures of two machines in one table: each row has its host, and no name is a formula" {
	needs jq && needs python3
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	loop_of 16M
	unshare --uts true 2>/dev/null || skip "no name for a machine can be made here"
	recorded db7 plain
	recorded db8 '=cmd|1+1'
	both() { "$iosonar" export -r "$tmp/db7.cap" -r "$tmp/db8.cap" -o "$1" 2>/dev/null; }
	[ "$(both json | jq -r '[.host, .comm] | @csv' | sort | uniq -c | sed 's/^ *//' | tr '\n' ' ')" = '31 "db7","plain" 31 "db8","=cmd|1+1" ' ]
	[ "$(both csv | python3 -c 'import csv, sys
print(*sorted({ (row["host"], row["comm"]) for row in csv.DictReader(sys.stdin) }))')" = "('db7', 'plain') ('db8', \"'=cmd|1+1\")" ]
	[ "$(both openmetrics | grep -c '^iosonar_latency_seconds_count{host="db[78]",device=".*",op="read"} 31$')" -eq 2 ]
	[ "$(both hdr | sed -n 's/^Tag=\(db[78]\):.*/\1/p' | sort -u | tr '\n' ' ')" = "db7 db8 " ]
}
