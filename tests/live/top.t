#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# top on this machine, in tmux: does the screen show the I/O of a loop device, does every key do what it says, and is the
# terminal as it was when it ends? The rows that it leaves have exactly the I/Os that fio and /sys/block/loopN/stat have.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/screen.sh
. "$(dirname "$0")/screen.sh"
disk='' load='' bad='' mounted='' frozen=''

# shellcheck disable=SC2317 # called by the trap
clean() {
	thaw
	[ -n "$load" ] && kill "$load" 2>/dev/null
	[ -n "$tmp" ] && tm kill-server 2>/dev/null
	exec 9>&- 8>&-
	[ -n "$disk" ] && losetup -d "$disk"
	[ -n "$bad" ] && losetup -d "$bad"
	[ -n "$mounted" ] && umount "$mounted"
	[ -n "$tmp" ] && rm -rf "$tmp"
}

# ---- the terminal ----

# start [OPTION...]: top in a shell in the terminal, with the modes before and after and its exit status in files.
start() {
	rm -f "$tmp/before" "$tmp/after" "$tmp/code"
	keys "clear; stty -a >$tmp/before; $IOSONAR top -d $name -i 200ms $*; echo \$? >$tmp/code; stty -a >$tmp/after" Enter
	shows 'no I/O yet|^> ' "it draws"
}

pid_of() { pgrep -f "^$IOSONAR top -d $name" | head -1; }

# Some kernels hide a task from every program: see latency.t.
is_hidden() { shown | grep -q 'completion never seen'; }

# ---- counts ----

stat_ios() { awk '{ print $1 + $5 }' "/sys/block/$name/stat"; }

check_counts() {
	local before fio drawn
	start
	before=$(stat_ios)
	fio --name=load --filename="$disk" --direct=1 --ioengine=libaio --iodepth=4 --rw=randrw --bs=4k --number_ios=1009 \
		--size=8M --norandommap --rate_iops=600,600 --output-format=json --output="$tmp/fio"
	fio=$(grep -o '"total_ios" : [0-9]*' "$tmp/fio" | awk '{ n += $3 } END { print n }')
	wait_for "issued $fio = completed $fio " >/dev/null
	drawn=$?
	keys q
	ended
	! is_hidden || return 1
	ok $drawn "the ledger on the screen has what fio has"
	is "$(cat "$tmp/code")" 0 "q ends it with 0"
	is "$(shown | awk -v dev="$name" '$2 == dev { n += $4 } END { print n + 0 }')" "$fio" "the rows it leaves have fio's $fio I/Os"
	is $(($(stat_ios) - before)) "$fio" "as the kernel counts them"
	shows "^issued $fio = completed $fio .*nothing lost" "and the ledger, too"
	is_sane "q"
}

# ---- keys ----

check_rows() {
	shows "^> $name +[1-9]" "the row of the device has a rate"
	shows "^IO/s [1-9].*p99 [1-9]" "the header has one, too"
	shows "^issued [1-9].*; nothing lost\$" "with the ledger"
	shows 'first +CPU [0-9.]+ %$' "and the CPU time of iosonar"
	shows "latency of $name" "the strip is that of the chosen row"
	shows '^ *[0-9.]+[mu]s \|.*[-.:=+*#%@]\|$' "and is drawn in ASCII"
	LC_ALL=C shown | grep -q '[^ -~]'
	is "$?" 1 "nothing else is"
}

check_places() {
	local pair
	keys Enter
	shows "^$name  by op" "Enter opens the device"
	keys g # the first interval may have had writes only
	shows '^> read +[1-9]' "into its operations"
	keys Enter
	shows "^$name > read  by comm" "and an operation into its tasks"
	shows '^[> ] \\x1b\[2Jx +[1-9]' "whose hostile names cannot clear the screen"
	keys Enter
	shows 'there is nothing below these rows' "there is nothing below the last key"
	keys BSpace
	shows "^$name  by op" "Backspace goes back"
	keys Down
	shows '^> write ' "Down chooses the next row"
	keys k
	shows '^> read ' "k the one above"
	for pair in j:Up G:g End:Home PPage:PPage NPage:PPage; do
		keys "${pair%:*}"
		[ "$pair" = PPage:PPage ] || shows '^> write ' "${pair%:*} chooses the last row"
		keys "${pair#*:}"
		shows '^> read ' "${pair#*:} the first"
	done
	keys b
	shows "^$name  by comm" "b shows the tasks of the device"
	shows '^[> ] dd +[1-9]' "at once"
	keys Right
	shows "^$name > .* by op" "Right opens a task into its operations"
	keys b
	shows 'no other key' "which are the last key"
	keys Left b
	shows '^> read +[1-9]' "b again has the operations"
	keys Left
	shows '^all  by dev' "Left goes back"
	keys Escape
	shows 'this is the first level' "Escape does not leave the first level"
}

