# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: files
# kernels: 6.12
# timeout: 240
#
# waits_replay: a capture of waits shows what the live run showed, byte by byte; its filters, spans and names; two of them merged;
# whole on every ending.

dev=$(disk io0)
mkdir -p /tmp/fs
load ext4 >/dev/null 2>&1
mkfs.ext4 -q -b 4096 "/dev/$dev" 32M >/tmp/mkfs 2>&1 && mount -t ext4 "/dev/$dev" /tmp/fs
ok $? "ext4 with a journal" || note "$(cat /tmp/mkfs)"

# waits NAME OPTION... -- COMMAND...: JSON in /tmp/NAME, the capture in /tmp/NAME.cap.
waits() {
	name=$1
	shift
	iosonar waits -o json -w "/tmp/$name.cap" --out "/tmp/$name" "$@" >/tmp/said 2>"/tmp/$name.err"
	is $? 0 "$name: exit status" || note "$(cat "/tmp/$name.err")"
}

# replayed NAME OPTION...: the same from the capture.
replayed() {
	name=$1
	shift
	iosonar waits -r "/tmp/$name.cap" -o json --out "/tmp/$name.again" "$@" 2>"/tmp/$name.again.err"
	is $? 0 "$name: -r: exit status" || note "$(cat "/tmp/$name.again.err")"
}

# same NAME: live and from the capture.
same() {
	cmp "/tmp/$1" "/tmp/$1.again" >/tmp/cmp 2>&1
	ok $? "$1: the capture shows what the live run did" ||
		note "$(cat /tmp/cmp; diff "/tmp/$1" "/tmp/$1.again" | head -c 3000)"
}

# kept NAME: the capture has its end, and every block can be read.
kept() {
	iosonar info --verify "/tmp/$1.cap" >/tmp/info 2>&1
	is "$? $(grep -c '^  intact' /tmp/info)" "0 1" "$1: the capture is whole" || note "$(cat /tmp/info)"
}

# total FILE KEY: over the rows of all calls.
total() {
	sed -n "/\"type\":\"waits\",\"span\":\"total\".*\"part\":\"total\"/s/.*\"$2\":\([0-9]*\).*/\1/p" "/tmp/$1" |
		awk '{ sum += $1 } END { print sum + 0 }'
}

waits whole --slow 7 --by comm,file -- sh -c 'waiter /tmp/fs/a fsync 23 4096; /usr/bin/dd if=/dev/zero of=/tmp/fs/b bs=4k count=11 oflag=sync'
kept whole
grep -q '^  records *[1-9][0-9]* of calls that waited in ' /tmp/info
ok $? "info says what it has" || note "$(cat /tmp/info)"
replayed whole --slow 7 --by comm,file
same whole
grep -q '"commands":\[{' /tmp/whole && grep -q '"tasks":\[{' /tmp/whole
ok $? "commands and tasks among them"

replayed whole --comm waiter fsync
# A call that did not wait is in no row.
waited=$(sed -n '/"span":"total".*"call":"fsync".*"part":"total"/s/.*"count":\([0-9]*\).*/\1/p' /tmp/whole)
is "$(total whole.again count)" "$waited" "--comm and a call: its calls"
between "$waited" 12 23 "of 23 fsyncs"
is "$(($(ledger /tmp/whole.again shown) + $(ledger /tmp/whole.again left_out)))" "$(ledger /tmp/whole shown)" "and the ledger has the others"
replayed whole --file /tmp/fs/b
is "$(grep '"call":"syncwrite"' /tmp/whole.again | grep -c '"part":"total"')" 1 "--file: its synchronous writes"
grep -q '"call":"fsync"' /tmp/whole.again
is $? 1 "and no other call"
nr=$(ledger /tmp/whole shown)
replayed whole --to 1ms
first=$(total whole.again count)
replayed whole --from 1ms
is $((first + $(total whole.again count))) "$nr" "--to and --from: two parts of all"
replayed whole --anonymous --slow 3 --by comm,file
grep -q 'waiter\|/tmp/fs' /tmp/whole.again
is $? 1 "--anonymous: no name of a task or file" || note "$(cat /tmp/whole.again)"
iosonar waits -r /tmp/whole.cap fault >/dev/null 2>/tmp/err
is "$? $(grep -c 'contains no fault: it was not followed' /tmp/err)" "2 1" "what was not followed is refused" || note "$(cat /tmp/err)"
iosonar latency -r /tmp/whole.cap >/dev/null 2>/tmp/err
grep -q 'contains waits, no commands; iosonar waits -r shows them' /tmp/err
ok $? "another command says what it is" || note "$(cat /tmp/err)"

