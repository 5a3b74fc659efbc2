#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# inflight on this machine: does it list what hangs, also what hung before it was started? A loop device on a file of an
# ext4 that is frozen takes writes and does not end them until the ext4 is thawed. Second instruments:
# /sys/block/loopN/inflight, and what dd was told to write.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/disk.sh
. "$(dirname "$0")/disk.sh"
hung='' frozen='' writer=''

# shellcheck disable=SC2317 # called by the trap
clean() {
	thaw
	[ -z "$writer" ] || wait "$writer"
	[ -z "$hung" ] || losetup -d "$hung"
	drop_disk
}
trap clean EXIT

freeze() { fsfreeze -f "$tmp/mnt" && frozen=1; }
thaw() {
	[ -z "$frozen" ] || fsfreeze -u "$tmp/mnt"
	frozen=''
}

# inflight OPTION...: exit code in $code, output in $tmp/out, words in $tmp/err.
inflight() {
	timeout 60 "$IOSONAR" inflight -d "$name" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
}

values() { sed -n '/"type":"inflight"/s/.*"'"$1"'":"*\([^,"}]*\).*/\1/p' "$tmp/out"; }
in_driver() { awk '{ print $1 + $2 }' "/sys/block/$name/inflight"; }

# wait_until COMMAND...: at most 10 s.
wait_until() {
	local left=200
	until "$@"; do
		[ $((left -= 1)) -gt 0 ] || return 1
		sleep 0.05
	done
}
# shellcheck disable=SC2317 # wait_until calls these
has() { [ "$(in_driver)" = "$1" ]; }
# shellcheck disable=SC2317
looked_at() { grep -q "\"in_flight\":$1," "$tmp/out"; }

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# ---- cases ----

check_nothing() {
	inflight
	is "$code $(cat "$tmp/out")" "0 nothing in flight" "nothing in flight: says so, and exits 0"
}

check_older() {
	local before sent asked age
	freeze
	before=$(now_ms)
	dd if=/dev/zero of="$hung" bs=8k seek=3 count=1 oflag=direct conv=notrunc status=none &
	writer=$!
	wait_until has 1
	ok $? "a write hangs"
	sent=$(now_ms)
	sleep 1.1
	asked=$(now_ms)
	inflight --older 1s -o json
	is "$code" 6 "--older 1s: exit 6"
	is "$(values dev) $(values op) $(values sector) $(values bytes) $(values qid)" "$name write 48 8192 0" "it is listed, and nothing else"
	is "$(values pid) $(values comm)" "null null" "who sent it before is not known"
	age=$(($(values age_ns) / 1000000))
	[ "$age" -ge $((asked - sent)) ] && [ "$age" -le $(($(now_ms) - before)) ]
	ok $? "its age is right: $age ms"
	inflight --older 10m
	is "$code $(cat "$tmp/out")" "0 nothing in flight for 600s; 1 in flight" "--older 10m: not yet, exit 0"
	inflight --op read --older 1s
	is "$code $(cat "$tmp/out")" "0 nothing in flight" "--op read: it is none"
	inflight --min 1s -t 100ms
	is "$code $(head -c 29 "$tmp/out")" "0 1 in flight for 1.00s or more" "--min lists it, exit 0"
	thaw
	wait "$writer"
	writer=''
	inflight --older 1s
	is "$code $(cat "$tmp/out")" "0 nothing in flight" "it came back: nothing, exit 0"
}

# What is sent while it watches has its process; what it sees is what the kernel counts.
check_watched() {
	local pid
	freeze
	"$IOSONAR" inflight -d "$name" -i 100ms -t 60s -o json >"$tmp/out" 2>"$tmp/err" </dev/null &
	pid=$!
	wait_until looked_at 0
	dd if=/dev/zero of="$hung" bs=4k seek=7 count=1 oflag=direct conv=notrunc status=none &
	writer=$!
	wait_until looked_at 1
	ok $? "a look sees it"
	is "$(in_driver)" 1 "and so does the kernel"
	is "$(values pid | sort -u) $(values comm | sort -u)" "$writer dd" "sent by dd"
	is "$(values sector | sort -u)" 56 "where it was told to"
	thaw
	wait "$writer"
	writer=''
	kill -INT "$pid"
	wait "$pid"
	is $? 0 "exit 0"
	is "$(grep -c '"type":"ledger"' "$tmp/out") $(grep -c 'issued' "$tmp/err")" "0 0" "there is no ledger: the tags are the list"
}

# Starts and ends that nobody saw are no loss: every look read the tags.
check_busy() {
	local pids=() codes=''
	for _ in 1 2 3 4; do
		while :; do dd if="$hung" of=/dev/null bs=4k count=4000 iflag=direct status=none; done &
		pids+=($!)
	done
	for _ in 1 2 3 4 5; do
		inflight -t 100ms
		codes+="$code"
	done
	kill "${pids[@]}"
	wait "${pids[@]}" 2>"$tmp/err"
	is "$codes" 00000 "a busy device: every run exits 0"
}

# A COMMAND is watched to its end, and its own status is told, unless something is stuck.
check_command() {
	inflight -i 50ms -- sh -c 'exit 9'
	is "$code" 9 "the COMMAND's status"
	freeze
	dd if=/dev/zero of="$hung" bs=4k count=1 oflag=direct conv=notrunc status=none &
	writer=$!
	wait_until has 1
	inflight -i 50ms --older 1ms -- sh -c 'sleep 0.3; exit 9'
	is "$code" 6 "but 6 comes before it"
	thaw
	wait "$writer"
	writer=''
}

# ---- the run ----

needs mkfs.ext4 fsfreeze
make_ext4 64M
dd if=/dev/zero of="$tmp/mnt/file" bs=1M count=16 status=none
hung=$(losetup -f --show "$tmp/mnt/file" 2>"$tmp/err") || { hung='' && skip_all "no second loop device: $(head -1 "$tmp/err")"; }
name=${hung#/dev/}
command -v udevadm >/dev/null && udevadm settle -t 5

check_nothing
check_older
check_watched
check_busy
check_command
echo "1..$nr"
exit $((failed > 0))
