# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154 # lib.sh sets measure_pid
# shape: none icount
# kernels: 6.12
#
# shown: disks that are not NVMe in trace, their errors in words, and what each option of trace keeps, cuts and adds.
# Under icount the fast disk is always fast and the slow one always 5 ms slow.

null_disk nullb0 memory_backed=1 discard=1 >&2
null_disk nullb1 irqmode=2 completion_nsec=5000000 badblocks=+4096-4103 >&2
set_scheduler nullb0 none
set_scheduler nullb1 none

# read_of DISK SECTOR COUNT / write_of: so many I/Os of 4096 bytes from that 512-byte sector on.
read_of() { dd if="/dev/$1" of=/dev/null bs=4k skip=$(($2 / 8)) count="$3" iflag=direct 2>/dev/null; }
write_of() { dd if=/dev/zero of="/dev/$1" bs=4k seek=$(($2 / 8)) count="$3" oflag=direct 2>/dev/null; }
rows() { grep -c '"type":"trace"' "$1"; }

# --- what it says of them, against block_rq_issue and block_rq_complete ---

ftrace_start block/block_rq_issue block/block_rq_complete
traced /tmp/t
read_of nullb0 80 7
write_of nullb0 160 5
read_of nullb1 4080 3
blkdiscard -o 65536 -l 32768 /dev/nullb0
measured
ok $? "exits 0: a disk's error is no loss"
ftrace_stop /tmp/events
whole /tmp/t "nothing is lost"
is "$(rows /tmp/t)" "$(ftrace_count /tmp/events block_rq_issue)" "as many requests as ftrace saw"
is "$(trace_commands /tmp/t dev op sector bytes | sed -n 1p)" "nullb0 read 80 4096" "disk, operation, sector and bytes"
is "$(trace_commands /tmp/t dev op sector bytes | sed -n 12p)" "nullb0 write 192 4096" "of a write too"
is "$(trace_commands /tmp/t dev op sector bytes | grep discard)" "nullb0 discard 128 32768" "and of a discard"
trace_commands /tmp/t op sector bytes | sed 's/^\(.\)[a-z]* /\1 /' >/tmp/ours
awk '{ for (i = 1; i < NF && $i != "block_rq_issue:"; i++); }
	$i == "block_rq_issue:" { print tolower(substr($(i + 2), 1, 1)), $(i + 5), $(i + 3) }' /tmp/events >/tmp/theirs
cmp -s /tmp/ours /tmp/theirs
ok $? "operation, sector and bytes as the kernel has them, in its order" || note "$(diff /tmp/ours /tmp/theirs)"
grep -q '"sector":4096,"bytes":4096.*"status":"I/O error (EIO)","status_code":5' /tmp/t
ok $? "an error in words" || note "$(grep '"dev":"nullb1"' /tmp/t)"
is "$(grep -c '"status":"ok"' /tmp/t)" $(($(rows /tmp/t) - 1)) "and it is the only one"
ftrace_count /tmp/events block_rq_complete '4096 \+ 8.*\[-5\]' >/dev/null
ok $? "ftrace has the same errno" || note "$(grep 'block_rq_complete' /tmp/events | grep '4096 + 8')"

# --- what is kept ---

load_both() {
	read_of nullb0 0 11
	read_of nullb1 4080 3 # the third is the bad one
}

# kept NAME COUNT OPTION...: so many rows of load_both are left.
kept() {
	kept_name=$1 kept_nr=$2
	shift 2
	traced /tmp/t "$@"
	load_both
	measured
	is "$(rows /tmp/t)" "$kept_nr" "$kept_name"
}

kept "--min 4ms: the slow ones" 3 --min 4ms
is "$(column /tmp/t dev | sort -u)" nullb1 "and no other"
kept "--failed: one" 1 --failed
is "$(column /tmp/t sector)" 4096 "the one that failed"
traced /tmp/t -n 5
load_both
wait "$measure_pid"
is "$? $(rows /tmp/t)" "0 5" "-n 5: five lines, and the end"

kept "--split: twice 14 lines" 28 --split --io
is "$(column /tmp/t event | sort | uniq -c | awk '{ print $2 $1 }' | tr '\n' ' ')" "end14 submit14 " "half of each kind"
awk '
{
	match($0, /"start_ns":[0-9]*/)
	key = substr($0, RSTART, RLENGTH)
	match($0, /"sector":[0-9]*/)
	key = key substr($0, RSTART, RLENGTH)
}
/"event":"submit"/ && !/"end_ns":null/ { exit 1 }
/"event":"submit"/ { submitted[key] = 1 }
/"event":"end"/ && !(key in submitted) { exit 1 }' /tmp/t
ok $? "each submit before its end, without an end of its own"

# --- rows: nine sizes of one operation are nine keys that differ in their highest bits only ---

measure /tmp/sizes -d nullb0 --by size
for kib in 1 2 4 8 16 32 64 128; do
	dd if=/dev/nullb0 of=/dev/null bs=${kib}k count=1 iflag=direct 2>/dev/null
	dd if=/dev/zero of=/dev/nullb0 bs=${kib}k count=1 oflag=direct 2>/dev/null
done
dd if=/dev/nullb0 of=/dev/null bs=512 count=1 iflag=direct 2>/dev/null
dd if=/dev/zero of=/dev/nullb0 bs=512 count=1 oflag=direct 2>/dev/null
measured
ok $? "--by size: every size has its row"
is "$(grep -c '"type":"latency","span":"total"' /tmp/sizes)" 9 "nine of them"

# --- what is shown ---

date +%s >/tmp/before
iosonar trace -o csv --out /tmp/csv --columns sector,op,bytes,dev,wall -d nullb0 -- \
	/usr/bin/dd if=/dev/nullb0 of=/dev/null bs=4k count=2 iflag=direct 2>/dev/null
date +%s >/tmp/after
is "$(tr -d '\r' </tmp/csv | sed 's/,[^,]*$//' | tr '\n' ' ')" "sector,op,bytes,dev 0,read,4096,nullb0 8,read,4096,nullb0 " \
	"--columns: these, in this order"
said=$(tail -1 /tmp/csv | sed 's/.*,//;s/T/ /;s/\..*//')
between "$(date -u -d "$said" +%s)" $(($(cat /tmp/before) - 1)) $(($(cat /tmp/after) + 1)) "wall: within a second of date: $said"
null_remove nullb0
null_remove nullb1
done_testing
