# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: icount
# kernels: 6.12
# timeout: 200
#
# blame: on disks that serve 1, 4 and 32 commands at once, reads that wait for writes or discards blame them first, the parts
# add up, a capture says the same, and the prediction without the culprit is near a run without it.

for name in reader writer storm; do
	ln -sf "$(command -v fio)" "/tmp/$name"
done

# of FILE VICTIM KEY: from the row of its first culprit.
of() { grep '"type":"blame"' "$1" | grep "\"victim\":\"$2\"" | head -1 | sed "s/.*\"$3\":\"*\([^,\"}]*\).*/\1/"; }

# holds EXPRESSION NAME: of awk.
holds() {
	awk "BEGIN { exit !($1) }"
	ok $? "$2" || note "$1"
}

# adds_up FILE NAME: each victim's parts are its latency, as the ledger has it.
adds_up() {
	sed -n 's/.*"type":"blame",.*"sum_ns":\([0-9]*\),.*/\1/p' "$1" | awk '{ sum += $1 } END { printf "%.0f\n", sum }' >/tmp/sum
	is "$(cat /tmp/sum)" "$(grep '"type":"blame_device"' "$1" | value latency_ns)" "$2: the rows add up to all latencies"
	is "$(grep '"type":"blame_device"' "$1" | value unaccounted_ns)" 0 "$2: nothing is unaccounted for"
}

# blamed NAME SCRIPT: who is to blame while this runs, in /tmp/NAME, with a capture, which has to say the same.
blamed() {
	iosonar blame -d "$dev" -o json --out "/tmp/$1" -w "/tmp/$1.cap" -- sh -c "$2" >/tmp/said 2>&1
	ok $? "$1: exits 0" || note "$(cat /tmp/said)"
	whole "/tmp/$1" "$1: nothing is lost"
	adds_up "/tmp/$1" "$1"
	iosonar blame -r "/tmp/$1.cap" -o json >/tmp/again 2>/tmp/said
	ok $? "$1: replayed: exits 0" || note "$(cat /tmp/said)"
	cmp /tmp/again "/tmp/$1"
	ok $? "$1: a capture says the same"
	note "$(iosonar blame -r "/tmp/$1.cap" 2>&1)"
}

# without NAME CULPRIT: the mean of reader that is predicted, in $mean.
without() {
	iosonar blame -r "/tmp/$1.cap" --without "$2" --victim reader -o json 2>/tmp/said >/tmp/predicted
	ok $? "$1: predicts" || note "$(cat /tmp/said)"
	mean=$(value without_ns </tmp/predicted)
}

# check SERVERS NS: a disk whose requests take this long, that many at once: the others wait for a request.
check() {
	null_disk nullb0 size=32 irqmode=2 "completion_nsec=$2" submit_queues=1 "hw_queue_depth=$1" memory_backed=1 discard=1 >&2
	ok $? "$1 at once: a disk"
	dev=nullb0
	set_scheduler "$dev" none
	job="--direct=1 --ioengine=psync --norandommap --time_based --output=/dev/null --filename=/dev/$dev --name=a"
	reads="$job --rw=randread --bs=4k"

	blamed "alone$1" "/tmp/reader $reads --runtime=1"
	is "$(of "/tmp/alone$1" reader culprit)" "device itself" "$1 at once, alone: nobody is to blame"
	alone=$(of "/tmp/alone$1" reader mean_ns)

	blamed "writes$1" "/tmp/reader $reads --runtime=1 & /tmp/writer $job --rw=write --bs=64k --numjobs=$(($1 + 7)) --runtime=1; wait"
	is "$(of "/tmp/writes$1" reader culprit)" writer "$1 at once: the writer is to blame"
	with=$(of "/tmp/writes$1" reader mean_ns)
	without "writes$1" writer
	holds "$mean > 0.8 * $alone && $mean < 1.2 * $alone" \
		"$1 at once: without it $mean ns are predicted, alone it was $alone ns, with it $with ns"
}

check 32 10000000 # faster, the guest's CPU would be what is waited for
null_remove nullb0
check 4 1000000
null_remove nullb0
check 1 1000000

# Discards of one device come one after the other.
blamed discards "/tmp/reader $reads --runtime=1 & /tmp/storm $job --rw=randtrim --bs=1m --runtime=1; wait"
is "$(of /tmp/discards reader culprit)" "storm discard" "discards are a culprit of their own"
null_remove nullb0
done_testing
