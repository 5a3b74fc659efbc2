# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC1091 # numbers is written by make
# shape: nvme
# kernels: make soak
# timeout: 14400
#
# soak: many commands, with latency and trace beside: both count what fio and the kernel count, and lose nothing. Then
# many starts that are killed at any moment: nothing of them stays. `make soak` says how many, in /files/numbers.

commands=1000000 kills=100
[ ! -e /files/numbers ] || . /files/numbers
dev=$(disk io0)
set_scheduler "$dev" none
echo 2 >"/sys/block/$dev/queue/nomerges" # neighbours in a batch stay two commands
objects=$(bpf_objects)
gone() { [ "$(bpf_objects)" = "$objects" ]; }

# A line for every command would fill the guest's memory: they are counted as they come. By wc: grep takes 180 us a line
# here, and trace, waiting for its reader, lost a quarter of a million (6.12, TCG).
mkfifo /tmp/rows
wc -l </tmp/rows >/tmp/lines &
counter=$!
iosonar trace -v -o csv -d "$dev" >/tmp/rows 2>/tmp/trace.err &
trace=$!
wait_for 60 grep -q '^tables' /tmp/trace.err || note "$(cat /tmp/trace.err)"
sleep 0.5
measure /tmp/latency -d "$dev"

before_reads=$(stat_of "$dev" reads) before_writes=$(stat_of "$dev" writes)
began=$(cut -d. -f1 /proc/uptime)
# Batches: the guest spends its time on commands, not on system calls.
fio --name=t --filename="/dev/$dev" --rw=randrw --bs=4k --direct=1 --ioengine=io_uring --gtod_reduce=1 --iodepth=64 \
	--iodepth_batch=16 --iodepth_batch_complete_min=16 --numjobs=2 --number_ios=$(((commands + 1) / 2)) --io_size=1T \
	--norandommap --eta=never --output-format=json --output=/tmp/fio.json >&2
ok $? "fio ends well"
took=$(($(cut -d. -f1 /proc/uptime) - began))
# At once, before the kernel counts other reads.
kernel_reads=$(($(stat_of "$dev" reads) - before_reads)) kernel_writes=$(($(stat_of "$dev" writes) - before_writes))
measured
ok $? "latency exits 0"
kill -INT $trace
wait $trace
ok $? "trace exits 0" || note "$(cat /tmp/trace.err)"
wait $counter

reads=$(fio_ios /tmp/fio.json read) writes=$(fio_ios /tmp/fio.json write)
note "$reads reads and $writes writes in $took s"
note "latency: $(grep '^issued' /tmp/latency.err)"
note "trace: $(grep '^issued' /tmp/trace.err)"
[ $((reads + writes)) -ge "$commands" ]
ok $? "fio did $commands I/Os" || note "it did $((reads + writes))"
is "$kernel_reads $kernel_writes" "$reads $writes" "as many as the kernel counts"
is "$(row /tmp/latency "$dev" read count)" "$reads" "latency: every read"
is "$(row /tmp/latency "$dev" write count)" "$writes" "latency: every write"
is "$(ledger /tmp/latency issued) $(ledger /tmp/latency in_flight)" "$(ledger /tmp/latency completed) 0" \
	"latency: all that were issued are completed"
whole /tmp/latency "latency: nothing is lost"
is "$(cat /tmp/lines)" $((reads + writes + 1)) "trace: a line for each, and the header"
grep -q 'nothing lost' /tmp/trace.err
ok $? "trace: nothing is lost" || note "$(cat /tmp/trace.err)"
wait_for 10 gone
ok $? "nothing stays behind"

# killed COMMAND LOOK: after up to one and a half times what a start takes. With LOOK 1 first sees whether it is attached,
# which takes longer than some starts: only the others are killed early.
killed() {
	iosonar "$1" -o json --out /tmp/killed 2>/dev/null &
	pid=$!
	usleep $((start_ms * 3 * ($(head -c 2 /dev/urandom | od -An -tu2) % 1000) / 2))
	[ "$2" -eq 0 ] || [ "$(bpf_objects)" -le "$objects" ] || attached=$((attached + 1))
	kill -9 $pid
	wait $pid 2>/dev/null
}

now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }
dd if="/dev/$dev" of=/dev/null bs=4k iflag=direct 2>/dev/null &
began=$(now_ms)
measure /tmp/whole
start_ms=$(($(now_ms) - began))
measured
n=0 attached=0
while [ $n -lt "$kills" ]; do
	killed latency $((n / 2 % 2))
	killed trace $((n / 2 % 2))
	n=$((n + 2))
done
note "a start takes $start_ms ms; looked before every second pair of $n kills: $attached were attached"
[ $attached -gt 0 ]
ok $? "some of the $n were killed while attached"
wait_for 10 gone
ok $? "$n kills leave nothing behind" || note "$(bpftool prog show | grep name)"
done_testing
