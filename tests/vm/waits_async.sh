# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme icount
# kernels: 5.10 6.12
# timeout: 150
#
# waits --async: requests of io_uring and libaio are as many as fio's and take as long as fio's slat and clat; with force_async all are
# punted, else none; steps are where the time was spent; buffered reads, fsync, linked requests and
# commands passed to the driver have their steps.

ms=20 # of each I/O
null_disk nullb0 irqmode=2 completion_nsec=$((ms * 1000000))
ok $? "a disk that takes $ms ms"
set_scheduler nullb0 none

# async NAME OPTION... -- FIO_OPTION...: JSON in /tmp/NAME, fio's in /tmp/NAME.fio.
async() {
	name=$1
	shift
	own=''
	while [ "$1" != -- ]; do
		own="$own $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # own is words
	iosonar waits --async -o json --comm fio $own -- fio --name=t --ioengine=io_uring --bs=4k --direct=1 --norandommap --eta=never \
		--output-format=json --output="/tmp/$name.fio" "$@" >"/tmp/$name" 2>"/tmp/$name.err"
	is $? 0 "$name: exit status" || note "$(cat "/tmp/$name.err")"
	note "$(cat "/tmp/$name.err")"
	grep -q '"type":"async_ledger".*"in_flight":0,.*"lost_ends":0,.*"unaccounted":0' "/tmp/$name"
	ok $? "$name: the ledger balances, and steps add up" || note "$(cat "/tmp/$name")"
}

# of FILE OP STEP KEY: the value in the row of the whole run; 0: there is no such row.
of() {
	n=$(sed -n "/\"type\":\"async\",\"span\":\"total\".*\"op\":\"$2\".*\"step\":\"$3\"/s/.*\"$4\":\([0-9.]*\).*/\1/p" "/tmp/$1")
	echo "${n:-0}"
}

# lat_ns FILE: what fio measured, summed over its reads: slat + clat.
lat_ns() {
	awk '$1 == "\"read\"" { inside = 1 } inside && $1 == "\"total_ios\"" { n = $3 + 0 }
		inside && $1 == "\"lat_ns\"" { lat = 1 } lat && $1 == "\"mean\"" { printf "%d\n", n * $3; exit }' "/tmp/$1.fio"
}

# same FILE OP: that fio's reads took as long as ours, within 2 %.
same() {
	ours=$(of "$1" "$2" total sum_ns) theirs=$(lat_ns "$1")
	awk -v ours="$ours" -v theirs="$theirs" 'BEGIN { exit !(ours > 0.98 * theirs && ours < 1.02 * theirs) }'
	ok $? "$1: the sum of all requests is that of fio, within 2 %"
	note "$1: $ours ns, fio $theirs ns"
}

async inline --slow 3 -- --filename=/dev/nullb0 --rw=randread --iodepth=1 --number_ios=97 --io_size=1T
is "$(of inline read total count)" "$(fio_ios /tmp/inline.fio read)" "inline: as many requests as fio's"
is "$(of inline read total count) $(of inline read punt count)" "97 0" "inline: 97, none punted"
same inline read
is "$(of inline read device count)" 97 "inline: each has its bio"
awk -v device="$(of inline read device sum_ns)" -v all="$(of inline read total sum_ns)" 'BEGIN { exit !(device > 0.95 * all) }'
ok $? "inline: the device owns at least 95 %" || note "$(cat /tmp/inline)"
is "$(grep -c '"type":"async_request".*"bios":1,"punted":0,"polled":0,"sqpoll":0.*"file":"' /tmp/inline)" 3 "inline: the slowest" ||
	note "$(grep async_request /tmp/inline)"

# Deeper, completions lie in the ring while fio submits others: only fio's time has that.
async deep -- --filename=/dev/nullb0 --rw=randread --iodepth=16 --iodepth_batch=8 --number_ios=211 --io_size=1T
is "$(of deep read total count) $(of deep read device count) $(of deep read punt count)" "211 211 0" "deep: 211 reads"

async punted --slow 1 -- --filename=/dev/nullb0 --rw=randread --iodepth=1 --number_ios=97 --io_size=1T --force_async=1
is "$(of punted read total count) $(of punted read punt count) $(of punted read worker count)" "97 97 97" "punted: 97, all punted"
is "$(of punted read device count)" 97 "punted: each has its bio, queued by a worker"
same punted read

