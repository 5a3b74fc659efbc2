#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# top -r in tmux, over a capture of a loop device: is every window that it shows what latency -o json has of the same time,
# and does every key do what it says?
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/screen.sh
. "$(dirname "$0")/screen.sh"
disk='' mounted='' group='' capture=run.cap

# shellcheck disable=SC2317 # called by the trap
clean() {
	[ -n "$tmp" ] && tm kill-server 2>/dev/null
	exec 9>&-
	[ -n "$mounted" ] && umount "$mounted"
	[ -n "$group" ] && rmdir "$group"
	[ -n "$disk" ] && losetup -d "$disk"
	[ -n "$tmp" ] && rm -rf "$tmp"
}

# start [OPTION...]: as in top.t.
start() {
	rm -f "$tmp/before" "$tmp/after" "$tmp/code"
	keys "clear; stty -a >$tmp/before; $IOSONAR top -r $tmp/$capture $*; echo \$? >$tmp/code; stty -a >$tmp/after" Enter
	shows "^iosonar top  $capture  [0-9.]+ s to " "it draws"
}

# ---- what latency has ----

# from_json BY FROM TO COLUMN... [FIELD=VALUE...]: "NAME|NUMBER|..." of each row that latency prints for this window.
from_json() {
	local by=$1 from=$2 to=$3
	shift 3
	"$IOSONAR" latency -r "$tmp/$capture" --from "$from" --to "$to" --by "$by" -o json 2>/dev/null |
		python3 "$(dirname "$0")/top_rows.py" "${by##*,}" "$@" | sort
}

# The same of the rows on the screen: in flight comes last, and a capture does not know it.
from_screen() {
	shown | sed -nE 's/^[> ] (.*[^ ]) +([^ ]+) +([^ ]+) +([^ ]+) +([^ ]+) +([^ ]+) +([^ ]+) +-$/\1|\2|\3|\4|\5|\6|\7/p' |
		grep -vE '^[^|]*\|0\.0\|' | sort
}

empty=''
export SCREEN='' # for top_rows.py
usual=(iops mb_per_s size_bytes p50_ns p99_ns max_ns) others=(iops mb_per_s size_bytes p90_ns p99_9_ns mean_ns)

# A window may be empty where fio was slow to start; with empty=no it must not.
same() { # same BY FROM TO WHAT [FIELD=VALUE...]: every number of every row
	local by=$1 from=$2 to=$3 what=$4 rows
	shift 4
	SCREEN=$(from_screen)
	rows=$(from_json "$by" "$from" "$to" "${usual[@]}" "$@")
	is "$SCREEN" "${rows:-${empty:+a row}}" "$what: every number is that of latency"
}

is_chosen() { # is_chosen NUMBER WHAT: which of the rows
	for _ in $(seq 100); do
		[ "$(shown | grep '^[> ] .* -$' | sed -n '/^>/=')" = "$1" ] && break
		sleep 0.05
	done
	is "$(shown | grep '^[> ] .* -$' | sed -n '/^>/=')" "$1" "$2"
}

# The header is about all rows, and the capture has one disk.
same_sums() { # same_sums FROM TO
	local rows
	SCREEN=$(shown | sed -nE "s/^IO.s ([^ ]+)  MB.s ([^ ]+)  p50 ([^ ]+)  p99 ([^ ]+)  max ([^ ]+)\$/$name|\1|\2|\3|\4|\5/p")
	rows=$(from_json dev "$1" "$2" iops mb_per_s p50_ns p99_ns max_ns)
	is "$SCREEN" "${rows:-$name|0.0|0.0|0ns|0ns|0ns}" "the sums of the header are those of latency"
}

# ---- windows ----

# The operations of the device, of 1 s to 2 s.
check_columns() {
	keys l
	shows ' p90 +p99.9 +mean ' "l has other columns"
	SCREEN=$(from_screen)
	is "$SCREEN" "$(from_json dev,op 1s 2s "${others[@]}")" "with every number of latency"
	keys l
	shows ' p50 +p99 +max ' "and the first ones again"
	keys G
	is_chosen 2 "G chooses the last row"
	keys g
	is_chosen 1 "g the first one"
}

