# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: broken
# kernels: 5.10
# timeout: 180
#
# inflight: a drive that stops answering. What was sent before iosonar came is listed with what it is and how old; what is
# sent while it watches also with its process; time-out and reset are seen as they happen; then there is nothing.
# Second instruments: the kernel's own list of what the driver has (debugfs), /sys/block/*/inflight, ftrace, fio.

dev=$(disk io0)
ctrl=${dev%n*}
queue=/sys/block/$dev/queue
set_scheduler "$dev" none
echo 600000 >"$queue/io_timeout" # nothing is aborted before we want it

# --- a drive that hangs ---

# rate BYTES: what QEMU lets the drive move in a second; 0: all. What is above that waits.
rate() { monitor block_set_io_throttle d0 "$1" 0 0 0 0 0; }
# hangs COMMAND...: runs it again and again until it does not end within a second; then its process is $hanging. The first
# one passes: there is something to wait for only then.
hangs() {
	hangs_left=60
	while [ $hangs_left -gt 0 ]; do
		hangs_left=$((hangs_left - 1))
		"$@" 2>/dev/null &
		hanging=$!
		wait_for 1 gone $hanging || return 0
	done
	return 1
}
gone() { ! kill -0 "$1"; }
# has N: the driver has so many.
has() { [ "$(in_driver)" = "$1" ]; }
in_driver() { awk '{ print $1 + $2 }' "/sys/block/$dev/inflight"; }
# busy KEY DISK: of each request in the kernel's own list of what the driver has.
busy() { cat /sys/kernel/debug/block/"$2"/hctx*/busy | sed -n 's/.*[ {.]'"$1"'=\([^,]*\),.*/\1/p'; }

# --- what iosonar says ---

# values KEY [FILE]: of every command, one a line.
values() { sed -n '/"type":"inflight"/s/.*"'"$1"'":"*\([^,"}]*\).*/\1/p' "${2:--}"; }
# look_of COUNT FILE: the commands of the last look that saw so many.
look_of() {
	look_time=$(grep "\"type\":\"look\".*\"in_flight\":$1," "$2" | sed -n '$s/.*"time_s":\([0-9.]*\).*/\1/p')
	grep "\"type\":\"inflight\",\"time_s\":$look_time," "$2"
}
# is_back: the controller is live, or gone, and some looks were made since.
is_back() { wait_for 60 lives_or_not && sleep 1; }
lives_or_not() { ! grep -qvx live "/sys/class/nvme/$ctrl/state"; }
# fields N,... FILE: of every line of CSV but the first, in order.
fields() { sed 1d "$2" | cut -d, -f"$1" | sort | xargs; }
up_ms() { awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime; }
# The command can be read of every kernel but those before 5.14.
sees_commands() { case $(uname -r) in 5.10.*) return 1 ;; esac; }

# --- nothing ---
iosonar inflight -d "$dev" >/tmp/none 2>/tmp/none.err
is "$? $(cat /tmp/none)" "0 nothing in flight" "nothing in flight: says so, and exits 0" || note "$(cat /tmp/none.err)"

# --- sent before we came ---
ftrace_start nvme/nvme_setup_cmd
rate 1
hangs /usr/bin/dd if="/dev/$dev" of=/dev/null bs=12k skip=101 count=1 iflag=direct
ok $? "a read hangs"
reader=$hanging
sent=$(up_ms) # it was sent at least a second before
sleep 0.3
asked=$(up_ms)
iosonar inflight --older 1s -d "$dev" -o json --out /tmp/old 2>/tmp/old.err
is $? 6 "--older 1s with a command older than that: exit 6" || note "$(cat /tmp/old.err)"
answered=$(up_ms)
is "$(values op /tmp/old) $(values lba /tmp/old) $(values bytes /tmp/old) $(values state /tmp/old)" "read 2424 12288 sent" "what was sent before is listed, and nothing else"
is "$(values dev /tmp/old) $(values tag /tmp/old) $(values nsid /tmp/old)" "$dev $(busy tag "$dev") 1" "its device, tag and namespace"
between "$(($(values age_ns /tmp/old) / 1000000))" $((asked - sent + 1000)) $((answered - sent + 10000)) "its age, in ms"
is "$(values pid /tmp/old) $(values comm /tmp/old)" "null null" "who sent it is not known"
grep -q '"in_flight":1,"older":1,' /tmp/old
ok $? "the look counts it"
iosonar inflight --older 10m -d "$dev" >/tmp/young 2>/dev/null
is "$? $(cat /tmp/young)" "0 nothing in flight for 600s; 1 in flight" "--older 10m: none is so old, exit 0"
iosonar inflight --older 1s --op write -d "$dev" >/tmp/write 2>/dev/null
is "$? $(cat /tmp/write)" "0 nothing in flight" "--op write: a read is none"
iosonar inflight --older 1s -p 1 >/tmp/pid 2>/dev/null
is "$? $(cat /tmp/pid)" "0 nothing in flight" "-p: what was sent before is nobody's"
ftrace_stop /tmp/ftrace
setup=$(grep -E "nvme_setup_cmd: .*disk=$dev.*slba=2424" /tmp/ftrace | tail -1)
qid=$(echo "$setup" | sed 's/.*qid=\([0-9]*\),.*/\1/')
cid=$(echo "$setup" | sed 's/.*cmdid=\([0-9]*\),.*/\1/')
is "$(values qid /tmp/old)" "$qid" "its queue is the one that ftrace saw"
if sees_commands; then
	is "$(values cid /tmp/old)" "$cid" "and so is its id"
