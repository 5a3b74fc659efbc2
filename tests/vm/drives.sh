# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: icount
# kernels: 6.12
# timeout: 90
#
# drives: of four disks whose loads differ, the one that takes 30 % longer is found, live and in a capture; the others are not,
# nor is one of them before. A baseline finds it, too.

# disks [SLOW]: four of them, of 1 ms each; SLOW takes 30 % longer.
disks() {
	for i in 0 1 2 3; do
		ns=1000000
		[ "nullb$i" != "${1:-}" ] || ns=1300000
		null_disk "nullb$i" size=32 irqmode=2 completion_nsec=$ns submit_queues=1 hw_queue_depth=16 >&2 || return
		set_scheduler "nullb$i" none
	done
}

remove() { for i in 0 1 2 3; do null_remove "nullb$i"; done; }

# The busiest gets ten times as much as the idlest.
cat >/tmp/loads <<'EOF2'
for i in 0 1 2 3; do
	case $i in 0) rate=60 ;; 1) rate=180 ;; 2) rate=300 ;; 3) rate=600 ;; esac
	fio --direct=1 --ioengine=psync --norandommap --rw=randread --bs=4k --time_based --runtime=1 --thread --numjobs=4 \
		--rate_iops=$rate --rate_process=poisson --output=/dev/null --filename=/dev/nullb$i --name=a &
done
wait
EOF2

# judged NAME WORD...: of the loads, in /tmp/NAME.
judged() {
	name=$1
	shift
	iosonar drives -d nullb0,nullb1,nullb2,nullb3 -o json --out "/tmp/$name" "$@" -- sh /tmp/loads >/tmp/said 2>&1
	ok $? "$name: exits 0" || note "$(cat /tmp/said)"
	whole "/tmp/$name" "$name: nothing is lost"
	note "$(grep '"type":"drives"' "/tmp/$name")"
}

# verdicts FILE BESIDE: of nullb0 to nullb3.
verdicts() { grep '"type":"drives"' "$1" | grep "\"beside\":\"$2\"" | sed "s/.*\"verdict\":\"\([a-z]*\)\".*/\1/" | tr "\n" " "; }

disks
ok $? "four disks"
judged before --learn /tmp/base
is "$(verdicts /tmp/before peers)" "ok ok ok ok " "before: none is slow"
remove
disks nullb2
ok $? "four disks, one is slower"
judged after --baseline /tmp/base -w /tmp/after.cap
is "$(verdicts /tmp/after peers)" "ok ok slow ok " "after: one is slow for its kind"
is "$(verdicts /tmp/after past)" "ok ok slow ok " "after: and slower than it was"
iosonar drives -r /tmp/after.cap -o json --fail-if slow --baseline /tmp/base >/tmp/again 2>/tmp/said
is $? 5 "after: replayed with --fail-if: exits 5"
cmp /tmp/again /tmp/after
ok $? "after: a capture says the same" || note "$(cat /tmp/again)"
slower=$(grep nullb2 /tmp/again | grep '"beside":"past"' | value slower_percent)
awk "BEGIN { exit !($slower > 20 && $slower < 35) }"
ok $? "after: slower by 30 %" || note "$slower"
remove
done_testing
