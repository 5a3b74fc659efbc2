# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 5.10 6.12
# timeout: 240
#
# waits_async_replay: a capture of asynchronous requests shows what the live run showed, byte by byte, as text, JSON and CSV, and with the
# same ledger and exit status; its filters and names; two of them merged; whole on every ending.

disk=/dev/$(disk io0)

# work ENGINE OPTION...: reads by fio.
work() {
	engine=$1
	shift
	fio --name=t --ioengine="$engine" --bs=4k --direct=1 --norandommap --eta=never --filename="$disk" --rw=randread --io_size=1T \
		--output=/tmp/fio.out "$@"
}

# requests NAME FORMAT OPTION...: of work, whose words are in $load; in /tmp/NAME, the capture in /tmp/NAME.cap.
requests() {
	name=$1 format=$2
	shift 2
	cat >/tmp/work.sh <<-EOF
		fio --name=t --bs=4k --direct=1 --norandommap --eta=never --filename=$disk --rw=randread --io_size=1T --output=/tmp/fio.out $load
	EOF
	iosonar waits --async --comm fio -o "$format" -w "/tmp/$name.cap" --out "/tmp/$name" "$@" -- sh /tmp/work.sh >/tmp/said 2>"/tmp/$name.err"
	live=$?
}

# same NAME FORMAT OPTION...: the capture shows it again, says the same of where all requests went, and exits with the same status.
same() {
	name=$1 format=$2
	shift 2
	iosonar waits --async -r "/tmp/$name.cap" -o "$format" --out "/tmp/$name.again" "$@" 2>"/tmp/$name.again.err"
	is $? "$live" "$name: -r: exit status" || note "$(cat "/tmp/$name.again.err")"
	cmp "/tmp/$name" "/tmp/$name.again" >/tmp/cmp 2>&1
	ok $? "$name: the capture shows what the live run did" ||
		note "$(cat /tmp/cmp; diff "/tmp/$name" "/tmp/$name.again" | head -c 3000)"
	is "$(grep '^requests [0-9]* = \|^iosonar: lost' "/tmp/$name.again.err")" "$(grep '^requests [0-9]* = \|^iosonar: lost' "/tmp/$name.err")" \
		"$name: and says where all requests went" || note "$(cat "/tmp/$name.err" "/tmp/$name.again.err")"
	iosonar info --verify "/tmp/$name.cap" >/tmp/info 2>&1
	is "$? $(grep -c '^  intact' /tmp/info)" "0 1" "$name: the capture is whole" || note "$(cat /tmp/info)"
}

# account FILE KEY: in the ledger.
account() { grep '"type":"async_ledger"' "$1" | value "$2"; }

# total FILE KEY: over the rows of all operations.
total() {
	sed -n "/\"type\":\"async\",\"span\":\"total\".*\"step\":\"total\"/s/.*\"$2\":\([0-9]*\).*/\1/p" "/tmp/$1" |
		awk '{ sum += $1 } END { print sum + 0 }'
}

load='--ioengine=io_uring --iodepth=8 --number_ios=211 --force_async=3'
requests whole json --slow 7 --by comm,file,fs,dev,cgroup
is "$live $(total whole count)" "0 211" "211 reads" || note "$(cat /tmp/whole.err)"
same whole json --slow 7 --by comm,file,fs,dev,cgroup
grep -q '"step":"punt"' /tmp/whole && grep -q '"step":"device"' /tmp/whole && grep -q '"fs":"bdev"' /tmp/whole
ok $? "punted requests, devices and a block device are among them" || note "$(cat /tmp/whole)"
is "$(grep -c '^  records *211 of requests in ' /tmp/info)" 1 "info says what it has" || note "$(cat /tmp/info)"
requests text text --slow 5 --by file
same text text --slow 5 --by file
grep -q '^the slowest requests:' /tmp/text
ok $? "with the slowest" || note "$(cat /tmp/text)"
load='--ioengine=libaio --iodepth=4 --number_ios=101'
requests libaio csv --by dev
is "$live $(grep -c '^total,.*,aio_read,.*,device,' /tmp/libaio)" "0 1" "libaio" || note "$(cat /tmp/libaio)"
same libaio csv --by dev

# A ring with room for 28 requests: what was lost is lost in the capture, too.
load='--ioengine=io_uring --iodepth=64 --number_ios=640'
requests lost json --buffer 4096
is "$live" 3 "a full ring: exit status" || note "$(cat /tmp/lost.err)"
same lost json

# Filters of the capture. What they leave out is in the ledger.
again() {
	iosonar waits --async -r /tmp/whole.cap -o json --out /tmp/again "$@" 2>/tmp/err
	is $? 0 "$*: exit status" || note "$(cat /tmp/err)"
}
again --to 20ms
first=$(total again count)
again --from 20ms
is $((first + $(total again count))) 211 "--to and --from: two parts of all"
is "$(account /tmp/again left_out)" "$first" "and the ledger has the others"
again --file "$disk"
is "$(total again count)" 211 "--file: all are of the disk"
again --min 1s
is "$(total again count) $(account /tmp/again left_out)" "0 211" "--min: none is that slow"
again --anonymous --slow 3 --by comm,cgroup
grep -q '"fio' /tmp/again
is "$? $(total again count)" "1 211" "--anonymous: no name of a task" || note "$(cat /tmp/again)"
iosonar latency -r /tmp/whole.cap >/dev/null 2>/tmp/err
grep -q 'contains requests, no commands; iosonar waits --async -r shows them' /tmp/err
ok $? "another command says what it is" || note "$(cat /tmp/err)"
again -r /tmp/libaio.cap
is "$(total again count)" $((211 + 101)) "two captures: the requests of both"
iosonar merge -w /tmp/all.cap /tmp/libaio.cap /tmp/whole.cap 2>/tmp/err
is "$? $(grep -c '312 requests; captures: 2' /tmp/err)" "0 1" "merged" || note "$(cat /tmp/err)"
iosonar waits --async -r /tmp/all.cap -o json >/tmp/merged 2>/tmp/err
is "$? $(total merged count)" "0 312" "and shown" || note "$(cat /tmp/err)"

# However it ends.
iosonar waits --async --comm fio -w /tmp/cut.cap >/dev/null 2>/tmp/err &
pid=$!
until grep -aq requests_of /tmp/cut.cap 2>/dev/null; do sleep 0.2; done
work io_uring --number_ios=31
sleep 3
work io_uring --number_ios=31
kill -9 $pid
wait $pid 2>/dev/null
iosonar waits --async -r /tmp/cut.cap -o json >/tmp/cut 2>/tmp/err
is "$? $(grep -c 'is truncated after' /tmp/err)" "3 1" "SIGKILL: cut, and it says so" || note "$(cat /tmp/err)"
between "$(total cut count)" 31 62 "what was written is there" || note "$(cat /tmp/cut)"
grep -q '"type":"async_ledger"' /tmp/cut
is $? 1 "without a ledger"
iosonar waits --async --comm fio -w /tmp/end.cap >/dev/null 2>/tmp/err &
pid=$!
until grep -aq requests_of /tmp/end.cap 2>/dev/null; do sleep 0.2; done
work io_uring --number_ios=31
kill $pid
wait $pid
is $? 0 "SIGTERM: exit status" || note "$(cat /tmp/err)"
iosonar waits --async -r /tmp/end.cap -o json >/tmp/end 2>/tmp/err
is "$? $(total end count) $(account /tmp/end shown)" "0 31 31" "and it is whole" || note "$(cat /tmp/err)"
done_testing
