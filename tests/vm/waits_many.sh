# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 6.12
# timeout: 120
#
# waits_many: 100,000 reads of four threads: each is in the ledger, and the parts of each are its duration. Then the losses: a ring
# that is too small, and two threads with one place. They are counted, and the exit status says so. Second instrument: fio.

case $(uname -rm) in
5.10.*aarch64)
	skip "many calls" "this kernel follows one call at a time on one CPU"
	done_testing
	;;
esac
null_disk nullb0 irqmode=2 completion_nsec=200000
ok $? "a disk that takes 200 us for each command"
set_scheduler nullb0 none

# waits NAME FILE OPTION... -- COMMAND...: JSON in /tmp/NAME.
waits() {
	name=/tmp/$1 file=$2
	shift 2
	iosonar waits read --file "$file" -o json "$@" >"$name" 2>"$name.err"
}
# unskipped NAME FILE OPTION... -- COMMAND...: once more if the kernel has skipped one of the programs.
unskipped() {
	waits "$@"
	status=$?
	[ "$(ledger "/tmp/$1" lost_skipped)" = 0 ] && return $status
	again "$1" "the kernel skipped a program" && waits "$@"
}
# balances NAME STATUS WANT
balances() {
	is "$2" "$3" "$1: exit status" || note "$(cat "/tmp/$1.err")"
	is "$(ledger "/tmp/$1" unaccounted)" 0 "$1: calls balance, and the parts of each add up to its duration" ||
		note "$(grep '"type":"ledger"' "/tmp/$1")"
}
# sum NAME KEY...: of terms of its ledger.
sum() {
	ledger=/tmp/$1 all=0
	shift
	for key; do
		all=$((all + $(ledger "$ledger" "$key")))
	done
	echo $all
}
reads='--name=t --thread --filename=/dev/nullb0 --rw=randread --bs=4k --direct=1 --ioengine=psync --size=200m --norandommap --eta=never
	--output-format=json --output=/tmp/fio.json'

# shellcheck disable=SC2086 # words
unskipped many /dev/nullb0 -- fio $reads --numjobs=4 --number_ios=25000
balances many $? 0
is "$(fio_ios /tmp/fio.json read) $(ledger /tmp/many calls)" "100000 100000" "many: as many calls as fio has made"
is "$(sum many unwaited shown)" 100000 "many: each has waited or has not"
between "$(ledger /tmp/many shown)" 50000 100000 "many: most have waited"
note "$(grep '"type":"ledger"' /tmp/many)"

# shellcheck disable=SC2086
unskipped ring /dev/nullb0 --buffer 4096 -- fio $reads --number_ios=5003
balances ring $? 3
is "$(fio_ios /tmp/fio.json read) $(sum ring unwaited shown lost_ring)" "5003 5003" "ring: what is shown and what is lost are all calls"
[ "$(ledger /tmp/ring lost_ring)" -gt 0 ] && grep -q 'ring' /tmp/ring.err
ok $? "ring: it was too small, and a message says so" || note "$(cat /tmp/ring.err)"
null_remove nullb0

# A thread's place is its number modulo 32,768. The second one gets the number that collides.
null_disk nullb1 irqmode=2 completion_nsec=20000000
set_scheduler nullb1 none
cat >/tmp/collide <<'COLLIDE'
waiter /dev/nullb1 read 40 4096 direct &
want=$(($! + 32768))
for _ in 1 2 3 4 5; do
	echo $((want - 1)) >/proc/sys/kernel/ns_last_pid
	sh -c '[ $$ = "$0" ] && exec waiter /dev/nullb1 read 40 4096 direct' $want && break
done
wait
COLLIDE
before=$(sysctl -n kernel.pid_max)
sysctl -w kernel.pid_max=131072 >/dev/null
unskipped room /dev/nullb1 -- sh /tmp/collide
balances room $? 3
is "$(sum room shown lost_room)" 80 "room: what is shown and what had no place are all calls" || note "$(cat /tmp/room /tmp/room.err)"
between "$(ledger /tmp/room lost_room)" 20 60 "room: only one of two threads has the place at a time"
echo 300 >/proc/sys/kernel/ns_last_pid
sysctl -w kernel.pid_max="$before" >/dev/null
null_remove nullb1
done_testing