else
	is "$(values cid /tmp/old) $(values tag /tmp/old)" "null $((cid & 4095))" "its id is not known, but its tag is of it"
fi

# --- a user's command beside it ---
nvme read "/dev/$dev" -s 4711 -c 2 -z 1536 -t 600000 >/dev/null 2>&1 &
user=$!
sleep 1
iosonar inflight -d "$dev" -t 1ms -o csv --out /tmp/two 2>/tmp/two.err
is $? 0 "without --older: exit 0" || note "$(cat /tmp/two.err)"
if sees_commands; then
	is "$(fields 9,11,13 /tmp/two)" "read,2424,12288 read,4711,1536" "a user's command is one, too"
else
	is "$(fields 9,11,13 /tmp/two)" ",,1536 read,2424,12288" "a user's command is one, too, although we cannot tell which"
fi
is "$(fields 7 /tmp/two)" "$(busy tag "$dev" | sort | xargs)" "each with its tag"
is "$(fields 3 /tmp/two | xargs -n1 | grep -cE '^[0-9]{9,}$')" 2 "and its age" || note "$(cat /tmp/two)"
rate 0
wait "$reader" $user
iosonar inflight --older 1s -d "$dev" >/tmp/none 2>/dev/null
is "$? $(cat /tmp/none)" "0 nothing in flight" "they came back: nothing in flight, exit 0"

# --- sent while we watch ---
started inflight /tmp/watch -d "$dev" -i 300ms
wait_for 20 grep -q '^privileges: ' /tmp/watch.err
# shellcheck disable=SC2154 # lib.sh sets it
state=$(sed -nE 's/^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp):[[:space:]]*0*([0-9a-f]+)$/\3/p' "/proc/$measure_pid/status" | xargs)
if [ "$(cat /proc/sys/kernel/unprivileged_bpf_disabled)" != 0 ] && ! sees_commands; then
	is "$state" "0 8000000000 8000000000 0 1 2" "CAP_BPF is all that is left: this kernel asks for it at every bpf()"
else
	is "$state" "0 0 0 0 1 2" "no capability is left"
fi
rate 1
hangs /usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k skip=5 count=1 iflag=direct
reader=$hanging
fio --name=six --filename="/dev/$dev" --rw=read --offset=1m --bs=4k --direct=1 --ioengine=libaio --iodepth=6 \
	--number_ios=6 --output=/dev/null >&2 &
fio=$!
wait_for 30 has 7
sleep 1
tags=$(busy tag "$dev" | sort -n | xargs)
is "$(in_driver)" 7 "/sys/block/*/inflight has seven"
measured
is $? 0 "exit 0 without --older"
look_of 7 /tmp/watch >/tmp/seven
is "$(grep -c . /tmp/seven)" 7 "so has the look"
is "$(values lba /tmp/seven | sort -n | xargs)" "40 2048 2056 2064 2072 2080 2088" "all that dd and fio asked for"
is "$(values tag /tmp/seven | sort -n | xargs)" "$tags" "by their tags"
is "$(values comm /tmp/seven | sort | uniq -c | xargs)" "1 dd 6 fio" "sent by those two"
is "$(grep '"comm":"dd"' /tmp/seven | values pid)" "$reader" "dd by its process"
pid=$(grep '"comm":"fio"' /tmp/seven | values pid | sort -u)
grep -q "^PPid:[[:space:]]*$fio\$" "/proc/$pid/status" || [ "$pid" = $fio ]
ok $? "fio by its own" || note "pid $pid, fio is $fio: $(cat "/proc/$pid/status")"
is "$(values age_ns /tmp/seven | sort -rn | xargs)" "$(values age_ns /tmp/seven | xargs)" "oldest first"
is "$(grep -c '"type":"ledger"' /tmp/watch)" 0 "there is no ledger: the tags are the list"
rate 0
wait "$reader" $fio