check_columns() {
	keys s
	shows 'largest MB/s first' "s sorts by the next column"
	keys r
	shows 'smallest MB/s first' "r reverses"
	keys r s s s s s s s
	shows 'largest IO/s first' "after the last column s begins again"
	keys l
	shows ' p90 +p99.9 +mean ' "l has other columns"
	keys l
	shows ' p50 +p99 +max ' "and the first ones again"
	keys h
	wait_gone 'latency of'
	ok $? "h hides the strip"
	keys h
	shows 'latency of' "h shows it"
}

check_filter() {
	keys / 'p9x > 1' Enter
	shows "^iosonar: --if: unknown field 'p9x'" "a mistake in a filter is named"
	keys Escape
	keys / 'iops > 1000000' Enter
	shows 'no row meets the condition' "a filter hides rows"
	keys /
	keys -N 20 BSpace
	keys Enter
	shows "^> $name +[1-9]" "an empty one shows them"
}

# --if is the filter of all levels that have its fields, and of the rows that are left.
check_if() {
	start --by dev,op --if "'op == write'"
	shows "^> $name +[1-9]" "--if: devices have no operation"
	keys Enter
	shows "^$name  by op, .*; if op == write" "--if: their operations have"
	shows '^> write +[1-9]' "--if: the writes are there"
	is "$(shown | grep -c '^[> ] read')" 0 "--if: and no reads"
	keys q
	ended
	shows "^[0-9.]+ +$name +write " "--if: the writes are left"
	is "$(shown | grep -c " $name  *read ")" 0 "--if: alone"
}

check_time() {
	local frozen
	keys Space
	shows 'FROZEN' "Space freezes"
	frozen=$(shown | sed -n 3p)
	sleep 0.7
	is "$(shown | sed -n 3p)" "$frozen" "and the numbers stay"
	keys Space
	wait_gone FROZEN
	ok $? "until Space"
	keys +
	shows 'interval 0.4 s' "+ makes the interval longer"
	keys '='
	shows 'interval 0.6 s' "= does, too"
	keys - -
	shows 'interval 0.2 s' "- shorter"
	keys '?'
	shows '^Backspace +go back' "? shows the keys"
	keys q
	shows "^> $name +[1-9]" "any key leaves the help, and does not quit"
}

# ---- windows ----

check_windows() {
	tm resize-window -x 40 -y 10
	shows "^> $name +[1-9][0-9.k]* +[0-9.]+[mu]s +[0-9.]+[mun]*s\$" "40x10 has the row"
	shows 'in flight [0-9]+(; nothing lost)?$' "and the ledger"
	tm resize-window -x 39 -y 10
	shows '^window < 40x10' "a smaller window says so"
	tm resize-window -x 300 -y 80
	shows "^> $name +[1-9]" "300x80"
	is "$(shown | wc -l)" 80 "is filled to the last line"
	for i in $(seq 50); do
		tm resize-window -x $((30 + i * 37 % 200)) -y $((5 + i * 13 % 60))
	done
	tm resize-window -x 100 -y 30
	shows "^> $name +[1-9].*[0-9]\$" "it draws after a storm of 50 resizes"
	is "$(shown | grep -c '^> ')" 1 "once"
}

# The shell goes on with its line when its job stops, so what this left in the files does not count.
check_stop() {
	keys C-z
	shows 'Stopped' "Ctrl-Z gives the terminal to the shell"
	rm -f "$tmp/after"
	keys fg Enter
	shows "^> $name +[1-9]" "fg continues"
	keys q
	shows '^the whole run, ' "and q quits"
	keys "stty -a >$tmp/after" Enter
	ended
	is_sane "after all keys"
}

# ---- how it ends ----

check_signals() {
	local signal
	for signal in TERM INT; do
		start
		shows "^> $name +[1-9]" "it runs"
		kill -"$signal" "$(pid_of)"
		ended
		is "$(cat "$tmp/code")" 0 "SIG$signal ends it with 0"
		shows "^the whole run, " "and it leaves the rows of the run"
		is_sane "SIG$signal"
	done
	start
	shows "^> $name +[1-9]" "it runs"
	kill -9 "$(pid_of)"
	ended
	keys reset Enter
	sleep 1.2 # of reset
	keys "clear; stty -a >$tmp/after; echo alive" Enter
	shows '^alive$' "after SIGKILL, reset gives a usable terminal"
	is "$(grep -o -- '-\?\<\(echo\|icanon\)\>' "$tmp/after" | xargs)" "icanon echo" "with its modes"
}

check_utf8() {
	start "--color never"
	shows '\|.*(·|░|▒|▓|█)\|$' "with UTF-8 the strip has shades"
	keys q
	ended
}

# ---- what goes wrong ----

thaw() {
	[ -n "$frozen" ] && fsfreeze -u "$mounted"
	frozen=''
}

