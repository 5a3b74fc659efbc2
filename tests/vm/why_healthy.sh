# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: icount
# kernels: none
# timeout: 1200
#
# why_healthy: of 20 mixes of loads that wait for nothing, on a disk of null_blk that serves all of them at once, at most one has a
# finding. tests/unit/why.c has hundreds of such loads, but simulates the device.

for name in postgres nginx backup; do
	ln -sf "$(command -v fio)" "/tmp/$name"
done
dev=nullb0
null_disk "$dev" size=64 irqmode=2 submit_queues=1 hw_queue_depth=64 completion_nsec=1000000 memory_backed=1 >&2
ok $? "a disk"
set_scheduler "$dev" none

# draw N: sets drawn, below N.
draw() {
	seed=$(((seed * 1103515245 + 12345) & 0x7fffffff))
	drawn=$(((seed >> 16) % $1))
}
# pick WORD...: sets picked.
pick() {
	draw $#
	shift $drawn
	picked=$1
}

# task NAME: sets task: a command. What follows the one before is large: small ones that do are a finding. So are 128 KiB on this
# disk: the kernel divides them into 127.5 KiB and 512 bytes.
task() {
	pick randread randwrite randrw read write
	rw=$picked
	case $rw in
	rand*) pick 4k 8k 16k 32k ;;
	*) pick 64k 96k ;;
	esac
	bs=$picked
	pick 0 0 500 3000
	think=$picked
	draw 4
	task="/tmp/$1 --name=$1 --filename=/dev/$dev --direct=1 --ioengine=psync --norandommap --time_based --runtime=1 --output=/dev/null"
	task="$task --rw=$rw --bs=$bs --thinktime=$think --numjobs=$((drawn + 1)) --randseed=$seed"
}

# mix: sets mix: one to three of these at once.
mix() {
	draw 3
	nr=$drawn mix=''
	for name in postgres nginx backup; do
		task $name
		mix="$mix $task &"
		[ $nr -gt 0 ] || break
		nr=$((nr - 1))
	done
	mix="$mix wait"
}

found=0 few=0
for number in $(seq 20); do
	seed=$((number * 7919))
	mix
	iosonar why -d "$dev" -o json --out /tmp/out -- sh -c "$mix" >/tmp/said 2>&1 || ok 1 "mix $number: exits 0" || note "$(cat /tmp/said)"
	few=$((few + $(grep -c 'too few commands' /tmp/out)))
	case $(grep -c '"finding":"none"' /tmp/out) in
	1) ;;
	*) found=$((found + 1)) && note "mix $number: $mix" && note "$(grep '"type":"why"' /tmp/out)" ;;
	esac
done
[ $found -le 1 ]
ok $? "of 20 mixes at most one has a finding: $found"
is $few 0 "each has commands enough to be judged"
null_remove "$dev"
done_testing
