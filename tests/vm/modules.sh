# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154 # lib.sh sets measure_pid
# shape: broken
# kernels: 6.12
# timeout: 90
#
# modules: the driver goes while it is watched, and comes back with queues that are polled. Its core stays as long as we are
# attached to its events, and can go as soon as we end. What is polled is counted as what interrupts.

if ! grep -q '^nvme_core ' /proc/modules; then
	echo "1..0 # SKIP NVMe is no module of this kernel"
	exit 0
fi
dev=$(disk io0)
removed() { rmmod nvme_core 2>/tmp/rmmod.err; }
irqs() { awk '/nvme/ { for (i = 2; $i ~ /^[0-9]+$/; i++) sum += $i } END { print sum + 0 }' /proc/interrupts; }
now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }

measure /tmp/out
dd if="/dev/$dev" of=/dev/null bs=4k count=37 iflag=direct 2>/dev/null
rmmod nvme
ok $? "the driver goes"
wait_for 20 grep -q "^$dev is gone" /tmp/out.err
ok $? "its drive is said to be gone" || note "$(cat /tmp/out.err)"
removed
is "$?" 1 "its core stays: we are attached to its events" || load nvme
began=$(now_ms)
kill -TERM "$measure_pid"
wait "$measure_pid"
is $? 0 "SIGTERM: exits 0" || note "$(cat /tmp/out.err)"
ended=$(now_ms)
wait_for 60 removed # the kernel frees programs when it has time
ok $? "then its core can go" || note "$(cat /tmp/rmmod.err)"
note "we ended $((ended - began)) ms after SIGTERM, the core could go $(($(now_ms) - ended)) ms later"
is "$(row /tmp/out "$dev" read count)" 37 "the drive's reads are in the summary"
whole /tmp/out "nothing is lost"

load nvme poll_queues=1
wait_for 30 disk io0
ok $? "the driver comes back, with a queue that is polled"
dev=$(disk io0)
set_scheduler "$dev" none
wait_for 10 test -b "/dev/$dev"
traced /tmp/t -d "$dev"
trace_pid=$measure_pid
measure /tmp/polled -d "$dev"
before=$(stat_of "$dev" reads) irqs_before=$(irqs)
fio --name=polled --filename="/dev/$dev" --rw=randread --bs=4k --direct=1 --ioengine=io_uring --hipri --iodepth=4 --number_ios=503 \
	--norandommap --output-format=json --output=/tmp/f.json >&2
ok $? "fio reads and polls"
interrupted=$(($(irqs) - irqs_before)) reads=$(($(stat_of "$dev" reads) - before))
measured
ok $? "polled: latency exits 0"
kill -INT "$trace_pid"
wait "$trace_pid"
ok $? "polled: trace exits 0" || note "$(cat /tmp/t.err)"
between "$interrupted" 0 100 "polled: few interrupts, if any"
is "$(fio_ios /tmp/f.json read) $reads" "503 503" "polled: fio and the kernel count 503"
is "$(row /tmp/polled "$dev" read count)" 503 "polled: so does latency"
is "$(column /tmp/t comm | sort | uniq -c | xargs)" "503 fio" "polled: trace has them all, sent by fio"
whole /tmp/polled "polled: nothing is lost"
rmmod nvme
load nvme # as it was
wait_for 30 disk io0
ok $? "the driver is as it was"
done_testing