waits other -- waiter /tmp/fs/c fsync 5 4096
kept other
replayed other
same other
iosonar waits -r /tmp/whole.cap -r /tmp/other.cap --by file -o json >/tmp/both 2>/tmp/both.err
is "$? $(total both count)" "0 $((nr + $(ledger /tmp/other shown)))" "two captures: the calls of both" || note "$(cat /tmp/both.err)"
grep -q '"file":"/tmp/fs/c"' /tmp/both && grep -q '"file":"/tmp/fs/a"' /tmp/both
ok $? "and the files of both"

# However it ends.
iosonar waits -w /tmp/end.cap -- sh -c 'waiter /tmp/fs/d fsync 3 4096; exit 9' >/dev/null 2>/tmp/err
is $? 9 "COMMAND fails: its own status"
kept end
rm -f /tmp/end.cap
iosonar waits -w /tmp/end.cap >/dev/null 2>/tmp/err &
pid=$!
until [ -s /tmp/end.cap ] || ! kill -0 $pid 2>/dev/null; do sleep 0.2; done
waiter /tmp/fs/d fsync 7 4096 >/dev/null
kill $pid
wait $pid
is $? 0 "SIGTERM: exit status" || note "$(cat /tmp/err)"
kept end
replayed end --comm waiter
between "$(total end.again count)" 3 7 "and it has the calls"
# shellcheck disable=SC2016 # of the inner shell
work='for i in $(seq 60); do waiter /tmp/fs/d fsync 2 4096 >/dev/null; sleep 0.05; done'
iosonar waits -w /tmp/end.cap -i 100ms -- sh -c "exec >/dev/null; $work" 2>/tmp/err | head -1 >/dev/null
kept end
rm -f /tmp/end.cap
iosonar waits -w /tmp/end.cap -- true >/dev/null 2>&1
size=$(($(stat -c %s /tmp/end.cap) / 1024 + 1))
rm -f /tmp/end.cap
(
	ulimit -f $((size * 2)) # busybox counts blocks of 512 bytes
	iosonar waits -w /tmp/end.cap -- sh -c "$work" >/dev/null 2>/tmp/err
)
is "$? $(grep -c 'has reached its size limit' /tmp/err)" "3 1" "no more room: exit 3, and one line" || note "$(cat /tmp/err)"
kept end
iosonar waits -r /tmp/end.cap >/dev/null 2>/tmp/err
is "$? $(grep -c 'end.cap lacks [0-9]* calls: disk full' /tmp/err)" "3 1" "and -r says what is missing" || note "$(cat /tmp/err)"
rm -f /tmp/end.cap
iosonar waits -w /tmp/end.cap >/dev/null 2>/tmp/err &
pid=$!
until grep -aq waits_calls /tmp/end.cap 2>/dev/null; do sleep 0.2; done
waiter /tmp/fs/d fsync 7 4096 >/dev/null
sleep 3
waiter /tmp/fs/d fsync 7 4096 >/dev/null
kill -9 $pid
wait $pid 2>/dev/null
iosonar waits -r /tmp/end.cap --comm waiter -o json >/tmp/cut 2>/tmp/err
is "$? $(grep -c 'is truncated after' /tmp/err)" "3 1" "SIGKILL: cut, and it says so" || note "$(cat /tmp/err)"
between "$(total cut count)" 3 14 "what was written is there" || note "$(cat /tmp/cut)"
grep -q '"type":"ledger"' /tmp/cut
is $? 1 "without a ledger"
umount /tmp/fs
done_testing
