# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: 5.10
#
# clock: when a command began and ended is when ftrace, on the same clock, saw it set up and completed. Time is guest
# instructions here: on a busy host a vCPU that waits between the two readings would look like an error of ours.

dev=$(disk io0)
set_scheduler "$dev" none
ftrace_start nvme/nvme_setup_cmd nvme/nvme_complete_rq
traced /tmp/t -d "$dev"
ftrace_clear
fio --name=t --filename="/dev/$dev" --rw=randrw --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --number_ios=503 \
	--norandommap --output-format=json --output=/tmp/f.json >&2
measured
ok $? "exits 0"
ftrace_stop /tmp/events
grep ' qid=[1-9]' /tmp/events >/tmp/io
ftrace_commands /tmp/io >/tmp/theirs
trace_commands /tmp/t qid cid op lba status_code start_ns end_ns bytes >/tmp/ours
is "$(wc -l </tmp/ours)" 503 "every command"
is "$(wc -l </tmp/theirs)" 503 "seen by ftrace too"

# differences: of each pair's two times, in us. A pair in whose midst ftrace saw another event was interrupted by it:
# then the two readings are truly apart, by as long as the interrupt took.
differences() {
	awk '
	function apart(ours_ns, theirs_us, i, from, to) {
		if (theirs_us in misstamped)
			return "misstamped"
		from = ours_ns < theirs_us * 1000 ? int(ours_ns / 1000) : theirs_us
		to = ours_ns < theirs_us * 1000 ? theirs_us : int(ours_ns / 1000)
		for (i = from + 1; i < to; i++)
			if (i in event)
				return to - from " interrupted"
		return to - from
	}
	FNR == 1 { file++ }
	file == 1 { # the events as they were written: time that falls is ftrace'"'"'s own mistake
		for (at = 4; $at !~ /^nvme_/; at++)
			;
		time = $(at - 1)
		gsub(/[.:]/, "", time)
		if (time + 0 < latest)
			misstamped[time + 0] = 1
		else
			latest = time + 0
		next
	}
	file == 2 {
		ours[FNR] = $6 " " $7
		next
	}
	{
		event[$1] = event[$2] = 1
		theirs[FNR] = $1 " " $2
	}
	END {
		for (nr = 1; nr in theirs; nr++) {
			split(ours[nr], o, " ")
			split(theirs[nr], t, " ")
			print "start " apart(o[1], t[1])
			print "end " apart(o[2], t[2])
		}
	}' /tmp/io /tmp/ours /tmp/theirs
}

paste -d' ' /tmp/ours /tmp/theirs | awk '{ sub(/^nvme_cmd_/, "", $16); split($17, field, /[=,]/) }
	$1 == $11 && $2 == $12 && $3 == $16 && $4 == field[2] && $8 == 512 * (field[4] + 1) && $5 == 0 && $14 == "0x0"' >/tmp/alike
is "$(wc -l </tmp/alike)" 503 "queue, id, operation, LBA, bytes and status in the same order"

differences >/tmp/apart
most_wrong=0 # 5.10 stamps four events in ten half a second early, in the midst of others of the same CPU
case $(uname -r) in 5.10.*) most_wrong=250 ;; esac
for what in start end; do
	grep "^$what [0-9]*$" /tmp/apart | cut -d' ' -f2 | sort -n >/tmp/sorted
	wrong=$(grep -c "^$what misstamped" /tmp/apart)
	between "$wrong" 0 $most_wrong "$what: ftrace's own times do not fall"
	between "$(wc -l </tmp/sorted)" $((450 - wrong)) 503 "$what: few were interrupted"
	median=$(sed -n "$(($(wc -l </tmp/sorted) / 2))p" /tmp/sorted) most=$(tail -1 /tmp/sorted)
	between "$median" 0 5 "$what: within 5 us, the median"
	between "$most" 0 50 "$what: within 50 us, all that were not"
	longest=$(grep "^$what .*interrupted" /tmp/apart | cut -d' ' -f2 | sort -n | tail -1)
	if [ $most_wrong -eq 0 ]; then
		between "${longest:-0}" 0 2000 "$what: within 2 ms, those that were"
	else
		skip "$what: within 2 ms, those that were" "this kernel's ftrace stamps some of them half a second early"
	fi
	note "$what: median $median us, most $most us, interrupted ${longest:-none}, misstamped $wrong"
done
done_testing
