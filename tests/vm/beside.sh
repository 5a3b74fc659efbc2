# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC1091,SC2034,SC2154 # tools.sh is tests/bench/tools.sh, which reads and sets these
# shape: nvme large
# kernels: make bench
# timeout: 900
#
# beside: two copies of latency, one of trace and bpftrace watch the same commands at once, and each of ours counts what
# fio and the kernel count. Part of `make bench`, which puts bpftrace into /files: it is too large for every ./check,
# where counts has its own neighbour. Lines "# beside TOOL COUNT" are for the report.

. /files/tools.sh
peers=/files/peers
dev=$(disk io0)
set_scheduler "$dev" none
echo 2 >"/sys/block/$dev/queue/nomerges" # a command for each I/O
ln -sf /proc/self/fd /dev/fd             # bpftrace compiles through it
objects=$(bpf_objects)
gone() { [ "$(bpf_objects)" = "$objects" ]; }

# Classic programs are skipped while another one runs on their CPU; raw ones only inside themselves, and that is counted.
"$peers/bpftrace" -e 'tracepoint:nvme:nvme_setup_cmd { @classic_setup = count(); }
	tracepoint:nvme:nvme_complete_rq { @classic_complete = count(); }
	rawtracepoint:nvme_setup_cmd { @raw_setup = count(); }
	rawtracepoint:nvme_complete_rq { @raw_complete = count(); }' >/tmp/bpftrace 2>/tmp/bpftrace.err &
tool_pid=$!
attached && [ "$(programs | wc -w)" -ge 4 ]
ok $? "bpftrace watches four events" || note "$(cat /tmp/bpftrace /tmp/bpftrace.err)"
# bpftrace_count NAME: what it printed at its end.
bpftrace_count() { sed -n "s/^@$1: *//p" /tmp/bpftrace; }
# skipped KIND: how often the kernel says it skipped bpftrace's programs of that kind, raw_tracepoint or tracepoint.
skipped() {
	for id in $(programs); do
		bpftool prog show id "$id"
	done | awk -v kind="$1" '$2 == kind { for (i = 1; i < NF; i++) if ($i == "recursion_misses") n += $(i + 1) }
		END { print n + 0 }'
}

iosonar latency -o json --out /tmp/second -d "$dev" 2>/tmp/second.err &
second=$!
iosonar trace -v -o csv --out /tmp/rows -d "$dev" 2>/tmp/rows.err &
trace=$!
wait_for 60 grep -q 'from .*_rq' /tmp/second.err
wait_for 60 grep -q '^tables' /tmp/rows.err
measure /tmp/first -d "$dev"
sleep 0.5

before=$(stat_of "$dev" reads)
# Depth 64 on two CPUs, sent and reaped in batches.
fio --name=t --filename="/dev/$dev" --rw=randread --bs=4k --direct=1 --ioengine=io_uring --gtod_reduce=1 --iodepth=64 \
	--iodepth_batch=16 --iodepth_batch_complete_min=16 --numjobs=2 --number_ios=50021 --io_size=1T \
	--norandommap --eta=never --output-format=json --output=/tmp/fio.json >&2
ok $? "fio ends well"
kernel=$(($(stat_of "$dev" reads) - before))
ios=$(fio_ios /tmp/fio.json read)

measured
ok $? "latency exits 0"
kill -INT $second
wait $second
ok $? "the second copy exits 0" || note "$(cat /tmp/second.err)"
kill -INT $trace
wait $trace
ok $? "trace exits 0" || note "$(cat /tmp/rows.err)"
skipped_raw=$(skipped raw_tracepoint) skipped_classic=$(skipped tracepoint)
stop

is "$ios $kernel" "100042 100042" "fio did 100,042 reads, and the kernel counted as many"
first=$(row /tmp/first "$dev" read count) second=$(row /tmp/second "$dev" read count)
lines=$(grep -c ',read,' /tmp/rows)
is "$first" "$ios" "latency counts as many"
is "$second" "$ios" "the second copy counts as many"
is "$lines" "$ios" "trace shows as many"
whole /tmp/first "latency: nothing is lost"
whole /tmp/second "the second copy: nothing is lost"
grep -q 'nothing lost' /tmp/rows.err
ok $? "trace: nothing is lost" || note "$(cat /tmp/rows.err)"

raw_setup=$(bpftrace_count raw_setup) raw_complete=$(bpftrace_count raw_complete)
classic_setup=$(bpftrace_count classic_setup) classic_complete=$(bpftrace_count classic_complete)
is "$((raw_setup + raw_complete + skipped_raw))" $((2 * ios)) "bpftrace counts as many by raw tracepoints, skipped ones added"
note "bpftrace by raw tracepoints: $raw_setup set up, $raw_complete completed, skipped $skipped_raw"
note "bpftrace by classic tracepoints: $classic_setup set up, $classic_complete completed, skipped $skipped_classic"
note "beside fio $ios"
note "beside latency $first"
note "beside latency-again $second"
note "beside trace $lines"
note "beside bpftrace-raw $raw_complete"
note "beside bpftrace-classic $classic_complete"
wait_for 10 gone
ok $? "nothing stays behind"
done_testing
