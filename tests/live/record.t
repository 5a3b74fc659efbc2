#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# record and -w on this machine: does a capture hold what the live view showed? On a loop device on tmpfs, with the load as
# iosonar's own COMMAND. Second instruments: the live view's own output, and /sys/block/loopN/stat. Also how a capture
# ends: a full disk, kill -9, parts, memory.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
disk='' small=''

# shellcheck disable=SC2317 # called by the trap
clean() {
	exec 9>&-
	[ -n "$small" ] && umount "$small"
	[ -n "$disk" ] && losetup -d "$disk"
	[ -n "$tmp" ] && rm -rf "$tmp"
}

# ---- runs ----

# run COMMAND OPTION... -- SCRIPT: exit code in $code, words in $tmp/err, reads and writes by the kernel's count in $done.
# As in latency.t: a kernel that hides a task of its owner from BPF loses completions that nobody counts; the ledger
# tells, and such a run is repeated, once in a test.
run() {
	run_once "$@"
	[ "$code" = 3 ] && grep -q 'lost [0-9]*: completion never seen' "$tmp/err" || return 0
	again "record: $1" "$(grep -h 'completion never seen' "$tmp/err")"
	run_once "$@"
}
run_once() {
	local before after command=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	rm -f "$tmp"/*.cap "$tmp"/*.cap.*
	read -ra before <"/sys/block/$name/stat"
	timeout 60 "$IOSONAR" "$command" -d "$name" "${options[@]}" -- sh -c "$2" >"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
	read -ra after <"/sys/block/$name/stat"
	done=$((after[0] - before[0] + after[4] - before[4]))
}

# replay COMMAND OPTION...: exit code in $code, output in $tmp/again.
replay() {
	timeout 60 "$IOSONAR" "$@" >"$tmp/again" 2>"$tmp/err" </dev/null
	code=$?
}

records() { grep -c '^{"type":"trace"' "$1"; }

reads() { echo "dd if=$disk of=/dev/null iflag=direct bs=${2:-4096} count=$1 status=none"; }
mixed() { # mixed NUMBER: of random reads and writes, several at once where fio is
	if command -v fio >/dev/null; then
		echo "fio --name=mixed --filename=$disk --direct=1 --ioengine=libaio --iodepth=8 --rw=randrw --bs=4k" \
			"--io_size=$(($1 * 4096)) --size=16M --norandommap --output=/dev/null"
	else
		echo "for i in \$(seq $(($1 / 1000 + 1))); do $(reads 1000); done"
	fi
}

# ---- the same, later ----

check_trace() {
	run trace -o json --out "$tmp/json" -w "$tmp/t.cap" "$@" -- "$(mixed 5003)"
	is "$code" 0 "trace -w ${*:-alone}: exit 0"
	replay trace -r "$tmp/t.cap" -o json "$@"
	is "$code" 0 "trace -r ${*:-alone}: exit 0"
	cmp -s "$tmp/json" "$tmp/again"
	ok $? "the same JSON, byte by byte"
}

check_traces() {
	check_trace
	is "$(records "$tmp/json")" "$done" "as many as the kernel counts"
	[ "$(grep -c '"type":"ledger"' "$tmp/again")" -eq 1 ]
	ok $? "with its ledger"
	check_trace --wall --cdw
	check_trace --op write
	run trace -o json --out "$tmp/json" -w "$tmp/t.cap" --split -- "$(reads 101)"
	replay trace -r "$tmp/t.cap" -o json --split
	cmp -s "$tmp/json" "$tmp/again"
	ok $? "submits too"
	is "$(records "$tmp/again")" 202 "two records a read"
	replay trace -r "$tmp/t.cap" -o json
	is "$(records "$tmp/again")" 101 "without --split only ends"
}

# A filter means the same in the kernel and in a capture: each has to leave the same records of the same run.
check_filters() {
	local some
	run trace -o json --out "$tmp/json" -w "$tmp/t.cap" -- "$(reads 101); $(reads 13 8192); $(mixed 1009); sync $disk"
	replay trace -r "$tmp/t.cap" -o json --op read
	is "$(records "$tmp/again")" "$(grep -c '"op":"read"' "$tmp/json")" "--op read"
	replay trace -r "$tmp/t.cap" -o json --comm dd
	is "$(records "$tmp/again")" "$(grep -c '"comm":"dd"' "$tmp/json")" "--comm dd"
	replay trace -r "$tmp/t.cap" -o json --min 20us
	some=$(sed -n 's/.*"lat_ns":\([0-9]*\).*/\1/p' "$tmp/json" | awk '$1 >= 20000' | wc -l)
	is "$(records "$tmp/again")" "$some" "--min 20us: $some"
	replay trace -r "$tmp/t.cap" -o json --if 'bytes == 8192'
	is "$(records "$tmp/again")" "$(grep -c '"bytes":8192' "$tmp/json")" "--if 'bytes == 8192'"
	replay trace -r "$tmp/t.cap" -o json --nsid 1
	is "$(records "$tmp/again")" 0 "--nsid: none, it is no NVMe"
	replay trace -r "$tmp/t.cap" -o json --failed
	is "$(records "$tmp/again")" 0 "--failed: none did"
	replay trace -r "$tmp/t.cap" -o json -n 17
	is "$(records "$tmp/again")" 17 "-n 17"
}

