# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC1091 # numbers is written by make
# shape: nvme
# kernels: make soak
# timeout: 14400
#
# soak_serve: `serve --keep` for a long time, under fio, while disks come and go and a scraper asks, and `record --ring` beside it,
# whose oldest files go: neither grows or keeps files open, both count what the kernel counts and lose nothing. `make soak` says for
# how long, in /files/numbers.

seconds=300
[ ! -e /files/numbers ] || . /files/numbers
dev=$(disk io0)
set_scheduler "$dev" none
echo 2 >"/sys/block/$dev/queue/nomerges" # neighbours in a batch stay two commands
ifconfig lo 127.0.0.1 up
# In a range of 2 MiB that the kernel makes a huge page, which it does within minutes, it counts pages that nobody touched: the
# memory of both grew by up to 511 pages a time.
echo never >/sys/kernel/mm/transparent_hugepage/enabled
objects=$(bpf_objects)
gone() { [ "$(bpf_objects)" = "$objects" ]; }

# Its memory for records is full at 2,000 commands a second or more: one that is not grows with the busiest minute.
iosonar serve --keep 1m --keep-size 1Mi 2>/tmp/err &
pid=$!
wait_for 60 grep -q '^serving http://127.0.0.1:9936$' /tmp/err
ok $? "it serves" || note "$(cat /tmp/err)"
scrape() { wget -qO /tmp/page http://127.0.0.1:9936/metrics; }
# counted DISK OP: of the last page.
counted() { sed -n "s/^iosonar_commands_total{device=\"$1\",.*op=\"$2\"} //p" /tmp/page | grep . || echo 0; }
# rss PID, files PID: its memory in KiB, how many files it has open.
rss() { sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$1/status"; }
files() { set -- "/proc/$1/fd"/* && echo $#; }
huge() { sed -n 's/^AnonHugePages:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$1/smaps_rollup"; }
now() { cut -d. -f1 /proc/uptime; }

# At most six files of 256 KiB, each with a line in the manifest. What was seen of these stays in /tmp/lines when a file goes.
mkdir /tmp/ring
iosonar record -v -d "$dev" --ring /tmp/ring --size 1536Ki --files 6 >/tmp/record.out 2>/tmp/record.err &
record=$!
wait_for 60 grep -q '^tables' /tmp/record.err
ok $? "record --ring is attached" || note "$(cat /tmp/record.err)"
sleep 0.5
: >/tmp/lines
look() {
	[ ! -e /tmp/ring/manifest.jsonl ] || sort -u -o /tmp/lines /tmp/lines /tmp/ring/manifest.jsonl
	set -- /tmp/ring/*.cap
	[ $# -le "$most" ] || most=$#
}
# sum KEY: over all files that ever were.
sum() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" /tmp/lines | awk '{ n += $1 } END { print n + 0 }'; }

before_reads=$(stat_of "$dev" reads) before_writes=$(stat_of "$dev" writes)
fio --name=t --filename="/dev/$dev" --rw=randrw --bs=4k --direct=1 --ioengine=io_uring --gtod_reduce=1 --iodepth=64 \
	--iodepth_batch=16 --iodepth_batch_complete_min=16 --time_based --runtime="$seconds" --norandommap --eta=never \
	--output-format=json --output=/tmp/fio.json >&2 &
fio=$!

# A disk comes, is read 11 times, and goes; the pages are asked for; then the process is looked at. The disk's requests end in the
# interrupt of a timer: by default they would end where the drive's interrupt may come between, for whose end the kernel then skips
# the program that is running, and counts that.
: >/tmp/samples
began=$(now) nr=0 wrong=0 most=0
while kill -0 $fio 2>/dev/null; do
	null_disk nullb0 irqmode=2 completion_nsec=10000 >&2 || wrong=$((wrong + 1))
	wait_for 20 test -b /dev/nullb0
	dd if=/dev/nullb0 of=/dev/null bs=4k count=11 iflag=direct 2>/dev/null || wrong=$((wrong + 1))
	scrape || wrong=$((wrong + 1))
	null_remove nullb0
	look
	echo "$(($(now) - began)) $(rss $pid) $(files $pid) $(rss $record) $(files $record)" >>/tmp/samples
	nr=$((nr + 1))
done
wait $fio
ok $? "fio ends well"
sleep 1
kernel="$(($(stat_of "$dev" reads) - before_reads)) $(($(stat_of "$dev" writes) - before_writes))"
scrape
ok $? "it still answers"
reads=$(fio_ios /tmp/fio.json read) writes=$(fio_ios /tmp/fio.json write)
note "$reads reads and $writes writes in $seconds s; a disk came and went $nr times"
is $wrong 0 "each disk came, was read and went, and each page was answered"
[ $nr -ge 3 ]
ok $? "$nr disks, at least 3"
is "$kernel" "$reads $writes" "the kernel counts what fio did"
is "$(counted "$dev" read) $(counted "$dev" write)" "$reads $writes" "so does serve"
is "$(grep '^iosonar_lost_total' /tmp/page | grep -cv ' 0$')" 0 "no reason of a loss is above 0" || note "$(grep '^iosonar_lost_total' /tmp/page)"

# flat NAME COLUMN SINCE KIB WORDS: from second SINCE on its memory stays within so much, WORDS say why; and in the next column its
# open files. The memory is the least of each whole minute: records that came all at once, after the process got no turn, have their
# room for 20 s.
flat() {
	awk -v memory="$2" -v since="$3" '
		$1 < since { next }
		!nr++ { fewest = many = $(memory + 1) }
		$(memory + 1) < fewest { fewest = $(memory + 1) }
		$(memory + 1) > many { many = $(memory + 1) }
		{ minute = int(($1 - since) / 60) }
		!(minute in least) || $memory < least[minute] { least[minute] = $memory }
		END {
			last = minute > 0 ? minute - 1 : 0
			low = high = least[0]
			for (i = 0; i <= last; i++)
				if (i in least) {
					low = least[i] < low ? least[i] : low
					high = least[i] > high ? least[i] : high
				}
			print high - low, many - fewest, least[0] + 0, least[last] + 0, fewest + 0, many + 0
		}' /tmp/samples >/tmp/flat
	read -r grown opened first last fewest many </tmp/flat
	note "$1: $first KiB after $3 s, $last KiB at the end; $fewest to $many open files"
	between "$grown" 0 "$4" "$1: its memory stays within $5"
	between "$opened" 0 2 "$1: the number of open files stays within 2"
}
note "KiB of serve and record by minute: $(awk '$1 >= next_min { printf "%s%d %d", gap, $2, $4; gap = ", "; next_min = $1 + 60 }' /tmp/samples)"
is "$(huge $pid) $(huge $record)" "0 0" "none of it is a huge page"
# 1 MiB of commands is what serve keeps, the events of five minutes what pages may ask for.
if [ "$seconds" -ge 900 ]; then
	flat serve 2 360 1024 "1 MiB from second 360 on"
else
	flat serve 2 60 $((1024 + 8192 + 1024 + nr)) "1 MiB, 8 MiB for what pages may ask for, 1 MiB of commands, and 1 KiB for each disk"
fi
flat record 4 60 1024 "1 MiB"

kill -INT $record
wait $record
is $? 0 "record: exit 0" || note "$(cat /tmp/record.err)"
look
made=$(grep -c . /tmp/lines)
note "record: $(sum records) records in $made files"
is "$(sum records) $(sum lost)" "$((reads + writes)) 0" "record: the files that ever were have each command, and lost none"
is "$(sed -n 's/.*"number":\([0-9]*\).*/\1/p' /tmp/lines | sort -n | tail -n 1)" "$made" "record: none of them was missed"
[ "$most" -le 6 ] && [ "$made" -gt 6 ]
ok $? "record: files came and went" || note "$made files, at most $most at a time"
grep -qE '^issued ([0-9]+) = completed \1 \+ in flight 0; nothing lost$' /tmp/record.err
ok $? "record: its ledger balances" || note "$(tail -n 6 /tmp/record.err)"

kill -TERM $pid
wait $pid
is $? 0 "serve: SIGTERM ends it, exit 0" || note "$(cat /tmp/err)"
note "$(tail -n 1 /tmp/err)"
tail -n 1 /tmp/err | grep -qE '^issued ([0-9]+) = completed \1 \+ in flight 0; nothing lost$'
ok $? "serve: its ledger balances" || note "$(tail -n 6 /tmp/err)"
wait_for 10 gone
ok $? "nothing stays behind"
done_testing
