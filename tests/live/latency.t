#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# latency on this machine: does it count every I/O of a loop device on tmpfs, exactly once? The load
# runs as iosonar's own COMMAND, so that it begins and ends while the programs are attached. Second
# instruments: fio's (or dd's) own count, and /sys/block/loopN/stat.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
disk='' parts=''

# shellcheck disable=SC2317 # called by the trap
clean() {
	exec 9>&- 8>&-
	[ -n "$disk" ] && losetup -d "$disk"
	[ -n "$parts" ] && losetup -d "$parts"
	[ -n "$tmp" ] && rm -rf "$tmp"
}

# A file on tmpfs, its loop device in $made. The lock keeps udev from reading the device whenever
# somebody who wrote to it closes it.
make_loop() { # make_loop FILE FD OPTION...
	local file=$1 fd=$2
	shift 2
	made=$(losetup -f --show "$@" "$file" 2>"$tmp/err") || return 1
	eval "exec $fd<>\"$made\"" && { flock -x "$fd" || true; }
	command -v udevadm >/dev/null && udevadm settle -t 5
	return 0
}

# ---- watching ----

# watch OPTION... -- SCRIPT: one run with JSON in $tmp/json, words in $tmp/err, exit code in $code,
# and the growth of the device's own counters in the array stat (from 1, as the kernel numbers them).
# Some kernels hide a task of the machine's owner from every BPF program: a completion that interrupts it is seen by no
# program and counted by no kernel. The ledger tells (completion never seen, exit 3); such a run proves nothing about
# us and is repeated, once in a test.
watch() {
	watch_once "$@"
	is_hidden || return 0
	again latency "$(grep -h 'completion never seen' "$tmp/err")"
	watch_once "$@"
}
is_hidden() {
	[ "$code" = 3 ] && grep -q '"lost_completion":[1-9]' "$tmp/json" &&
		! grep -qE '"lost_(no_slot|start|clock|device|skipped|row)":[1-9]' "$tmp/json"
}
watch_once() {
	local before after options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	read -ra before <"/sys/block/$name/stat"
	timeout 60 "$IOSONAR" latency -d "$name" -o json --out "$tmp/json" ${options[@]+"${options[@]}"} \
		-- sh -c "$2" >"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
	read -ra after <"/sys/block/$name/stat"
	stat=(0)
	for i in "${!before[@]}"; do
		stat+=($((after[i] - before[i])))
	done
}

# Rows of the whole run that have this text in them.
rows() { grep '"type":"latency","span":"total"' "$tmp/json" | grep -F -- "${1-}"; }
# The sum of their counts.
count() { rows "${1-}" | sed -n 's/.*"count":\([0-9]*\),.*/\1/p' | awk '{ n += $1 } END { print n + 0 }'; }
# The count of every row, in order of size.
counts() { rows | sed -n 's/.*"count":\([0-9]*\),.*/\1/p' | sort -n | xargs; }
term() { sed -n "s/^{\"type\":\"ledger\",.*\"$1\":\([0-9]*\).*/\1/p" "$tmp/json"; }

# Exit 0, everything that was issued has ended and is in a row, no term of loss.
is_whole() {
	is "$code" 0 "$1: exit 0"
	is "$(term issued) $(term in_flight) $(term unaccounted)" "$(term completed) 0 0" \
		"$1: issued = completed, nothing in flight or unaccounted"
	is "$(grep -o '"lost_[a-z_]*":[1-9][0-9]*' "$tmp/json")" '' "$1: nothing lost"
}

# ---- loads: each leaves what it did by its own count in $tmp/did ----

# direct read|write NUMBER [SIZE]: one at a time, from the start of the device
direct() {
	local rw=$1 n=$2 size=${3:-4096}
	if command -v fio >/dev/null; then
		echo "fio --name=load --filename=$disk --direct=1 --ioengine=psync --rw=$rw --bs=$size" \
			"--size=$((n * size)) --output-format=json --output=$tmp/fio &&" \
			"grep -o '\"total_ios\" : [0-9]*' $tmp/fio | sed -n 's/.* //;$([ "$rw" = read ] &&
				echo 1 || echo 2)p' >$tmp/did"
	elif [ "$rw" = read ]; then
		echo "dd if=$disk of=/dev/null iflag=direct bs=$size count=$n 2>$tmp/dd;" \
			"sed -n 's/+.* in\$//p' $tmp/dd >$tmp/did"
	else
		echo "dd if=/dev/zero of=$disk oflag=direct conv=notrunc bs=$size count=$n 2>$tmp/dd;" \
			"sed -n 's/+.* out\$//p' $tmp/dd >$tmp/did"
	fi
}