# Through device mapper, which has no requests of its own, and a kernel thread that queues the bio behind it.
load dm_delay >/dev/null 2>&1
dmsetup create slow --table "0 16384 delay /dev/nullb0 0 100" >/tmp/dm 2>&1 || note "$(cat /tmp/dm)"
async delayed -- --filename=/dev/dm-0 --rw=randread --iodepth=1 --number_ios=7 --io_size=1T
is "$(of delayed read total count) $(of delayed read device count)" "7 7" "a delay: 7 reads"
between "$(of delayed read device sum_ns)" $((7 * (100 + ms) * 1000000)) $((7 * (110 + ms) * 1000000)) "a delay: it is in the device"
same delayed read
dmsetup remove slow

# libaio: no tracepoints, but functions.
async libaio --slow 1 -- --ioengine=libaio --filename=/dev/nullb0 --rw=randread --iodepth=1 --number_ios=97 --io_size=1T
is "$(of libaio aio_read total count) $(of libaio aio_read device count)" "97 97" "libaio: 97 reads, each with its bio"
same libaio aio_read
async libwrite -- --ioengine=libaio --filename=/dev/nullb0 --rw=randwrite --iodepth=16 --number_ios=211 --io_size=1T
is "$(of libwrite aio_write total count) $(of libwrite aio_write device count)" "211 211" "libaio: 211 writes"

# Commands that are passed to the driver have no bio, but their time on the device.
ng=/dev/ng$(disk io0 | sed 's/^nvme//')
# passed NAME COUNT OPTION...: fio's commands, all in order.
passed() {
	name=$1 count=$2
	shift 2
	async "$name" --slow 1 -- --ioengine=io_uring_cmd --cmd_type=nvme --filename="$ng" --direct=0 --rw=randread --number_ios="$count" --size=64m \
		--io_size=1T "$@"
	ops="$(of "$name" uring_cmd total count) $(of "$name" uring_cmd device count) $(of "$name" uring_cmd rest count)"
	is "$(fio_ios "/tmp/$name.fio" read) $ops" "$count $count $count 0" "$name: as many as fio's, each has its device, and nothing in rest" ||
		note "$(cat "/tmp/$name")"
	awk -v device="$(of "$name" uring_cmd device sum_ns)" -v all="$(of "$name" uring_cmd total sum_ns)" \
		'BEGIN { exit !(device > 0 && device <= all) }'
	ok $? "$name: the device's time is a part of all"
	grep -q '"type":"async_request".*"op":"uring_cmd".*"bios":1,' "/tmp/$name"
	ok $? "$name: the slowest" || note "$(cat "/tmp/$name")"
}
if [ -c "$ng" ] && fio --name=t --ioengine=io_uring_cmd --cmd_type=nvme --filename="$ng" --rw=read --bs=4k --size=4k --output=/dev/null; then
	passed passed 97 --iodepth=1
	same passed uring_cmd
	passed passed_deep 211 --iodepth=16 --iodepth_batch=8
	passed passed_punted 31 --iodepth=1 --force_async=1
	is "$(of passed_punted uring_cmd punt count)" 31 "passed_punted: all punted"
else
	skip "commands that are passed to the driver" "this kernel has no uring_cmd for NVMe"
fi

# fsync is always punted.
dev=$(disk io0)
async fsync --by file -- --filename="/dev/$dev" --rw=write --iodepth=1 --number_ios=13 --fsync=1 --io_size=1T
syncs=$(fio_ios /tmp/fsync.fio sync)
is "$(of fsync write total count) $(of fsync fsync total count)" "13 $syncs" "fsync: as many as fio's" || note "$(cat /tmp/fsync)"
is "$(of fsync fsync punt count)" "$syncs" "fsync: all punted"
[ "$syncs" -ge 12 ] && grep -q "\"op\":\"fsync\",\"fs\":null,\"dev\":\"$dev\",\"file\":\"\[device\]\"" /tmp/fsync
ok $? "fsync: with its file" || note "$(cat /tmp/fsync)"

# Reads that need no device.
async cached --by file -- --filename=/tmp/data --rw=read --direct=0 --iodepth=1 --size=64k
is "$(of cached read total count) $(of cached read device count)" "16 0" "cached: 16 reads, no device" || note "$(cat /tmp/cached)"
grep -q '"op":"read".*"file":"/tmp/data"' /tmp/cached
ok $? "cached: with their file" || note "$(cat /tmp/cached)"

# A thread of the kernel submits. It has a name of its own, but is known by that of its process.
async sqpoll --slow 1 --by comm -- --filename=/dev/nullb0 --rw=randread --iodepth=1 --number_ios=31 --io_size=1T --sqthread_poll=1
is "$(fio_ios /tmp/sqpoll.fio read) $(of sqpoll read total count) $(of sqpoll read device count)" "31 31 31" "sqpoll: as many requests as fio's" ||
	note "$(cat /tmp/sqpoll)"
