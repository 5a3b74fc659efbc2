# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC1091,SC2034,SC2154 # tools.sh is tests/bench/tools.sh, which reads and sets these
# shape: nvme icount large
# kernels: make bench
# timeout: 3000
#
# peers: what each tool adds to an NVMe read, in instructions of the guest, run-time statistics included; first when it
# looks at all disks, then at one; those that follow an I/O from its submission on without a scheduler and with one, and what is
# the least that they can cost; latency with a disk beside that is not NVMe. Part of `make bench`, which puts the tools into
# /files. Lines "# cost all|one|none|mq-deadline|beside TOOL INSTRUCTIONS RUNS" are for it. Hash maps keyed by address make some tools differ from start to start: several starts each, interleaved, as many
# as /files/numbers says.

. /files/tools.sh
. /files/numbers
ios=1500
iosonar=/usr/bin/iosonar floor=/usr/bin/floor peers=/files/peers layer=nvme
dev=$(disk io0)
set_scheduler "$dev" none
ln -s /proc/self/fd /dev/fd # bpftrace compiles through it

# learn: what a tool does at the first I/Os only, such as walks of stacks that it knows afterwards, is not counted.
learn() {
	dd if="/dev/$dev" of=/dev/null bs=4k count=20 iflag=direct 2>/dev/null
	sleep 1
}

# instructions FORM TOOL: per read, over all its programs.
instructions() {
	start "$2" /tmp/out
	attached || note "$(grep -m3 -E 'ERROR|HINT|ailed' /tmp/out.err)"
	case $1 in none | mq-deadline) learn ;; esac
	statistics 1
	dd if="/dev/$dev" of=/dev/null bs=4k count=$ios iflag=direct 2>/dev/null
	cost
	statistics 0
	stop
	[ "$cost_runs" -ge $((2 * ios)) ] && [ $((cost_runs % ios)) -eq 0 ]
	ok $? "$(title "$2"), $1: its programs ran for every read" || note "$cost_runs runs for $ios reads"
	note "cost $1 $2 $((cost_ns / ios)) $((cost_runs / ios))"
	echo "$1 $2 $((cost_ns / ios))" >>/tmp/costs
}

# median all|one TOOL
median() { grep "^$1 $2 " /tmp/costs | cut -d' ' -f3 | sort -n | sed -n $(((starts + 1) / 2))p; }

# at_most all|one OURS THEIRS PERCENT
at_most() {
	ours=$(median "$1" "$2") theirs=$(median "$1" "$3")
	[ "$theirs" -gt 0 ] && [ $((ours * 100)) -le $((theirs * $4)) ]
	ok $? "$1: $(title "$2") costs at most $4 % of $(title "$3")"
	note "$ours and $theirs"
}

n=0
while [ $n -lt "$starts" ]; do
	n=$((n + 1))
	only=''
	for tool in $(tools); do
		instructions all "$tool"
	done
	only=$dev
	for tool in $(tools); do
		# floor has no such option; the NVMe events have the name only, which a script would compare letter by letter.
		case $tool in floor | bpftrace-*) ;; *) instructions one "$tool" ;; esac
	done
	for scheduler in mq-deadline none; do
		set_scheduler "$dev" $scheduler
		for tool in $(floors $scheduler) $(stage_tools); do
			instructions $scheduler "$tool"
		done
	done
	only=''
	null_disk nullb0 >&2
	for tool in floor-beside latency; do
		instructions beside "$tool"
	done
	null_remove nullb0
done
for form in all one; do
	at_most $form latency biolatency-D 30
	at_most $form trace biosnoop 20
done
done_testing