did() { cat "$tmp/did"; }
reads() { echo "${2:-dd} if=$disk of=/dev/null iflag=direct bs=${3:-4096} count=$1 status=none"; }
writes() { echo "dd if=/dev/zero of=$disk oflag=direct conv=notrunc bs=4096 count=$1 status=none"; }

set_scheduler() {
	grep -qw -- "$1" "/sys/block/$name/queue/scheduler" &&
		echo "$1" >"/sys/block/$name/queue/scheduler" 2>/dev/null
}

# ---- counts ----

check_reads_and_writes() { # under one scheduler
	set_scheduler "$1" || { skip "under $1" "this kernel has no such scheduler"; return; }
	watch -- "$(direct read 1009)"
	is_whole "$1, reads"
	is "$(count '"op":"read"')" 1009 "$1: 1,009 reads"
	is "$(did)" 1009 "$1: by its own count too"
	is "${stat[1]}" 1009 "$1: and by the kernel's"
	is "$(count)" 1009 "$1: and nothing else"
	watch -- "$(direct write 997)"
	is_whole "$1, writes"
	is "$(count '"op":"write"') $(did)" "997 997" "$1: 997 writes"
	is "$(count)" $((stat[1] + stat[5])) "$1: as the kernel counts them"
	is "$(rows '"op":"write"' | sed 's/.*"size_bytes":\([0-9]*\),.*/\1/')" 4096 "$1: of 4 KiB"
}

# Many at once: what the block layer merges is one request to it and several to fio.
check_deep() {
	set_scheduler "$1" || { skip "deep under $1" "this kernel has no such scheduler"; return; }
	command -v fio >/dev/null || { skip "deep under $1" "fio is not installed"; return; }
	watch -- "fio --name=deep --filename=$disk --direct=1 --ioengine=libaio --iodepth=16 --rw=randrw \
		--bs=4k --numjobs=2 --io_size=$((5003 * 4096)) --size=16M --norandommap --group_reporting \
		--output-format=json --output=$tmp/fio"
	is_whole "$1, 32 at once"
	is "$(count '"op":"read"')" "${stat[1]}" "$1: reads as the kernel counts them"
	is "$(count '"op":"write"')" "${stat[5]}" "$1: writes as the kernel counts them"
	is $(($(count) + stat[2] + stat[6])) \
		"$(grep -o '"total_ios" : [0-9]*' "$tmp/fio" | awk '{ n += $3 } END { print n }')" \
		"$1: with merges as fio counts them"
	is "$(term issued)" "$(count)" "$1: issued is what the rows hold"
}

check_scheduler_change() {
	local knob=/sys/block/$name/queue/scheduler
	set_scheduler mq-deadline || { skip "change of scheduler" "there is no mq-deadline"; return; }
	watch -- "$(reads 13); echo none >$knob; $(reads 17); echo mq-deadline >$knob; $(reads 19)"
	is_whole "change of scheduler"
	is "$(count '"op":"read"')" 49 "no read is lost when the scheduler changes"
	is "${stat[1]}" 49 "the kernel has 49"
	set_scheduler none
}

check_flush() {
	watch -- "for i in 1 2 3 4 5 6 7 8 9 10 11; do sync $disk; done"
	is_whole flush
	is "$(count '"op":"flush"')" 11 "11 fsyncs are 11 flushes"
	is "${stat[16]}" 11 "and by the kernel's count"
	watch -- "dd if=/dev/zero of=$disk oflag=direct,dsync conv=notrunc bs=4096 count=13 status=none"
	is_whole "synchronous writes"
	is "$(count '"op":"write"')" 13 "13 synchronous writes"
	is "$(count '"op":"flush"')" "${stat[16]}" "with as many flushes as the kernel counts"
	is $((stat[7] / 8)) 13 "and as many sectors"
}

check_discard() {
	command -v blkdiscard >/dev/null || { skip discard "there is no blkdiscard"; return; }
	watch -- "blkdiscard -f -p 256K -l 1792K $disk"
	[ "$code" -eq 0 ] || { skip discard "blkdiscard says $(head -1 "$tmp/err")"; return; }
	is_whole discard
	is "$(count '"op":"discard"')" 7 "7 discards"
	is "${stat[12]}" 7 "and by the kernel's count"
}

# ---- --by ----

