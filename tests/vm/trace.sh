# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# timeout: 180
#
# trace: every command is one record, in order, with what ftrace saw of it; a ring that ran full is told exactly.

dev=$(disk io0)
set_scheduler "$dev" none

# traced FILE [OPTION...]: as measure, for trace.
traced() {
	measure_file=$1
	shift
	iosonar trace -v -o json --out "$measure_file" "$@" 2>"$measure_file.err" &
	measure_pid=$!
	wait_for 20 grep -q '^tables' "$measure_file.err" || cat "$measure_file.err" >&2
	sleep 0.3
}
column() { sed -n "s/.*\"$2\":\"*\([^,\"}]*\).*/\1/p" "$1"; }

ftrace_start nvme/nvme_setup_cmd
traced /tmp/t -d "$dev"
fio --name=t --filename="/dev/$dev" --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --numjobs=2 \
	--number_ios=1009 --norandommap --output-format=json --output=/tmp/f.json >&2
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
column /tmp/t command | sed 's/lba=\([0-9]*\).*/\1/' | sort -n >/tmp/ours
grep 'nvme_cmd_\(read\|write\)' /tmp/trace | sed 's/.*slba=\([0-9]*\).*/\1/' | sort -n >/tmp/theirs
cmp -s /tmp/ours /tmp/theirs
ok $? "with the LBAs that ftrace saw" || note "$(head -2 /tmp/ours) $(head -2 /tmp/theirs)"
column /tmp/t cid | sort -n >/tmp/ours
grep 'nvme_cmd_\(read\|write\)' /tmp/trace | sed 's/.*cmdid=\([0-9]*\).*/\1/' | sort -n >/tmp/theirs
cmp -s /tmp/ours /tmp/theirs
ok $? "and its command ids" || note "$(head -2 /tmp/ours) $(head -2 /tmp/theirs)"

# Admin commands, in words.
traced /tmp/a --admin
nvme id-ctrl "/dev/${dev%n*}" >/dev/null
nvme get-feature "/dev/${dev%n*}" -f 7 >/dev/null
measured
grep -q '"op":"identify".*cns=controller' /tmp/a
ok $? "identify by its CNS" || note "$(column /tmp/a command)"
grep -q 'fid=number-of-queues' /tmp/a
ok $? "a feature by its name" || note "$(column /tmp/a command)"

# A consumer that stands still loses records, counts them, and holds up no I/O.
traced /tmp/s -d "$dev" --buffer 64k --allow-loss
kill -STOP $measure_pid
fio --name=t --filename="/dev/$dev" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --number_ios=5003 \
	--norandommap --output-format=json --output=/tmp/f.json >&2
ok $? "I/O goes on while we stand still"
kill -CONT $measure_pid
sleep 0.5
kill -INT $measure_pid
wait $measure_pid
is $? 0 "--allow-loss: exit 0"
written=$(grep -c '"op":"read"' /tmp/s)
lost=$(sed -n 's/.*lost \([0-9]*\): ring full.*/\1/p' /tmp/s.err)
[ "${lost:-0}" -gt 0 ]
ok $? "records were lost: ${lost:-none}"
is $((written + ${lost:-0})) "$(fio_ios /tmp/f.json read)" "written and lost are all there were"
grep -q "issued $(fio_ios /tmp/f.json read) = completed $(fio_ios /tmp/f.json read) " /tmp/s.err
ok $? "the counts are whole all the same" || note "$(cat /tmp/s.err)"
done_testing