# --- an admin command ---
started inflight /tmp/admin -d "$ctrl" -i 100ms
wait_for 20 grep -q '^privileges: ' /tmp/admin.err
rate 1
hangs nvme admin-passthru "/dev/$ctrl" --opcode=0x80 --namespace-id=1 --cdw10=0 --timeout=600000
wait_for 20 grep -q '"op":"format"' /tmp/admin
ok $? "an admin command is seen" || note "$(tail -3 /tmp/admin)"
rate 0
wait "$hanging"
measured
is $? 0 "exits 0"
grep '"op":"format"' /tmp/admin >/tmp/format
is "$(values dev /tmp/format | sort -u) $(values qid /tmp/format | sort -u) $(values comm /tmp/format | sort -u)" "$ctrl 0 nvme" "on the admin queue of its controller, sent by nvme"

# --- hang, abort ---
# QEMU stands still as soon as the reset begins, until the read has ended.
echo 1000 >"$queue/io_timeout"
started inflight /tmp/hang -d "$ctrl" -i 50ms --older 1s
wait_for 20 grep -q '^privileges: ' /tmp/hang.err
rate 400 # 4 KiB take ten seconds
hangs /usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k skip=9 count=1 iflag=direct
wait "$hanging"
ok $? "the read comes back"
rate 0
is_back
measured
is $? 0 "nothing old at the last look: exit 0"
grep "\"lba\":72,.*\"pid\":$hanging," /tmp/hang >/tmp/read
is "$(values state /tmp/read | uniq | head -2 | xargs)" "sent timed-out" "sent, then timed out: the abort"
is "$(grep timed-out /tmp/read | values age_ns | sort -n | xargs)" "$(grep timed-out /tmp/read | values age_ns | xargs)" "older at every look"
[ "$(grep timed-out /tmp/read | values age_ns | head -1)" -gt 1000000000 ]
ok $? "its age is that of its first sending"
is "$(tail -2 /tmp/hang | grep '"type":"look"' | value in_flight)" 0 "then nothing is in flight"

# --- hang, reset, with a scheduler ---
# Without bus mastering the drive cannot fetch commands, and fails. The driver finds that when their time is up, and resets
# it, which gives the drive its bus back. Linux 5.10 and QEMU then disagree about the doorbells (58847f12fe4e): commands that
# are sent again hang and fail, and the drive is removed.
set_scheduler "$dev" mq-deadline
started inflight /tmp/reset -d "$ctrl" -i 20ms --older 500ms
wait_for 20 grep -q '^privileges: ' /tmp/reset.err
printf '\002' | dd of="$(readlink -f "/sys/class/nvme/$ctrl/device")/config" bs=1 seek=4 conv=notrunc 2>/dev/null
busybox sync -d "/dev/$dev" &
flusher=$!
dd if="/dev/$dev" of=/dev/null bs=4k skip=11 count=1 iflag=direct 2>/dev/null
status=$?
wait $flusher
is_back
measured
is $? 0 "nothing old at the last look: exit 0"
! sees_commands || is $status 0 "the read comes back after the reset"
grep '"lba":88,' /tmp/reset >/tmp/read
values state /tmp/read | uniq | xargs | grep -qE '^sent( timed-out)?( cancelled)? requeued'
ok $? "sent, given up, requeued: $(values state /tmp/read | uniq -c | xargs)"
grep '"state":"requeued"' /tmp/read | grep -q '"tag":null'
ok $? "what was handed back has no tag"
is "$(grep '"state":"sent"' /tmp/read | values comm | sort -u)" dd "it is dd's"
is "$(grep '"op":"flush"' /tmp/reset | values dev | sort -u)" "$dev" "a flush is seen, too"
[ "$(values attempts /tmp/read | grep -v null | sort -n | tail -1)" -ge 2 ]
ok $? "with another attempt: $(values attempts /tmp/read | uniq -c | xargs)"
is "$(bpf_objects)" 0 "nothing is left behind"
done_testing
