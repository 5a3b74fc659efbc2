# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: 5.10
#
# steps: in a capture every command passed each event when ftrace, on the same clock, says so, and each step is as long.
# Under icount time is instructions: what differs is what lies between one instrument's look at the clock and the
# other's, the same each time but for an interrupt now and then, and ftrace's whole microseconds, which a mean evens out.

dev=$(disk io0)
reads=97
events="Q block/block_bio_queue G block/block_getrq I block/block_rq_insert S nvme/nvme_setup_cmd D block/block_rq_issue
	K nvme/nvme_sq N nvme/nvme_complete_rq C block/block_rq_complete"

# recorded FILE: reads one at a time, each of another sector, while record and ftrace look on.
recorded() {
	# shellcheck disable=SC2046 # words
	ftrace_start $(echo "$events" | tr -s ' \t' '\n' | grep /)
	iosonar record -v --stages -d "$dev" -w "$1" 2>/tmp/err &
	pid=$!
	wait_for 60 grep -q '^tables' /tmp/err
	fio --name=t --filename="/dev/$dev" --rw=randread --bs=4k --direct=1 --ioengine=psync --number_ios=$reads \
		--output-format=json --output=/tmp/f.json >&2
	kill -INT $pid
	wait $pid
	ok $? "$scheduler: exits 0" || note "$(cat /tmp/err)"
	ftrace_stop /tmp/ftrace
	ok $? "$scheduler: ftrace saw all"
}

# moments FILE: of ftrace's text, for every read and event: SECTOR LETTER NS. One read at a time is under way: K and N,
# which have no sector, are of that one.
moments() {
	awk -v events="$events" '
	BEGIN {
		nr = split(events, word)
		for (i = 1; i < nr; i += 2)
			letter[substr(word[i + 1], index(word[i + 1], "/") + 1) ":"] = word[i]
	}
	{
		for (at = 4; at < NF && !($at in letter); at++)
			;
		if (!($at in letter))
			next
		for (i = at; i < NF && $i != "+"; i++)
			;
		if ($i == "+")
			sector = $(i - 1)
		time = $(at - 1)
		sub(/\./, "", time)
		print sector, letter[$at], time + 0 "000"
	}' "$1"
}

# Both print pairs: a name, ours in ns, ftrace's; 0 where ftrace has none.
pairs_of_steps() { # MOMENTS, lines "SECTOR STEP=NS STEP=NS..."
	awk '
	FNR == NR { time[$1 $2] = $3; next }
	{
		for (i = 2; i <= NF; i++) {
			from = $1 substr($i, 1, 1)
			to = $1 substr($i, 3, 1)
			print substr($i, 1, 3), substr($i, 5), from in time && to in time ? time[to] - time[from] : 0
		}
	}' "$1" "$2"
}
pairs_of_trace() { # MOMENTS, lines "SECTOR START_NS END_NS"
	awk 'FNR == NR { time[$1 $2] = $3; next } { print "S", $2, time[$1 "S"] + 0; print "N", $3, time[$1 "N"] + 0 }' "$1" "$2"
}

# The programs of Q and S ask who and what it is before they read the clock. Without types, on 5.10, every answer is a
# call of the kernel's: 1,200 and 3,400 instructions, which fall into the step before.
[ -e /sys/kernel/btf/nvme_core ] && late=700 far=5000 || late=4500 far=8000

# agreement: of pairs on standard input, for each name in the order of the first: how many, how many of them as far as
# that from each other at most, and by how much ours is more in the mean of those.
agreement() {
	awk -v far="$far" '
	!($1 in count) { order[++nr] = $1 }
	{
		count[$1]++
		off = $2 - $3
		if (off < -far || off > far)
			next
		near[$1]++
		sum[$1] += off
	}
	END {
		for (i = 1; i <= nr; i++)
			printf "%s %d %d %.0f\n", order[i], count[order[i]], near[order[i]],
				sum[order[i]] / (near[order[i]] ? near[order[i]] : 1)
	}'
}

# agree FILE EXTRA_NS: what agreement printed is good enough.
agree() {
	while read -r name count near mean; do
		case $name in *[QS]*) bound=$((late + $2)) ;; *) bound=$((700 + $2)) ;; esac
		is "$count" $reads "$scheduler: $name of every read"
		between "$near" $((reads - 3)) $reads "$scheduler: $name as in ftrace within $far ns, all but three at most"
		between "$mean" -$bound $bound "$scheduler: $name in the mean within $bound ns: $mean"
	done <"$1"
}

for scheduler in none mq-deadline; do
	set_scheduler "$dev" $scheduler
	recorded /tmp/cap
	moments /tmp/ftrace >/tmp/moments
	iosonar slow -r /tmp/cap --top 1000 -o json >/tmp/slow 2>/tmp/err
	ok $? "$scheduler: slow -r exits 0" || note "$(cat /tmp/err)"
	sed -n 's/.*"sector":\([0-9]*\),.*"steps":{\([^}]*\)}.*/\1 \2/p' /tmp/slow | sed 's/"//g; s/,/ /g' >/tmp/rows
	pairs_of_steps /tmp/moments /tmp/rows | agreement >/tmp/agreement
	[ $scheduler = none ] && path="Q2G G2S S2D D2K K2N N2C " || path="Q2G G2I I2S S2D D2K K2N N2C "
	is "$(cut -d' ' -f1 /tmp/agreement | tr '\n' ' ')" "$path" "$scheduler: the steps of the path"
	agree /tmp/agreement 0

	iosonar trace -r /tmp/cap -o json >/tmp/trace 2>/tmp/err
	ok $? "$scheduler: trace -r exits 0" || note "$(cat /tmp/err)"
	trace_commands /tmp/trace lba start_ns lat_ns | awk '{ print $1, $2, $2 + $3 }' >/tmp/rows
	pairs_of_trace /tmp/moments /tmp/rows | agreement >/tmp/agreement
	is "$(cut -d' ' -f1 /tmp/agreement | tr '\n' ' ')" "S N " "$scheduler: trace has when it was built and answered"
	agree /tmp/agreement 500 # ftrace has cut off half a microsecond
done
done_testing