check_time() {
	shows '  0\.000 s to 1\.000 s of [0-9.]+ s  20[0-9-]+ [0-9:]+ UTC$' "the first window comes first"
	same dev 0s 1s "the first window"
	same_sums 0s 1s
	shows "^issued [1-9].* nothing lost\$" "the ledger is that of the recording"
	keys Right
	shows '  1\.000 s to 2\.000 s of ' "Right shows the next window"
	same dev 1s 2s "the next window"
	shows 'over 2 windows, this one' "the strip has both"
	keys Right Left
	shows '  1\.000 s to 2\.000 s of ' "Left goes back"
	same dev 1s 2s "it again"
	keys Enter
	shows "^$name  by op" "Enter opens the device"
	same dev,op 1s 2s "its operations"
	same_sums 1s 2s
	check_columns
	keys BSpace
	shows '^all  by dev' "Backspace goes back"
	keys +
	shows '  1\.000 s to 3\.000 s of ' "+ makes the window longer"
	same dev 1s 3s "a long window"
	keys '='
	shows '  1\.000 s to [45]\.[0-9]* s of ' "= does, too"
	empty=no same dev 1s 5s "a longer one"
	same_sums 1s 5s
	keys -
	keys - - -
	shows '  1\.000 s to 1\.250 s of ' "- makes it shorter"
	same dev 1s 1250ms "a short window"
	keys Right Right
	shows '  1\.500 s to 1\.750 s of ' "it moves by its length"
	shows 'over 7 windows, this one' "the strip has all windows before it"
	keys Left Left Left
	shows '  0\.750 s to 1\.000 s of ' "and back"
	same dev 750ms 1s "a window before"
	keys Home
	shows '  0\.000 s to 0\.250 s of ' "Home shows the first window"
	keys Left
	shows 'this is the start of the capture' "nothing is before it"
	keys End
	shows " to $end_s s of $end_s s " "End shows the last window"
	same dev "$(shown | sed -n '1s/.*  \([0-9.]*\) s to .*/\1s/p')" 1000s "the last window"
	keys Right
	shows 'this is the end of the capture' "nothing is after it"
}

check_play() {
	keys Home + +
	shows '  0\.000 s to 1\.000 s of ' "a window of a second"
	keys Space
	shows ' PLAYS$' "Space plays"
	shows '  1\.000 s to 2\.000 s of .* PLAYS$' "the next window comes"
	keys Space
	wait_gone ' PLAYS$'
	ok $? "Space stops it"
	keys End
	keys Left Space
	shows ' PLAYS$' "it plays again"
	wait_gone ' PLAYS$'
	ok $? "up to the end"
	keys '?'
	shows '^Right +the window after' "? shows its keys"
	is "$(shown | grep -cE '^(Space|Left|End|\+) ')" 4 "and not those that a capture has no use for"
	keys q
}

check_end() {
	keys Left q # the last window may be shorter than the end of fio
	ended
	is "$(cat "$tmp/code")" 0 "q ends it with 0"
	shows '^[0-9.]+ s to [0-9.]+ s of [0-9.]+ s:$' "it leaves the window"
	shows "^[0-9.]+ $name +read " "with its rows"
	is_sane "q"
	start --by op,comm --from 1s --to 3s -i 500ms
	shows '  1\.000 s to 1\.500 s of 3\.000 s' "--from, --to and -i bound it"
	keys End
	shows '  2\.500 s to 3\.000 s of 3\.000 s' "to the last window"
	tm resize-window -x 40 -y 10
	shows '^2\.500 s to 3\.000 s of 3\.000 s$' "40x10 has the time"
	kill -TERM "$(pgrep -f "^$IOSONAR top -r $tmp" | head -1)"
	ended
	is "$(cat "$tmp/code")" 0 "SIGTERM ends it with 0"
	tm resize-window -x 120 -y 30
}

# ---- from a disk to a file ----

