# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: none icount
# kernels: none
# timeout: 240
#
# job: a load, the job that pattern makes of it for fio, and what that job does: the same mix, sizes, sequential share and
# depth, within 5 points. Under icount, on a disk that takes exactly 10 ms, its queue is as full each time.

null_disk nullb0 irqmode=2 completion_nsec=10000000 >&2 || ok 1 "null_blk makes a disk"
set_scheduler nullb0 none

# of FILE KEY: from the line of the whole run.
of() { grep '"type":"pattern","span":"total"' "$1" | value "$2"; }

# share FILE OP SIZE: which part of an operation has this size.
share() { grep '"type":"pattern_size"' "$1" | grep "\"op\":\"$2\",\"size_bytes\":$3," | value share_percent; }

# points NAME KEY...: of the load and of its job, 5 apart at most.
points() {
	points_name=$1
	shift
	points_load=$("$1" /tmp/load "$2" ${3:+"$3"})
	points_job=$("$1" /tmp/made "$2" ${3:+"$3"})
	awk "BEGIN { d = $points_load - $points_job; exit !(d <= 5 && d >= -5) }"
	ok $? "$points_name: $points_load, again $points_job"
}

# seen FILE COMMAND...: pattern of what the command does.
seen() {
	seen_file=$1
	shift
	iosonar pattern -d nullb0 -o json --out "$seen_file" -w "$seen_file.cap" -- "$@" >/tmp/said 2>&1
	ok $? "${seen_file#/tmp/}: exits 0" || note "$(cat /tmp/said)"
	whole "$seen_file" "${seen_file#/tmp/}: nothing is lost"
}

# again: makes a job of the load, and does it.
again() {
	iosonar pattern -r /tmp/load.cap -o fio --out /tmp/job.fio >/dev/null 2>/tmp/said
	ok $? "a job is written" || note "$(cat /tmp/said)"
	fio --parse-only /tmp/job.fio >/tmp/said 2>&1
	ok $? "fio takes it" || note "$(cat /tmp/said /tmp/job.fio)"
	seen /tmp/made fio --output-format=json --output=/tmp/f.json /tmp/job.fio
	is "$(moved /tmp/made)" "$(($(fio_ios /tmp/f.json read) + $(fio_ios /tmp/f.json write)))" "as many as fio counts"
}

# moved FILE: reads and writes.
moved() { sed -n 's/.*"type":"pattern_size".*"count":\([0-9]*\),.*/\1/p' "$1" | awk '{ sum += $1 } END { print sum + 0 }'; }

# in_depth FILE DEPTH: the mean depth, in per cent of it.
in_depth() { awk "BEGIN { print $(of "$1" depth_mean) * 100 / $2 }"; }

load="--filename=/dev/nullb0 --direct=1 --ioengine=libaio --norandommap --time_based"
# shellcheck disable=SC2086 # words are words
seen /tmp/load fio $load --runtime=8 --name=a --rw=randrw --rwmixread=70 --bssplit=4k/60:16k/40,8k/80:32k/20 --percentage_random=40,80 --iodepth=8
again
grep -q "^# WARNING: this job writes to /dev/nullb0 and DESTROYS the data there" /tmp/job.fio
ok $? "a mix: the job says that it writes"
points "a mix: reads" of read_percent
points "a mix: sequential reads" of read_seq_percent
points "a mix: sequential writes" of write_seq_percent
points "a mix: reads of 4 KiB" share read 4096
points "a mix: reads of 16 KiB" share read 16384
points "a mix: writes of 8 KiB" share write 8192
points "a mix: writes of 32 KiB" share write 32768
points "a mix: depth, in per cent" in_depth 8

# shellcheck disable=SC2086
seen /tmp/load fio $load --runtime=3 --bs=4k --iodepth=4 --rw=read --name=a --offset=0 --size=60m \
	--name=b --offset=64m --size=60m --name=c --offset=128m --size=60m
again
is "$(grep -c ^rw=read$ /tmp/job.fio)" 3 "streams: a section for each"
! grep -q WARNING /tmp/job.fio
ok $? "streams: and no warning, for nothing is written"
points "streams: sequential" of seq_percent
is "$(of /tmp/made read_streams)" "$(of /tmp/load read_streams)" "streams: as many"
points "streams: depth, in per cent" in_depth 12

# Discards, which have a section of their own, and flushes.
null_remove nullb0
null_disk nullb0 irqmode=2 completion_nsec=1000000 memory_backed=1 discard=1 cache_size=8 >&2 || ok 1 "null_blk makes a disk"
# shellcheck disable=SC2086
seen /tmp/load fio $load --runtime=3 --iodepth=1 --flow_sleep=50 --name=a --rw=randwrite --bs=4k --fdatasync=3 --flow=3 \
	--name=b --rw=randtrim --bs=64k --flow=1
again
points "discards: their part" of discard_percent
points "discards: writes" of write_percent
points "discards: flushes" of flush_percent
awk "BEGIN { exit !($(of /tmp/load discard_percent) > 20 && $(of /tmp/load flush_percent) > 15) }"
ok $? "discards: there were some, and flushes"
null_remove nullb0
done_testing
