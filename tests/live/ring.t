#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# record --ring on this machine: are all commands in the files of a ring, each once, over rotations and restarts? Do the
# limits hold, and does a file that someone reads stay as it is? Then kill -9 at random moments and a full disk. On a loop
# device on tmpfs. Second instruments: /sys/block/loopN/stat, sha256sum, du, and the file names of the directory.
# shellcheck disable=SC2010,SC2012 # names of a ring are plain
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

# mixed NUMBER: of random reads and writes.
mixed() {
	echo "fio --name=mixed --filename=$disk --direct=1 --ioengine=libaio --iodepth=8 --rw=randrw --bs=4k" \
		"--io_size=$(($1 * 4096)) --size=16M --norandommap --output=/dev/null"
}

stat_now() { awk '{ print $1 + $5 }' "/sys/block/$name/stat"; }

# ring OPTION... -- SCRIPT: a run into $tmp/ring; exit code in $code, commands by the kernel's count in $done.
ring() {
	local before options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	before=$(stat_now)
	timeout 120 "$IOSONAR" record -d "$name" --ring "$tmp/ring" "${options[@]}" -- sh -c "$2" >"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
	done=$(($(stat_now) - before))
}

# A kernel that hides a task of its owner from BPF loses completions that nobody counts; the ledger says how many.
unseen() { sed -n 's/^  lost \([0-9]*\): completion never seen/\1/p' "$tmp/err" | awk '{ n += $1 } END { print n + 0 }'; }

# fresh: an empty ring.
fresh() { rm -rf "$tmp/ring" && mkdir "$tmp/ring"; }

records() { # records DIR: in all complete files, as they are read
	local f sum=0
	for f in "$1"/*.cap; do
		sum=$((sum + $("$IOSONAR" export -r "$f" -o csv 2>/dev/null | sed 1d | wc -l)))
	done
	echo "$sum"
}
intact() { # intact DIR: files that are not; one line each
	local f
	for f in "$1"/*.cap; do
		[ ! -e "$f" ] || "$IOSONAR" info --verify "$f" 2>&1 | grep -q '^  intact' || echo "$f"
	done
}
term() { # term DIR NAME: of the ledgers of all files, added
	local f
	for f in "$1"/*.cap; do "$IOSONAR" info -o json "$f" 2>/dev/null; done |
		sed -n 's/.*"list":"ledger","name":"'"$2"'","value":\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}
manifest() { sed -n 's/.*"'"$2"'":"\{0,1\}\([^",}]*\).*/\1/p' "$1/manifest.jsonl"; }
sums_hold() { (cd "$1" && sed 's/.*"file":"\([^"]*\)".*"sha256":"\([^"]*\)".*/\2  \1/' manifest.jsonl | sha256sum -c --quiet); }
listed() { [ "$(manifest "$1" file | sort)" = "$(cd "$1" && ls -- *.cap)" ]; }

# ---- cases ----

check_rotation() {
	local lost
	fresh
	ring --size 16Mi --files 40 -- "$(mixed 300007)"
	lost=$(unseen)
	[ "$code" = 0 ] || [ "$lost" -gt 0 ]
	ok $? "300,007 commands: exit 0" || echo "# exit $code"
	[ "$(ls "$tmp/ring"/*.cap | wc -l)" -ge 4 ]
	ok $? "in $(ls "$tmp/ring"/*.cap | wc -l) files"
	is "$(($(records "$tmp/ring") + lost))" "$done" "the files have as many records as the kernel did commands"
	is "$(($(manifest "$tmp/ring" records | paste -sd+) + lost))" "$done" "the manifest says so, too"
	is "$(($(term "$tmp/ring" completed) + lost))" "$done" "the ledgers of all files add up to as many"
	is "$(term "$tmp/ring" issued)" "$done" "issued, too"
	is "$(term "$tmp/ring" unaccounted)$(term "$tmp/ring" in_flight)" 00 "and balance"
	is "$(intact "$tmp/ring")" '' "each file is intact"
	sums_hold "$tmp/ring" >"$tmp/out" 2>&1
	ok $? "sha256sum agrees with the manifest"
	listed "$tmp/ring"
	ok $? "which lists every file"
	is "$(find "$tmp/ring" -name '.*.part')" '' "no temporary file is left"
	is "$(stat -c %a "$tmp/ring"/* | sort -u)" 600 "files are for their owner alone"
	together "$lost"
	alone
}

together() { # together LOST
	local all=() f
	for f in "$tmp/ring"/*.cap; do all+=(-r "$f"); done
	"$IOSONAR" latency "${all[@]}" --by dev -o json >"$tmp/out" 2>"$tmp/err"
	is "$(sed -n 's/.*"type":"ledger".*"completed":\([0-9]*\).*"unaccounted":\([0-9]*\).*/\1 \2/p' "$tmp/out")" "$((done - $1)) 0" \
		"-r of all: one ledger, which balances"
	"$IOSONAR" export "${all[@]}" -o csv 2>/dev/null | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "wall_ns") c = i; next }
		$c < last { bad++ } { last = $c } END { print bad + 0 }' >"$tmp/order"
	is "$(cat "$tmp/order")" 0 "in order of time"
}