# Two processes with names, sizes and counts of their own.
check_by() {
	local load
	load="$(reads 11); $(reads 13 "$tmp/probe-dd" 8192)"
	for by in pid comm cpu size queue cgroup dev,op,size,queue,cpu,pid,comm,cgroup; do
		watch --by "$by" -- "$load"
		is "$code $(count)" "0 24" "--by $by: all 24"
	done
	is "$(count '"comm":"probe-dd"') $(count '"comm":"dd"')" "13 11" "each under its name"
	is "$(count '"size_class":"8.0Ki"') $(count '"size_class":"4.0Ki"')" "13 11" "and its size"
	for by in pid comm size; do
		watch --by "$by" -- "$load"
		is "$(counts)" "11 13" "--by $by: two rows"
	done
	watch --by cgroup -- "$load"
	is "$(counts)" 24 "--by cgroup: one row"
	is "$(rows "\"cgroup\":\"$(sed -n 's/^0:://p' /proc/self/cgroup)\"" | wc -l)" 1 "of this cgroup"
	command -v taskset >/dev/null || { skip "--by cpu: one row" "there is no taskset"; return; }
	watch --by cpu -- "taskset -c 0 $(reads 17)"
	is "$(count '"cpu":0,')" 17 "--by cpu: one row for CPU 0"
}

# ---- filters ----

check_filter_task() {
	local pid load
	watch --comm probe-dd -- "$(reads 11); $(reads 13 "$tmp/probe-dd")"
	is "$code $(count) $(term issued)" "0 13 13" "--comm counts only that task's"
	mkfifo "$tmp/gate"
	# exec keeps the pid that -p is told before the load begins
	sh -c "read -r go <$tmp/gate; exec $(reads 17)" &
	pid=$!
	load="echo go >$tmp/gate; $(reads 11); while readlink /proc/$pid/exe; do sleep 0.02; done"
	watch -p "$pid" -- "$load"
	wait "$pid"
	is "$code $(count)" "0 17" "-p counts only that process's"
	is "${stat[1]}" 28 "of 28 that there were"
	watch -p 4194305 -- true
	is "$code" 2 "-p of no process is refused"
}

check_filter_op() {
	watch --op write -- "$(reads 11); $(writes 13)"
	is "$code $(count) $(count '"op":"write"')" "0 13 13" "--op write counts only writes"
	watch --op read,write -- "$(reads 11); $(writes 13); sync $disk"
	is "$code $(count)" "0 24" "--op read,write counts both, and no flush"
}

check_filter_outcome() {
	watch --min 1000s -- "$(reads 11)"
	is "$code $(count) $(term completed)" "0 0 11" "--min 1000s shows none, the ledger all"
	watch --min 1ns -- "$(reads 11)"
	is "$code $(count)" "0 11" "--min 1ns shows all"
	watch --failed -- "$(reads 11)"
	is "$code $(count) $(term failed)" "0 0 0" "--failed: none did"
}

# ---- a partition ----

le32() { # four bytes for printf
	printf '\\%03o\\%03o\\%03o\\%03o' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24))
}

# Two partitions of 4 MiB, from 1 MiB and from 5 MiB on, as sfdisk would write them.
write_table() {
	truncate -s 16M "$1"
	{
		for start in 2048 10240; do
			# shellcheck disable=SC2059 # the bytes are the format
			printf "\\000\\000\\000\\000\\203\\000\\000\\000$(le32 $start)$(le32 8192)"
		done
		head -c 32 /dev/zero
		printf '\125\252'
	} | dd of="$1" bs=1 seek=446 conv=notrunc status=none
}

