# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154 # disk0 to disk3 and ctrl0 to ctrl3 are set by eval
# shape: four
# kernels: 6.1
#
# dropins: nvme_trace and nvme_latency under their own names, with their flags and formats, against the exact trace of
# the same run: four controllers, writes with FUA, three size classes, latencies below and beyond the histogram.

number() { basename "$(readlink -f "/sys/class/block/$(disk "$1")/device")" | sed 's/[^0-9]*\([0-9]*\).*/\1/'; }
for i in 0 1 2 3; do eval "disk$i=$(disk io$i) ctrl$i=$(number io$i)"; done
[ -n "$disk0" ] && [ -n "$disk3" ]
ok $? "four drives are there"

echo 4096 >"$tracing/buffer_size_kb" # until somebody asks it has room for a few lines only
echo 1 >"$tracing/tracing_on"
started() { wait_for 60 grep -q "$1" "$2"; }
nvme_latency --ctrl_id=-1 --split_size --lat_min_us 3000 >/tmp/high 2>/tmp/high.err &
high=$!
nvme_latency --split_size=true --lat_min_us=1 --lat_shift 0 --lbs512 --v=1 >/tmp/low 2>/tmp/low.err &
low=$!
nvme_latency "--ctrl_id=$ctrl3" --nosplit_size >/tmp/one 2>/tmp/one.err &
one=$!
nvme_trace --bpf_trace >/tmp/lines 2>/tmp/lines.err &
lines=$!
iosonar trace -o json --out /tmp/exact --io 2>/tmp/exact.err &
exact=$!
for f in high low one lines; do started Successfully /tmp/$f; done
sleep 2
for i in 0 1 2 3; do
	eval "d=\$disk$i"
	dd if="/dev/$d" of=/dev/null bs=4k count=$((7 + i)) iflag=direct 2>/dev/null
	dd if="/dev/$d" of=/dev/null bs=32k count=5 iflag=direct 2>/dev/null
	dd if="/dev/$d" of=/dev/null bs=128k count=3 iflag=direct 2>/dev/null
	dd if=/dev/zero of="/dev/$d" bs=4k count=6 oflag=direct,dsync 2>/dev/null # FUA, or a flush
done
sleep 1.5
kill -INT $high $low $one $lines $exact
for pid in $high $low $one $lines $exact; do wait "$pid" || bad=1; done
is "${bad:-0}" 0 "all exit 0"

# last FILE: the last histograms printed.
last() { awk '/^=====/ { text = ""; next } { text = text $0 "\n" } END { printf "%s", text }' "$1"; }
# total FILE KEY: the count of that key.
total() { last "$1" | awk -v key="key: $2" '/^key: / { mine = $0 == key } mine && /Total count:/ { print $3 }'; }
# rows FILE KEY: sum of the counts of its rows.
rows() { last "$1" | awk -v key="key: $2" '/^key: / { mine = $0 == key } mine && /us\):|inf\):/ { for (i = 1; i < NF; i++) if ($i ~ /\):$/) sum += $(i + 1) } END { print sum + 0 }'; }
# ours DISK OP MIN MAX: commands of the exact trace with so many bytes.
ours() { grep "\"dev\":\"$1\"" /tmp/exact | grep "\"op\":\"$2\"" | sed 's/.*"bytes":\([0-9]*\).*/\1/' | awk -v min="$3" -v max="$4" '$1 > min && $1 <= max' | wc -l; }
for i in 0 1 2 3; do
	eval "d=\$disk$i c=\$ctrl$i"
	for class in '0 16384 <=16KiB' '16384 65536 (16KiB, 64KiB]' '65536 999999999 (64KiB, inf)'; do
		over=${class%% *} class=${class#* }
		upto=${class%% *} class=${class#* }
		want=$(ours "$d" read "$over" "$upto")
		is "$(total /tmp/low "ctrl_id=$c, opcode=2 Read, $class") $(total /tmp/high "ctrl_id=$c, opcode=2 Read, $class")" "$want $want" "nvme$c: reads of $class"
	done
	is "$(total /tmp/low "ctrl_id=$c, opcode=1 Write, <=16KiB")" "$(ours "$d" write 0 16384)" "nvme$c: writes with FUA are small"
	is "$(rows /tmp/high "ctrl_id=$c, opcode=2 Read, <=16KiB")" "$((7 + i))" "nvme$c: rows below the first bucket are there"
done
is "$(last /tmp/one | grep '^key:' | grep -vc "ctrl_id=$ctrl3,")" 0 "--ctrl_id keeps one controller"
is "$(total /tmp/one "ctrl_id=$ctrl3, opcode=2 Read")" "$(ours "$disk3" read 0 999999999)" "without sizes: all its reads"
last /tmp/high | grep -q '^  \[0us - 3000us): '
ok $? "what is below the first bucket has a row"
is "$(sed -n '2,3p' /tmp/one | tr '\n' ' ')" "===================== No entries in histogram map. " "as long as there is none it says so"
grep -q "controls abseil" /tmp/low.err
ok $? "a log flag is accepted with one line"

# nvme_trace: a pair of lines for each command, as the exact trace has it.
grep -E "^[0-9]+ $disk0 Submit nvme$ctrl0: qid=[0-9]+, cid=[0-9]+, nsid=1, flags=0x0, meta=0x0, opcode=2 \(Read\)$" /tmp/lines >/tmp/submits
is "$(wc -l </tmp/submits)" "$(ours "$disk0" read 0 999999999)" "nvme_trace: a line for each read"
is "$(grep -cE " $disk0 Complete nvme$ctrl0: qid=[0-9]+, cid=[0-9]+, res=0x0, retries=0, flags=0x0, status=0x0$" /tmp/lines)" \
	"$(grep -c "\"dev\":\"$disk0\"" /tmp/exact)" "and one when it ends"
is "$(cut -d' ' -f1 /tmp/lines | grep -E '^[0-9]+$' | sort -nc 2>&1)" "" "in order of time"
grep -q "tracing_mark_write: [0-9]* $disk0 Submit" "$tracing/trace"
ok $? "--bpf_trace: the lines are in the kernel's trace"
done_testing
