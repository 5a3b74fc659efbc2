# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154 # lib.sh sets measure_pid
# shape: nvme
# kernels: 5.10 7.2
# timeout: 90
#
# trace: every command is one record, in order, with what ftrace saw of it; a ring that ran full is told exactly.

dev=$(disk io0)
set_scheduler "$dev" none

ftrace_start nvme/nvme_setup_cmd nvme/nvme_complete_rq
traced /tmp/t -d "$dev"
fio --name=t --filename="/dev/$dev" --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --numjobs=2 \
	--number_ios=503 --norandommap --output-format=json --output=/tmp/f.json >&2
measured
ok $? "exits 0"
ftrace_stop /tmp/trace
is "$(grep -c '"op":"read"' /tmp/t)" "$(fio_ios /tmp/f.json read)" "reads as fio counts them"
is "$(grep -c '"op":"write"' /tmp/t)" "$(fio_ios /tmp/f.json write)" "writes as fio counts them"
column /tmp/t end_ns | sort -n >/tmp/sorted
column /tmp/t end_ns | cmp -s - /tmp/sorted
ok $? "in the order in which they ended"
is "$(column /tmp/t bytes | sort -u)" 4096 "of 4096 bytes each"
is "$(column /tmp/t status | sort -u)" ok "without an error"
is "$(column /tmp/t comm | sort -u)" fio "sent by fio"
trace_commands /tmp/t qid cid op lba bytes status_code | sort -snk1,1 >/tmp/ours
grep -v 'qid=0' /tmp/trace >/tmp/events
ftrace_commands /tmp/events | awk '{ sub(/^nvme_cmd_/, "", $8); split($9, field, /[=,]/); sub(/^0x0$/, "0", $6)
	print $3, $4, $8, field[2], 512 * (field[4] + 1), $6 }' | sort -snk1,1 >/tmp/theirs
cmp -s /tmp/ours /tmp/theirs
ok $? "with the queues, ids, LBAs, lengths and statuses that ftrace saw, in each queue's order" ||
	note "$(diff /tmp/ours /tmp/theirs | head -6)"

# Admin commands or the others, in words.
read_some() { dd if="/dev/$dev" of=/dev/null bs=4k count=3 iflag=direct 2>/dev/null; }
traced /tmp/a --admin
printf 'admin /dev/%s 0x06 0 4096 0 1\nadmin /dev/%s 0x0a 0 0 0 7\n' "${dev%n*}" "${dev%n*}" | passthru >/dev/null
read_some
measured
grep -q '"op":"identify".*cns=controller' /tmp/a
ok $? "identify by its CNS" || note "$(column /tmp/a command)"
grep -q 'fid=number-of-queues' /tmp/a
ok $? "a feature by its name" || note "$(column /tmp/a command)"
is "$(column /tmp/a qid | sort -u)" 0 "--admin: and nothing else"
traced /tmp/a --io
printf 'admin /dev/%s 0x06 0 4096 0 1\n' "${dev%n*}" | passthru >/dev/null
read_some
measured
is "$(column /tmp/a op | tr '\n' ' ')" "read read read " "--io: no admin commands"

# A passthrough command that failed is not tried again: it ends when it ends, and has its place among the others.
past_end="io /dev/$dev 0x02 1 4096 0 0 1 7"
traced /tmp/p -d "$dev"
read_some
echo "$past_end" | passthru >/dev/null
read_some
measured
is "$(column /tmp/p status | sed 's/ (.*//' | tr '\n' ,)" "ok,ok,ok,LBA out of range,ok,ok,ok," "a failed passthrough command, where it was sent"
echo "$past_end" >/tmp/one
iosonar trace -o json --out /tmp/p -d "$dev" -- sh -c 'passthru </tmp/one >/dev/null' 2>/tmp/p.err
is "$? $(grep -c 'LBA out of range' /tmp/p)" "0 1" "and if it was the last thing that happened" || note "$(cat /tmp/p.err)"

# A consumer that stands still loses records, counts them, and holds up no I/O.
traced /tmp/s -d "$dev" --buffer 64k --allow-loss
kill -STOP "$measure_pid"
fio --name=t --filename="/dev/$dev" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --number_ios=5003 \
	--norandommap --output-format=json --output=/tmp/f.json >&2
ok $? "I/O goes on while we stand still"
kill -CONT "$measure_pid"
sleep 0.5
kill -INT "$measure_pid"
wait "$measure_pid"
is $? 0 "--allow-loss: exit 0"
written=$(grep -c '"op":"read"' /tmp/s)
lost=$(sed -n 's/.*lost \([0-9]*\): ring full.*/\1/p' /tmp/s.err)
[ "${lost:-0}" -gt 0 ]
ok $? "records were lost: ${lost:-none}"
is $((written + ${lost:-0})) "$(fio_ios /tmp/f.json read)" "written and lost are all there were"
grep -q "issued $(fio_ios /tmp/f.json read) = completed $(fio_ios /tmp/f.json read) " /tmp/s.err
ok $? "the counts are whole all the same" || note "$(cat /tmp/s.err)"
done_testing