# A disk on a file of an ext4 that has room for a half of it, and whose writes hang while the ext4 is frozen.
make_bad() {
	truncate -s 8M "$tmp/below" && mkfs.ext4 -q -F -O ^has_journal -E lazy_itable_init=0 "$tmp/below" && mkdir "$tmp/mnt" &&
		mount -o loop "$tmp/below" "$tmp/mnt" && mounted=$tmp/mnt || return 1
	truncate -s 16M "$mounted/disk" && bad=$(losetup -f --show "$mounted/disk") || return 1
	exec 8<>"$bad" && { flock -x 8 || true; }
}

write_bad() { dd if=/dev/zero of="$bad" bs=64k oflag=direct conv=notrunc "$@" 2>/dev/null; }

check_failed() {
	write_bad
	shows "^FAILED $name write +1, the last [0-9]+ s ago: no space \\(ENOSPC\\)\$" "a write that fails is said as it happens, with its error"
	is_red FAILED "in red"
}

check_stuck() {
	local writer
	fsfreeze -f "$mounted" && frozen=1
	write_bad count=1 &
	writer=$!
	shows "^STUCK $name write +1 for [1-9][0-9.]*s: sent\$" "so is one that hangs"
	is_red STUCK "in red"
	shows "^issued .* \\+ in flight 1; nothing lost\$" "the ledger has it in flight"
	thaw
	wait "$writer"
	wait_gone STUCK
	ok $? "and not any more when it ends"
	shows "^FAILED $name write " "what failed stays"
}

check_troubles() {
	local name=${bad#/dev/}
	start
	check_differences
	is "$(shown | grep -cE 'FAILED|STUCK')" 0 "while nothing goes wrong there is no such line"
	check_failed
	check_stuck
	keys q
	ended
	is "$(cat "$tmp/code")" 0 "what fails does not fail the run"
	start --color never
	write_bad seek=200 count=3
	shows "^FAILED $name write " "--color never: the word is there"
	is_red FAILED "without a colour" 0
	keys q
	ended
}

# ---- what is written ----

# written SECONDS: the bytes that the terminal gets meanwhile.
written() {
	tm pipe-pane -O "cat >$tmp/written"
	sleep "$1"
	tm pipe-pane
	stat -c %s "$tmp/written"
}

wait_written() { # wait_written BYTES
	for _ in $(seq 100); do
		[ "$(stat -c %s "$tmp/written")" -ge "$1" ] && break
		sleep 0.05
	done
	sleep 0.1
}

# What changes of a quiet disk is the time and the own cost: ten intervals take less than to draw the screen once.
check_differences() {
	local whole quiet
	quiet=$(written 2)
	tm pipe-pane -O "cat >$tmp/written"
	kill -WINCH "$(pid_of)"
	wait_written 200
	tm pipe-pane
	whole=$(stat -c %s "$tmp/written")
	[ "$quiet" -gt 0 ] && [ "$quiet" -lt "$whole" ]
	ok $? "only differences are written: $quiet bytes in ten intervals, $whole for a whole screen"
}

# ---- for scripts ----

check_samples() {
	"$IOSONAR" top -d "$name" -o json -n 2 -i 200ms >"$tmp/json" 2>"$tmp/err"
	is "$? $(grep -c '"type":"sample"' "$tmp/json") $(tail -n 1 "$tmp/json" | grep -c '"type":"ledger"')" "0 2 1" "-o json -n 2: two samples, and the ledger"
	is "$(sed -n '/"type":"sample"/s/.*"time_s":\([0-9.]*\).*/\1/p' "$tmp/json" | sort -u | wc -l)" 2 "of two intervals"
}

# ---- the run ----

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
for program in tmux fio losetup mkfs.ext4 fsfreeze; do
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
# The file holds data: a hole would be read without tmpfs pages
dd if=/dev/zero of="$disk" bs=1M oflag=direct status=none 2>/dev/null
tm new-session -d -x 100 -y 30 'env LC_ALL=C bash --norc --noprofile'
keys "PS1='$ '" Enter

make_bad
ok $? "a disk whose writes can fail and hang"
check_troubles
check_counts || { again top "$(shown | grep -h 'completion never seen')"; check_counts; }
# A load of two tasks, one of them with a hostile name.
cp "$(command -v dd)" "$tmp/"$'\e[2Jx'
while :; do
	"$tmp/"$'\e[2Jx' if="$disk" of=/dev/null iflag=direct bs=4k count=7 status=none
	dd if=/dev/zero of="$disk" oflag=direct conv=notrunc bs=4k count=3 status=none
	sleep 0.02
done &
load=$!
check_samples
start --by dev,op,comm
check_rows
check_places
check_columns
check_filter
check_time
check_windows
check_stop
check_if
check_signals
tm kill-server
socket=utf8
tm new-session -d -x 100 -y 30 'env LC_ALL=C.UTF-8 bash --norc --noprofile'
check_utf8
echo "1..$nr"
exit $((failed > 0))