is "$(grep -c '"type":"async_request".*"polled":0,"sqpoll":1' /tmp/sqpoll)" 1 "sqpoll: the flag" || note "$(grep async_request /tmp/sqpoll)"

# A ring that polls, on a drive with a queue for it.
case $(uname -r) in
5.10.*) skip "polled" "this kernel has no event for the completions of such a ring" ;;
*)
	modprobe -r nvme && modprobe nvme poll_queues=1 && wait_for 20 disk io0 && wait_for 20 test -b "/dev/$(disk io0)"
	ok $? "an NVMe drive with a queue for polling"
	async polled --slow 1 -- --filename="/dev/$(disk io0)" --rw=randread --iodepth=1 --number_ios=31 --io_size=1T --hipri=1
	is "$(fio_ios /tmp/polled.fio read) $(of polled read total count) $(of polled read device count)" "31 31 31" "polled: as many requests as fio's" ||
		note "$(cat /tmp/polled)"
	is "$(grep -c '"type":"async_request".*"polled":1,"sqpoll":0' /tmp/polled)" 1 "polled: the flag" || note "$(grep async_request /tmp/polled)"
	modprobe -r nvme && modprobe nvme && wait_for 20 disk io0
	;;
esac

# A ring with room for 28 requests.
iosonar waits --async -o json --comm fio --buffer 4096 -- fio --name=t --ioengine=io_uring --bs=4k --direct=1 --filename=/dev/nullb0 \
	--rw=randread --iodepth=64 --number_ios=640 --io_size=1T --output=/tmp/lost.fio >/tmp/lost 2>/tmp/lost.err
is $? 3 "a full ring: exit status" || note "$(cat /tmp/lost.err)"
sed -n 's/.*"requests":\([0-9]*\),.*"shown":\([0-9]*\),"left_out":0,"in_flight":0,"lost_ring":\([0-9]*\),.*"unaccounted":0.*/\1 \2 \3/p' /tmp/lost |
	awk '{ good = $1 == 640 && $3 > 0 && $1 == $2 + $3 } END { exit !good }'
ok $? "a full ring: all 640 are in the ledger" || note "$(grep async_ledger /tmp/lost)"

# Requests that wait for others, have the same user_data, or no completion.
iosonar waits --async -o json --comm linked -- linked link >/tmp/link 2>/tmp/link.err
between "$(of link nop link sum_ns)" 50000000 60000000 "a request behind one of 50 ms: it waits for it" || note "$(cat /tmp/link /tmp/link.err)"
iosonar waits --async -o json --comm linked -- linked twins >/tmp/twins 2>/tmp/twins.err
status=$?
if grep -q '"lost_twins":0,' /tmp/twins; then
	is "$status $(of twins timeout total count)" "0 2" "two requests with the same user_data"
else
	is "$status $(of twins timeout total count)" "3 0" "two requests with the same user_data: not followed, which it says"
	grep -q '"requests":2,.*"in_flight":0,.*"lost_twins":2,.*"unaccounted":0' /tmp/twins
	ok $? "and it is in the ledger" || note "$(cat /tmp/twins)"
fi
if linked silent; then
	iosonar waits --async -o json --comm linked -- linked silent >/tmp/silent 2>/tmp/silent.err
	grep -q '"requests":2,"silent":1,.*"shown":1,"left_out":0,"in_flight":0,' /tmp/silent
	ok $? "a request without completion: it is in the ledger" || note "$(cat /tmp/silent)"
else
	skip "a request without completion" "this kernel has none"
fi

# Filters: what is left out is counted.
async elsewhere --file /tmp/data -- --filename=/dev/nullb0 --rw=randread --iodepth=1 --number_ios=3 --io_size=1T
is "$(of elsewhere read total count)" 0 "--file: no other file's requests"
grep -q '"requests":3,"silent":0,"refused":0,"elsewhere":3,' /tmp/elsewhere
ok $? "--file: they are in the ledger" || note "$(cat /tmp/elsewhere)"
async short --min 1s -- --filename=/dev/nullb0 --rw=randread --iodepth=1 --number_ios=3 --io_size=1T
grep -q '"requests":3,"silent":0,"refused":0,"elsewhere":0,"shorter":3,' /tmp/short
ok $? "--min: they are in the ledger" || note "$(cat /tmp/short)"
done_testing