# A file alone: its span is its own, not that of the run; its ledger counts its own commands.
alone() {
	local f
	f=$(ls "$tmp/ring"/*.cap | sed -n 3p)
	"$IOSONAR" latency -r "$f" -o json >"$tmp/out" 2>"$tmp/err"
	is "$?" 0 "the third file alone: exit 0"
	is "$(sed -n 's/.*"type":"ledger","issued":\([0-9]*\),"completed":\([0-9]*\).*/\1 \2/p' "$tmp/out")" \
		"$(manifest "$tmp/ring" records | sed -n 3p) $(manifest "$tmp/ring" records | sed -n 3p)" "its ledger counts its own"
	grep -q 'nothing lost' "$tmp/err"
	ok $? "and nothing is lost"
}

# The total is measured while files come and go, and the first file is held open by a reader.
check_limits() {
	local held sum most=0 files=0 now pid names
	fresh
	ring --size 1536Ki --files 5 -- "$(mixed 30011)"
	exec 9<"$(ls "$tmp/ring"/*.cap | head -1)"
	held=$(manifest "$tmp/ring" sha256 | head -1)
	"$IOSONAR" record -d "$name" --ring "$tmp/ring" --size 1536Ki --files 5 -- sh -c "$(mixed 400009)" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		now=$(find "$tmp/ring" -type f -printf '%s\n' 2>/dev/null | awk '{ n += $1 } END { print n + 0 }')
		[ "$now" -le "$most" ] || most=$now
		names=$(find "$tmp/ring" -name '*.cap' -o -name '.*.part' -size +0 | grep -vc manifest)
		[ "$names" -le "$files" ] || files=$names
		sleep 0.02
	done
	wait "$pid"
	[ "$most" -le $((1536 * 1024)) ] && [ "$most" -gt $((800 * 1024)) ]
	ok $? "--size: at most $most of $((1536 * 1024)) bytes at any time"
	[ "$files" -le 5 ] && [ "$files" -ge 4 ]
	ok $? "--files 5: at most $files"
	is "$(ls "$tmp/ring" | grep -c '\.000001\.cap')" 0 "the oldest file is gone"
	sum=$(sha256sum <&9 | cut -d' ' -f1)
	is "$sum" "$held" "who has it open still reads all of it"
	exec 9<&-
	listed "$tmp/ring"
	ok $? "the manifest lists the files that are there"
}

# The next run goes on; nothing is used again.
check_restart() {
	local before after
	before=$(ls "$tmp/ring"/*.cap | tail -1)
	ring --size 1536Ki --files 5 -- "$(mixed 2003)"
	after=$(ls "$tmp/ring"/*.cap | tail -1)
	is "$((10#$(number "$after") - 10#$(number "$before")))" 1 "a restart goes on with the next number"
	grep -q 'files with .* of earlier recordings' "$tmp/err"
	ok $? "and says what is there"
	rm -f "$tmp/ring"/*.cap
	ring --size 1536Ki --files 5 -- "$(mixed 2003)"
	is "$((10#$(number "$(ls "$tmp/ring"/*.cap)") - 10#$(number "$after")))" 1 "also when someone removed all files"
	ring --size 1536Ki --files 5 --host 'db/7' -- "$(mixed 503)"
	is "$(ls "$tmp/ring" | grep -c '^db_7\..*\.000001\.cap$') $(grep -c '"host":"db/7"' "$tmp/ring/manifest.jsonl")" "1 1" "--host: the name of the file and the manifest"
	ring --size 1536Ki --files 5 --anonymous -- "$(mixed 503)"
	is "$(ls "$tmp/ring" | grep -c "^host-[0-9a-f]*\.host-[0-9a-f]*\.000001\.cap$")" 1 "--anonymous: the name, too"
}
number() { basename "$1" .cap | sed 's/.*\.//'; }

check_refusals() {
	local pid
	"$IOSONAR" record -d "$name" --ring "$tmp/ring" --size 1536Ki --files 5 -t 30s >/dev/null 2>&1 &
	pid=$!
	sleep 2
	timeout 30 "$IOSONAR" record -d "$name" --ring "$tmp/ring" --size 1536Ki --files 5 -t 1s >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -c 'another iosonar records into' "$tmp/err")" "1 1" "one recorder for a directory"
	kill -TERM "$pid"
	wait "$pid"
	"$IOSONAR" record -d "$name" --ring "$tmp/none" --size 1536Ki --files 5 -t 1s >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -c 'cannot open the directory' "$tmp/err")" "1 1" "a directory that is missing"
}

# 20 runs, each killed at another moment, its deputy left to itself. The load goes on.
check_kill() {
	local i pid load seen='' cut=0 lines=0 numbers
	fresh
	sh -c "while :; do $(mixed 50021); done" >/dev/null 2>&1 &
	load=$!
	for i in $(seq 20); do
		"$IOSONAR" record -d "$name" --ring "$tmp/ring" --size 8Mi --files 30 >"$tmp/out" 2>"$tmp/err" &
		pid=$!
		sleep "$((RANDOM % 3)).$((RANDOM % 1000))"
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
		lines=$((lines + $(grep -c 'was left incomplete' "$tmp/err")))
		seen+="$(intact "$tmp/ring")"
	done
	kill "$load"
	wait "$load" 2>/dev/null
	ring --size 8Mi --files 30 -- "$(mixed 1009)"
	lines=$((lines + $(grep -c 'was left incomplete' "$tmp/err")))
	is "$seen$(intact "$tmp/ring")" '' "kill -9, 20 times: no file is ever incomplete under its final name"
	is "$(find "$tmp/ring" -name '.*')" "" "what was left is recovered or removed"
	[ "$lines" -ge 10 ]
	ok $? "and each is reported: $lines"
	for i in "$tmp/ring"/*.cap; do "$IOSONAR" info "$i" 2>/dev/null | grep -q '^  ended *killed' && cut=$((cut + 1)); done
	[ "$cut" -ge 1 ]
	ok $? "$cut recovered files say that the recorder was killed"
	numbers=$(ls "$tmp/ring" | sed -n 's/.*\.\([0-9]*\)\.cap$/\1/p' | sort -n | awk 'NR > 1 && $1 != last + 1 { print } { last = $1 }')
	is "$numbers" '' "numbers have no gap"
	listed "$tmp/ring" && sums_hold "$tmp/ring"
	ok $? "the manifest has every file, with its checksum"
}

# Of the directory's size, the disk has less: the ring fits itself to it.
check_full() {
	local kept lost
	fresh
	mkdir -p "$tmp/small"
	mount -t tmpfs -o size=1536k none "$tmp/small" 2>/dev/null || { skip "a full disk" "no tmpfs can be mounted"; return; }
	small=$tmp/small
	ring_dir=$tmp/ring
	rmdir "$tmp/ring" && ln -s "$small" "$tmp/ring"
	ring --size 16Mi --files 40 -- "$(mixed 500009)"
	is "$code" 3 "a full disk: exit 3"
	is "$(intact "$small")" '' "no incomplete file"
	lost=$(sed -n 's/^  lost \([0-9]*\): not written to the capture.*/\1/p' "$tmp/err")
	[ "${lost:-0}" -gt 0 ] && ! grep -q 'nothing lost' "$tmp/err"
	ok $? "the ledger counts what was not written: ${lost:-0}"
	kept=$(records "$small")
	[ "$kept" -gt 50000 ] && [ "$kept" -lt "$done" ]
	ok $? "the newest files are there: $kept records of $done"
	is "$(ls "$small" | grep -c '\.000001\.cap')" 0 "the oldest made room"
	check_full_others
	rm -f "$ring_dir"
	umount "$small" && small=''
}

# Another program fills the disk: records are counted until there is room again; then the ring goes on.
check_full_others() {
	local pid lost
	rm -f "$small"/* "$small"/.[!.]*
	"$IOSONAR" record -d "$name" --ring "$tmp/ring" --size 1Mi --files 4 >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	sleep 1.5
	sh -c "$(mixed 20011)"
	dd if=/dev/zero of="$small/other" bs=4k status=none 2>/dev/null
	sh -c "$(mixed 60013)"
	sleep 1.5
	rm "$small/other"
	sleep 2.5
	sh -c "$(mixed 20021)"
	kill -INT "$pid"
	wait "$pid"
	is "$?" 3 "another program fills the disk: exit 3"
	lost=$(sed -n 's/^  lost \([0-9]*\): not written to the capture.*/\1/p' "$tmp/err")
	is "$(($(records "$small") + ${lost:-0} + $(unseen)))" "$((20011 + 60013 + 20021))" "what is there and what was not written are all there were"
	is "$(intact "$small")" '' "no incomplete file"
	"$IOSONAR" trace -r "$(ls "$small"/*.cap | tail -1)" >/dev/null 2>"$tmp/said"
	grep -q 'lacks [0-9]* records: disk full' "$tmp/said"
	ok $? "the next file says what is missing before it"
}

# Disks that come and go beside the one that is recorded. Later files do not name them, and nothing of them stays in memory.
come_and_go() { # come_and_go NUMBER; adds to $came
	local other i
	for ((i = 0; i < $1; i++)); do
		other=$(losetup -f --show "$tmp/other") || return
		dd if="$other" of=/dev/null bs=4k count=1 iflag=direct status=none && came=$((came + 1))
		losetup -d "$other"
	done
	sleep 3 # disks that went are remembered for 2 s
}
check_gone() {
	local pid before after came=0
	fresh
	truncate -s 1M "$tmp/other"
	"$IOSONAR" record -d "$name" --ring "$tmp/ring" --size 1536Ki --files 6 >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	sleep 1.5
	sh -c "$(mixed 50021)"
	come_and_go 300
	before=$(rss "$pid")
	come_and_go 450
	after=$(rss "$pid")
	sh -c "$(mixed 50021)"
	kill -INT "$pid"
	wait "$pid"
	is "$came" 750 "disks that come and go: each was read"
	[ $((after - before)) -lt 128 ] # as many places as the first 300 needed
	ok $? "disks that come and go: 450 more take less than 128 KiB ($before to $after)"
	is "$(($(records "$tmp/ring") + $(unseen)))" 100042 "disks that come and go: each command of the other disk is there"
	is "$("$IOSONAR" sql -o csv "$(ls "$tmp/ring"/*.cap | tail -1)" 'SELECT count(*) FROM device WHERE gone' 2>/dev/null | tail -1)" 0 \
		"disks that come and go: the last file names none that went"
}
rss() { sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$1/status"; }

# ---- the run ----

[ "$(id -u)" = 0 ] || skip_all "requires root"
command -v fio >/dev/null || skip_all "requires fio"
tmp=$(mktemp -d /tmp/iosonar-ring.XXXXXX)
trap clean EXIT
truncate -s 64M "$tmp/disk"
disk=$(losetup -f --show "$tmp/disk" 2>/dev/null) || skip_all "no loop device"
name=${disk#/dev/}
timeout 30 "$IOSONAR" latency -d "$name" -t 200ms >/dev/null 2>"$tmp/err" || skip_all "iosonar cannot measure here: $(head -1 "$tmp/err")"
check_rotation
check_limits
check_restart
check_refusals
check_kill
check_full
check_gone
echo "1..$nr"
exit $((failed > 0))
