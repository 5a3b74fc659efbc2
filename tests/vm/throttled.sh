# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 6.18
# timeout: 120
#
# throttled: I/O that has to wait does so in the step where it was made to, and as long: a drive that takes 50 a second
# (D2K), too few tags for all who ask (tag); a cgroup with io.max waits before Q (H2Q).

dev=$(disk io0)
set_scheduler "$dev" none
total=Q2C
rate=50 # commands per second; QEMU and io.max let those of 100 ms pass at once

# drive_limit IOPS: by QEMU; 0: none.
drive_limit() { monitor block_set_io_throttle d0 0 0 0 "$1" 0 0; }
# is_limited: 25 reads take at least 0.3 s. QEMU does not answer.
is_limited() {
	limited_since=$(cut -d' ' -f1 /proc/uptime | tr -d .)
	dd if="/dev/$dev" of=/dev/null bs=4k count=25 iflag=direct
	[ $(($(cut -d' ' -f1 /proc/uptime | tr -d .) - limited_since)) -ge 30 ]
}

# watched COMMAND...: layers and a capture of it in /tmp/l and /tmp/cap. Sets ios and span_ms, from the first command's
# start to the last one's end.
watched() {
	started layers /tmp/l -d "$dev" --op read -w /tmp/cap
	"$@" >&2
	measured
	ok $? "$name: exits 0"
	whole /tmp/l "$name: nothing is lost"
	adds_up /tmp/l "$dev" read "$name: the steps are the whole"
	iosonar trace -r /tmp/cap -o json >/tmp/t 2>/tmp/err
	ok $? "$name: trace -r exits 0" || note "$(cat /tmp/err)"
	ios=$(column /tmp/t lat_ns | grep -c .)
	is "$(step /tmp/l "$dev" read $total count)" "$ios" "$name: each of the $ios in both"
	span_ms=$(trace_commands /tmp/t start_ns lat_ns | awk 'NR == 1 { first = $1 } $1 + $2 > last { last = $1 + $2 }
		END { printf "%d", (last - first) / 1000000 }')
	note "$name: $ios in $span_ms ms; hundredths in Q2G $(waiting Q2G), for a tag $(waiting tag), in D2K $(waiting D2K), in all $(waiting $total)"
}

# waiting STEP: how many were in that step at once, in the mean, in hundredths.
waiting() { echo $(($(step /tmp/l "$dev" read "$1" sum_ns) / (span_ms * 10000))); }
# share STEP [OF]: in percent of the time that the step OF took, of the whole if none is named.
share() { echo $(($(step /tmp/l "$dev" read "$1" sum_ns) / ($(step /tmp/l "$dev" read "${2:-$total}" sum_ns) / 100))); }

# longest_steps: of rows of slow, the name of each one's longest step.
longest_steps() {
	sed -n 's/.*"type":"slow".*"steps":{\([^}]*\)}.*/\1/p' | sed 's/"//g; s/,/ /g' | awk '{
		most = ""
		for (i = 1; i <= NF; i++)
			if (substr($i, 5) + 0 > substr(most, 5) + 0)
				most = $i
		print substr(most, 1, 3)
	}'
}

# as_set_up: so many commands at that rate take so long. They never take less; a host that is busy elsewhere makes them
# take longer, and so the limits below are such as hold then, too: floors and shares.
as_set_up() {
	least_ms=$(((ios - rate / 10 - 1) * 1000 / rate))
	between "$span_ms" $least_ms $((4 * least_ms)) "$name: $ios at $rate per second"
}

drive_limit $rate
wait_for 20 is_limited
ok $? "the drive is slow"

name="one at a time"
watched dd if="/dev/$dev" of=/dev/null bs=4k count=61 iflag=direct
is "$ios" 61 "$name: every read"
as_set_up
between "$(share D2K)" 75 100 "$name: nearly all the time it is in the device"
between "$(waiting D2K)" 60 100 "$name: nearly always one is there"
iosonar slow -r /tmp/cap --min 5ms -o json 2>/dev/null | longest_steps >/tmp/longest
between "$(grep -c . /tmp/longest)" 20 61 "$name: most had to wait"
between "$(grep -c D2K /tmp/longest)" $(($(grep -c . /tmp/longest) * 8 / 10)) 61 "$name: slow says, in the device"

job="--name=t --filename=/dev/$dev --rw=randread --bs=4k --direct=1 --time_based --runtime=2 --norandommap
	--output-format=json --output=/tmp/f.json"
name="eight at a time"
# shellcheck disable=SC2086 # words
watched fio $job --ioengine=libaio --iodepth=8
is "$ios" "$(fio_ios /tmp/f.json read)" "$name: as fio counts"
as_set_up
between "$(share D2K)" 90 100 "$name: all the time they are in the device"
between "$(waiting D2K)" 400 800 "$name: all of them"
between "$(step /tmp/l "$dev" read D2K p50_ns)" 140000000 240000000 "$name: for 160 ms each"

# A queue of four, and eight who want to read: as many wait for a request as are in the device, once all have begun.
name="four tags"
tags=$(cat "/sys/block/$dev/queue/nr_requests")
echo 4 >"/sys/block/$dev/queue/nr_requests"
# shellcheck disable=SC2086 # words
watched fio $job --ioengine=psync --numjobs=8 --cpus_allowed=0
echo "$tags" >"/sys/block/$dev/queue/nr_requests"
is "$ios" "$(fio_ios /tmp/f.json read)" "$name: as fio counts"
as_set_up
between "$(step /tmp/l "$dev" read D2K p50_ns)" 70000000 120000000 "$name: 80 ms in the device"
between "$(share tag D2K)" 30 200 "$name: and up to as long before they get a request"
between $(($(share tag) + $(share D2K))) 95 100 "$name: and nowhere else"
drive_limit 0

# By cgroup, and slower: the device's own time is to be little of it.
name=io.max
rate=25
total=H2C
group=/sys/fs/cgroup/throttled
if echo +io >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null && mkdir -p $group &&
	echo "$(cat "/sys/block/$dev/dev") riops=$rate" >$group/io.max 2>/dev/null; then
	watched sh -c "echo \$\$ >$group/cgroup.procs; exec /usr/bin/dd if=/dev/$dev of=/dev/null bs=4k count=41 iflag=direct"
	is "$ios" 41 "$name: every read"
	as_set_up
	between "$(waiting H2Q)" 50 100 "$name: but most of the time one is held back"
	between "$(step /tmp/l "$dev" read H2Q p50_ns)" 20000000 200000000 "$name: for 40 ms each, or two for 90"
	is "$(iosonar slow -r /tmp/cap --top 41 -o json 2>/dev/null | grep -c '"cgroup":"/throttled"')" 41 \
		"$name: charged to the group"
	rmdir $group
else
	skip "$name" "no cgroup of version 2 with an io controller in this kernel"
fi
done_testing