rows() { grep -E '"span":"total"|"type":"ledger"' "$1"; }

check_latency() {
	for by in dev,op op,size,queue,pid,comm; do
		run latency -o json --out "$tmp/json" -w "$tmp/l.cap" --by "$by" -- "$(mixed 5003); $(reads 13 8192)"
		is "$code" 0 "latency -w --by $by: exit 0"
		replay latency -r "$tmp/l.cap" -o json --by "$by"
		is "$(rows "$tmp/again")" "$(rows "$tmp/json")" "the rows of the whole run, histograms and ledger are the same"
	done
	is "$(rows "$tmp/json" | sed -n 's/^{"type":"latency".*"count":\([0-9]*\),.*/\1/p' | awk '{ n += $1 } END { print n }')" \
		"$done" "as many as the kernel counts"
	replay latency -r "$tmp/l.cap" --lat_min_us 5 -o json
	is "$(sed -n 's/^{"type":"bucket".*"count":\([0-9]*\),.*/\1/p' "$tmp/again" | awk '{ n += $1 } END { print n }')" "$done" "all in the zoom's buckets"
}

# ---- how a capture ends ----

check_parts() {
	run record -w "$tmp/p.cap" --size 64Ki -- "$(mixed 40009)"
	is "$code" 0 "record --size: exit 0"
	[ -e "$tmp/p.cap.1" ]
	ok $? "there are parts: $(cd "$tmp" && echo p.cap*)"
	files=()
	for file in "$tmp/p.cap" "$tmp"/p.cap.*; do
		files+=(-r "$file")
	done
	replay trace "${files[@]}" -o json
	is "$code $(records "$tmp/again")" "0 $done" "together they hold every record"
	is "$(sed -n 's/.*"end_ns":\([0-9]*\),.*/\1/p' "$tmp/again" | sort -nc 2>&1)" '' "in order"
	replay info "$tmp/p.cap.1"
	is "$(grep -cE '^  (kernel|machine|host) ' "$tmp/again")" 3 "a later part says which kernel, machine and host it is of"
	run record -w "$tmp/p.cap" --size 64Ki --files 2 -- "$(mixed 40009)"
	is "$code $(find "$tmp" -name 'p.cap*' | wc -l)" "0 2" "--files 2 leaves the newest two"
	replay trace -r "$tmp/p.cap" -r "$tmp/p.cap.1" -o json
	[ "$code" -eq 0 ] && [ "$(records "$tmp/again")" -lt "$done" ] && grep -q '"type":"ledger"' "$tmp/again"
	ok $? "with the last records and the ledger"
	: >"$tmp/p.cap.1" # of another run
	timeout 60 "$IOSONAR" record -d "$name" -w "$tmp/p.cap" --size 64Ki -t 1s >"$tmp/out" 2>"$tmp/err"
	is "$? $(wc -l <"$tmp/err")" "1 1" "a part of another run is not overwritten: exit 1 and one line"
}

check_full() {
	mkdir "$tmp/small"
	mount -t tmpfs -o size=64k none "$tmp/small" 2>/dev/null || { skip "a full disk" "no tmpfs can be mounted"; return; }
	small=$tmp/small
	run record -w "$small/f.cap" -- "$(mixed 40009)"
	is "$code" 3 "a full disk: exit 3"
	is "$(grep -c '^iosonar: ' "$tmp/err")" 1 "and one line"
	lost=$(sed -n 's/^  lost \([0-9]*\): not written to the capture: .*/\1/p' "$tmp/err")
	is "$(grep -c 'INCOMPLETE$' "$tmp/err") $(grep -c 'nothing lost' "$tmp/err")" "1 0" "the ledger does not say that nothing is lost"
	replay trace -r "$small/f.cap" -o json
	is "$code" 3 "what is there can be read: exit 3"
	is "$(($(records "$tmp/again") + $(sed -n 's/.*lacks \([0-9]*\) records: disk full/\1/p' "$tmp/err")))" "$done" \
		"records that are there and that are missing are all there were"
	is "$(($(records "$tmp/again") + lost))" "$done" "and the ledger of the run said as many"
	is "$(sed -n 's/.*"lost_write":\([0-9]*\).*/\1/p' "$tmp/again")" "$lost" "the capture's own ledger, too"
	replay info --verify "$small/f.cap"
	is "$code $(grep -c '^  intact' "$tmp/again")" "0 1" "the file itself is whole"
	rm "$small/f.cap"
	timeout 20 "$IOSONAR" record -d "$name" -w "$small/f.cap" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	sh -c "while kill -0 $pid 2>/dev/null; do $(mixed 5003); done"
	wait "$pid"
	is "$?" 3 "without a COMMAND it ends by itself"
}