# recorded NAME OPTION... -- COMMAND: a capture. As in latency.t, one that the kernel hid a completion from is made again.
recorded() {
	recorded_once "$@"
	local code=$?
	[ $code = 3 ] && grep -q 'lost [0-9]*: completion never seen' "$tmp/err" || return $code
	again top_replay "$(grep -h 'completion never seen' "$tmp/err")"
	recorded_once "$@"
}
recorded_once() {
	rm -f "$tmp/$1"
	"$IOSONAR" record -d "$name" -w "$tmp/$1" "${@:2}" 2>"$tmp/err"
}

# Two processes and two files, one of them in a cgroup whose name is that of a container. It is the only capture with files.
record_files() {
	local groups
	groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	mkdir "$tmp/mnt" && mkfs.ext4 -q -F -O ^has_journal -E lazy_itable_init=0 "$disk" && mount "$disk" "$tmp/mnt" && mounted=$tmp/mnt || return 1
	group=$groups/docker-$(printf '0123456789abcdef%.0s' 1 2 3 4).scope
	mkdir "$group" 2>/dev/null || group=
	cat >"$tmp/work" <<-'EOF'
		cd "$1" || exit 1
		([ -z "$2" ] || echo "$BASHPID" >"$2/cgroup.procs"; exec dd if=/dev/zero of=one bs=4k count=53 oflag=direct status=none)
		dd if=/dev/zero of=two bs=8k count=31 oflag=direct status=none
		dd if=one of=/dev/null bs=4k count=23 iflag=direct status=none
	EOF
	recorded files.cap --stages -- bash "$tmp/work" "$mounted" "$group"
}

open_row() { # open_row PLACE KEY: Enter, and where one is then
	keys Enter
	shows "^$1  by $2, " "Enter: $1 by $2"
}

check_drill() {
	local all="--by dev,qid,pid,cgroup,container,file" pid file inside empty
	capture=files.cap empty=no
	tm resize-window -x 200 -y 30 # names are whole
	start "$all" -i 60s
	same dev 0s 60s "the disk"
	open_row "$name" qid
	same dev,qid 0s 60s "its queues"
	open_row "$name > qid 0" pid
	same dev,qid,pid 0s 60s "a queue's processes"
	is "$(from_screen | wc -l)" 3 "which are three"
	pid=$(shown | sed -nE 's/^> pid ([0-9]+) .*/\1/p')
	open_row "$name > qid 0 > pid $pid" cgroup
	same dev,pid,cgroup 0s 60s "a process's cgroup" "pid=$pid"
	inside="$name > qid 0 > pid $pid > $(shown | sed -nE 's/^> ([^ ]+) .*/\1/p')"
	open_row "$inside" container
	same dev,pid,cgroup,container 0s 60s "a cgroup's container" "pid=$pid"
	inside+=" > $(shown | sed -nE 's/^> ([^ ]+) .*/\1/p')"
	open_row "$inside" file
	same dev,pid,file 0s 60s "a container's files" "pid=$pid"
	keys Enter
	shows 'there is nothing below these rows' "below a file is nothing"
	keys BSpace
	shows "^${inside% > *}  by container, " "Backspace goes back"
	keys Escape
	shows "^$name > qid 0 > pid $pid  by cgroup, " "Esc, too"
	keys Escape
	shows "^$name > qid 0  by pid, " "to the processes"
	same dev,qid,pid 0s 60s "they again"
	check_other_ways
	keys q
	ended
	capture=run.cap
}

# At the processes of the queue.
check_other_ways() {
	local key
	for key in cgroup container file; do
		keys b
		shows "^$name > qid 0  by $key, " "b: by $key"
		same "dev,qid,$key" 0s 60s "the queue by $key"
	done
	file=$(shown | sed -nE 's/^> ([^ ]+) .*/\1/p')
	open_row "$name > qid 0 > $file" pid
	same dev,qid,file,pid 0s 60s "a file's processes" "file=$file"
	is "$(from_screen | wc -l)" 2 "which are two"
	keys Escape
	shows "^$name > qid 0  by file, " "Esc keeps what b chose"
	keys b
	shows "^$name > qid 0  by pid, " "b: after the last key the first one"
	keys Escape Escape
	shows '^all  by dev, ' "Esc goes back to the disk"
	keys b
	shows '^all  by qid, ' "b: all queues"
	same qid 0s 60s "queues of all disks"
}