check_partition() {
	local whole=$name
	write_table "$tmp/parts"
	make_loop "$tmp/parts" 8 -P || { skip partition "losetup: $(head -1 "$tmp/err")"; return; }
	parts=$made name=${made#/dev/}
	wait_for_partitions || add_partitions
	if wait_for_partitions; then
		check_partition_counts
	else
		skip partition "the kernel found no partition in $parts, or nobody made its node"
	fi
	name=$whole
}

wait_for_partitions() {
	for _ in $(seq 10); do
		[ -b "${parts}p1" ] && [ -b "${parts}p2" ] && return 0
		sleep 0.1
	done
	return 1
}

# A kernel that reads no partition tables can still be told.
add_partitions() {
	addpart "$parts" 1 2048 8192 && addpart "$parts" 2 10240 8192
} 2>/dev/null

check_partition_counts() {
	local load="iflag=direct of=/dev/null bs=4096 status=none"
	load="dd if=${parts}p1 count=13 $load; dd if=${parts}p2 count=17 $load; dd if=$parts count=19 $load"
	watch -- "$load"
	is "$code $(count)" "0 49" "the whole disk: all reads"
	timeout 60 "$IOSONAR" latency -d "${parts#/dev/}p1" -o json --out "$tmp/json" \
		-- sh -c "$load" >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$? $(count) $(term issued)" "0 13 13" "a partition: only its own"
	timeout 60 "$IOSONAR" latency -d "${parts}p2" -o json --out "$tmp/json" \
		-- sh -c "$load" >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$? $(count)" "0 17" "the other one, by its path"
	timeout 60 "$IOSONAR" latency -d "${parts}p2" -d "${parts}p1" -o json --out "$tmp/json" \
		-- sh -c "$load" >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$? $(count)" "0 30" "both in one run"
	timeout 60 "$IOSONAR" latency -d "${parts}p2" -d "$parts" -o json --out "$tmp/json" \
		-- sh -c "$load" >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$? $(count)" "0 49" "a partition and its disk: the whole disk"
}

# ---- how it ends ----

check_exit_codes() {
	watch --fail-if 'max > 1ns' -- "$(reads 11)"
	is "$code" 5 "--fail-if that comes true: exit 5"
	is "$(grep -c "is true: " "$tmp/err")" 1 "and one line says so"
	watch --fail-if 'max > 1000s' -- "$(reads 11)"
	is "$code" 0 "one that does not: exit 0"
	watch -- "$(reads 11); exit 7"
	is "$code $(count)" "7 11" "the COMMAND's exit status is passed on"
	watch -- "kill -9 \$\$"
	is "$code" 137 "and its signal"
	watch --fail-if 'max > 1ns' -- "$(reads 11); exit 7"
	is "$code" 5 "--fail-if comes before it"
	watch -t 300ms -- "exec sleep 30"
	is "$code" 0 "-t ends a COMMAND that goes on"
	timeout 60 "$IOSONAR" latency -d no-such-disk -t 1s >"$tmp/out" 2>"$tmp/err"
	is "$? $(wc -l <"$tmp/err")" "2 1" "no such device: exit 2 and one line"
}

check_output() {
	timeout 60 "$IOSONAR" latency -d "$name" -o json --out /dev/full -- sh -c "$(reads 11)" \
		>"$tmp/out" 2>"$tmp/err"
	is "$?" 1 "a full disk: exit 1"
	is "$(grep -c '^iosonar: ' "$tmp/err")" 1 "and one line"
	timeout 60 "$IOSONAR" latency -d "$name" -o json -- sh -c "$(reads 11)" >/dev/full 2>"$tmp/err"
	is "$? $(grep -c '^iosonar: ' "$tmp/err")" "1 1" "stdout on a full disk: the same"
	timeout 60 "$IOSONAR" latency -d "$name" -o json -i 50ms -t 20s -- \
		sh -c "exec >/dev/null; for i in \$(seq 200); do $(reads 3); sleep 0.02; done" \
		2>"$tmp/err" | head -1 >"$tmp/first"
	is "${PIPESTATUS[0]}" 0 "the reader of the pipe goes: exit 0"
	is "$(grep -c '^iosonar: ' "$tmp/err")" 0 "without a word"
	is "$(grep -c '^{"type":"latency","span":"interval"' "$tmp/first")" 1 "it had its line"
}

programs_of() { cat "/proc/$1/fdinfo"/* 2>/dev/null | sed -n 's/^prog_id:[[:space:]]*//p' | sort -nu; }

# Still loaded? bpftool asks the kernel; without it, whatever process still holds it is found.
is_loaded() {
	if command -v bpftool >/dev/null; then
		bpftool prog show id "$1" >/dev/null 2>&1
	else
		cat /proc/[0-9]*/fdinfo/* 2>/dev/null | grep -q "^prog_id:[[:space:]]*$1\$"
	fi
}

still_loaded() {
	local left=''
	for id in "$@"; do
		is_loaded "$id" && left="$left $id"
	done
	echo "$left"
}

check_killed() {
	local pid programs left
	: >"$tmp/err" # what an earlier run said must not be taken for this one's
	"$IOSONAR" latency -d "$name" -o json -t 60s >"$tmp/out" 2>>"$tmp/err" &
	pid=$!
	for _ in $(seq 100); do
		grep -q '^requests: ' "$tmp/err" && break # said once it is attached
		sleep 0.1
	done
	programs=$(programs_of "$pid")
	[ "$(echo "$programs" | wc -l)" -ge 3 ]
	ok $? "it holds programs: $(echo "$programs" | xargs)"
	# shellcheck disable=SC2086
	[ -n "$(still_loaded $programs)" ]
	ok $? "which are loaded"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	for _ in $(seq 50); do
		# shellcheck disable=SC2086
		left=$(still_loaded $programs)
		[ -z "$left" ] && break
		sleep 0.1
	done
	is "$left" '' "killed, it leaves none behind"
}

# ---- privileges ----

# state FILE: of a copy of /proc/PID/status, inheritable, permitted, effective and ambient capabilities, whether exec can
# gain none, whether calls are filtered.
state() { sed -nE 's/^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp):[[:space:]]*0*([0-9a-f]+)$/\3/p' "$1" | xargs; }

# The COMMAND looks: it begins when all is dropped.
check_privileges() {
	local own pid files=''
	own=$(state /proc/self/status)
	! "$IOSONAR" doctor -o json | grep -q '"item":"Landlock".*"state":"ok"' || files="no opening of files for writing, "
	watch -v -- "$(reads 11); cat /proc/\$PPID/status >$tmp/ours; cat /proc/self/status >$tmp/its"
	is "$code $(count)" "0 11" "it counts without privileges"
	is "$(state "$tmp/ours")" "0 0 0 0 1 2" "no capability, none to gain, system calls filtered"
	is "$(state "$tmp/its")" "$own" "the COMMAND has what iosonar was started with"
	is "$(grep '^privileges: ' "$tmp/err")" \
		"privileges: no capabilities, no new privileges, ${files}system calls filtered" "-v says so"
	watch -v --keep-privileges -- "cat /proc/\$PPID/status >$tmp/ours"
	is "$code $(state "$tmp/ours")" "0 $own" "--keep-privileges: as it was started"
	is "$(grep -c '^privileges: ' "$tmp/err")" 0 "and not a word"
	: >"$tmp/err"
	"$IOSONAR" latency -v -d "$name" -o json --out "$tmp/json" -t 60s 2>>"$tmp/err" &
	pid=$!
	for _ in $(seq 100); do
		grep -q '^privileges: ' "$tmp/err" && break
		sleep 0.1
	done
	is "$(state "/proc/$pid/status")" "0 0 0 0 1 2" "without a COMMAND the same"
	sh -c "$(reads 13)"
	kill -INT "$pid"
	wait "$pid"
	is "$? $(count)" "0 13" "and it ends as it should"
}

# A device comes while it runs: its files in /sys are still read.
check_privileges_new_device() {
	local old=$name
	truncate -s 1M "$tmp/late"
	timeout 60 "$IOSONAR" latency -o json --out "$tmp/json" -- sh -c "losetup -f --show $tmp/late >$tmp/name &&
		sleep 1 && dd if=\$(cat $tmp/name) of=/dev/null bs=4096 count=7 iflag=direct status=none; losetup -d \$(cat $tmp/name)" \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	name=$(sed 's,/dev/,,' "$tmp/name")
	is "$(grep -c "^$name appeared\$" "$tmp/err") $(count "\"dev\":\"$name\",\"op\":\"read\"")" "1 7" \
		"a device that comes later is found and counted"
	name=$old
}

# ---- the run ----

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v losetup >/dev/null || skip_all "there is no losetup (util-linux)"
[ -e /dev/loop-control ] || skip_all "this kernel has no loop devices"
[ -r /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
[ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || skip_all "/dev/shm is no tmpfs"
trap clean EXIT
trap "exit 1" HUP INT TERM
tmp=$(mktemp -d /dev/shm/iosonar-latency.XXXXXX) || skip_all "no room on /dev/shm"
truncate -s 32M "$tmp/disk"
make_loop "$tmp/disk" 9 || skip_all "no loop device: $(head -1 "$tmp/err")"
disk=$made name=${made#/dev/}
ln -s "$(command -v dd)" "$tmp/probe-dd"
# The file holds data: a hole would be read without tmpfs pages
dd if=/dev/zero of="$disk" bs=1M oflag=direct status=none 2>/dev/null

for scheduler in mq-deadline none; do
	check_reads_and_writes "$scheduler"
	check_deep "$scheduler"
done
check_scheduler_change
check_flush
check_discard
check_by
check_filter_task
check_filter_op
check_filter_outcome
check_partition
check_exit_codes
check_output
check_killed
check_privileges
check_privileges_new_device
echo "1..$nr"
exit $((failed > 0))
