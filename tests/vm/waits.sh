# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: files
# kernels: 5.10
# timeout: 150
#
# waits: the parts of read, write and fsync add up to the duration that the caller measures, and each cause that is provoked
# alone (a slow device, the journal, a busy CPU) is found under its name.

dev=$(disk io0)
mkdir -p /tmp/fs
load ext4 >/dev/null 2>&1
mkfs.ext4 -q -b 4096 "/dev/$dev" 32M >/tmp/mkfs 2>&1 && mount -t ext4 "/dev/$dev" /tmp/fs
ok $? "ext4 with a journal" || note "$(cat /tmp/mkfs)"

# waits NAME OPTION... -- COMMAND...: JSON in /tmp/NAME.
waits() {
	name=$1
	shift
	iosonar waits -o json "$@" >"/tmp/$name" 2>"/tmp/$name.err"
	is $? 0 "$name: exit status" || note "$(cat "/tmp/$name.err")"
}

# of FILE CALL PART KEY: the value in the row of the whole run; 0: there is no such row.
of() {
	n=$(sed -n "/\"type\":\"waits\",\"span\":\"total\".*\"call\":\"$2\".*\"part\":\"$3\"/s/.*\"$4\":\([0-9.]*\).*/\1/p" "/tmp/$1")
	echo "${n:-0}"
}

# adds_up FILE: that the parts of each call are its duration, and that there are such calls.
adds_up() {
	sed -n '/"type":"wait",/s/.*"whole_ns":\([0-9]*\).*"parts":{\([^}]*\)}.*/\1 \2/p' "/tmp/$1" >"/tmp/$1.parts"
	awk '{ whole = $1; sum = 0; nr = split($2, part, ","); for (i = 1; i <= nr; i++) { split(part[i], at, ":"); sum += at[2] }
		bad += sum != whole } END { exit !(NR > 0 && !bad) }' "/tmp/$1.parts"
	ok $? "$1: the parts of each call add up to its duration" || note "$(head -3 "/tmp/$1.parts")"
}

# near OURS THEIRS: the caller's clock runs a little longer.
near() {
	awk -v ours="$1" -v theirs="$2" 'BEGIN { exit !(ours <= theirs && ours > 0.7 * theirs) }'
	ok $? "$3" || note "waits says $1 ns, the caller $2 ns"
}

waits journal --comm waiter --slow 1000 fsync -- waiter /tmp/fs/file fsync 40 4096
# shellcheck disable=SC2046 # two words
set -- $(grep -v '^{' /tmp/journal)
is "$(of journal fsync total count)" 40 "40 calls of fsync"
near "$(of journal fsync total sum_ns)" "$1" "they took what their caller measured"
near "$(of journal fsync total max_ns)" "$2" "and so did the longest"
[ "$(of journal fsync journal sum_ns)" -gt 0 ] && [ "$(of journal fsync lock sum_ns)" = 0 ] && [ "$(of journal fsync dirty sum_ns)" = 0 ]
ok $? "they waited for the journal, not for a lock" || note "$(cat /tmp/journal)"
adds_up journal
grep -q 'jbd2_log_wait_commit\|jbd2_complete_transaction' /tmp/journal
ok $? "and it says where"
grep -q '"file":"/tmp/fs/file"' /tmp/journal
ok $? "in which file"

# A slow device: 100 ms for each read.
umount /tmp/fs
load dm_delay >/dev/null 2>&1
dmsetup create slow --table "0 16384 delay /dev/$dev 0 100" >/tmp/dm 2>&1 || note "$(cat /tmp/dm)"
waits device --comm waiter --slow 1000 read -- waiter /dev/dm-0 read 5 4096
part=$(of device read device sum_ns) number=$(of device read device count)
[ "$number" -ge 1 ] && [ "$part" -ge $((number * 95000000)) ]
ok $? "a slow device: at least 95 % of its delay" || note "$part: $(cat /tmp/device)"
for part in others journal dirty queue lock reclaim network rest; do
	is "$(of device read $part sum_ns)" 0 "and nothing under the name $part"
done
adds_up device
dmsetup remove slow

# A busy CPU, and a task that yields to all others: its pages are there, it only waits for the CPU.
dd if=/dev/zero of=/tmp/big bs=1M count=64 2>/dev/null
taskset 1 sh -c 'while :; do :; done' &
hog=$!
waits cpu --comm waiter --slow 1000 read -- taskset 1 waiter /tmp/big read 4 16777216
kill $hog
part=$(of cpu read runnable sum_ns) whole=$(of cpu read total sum_ns)
[ "$part" -gt $((whole / 2)) ] && [ "$(of cpu read device sum_ns)" = 0 ] && [ "$(of cpu read rest sum_ns)" = 0 ]
ok $? "a busy CPU: more than half of the time ready to run, none asleep" || note "$part of $whole: $(cat /tmp/cpu)"
adds_up cpu

iosonar waits -o csv --slow 2 --comm waiter fsync -- waiter "/dev/$dev" fsync 5 4096 >/tmp/csv 2>/dev/null
is "$(grep -c '^rank,' /tmp/csv) $(grep -c '^span,' /tmp/csv)" "1 0" "a block device; CSV has one table" || note "$(cat /tmp/csv)"

iosonar waits -t 200ms --comm nobody >/tmp/out 2>/tmp/err
is "$?" 0 "nothing to see: exit status"
grep -q 'nothing lost' /tmp/err
ok $? "and a ledger" || note "$(cat /tmp/err)"
done_testing
