#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# top -r in tmux, over a capture of a loop device: is every window that it shows what latency -o json has of the same time,
# and does every key do what it says?
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/screen.sh
. "$(dirname "$0")/screen.sh"
disk=''

# shellcheck disable=SC2317 # called by the trap
clean() {
	[ -n "$tmp" ] && tm kill-server 2>/dev/null
	exec 9>&-
	[ -n "$disk" ] && losetup -d "$disk"
	[ -n "$tmp" ] && rm -rf "$tmp"
}

# start [OPTION...]: as in top.t.
start() {
	rm -f "$tmp/before" "$tmp/after" "$tmp/code"
	keys "clear; stty -a >$tmp/before; $IOSONAR top -r $tmp/run.cap $*; echo \$? >$tmp/code; stty -a >$tmp/after" Enter
	shows '^iosonar top  run.cap  [0-9.]+ s to ' "it draws"
}

# ---- what latency has ----

# from_json FROM TO BY FIELD: "NAME NUMBER" of each row that latency prints for this window.
from_json() {
	"$IOSONAR" latency -r "$tmp/run.cap" --from "$1" --to "$2" --by "$3" -o json 2>/dev/null | grep '"span":"total"' |
		sed -n "s/.*\"${3##*,}\":\"\([a-z0-9]*\)\".*\"$4\":\([0-9.]*\).*/\1 \2/p" | sort
}

# from_screen COLUMN: the same of the rows on the screen: 2 is IO/s, 5 p50, 6 p99, 7 max.
from_screen() {
	shown | awk -v column="$1" '
		/^  (dev|op) / { rows = 1; next }
		/^latency of/ || /^$/ { rows = 0 }
		rows && $0 ~ /^[> ] [a-z]/ { sub(/^>/, ""); if ($2 + 0 > 0) print $1, $column }' | sort
}

# As the screen prints it: three digits and a unit.
in_words() {
	awk -v unit="$1" '{
		n = $2; u = ""
		if (unit == "s") { u = "ns" }
		if (unit == "s" && n >= 1e3) { n /= 1e3; u = "us" }
		if (u == "us" && n >= 999.5) { n /= 1e3; u = "ms" }
		digits = (unit == "s" && n < 9.995) ? 2 : (n < 99.95) ? 1 : 0
		printf "%s %.*f%s\n", $1, (u == "ns") ? 0 : digits, n, u }'
}

same() { # same FROM TO BY WHAT: rates and latency
	local field column unit
	while read -r field column unit; do
		is "$(from_screen "$column")" "$(from_json "$1" "$2" "$3" "$field" | in_words "$unit")" "$4: $field as latency has it"
	done <<-EOF
		iops 2 n
		p50_ns 5 s
		p99_ns 6 s
		max_ns 7 s
	EOF
}

# ---- windows ----

check_time() {
	shows '  0\.000 s to 1\.000 s of [0-9.]+ s  20[0-9-]+ [0-9:]+ UTC$' "the first window comes first"
	same 0s 1s dev "the first window"
	shows "^issued [1-9].* nothing lost\$" "the ledger is that of the recording"
	keys Right
	shows '  1\.000 s to 2\.000 s of ' "Right shows the next window"
	same 1s 2s dev "the next window"
	shows 'over 2 windows, this one' "the strip has both"
	keys Right Left
	shows '  1\.000 s to 2\.000 s of ' "Left goes back"
	same 1s 2s dev "it again"
	keys Enter
	shows "^$name  by op" "Enter opens the device"
	same 1s 2s dev,op "its operations"
	keys BSpace
	shows '^all  by dev' "Backspace goes back"
	keys +
	shows '  1\.000 s to 3\.000 s of ' "+ makes the window longer"
	same 1s 3s dev "a long window"
	keys - - -
	shows '  1\.000 s to 1\.250 s of ' "- makes it shorter"
	same 1s 1250ms dev "a short window"
	keys Right Right
	shows '  1\.500 s to 1\.750 s of ' "it moves by its length"
	shows 'over 7 windows, this one' "the strip has all windows before it"
	keys Left Left Left
	shows '  0\.750 s to 1\.000 s of ' "and back"
	same 750ms 1s dev "a window before"
	keys Home
	shows '  0\.000 s to 0\.250 s of ' "Home shows the first window"
	keys Left
	shows 'this is the start of the capture' "nothing is before it"
	keys End
	shows " to $end_s s of $end_s s " "End shows the last window"
	same "$(shown | sed -n '1s/.*  \([0-9.]*\) s to .*/\1s/p')" 1000s dev "the last window"
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
	keys q
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
for program in tmux fio losetup; do
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
"$IOSONAR" record -d "$name" -w "$tmp/run.cap" -- fio --name=load --filename="$disk" --direct=1 --ioengine=libaio --iodepth=4 \
	--rw=randrw --bs=4k --number_ios=1753 --size=8M --norandommap --rate_iops=210,210 --output="$tmp/fio" 2>"$tmp/err"
ok $? "a capture"
end_s=$("$IOSONAR" latency -r "$tmp/run.cap" -o json 2>/dev/null | sed -n 's/.*"span":"total","time_s":\([0-9.]*\).*/\1/p' | head -1 |
	xargs printf '%.3f')
tm new-session -d -x 120 -y 30 'env LC_ALL=C bash --norc --noprofile'
keys "PS1='$ '" Enter
start
check_time
check_play
check_end
check_damage
echo "1..$nr"
exit $((failed > 0))