# begin OPTION...: record in the background, attached when it returns; $pid.
begin() {
	rm -f "$tmp"/*.cap "$tmp"/*.cap.* "$tmp/err"
	timeout 60 "$IOSONAR" record -v -d "$name" -w "$tmp/b.cap" "$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	for _ in $(seq 100); do
		grep -q '^tables' "$tmp/err" 2>/dev/null && break
		sleep 0.1
	done
	sleep 0.3
	# timeout's child is who gets signals that timeout does not pass on
	pid=$(cat "/proc/$pid/task/$pid/children")
	pid=${pid%% *}
}

check_killed() {
	begin
	sh -c "$(reads 1009)"
	sleep 1.5
	kill -9 "$pid"
	sleep 0.2
	replay trace -r "$tmp/b.cap" -o json
	is "$code $(records "$tmp/again")" "3 1009" "kill -9 leaves what was written a second ago: exit 3"
	is "$(grep -c 'b.cap is truncated' "$tmp/err")" 1 "and one line says that it is cut"
	replay latency -r "$tmp/b.cap" -o json --allow-loss
	is "$code" 0 "--allow-loss: exit 0"
}

ended() { # waits for $pid, which is not our child
	for _ in $(seq 100); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}

check_last() {
	begin --last 30s --when 'bytes == 8192'
	sh -c "$(reads 101)"
	[ ! -e "$tmp/b.cap" ]
	ok $? "--last writes nothing by itself"
	sleep 0.2
	kill -USR1 "$pid"
	sleep 0.5
	replay trace -r "$tmp/b.cap" -o json
	is "$code $(records "$tmp/again")" "0 101" "SIGUSR1 writes what there was"
	sh -c "$(reads 13); $(reads 2 8192); $(reads 3)"
	sleep 0.3
	kill -INT "$pid"
	ended "$pid"
	replay trace -r "$tmp/b.cap.1" -o json
	is "$code $(records "$tmp/again")" "0 115" "--when writes up to the record that made it true"
	is "$(grep '"type":"trace"' "$tmp/again" | tail -1 | grep -c '"bytes":8192')" 1 "which is the last"
	[ ! -e "$tmp/b.cap.2" ]
	ok $? "and not again at once"
	begin --last 1s
	sh -c "$(reads 101)"
	sleep 2.5
	sh -c "$(reads 13)"
	sleep 0.2
	kill -USR1 "$pid"
	sleep 0.5
	kill -INT "$pid"
	ended "$pid"
	replay trace -r "$tmp/b.cap" -o json
	is "$code $(records "$tmp/again")" "0 13" "what is older than --last is forgotten"
}

# The name of the machine: its own, the one that is given, and in a UTS namespace, as containers have one, what is known.
check_host() {
	run record -w "$tmp/h.cap" -- "$(reads 7)"
	is "$(host_of)" "$(uname -n)" "a capture has the name of the machine"
	run record -w "$tmp/h.cap" --host 'db 7' -- "$(reads 7)"
	is "$(host_of)" "db 7" "--host NAME"
	run latency -w "$tmp/h.cap" --host db8 -- "$(reads 7)"
	is "$(host_of)" db8 "with -w of other commands, too"
	unshare -u true 2>/dev/null || { skip "a container" "no UTS namespace can be made"; return; }
	NODE_NAME=node9 unshare -u sh -c "hostname pod1; $IOSONAR record -d $name -w $tmp/h.cap -- $(reads 7)" >"$tmp/out" 2>"$tmp/err"
	is "$(host_of) $(grep -c 'the capture names the host' "$tmp/err")" "node9 0" "a container that is told the node's name"
	env -u NODE_NAME unshare -u -p -f --mount-proc sh -c "hostname pod1; $IOSONAR record -d $name -w $tmp/h.cap -- $(reads 7)" >"$tmp/out" 2>"$tmp/err"
	is "$(host_of) $(grep -c 'the capture names the host pod1, as this container is called' "$tmp/err")" "pod1 1" "one that is not: it is said"
}
host_of() { "$IOSONAR" info -o json "$tmp/h.cap" | sed -n 's/.*"name":"host","text":"\([^"]*\)".*/\1/p'; }

# ulimit -f ends a capture as a full disk does, and no signal ends the run.
check_limit() {
	ulimit -S -f 12
	run record -w "$tmp/u.cap" -- "$(reads 4001)"
	ulimit -S -f unlimited
	is "$code" 3 "ulimit -f: exit 3"
	grep -q '^iosonar: .*/u.cap: the file has reached its size limit (ulimit -f) after [0-9]* records' "$tmp/err"
	ok $? "and why"
	replay info --verify "$tmp/u.cap"
	is "$code $(grep -c '^  intact' "$tmp/again")" "0 1" "the capture has its end"
}

# Waits until a COMMAND that was ended uses the disk no more.
quiet() {
	local seen=''
	until [ "$seen" = "$(cat "/sys/block/$name/stat")" ]; do
		seen=$(cat "/sys/block/$name/stat")
		sleep 0.3
	done
}

# Parts are created when the rights are dropped.
check_made() {
	local made=$tmp/made
	mkdir -m 700 "$made"
	chown 65534 "$made"
	run record -v -w "$made/x.cap" --size 64Ki --files 2 -- "$(mixed 40009); grep -l '^Name:.iosonar-parts' /proc/[0-9]*/status | wc -l"
	is "$code $(cd "$made" && echo ./*)" "0 ./x.cap ./x.cap.1" "record --size in another user's directory"
	[ "$(cat "$tmp/out")" -ge 1 ]
	ok $? "another process creates its parts"
	grep -q '^privileges: .*system calls filtered' "$tmp/err"
	ok $? "the run itself creates none"
	rm "$made"/*
	ln -s "$tmp/elsewhere" "$made/x.cap.1"
	run record -w "$made/x.cap" --size 64Ki -- "$(mixed 40009)"
	is "$code $(grep -c '^iosonar: ' "$tmp/err")" "1 1" "a part that cannot be created: exit 1 and one line"
	grep -q "^iosonar: cannot create '$made/x.cap.1': " "$tmp/err"
	ok $? "which names it"
	[ ! -e "$tmp/elsewhere" ]
	ok $? "a link is not followed"
	quiet
	for how in "--size 64Ki" "--last 10s"; do
		# shellcheck disable=SC2086 # words
		timeout 60 "$IOSONAR" record -d "$name" -w "$tmp/no/such/dir" $how -t 1s >"$tmp/out" 2>"$tmp/err"
		is "$? $(cat "$tmp/err")" "1 iosonar: cannot create '$tmp/no/such/dir': No such file or directory" "$how: a directory that is missing"
	done
}

# Who may read a capture, and what is in the way of one.
check_places() {
	local other=$tmp/other shared=$tmp/shared
	run record -w "$tmp/m.cap" -- "$(reads 7)"
	is "$code $(stat -c %a "$tmp/m.cap")" "0 600" "a capture is for its owner alone"
	chmod 644 "$tmp/m.cap"
	timeout 60 "$IOSONAR" record -d "$name" -w "$tmp/m.cap" -t 10ms >"$tmp/out" 2>"$tmp/err"
	is "$? $(stat -c %a "$tmp/m.cap")" "0 600" "one that is replaced, too"
	run record --mode 0664 -w "$tmp/m.cap" --size 64Ki -- "$(mixed 20011)"
	is "$code $(stat -c %a "$tmp/m.cap" "$tmp/m.cap.1" | tr '\n' ' ')" "0 664 664 " "--mode, whatever the umask: of every part"
	mkdir "$other" "$shared"
	chmod 1777 "$shared"
	ln -s "$tmp/m.cap" "$shared/link.cap"
	timeout 60 "$IOSONAR" record -d "$name" -w "$shared/link.cap" -t 10ms >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -c 'symbolic link in a directory that anyone can write to' "$tmp/err")" "1 1" "-w follows no link in a shared directory"
	: >"$shared/theirs.cap"
	chown 65534 "$shared/theirs.cap"
	timeout 60 "$IOSONAR" record -d "$name" -w "$shared/theirs.cap" -t 10ms >"$tmp/out" 2>"$tmp/err"
	is "$?" 1 "nor writes to another user's file there"
	# Its rights are dropped when FILE.partial is renamed.
	chown 65534 "$other"
	chmod 755 "$other"
	timeout 60 "$IOSONAR" latency -d "$name" --out "$other/file" -t 10ms >"$tmp/out" 2>"$tmp/err"
	is "$? $(ls "$other")" "0 file" "--out in another user's directory"
	timeout 60 "$IOSONAR" latency -d "$name" --out "$other/file" -i 10ms -- /nonexistent/command >"$tmp/out" 2>"$tmp/err"
	is "$? $(find "$other" -name '*.partial' -size 0)" "1 " "and nothing empty stays there after a failure"
}

# A time namespace shifts our clock, not the kernel's.
check_clock() {
	local shifted=(unshare -T --monotonic 2000 --boottime 3000) early
	"${shifted[@]}" true 2>/dev/null || { skip "a time namespace" "no time namespace can be made here"; return; }
	# shellcheck disable=SC2016 # of awk
	early='$1 != "time" && NF > 3 { if ($1 >= 0 && $1 < 60) good++; else bad++ } END { print bad + 0, (good > 0) }'
	"${shifted[@]}" "$IOSONAR" trace -d "$name" -- sh -c "$(reads 7)" >"$tmp/out" 2>"$tmp/err"
	is "$? $(awk "$early" "$tmp/out")" "0 0 1" "a time namespace: trace has the times of the run"
	"${shifted[@]}" "$IOSONAR" print raw:block_rq_issue -- sh -c "$(reads 7)" >"$tmp/out" 2>"$tmp/err"
	is "$? $(awk "$early" "$tmp/out")" "0 0 1" "so has print"
	"${shifted[@]}" "$IOSONAR" record -d "$name" -w "$tmp/n.cap" -- sh -c "$(reads 7)" >"$tmp/out" 2>"$tmp/err"
	replay info "$tmp/n.cap"
	is "$code $(awk '/^  begin/ { print ($3 < 60) }' "$tmp/again")" "0 1" "so has a capture"
	local began
	began=$(date -d "$(sed -n 's/^  begin *\([^,]*\),.*/\1/p' "$tmp/again")" +%s)
	[ $(($(date +%s) - began)) -lt 60 ] && [ "$began" -le "$(date +%s)" ]
	ok $? "which knows when it was made"
}

check_output() {
	timeout 60 "$IOSONAR" trace -d "$name" -w "$tmp/t.cap" -- \
		sh -c "exec >/dev/null; for i in \$(seq 50); do $(reads 20); sleep 0.02; done" 2>"$tmp/err" | head -1 >/dev/null
	is "${PIPESTATUS[0]}" 0 "the reader of the pipe goes: exit 0"
	replay info --verify "$tmp/t.cap"
	is "$code $(grep -c '^  ended *done' "$tmp/again")" "0 1" "and the capture has its end"
	timeout 60 "$IOSONAR" record -d "$name" -w "$tmp/no/such/dir" -t 1s >"$tmp/out" 2>"$tmp/err"
	is "$? $(wc -l <"$tmp/err")" "1 1" "a file that cannot be made: exit 1 and one line"
	if [ "$("$IOSONAR" --version | grep -c zstd)" -gt 0 ]; then
		run trace -o json --out "$tmp/json" -w "$tmp/t.cap" --zstd -- "$(mixed 5003)"
		replay trace -r "$tmp/t.cap" -o json
		cmp -s "$tmp/json" "$tmp/again"
		ok $? "--zstd: the same JSON"
	else
		skip "--zstd: the same JSON" "built without zstd"
	fi
}

# ---- the run ----

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v losetup >/dev/null || skip_all "there is no losetup (util-linux)"
[ -e /dev/loop-control ] || skip_all "this kernel has no loop devices"
[ -r /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
[ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || skip_all "/dev/shm is no tmpfs"
trap clean EXIT
trap "exit 1" HUP INT TERM
tmp=$(mktemp -d /dev/shm/iosonar-record.XXXXXX) || skip_all "no room on /dev/shm"
truncate -s 16M "$tmp/disk"
disk=$(losetup -f --show "$tmp/disk" 2>"$tmp/err") || { disk='' && skip_all "no loop device: $(head -1 "$tmp/err")"; }
name=${disk#/dev/}
# The lock keeps udev from reading the device whenever somebody who wrote to it closes it.
exec 9<>"$disk" && { flock -x 9 || true; }
command -v udevadm >/dev/null && udevadm settle -t 5
dd if=/dev/zero of="$disk" bs=1M oflag=direct status=none 2>/dev/null

check_traces
check_filters
check_latency
check_parts
check_made
check_full
check_host
check_killed
check_last
check_output
check_limit
check_places
check_clock
echo "1..$nr"
exit $((failed > 0))
