# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC1091 # numbers is written by make
# shape: nvme
# kernels: make soak
# timeout: 14400
#
# soak: many commands, with latency and trace beside: both count what fio and the kernel count, and lose nothing. Then
# many starts of six commands that are killed at any moment: nothing of them stays, and the next start goes on. `make soak` says how
# many, in /files/numbers.

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

# begin N: this process becomes one of six commands.
begin() {
	case $(($1 % 6)) in
	0) exec iosonar latency -o json --out /tmp/killed ;;
	1) exec iosonar trace -o json --out /tmp/killed ;;
	2) exec iosonar layers -o json --out /tmp/killed ;;
	3) exec iosonar top -i 50ms -o json --out /tmp/killed ;;
	4) exec iosonar record --ring /tmp/ring --size 1Mi --files 4 ;;
	5) exec iosonar serve --keep 1m --listen unix:/tmp/socket ;;
	esac
}

# killed N: after up to one and a half times what a start takes. Every second six it first looks whether it is attached, which
# takes longer than some starts: only the others are killed early.
killed() {
	begin "$1" >/dev/null 2>&1 &
	pid=$!
	usleep $((start_ms * 3 * ($(head -c 2 /dev/urandom | od -An -tu2) % 1000) / 2))
	[ $(($1 / 6 % 2)) -eq 0 ] || [ "$(bpf_objects)" -le "$objects" ] || attached=$((attached + 1))
	kill -9 $pid
	wait $pid 2>/dev/null
	[ $? -eq 137 ] || ended=$((ended + 1))
}

now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }
dd if="/dev/$dev" of=/dev/null bs=4k iflag=direct 2>/dev/null &
began=$(now_ms)
measure /tmp/whole
start_ms=$(($(now_ms) - began))
measured
mkdir /tmp/ring
n=0 attached=0 ended=0
while [ $n -lt "$kills" ]; do
	killed $n
	n=$((n + 1))
done
note "a start takes $start_ms ms; looked before half of $n kills: $attached were attached"
is $ended 0 "none of the $n ended before it was killed"
[ $attached -gt 0 ]
ok $? "some of the $n were killed while attached"
wait_for 10 gone
ok $? "$n kills leave nothing behind" || note "$(bpftool prog show | grep name)"
alone() { ! pidof iosonar >/dev/null; }
wait_for 10 alone
ok $? "no process either" || note "$(pidof iosonar)"

# What a killed process cannot remove, the next start does.
iosonar record --ring /tmp/ring --size 1Mi --files 4 -- dd if="/dev/$dev" of=/dev/null bs=4k count=101 iflag=direct 2>/tmp/next.err
is $? 0 "the ring goes on" || note "$(cat /tmp/next.err)"
is "$(find /tmp/ring -name '*.part' | wc -l)" 0 "no part of a file is left" || note "$(ls -la /tmp/ring)"
wrong=0
for file in /tmp/ring/*.cap; do
	iosonar info --verify "$file" 2>&1 | grep -q '^  intact' || wrong=$((wrong + 1))
done
is $wrong 0 "each file of the ring is intact"
iosonar serve --listen unix:/tmp/socket 2>/tmp/serve.err &
pid=$!
wait_for 20 grep -q '^serving unix:/tmp/socket$' /tmp/serve.err
ok $? "serve takes the place of a socket to which nobody listens" || note "$(cat /tmp/serve.err)"
kill $pid
wait $pid
wait_for 10 gone
ok $? "nothing stays behind at the end"
done_testing