# ---- what is lost ----

# A ring of 4 KiB loses records. v1.cap has a ledger in which one command is missing.
check_loss() {
	local lost
	"$IOSONAR" record --buffer 4096 -d "$name" -w "$tmp/lost.cap" -- fio --name=load --filename="$disk" --direct=1 \
		--rw=randread --norandommap --ioengine=libaio --iodepth=32 --bs=4k --size=8M --io_size=$((30011 * 4))k --output="$tmp/fio" 2>"$tmp/err"
	lost=$("$IOSONAR" latency -r "$tmp/lost.cap" -o json 2>/dev/null | grep -o '"lost_[a-z_]*":[0-9]*' | awk -F: '{ n += $2 } END { print n }')
	[ "${lost:-0}" -gt 0 ]
	ok $? "a ring of 4 KiB loses records: $lost"
	capture=lost.cap
	start
	shows "^LOST $lost  issued 3[0-9]{4} = completed " "what is lost is said with its number"
	is_red "LOST $lost" "in red"
	is "$(shown | grep -c 'nothing lost')" 0 "and nothing else is said"
	keys q
	ended
	is "$(cat "$tmp/code")" 3 "it ends with 3"
	cp "$(dirname "$0")/../data/v1.cap" "$tmp/v1.cap"
	capture=v1.cap
	start --color never
	shows '^UNACCOUNTED 1  issued 1010 = completed 1009 \+ in flight 0$' "a ledger that is not whole says so"
	is_red UNACCOUNTED "--color never: no red" 0
	keys q
	ended
	capture=run.cap
}

# A damaged block: what is left is shown, and the screen says so.
check_damage() {
	head -c $(($(stat -c %s "$tmp/run.cap") * 2 / 3)) "$tmp/run.cap" >"$tmp/cut.cap"
	mv "$tmp/cut.cap" "$tmp/run.cap"
	start
	shows '^DAMAGED' "a truncated capture is called damaged"
	shows 'the capture has no ledger' "and has no ledger"
	keys q
	ended
	is "$(cat "$tmp/code")" 3 "and ends with 3"
}

# ---- the run ----

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
for program in tmux fio losetup python3 mkfs.ext4; do
	command -v "$program" >/dev/null || skip_all "there is no $program"
done
[ -e /dev/loop-control ] || skip_all "this kernel has no loop devices"
[ -r /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
"$IOSONAR" --version | grep -qw ncurses || skip_all "$IOSONAR is built without ncurses"
[ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || skip_all "/dev/shm is no tmpfs"
trap clean EXIT
trap "exit 1" HUP INT TERM
tmp=$(mktemp -d /dev/shm/iosonar-top.XXXXXX) || skip_all "no room on /dev/shm"
truncate -s 16M "$tmp/disk"
disk=$(losetup -f --show "$tmp/disk") || skip_all "no loop device"
name=${disk#/dev/}
exec 9<>"$disk" && { flock -x 9 || true; } # or udev reads it
recorded run.cap -- fio --name=load --filename="$disk" --direct=1 --ioengine=libaio --iodepth=4 --rw=randrw --bs=4k \
	--number_ios=1753 --size=8M --norandommap --rate_iops=210,210 --output="$tmp/fio"
ok $? "a capture"
end_s=$("$IOSONAR" latency -r "$tmp/run.cap" -o json 2>/dev/null | sed -n 's/.*"span":"total","time_s":\([0-9.]*\).*/\1/p' | head -1 |
	xargs printf '%.3f')
tm new-session -d -x 120 -y 30 'env LC_ALL=C bash --norc --noprofile'
keys "PS1='$ '" Enter
start
check_time
check_play
check_end
record_files
ok $? "a capture with files"
check_drill
check_loss
check_damage
echo "1..$nr"
exit $((failed > 0))
