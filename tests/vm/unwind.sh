# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 7.2
# timeout: 120
#
# unwind: user stacks of a program without frame pointers have every function, in order, from the one that reads to the
# one that the kernel started; where that is not so they are marked.

dev=$(disk io0)

# counted FILE PATTERN: I/Os whose user stack matches, from innermost to outermost.
counted() {
	sed -n 's/.*"type":"stacks".*"count":\([0-9]*\).*"user_stack":\["\(.*\)"\],"user_truncated":\([a-z]*\).*/\1 \3 \2/p' "$1" | sed 's/","/;/g' |
		awk -v pattern="^$2\$" '{ count = $1; $1 = ""; sub(/^ /, "") } $0 ~ pattern { sum += count } END { print sum + 0 }'
}

# The outer end: libc's functions before main are not in every libc's list of symbols.
start='(__libc_start_call_main|.libc.so.6.);__libc_start_main;_start'
main="main;$start"
inner='[^;]*;read_one'

for how in auto dwarf; do
	started stacks /tmp/u -d "$dev" --stack user --top 1000 --unwind $how
	unwound "/dev/$dev"
	ok $? "$how: the program reads"
	measured
	ok $? "$how: exits 0"
	is "$(counted /tmp/u "false $inner;plain_c;plain_b;plain_a;$main")" 101 "$how: one function behind another"
	is "$(counted /tmp/u "false $inner;alloca_b;alloca_a;$main")" 53 "$how: a frame of any size"
	is "$(counted /tmp/u "false $inner;signal_handler;[^;]*;([^;]*;)+signal_a;$main")" 41 "$how: through a signal's frame"
	is "$(counted /tmp/u "false $inner;sort_compare;([^;]*;)+sort_a;$main")" 31 "$how: called by libc"
	is "$(counted /tmp/u "false $inner;thread_a;[^;]*;[^;]*")" 23 "$how: a thread"
	is "$(counted /tmp/u "true $inner;(deep_a;)+.truncated.")" 11 "$how: deeper than is kept: marked"
	grep -q "^12 I/Os with a truncated user stack" /tmp/u.err # one more: the first, before the process was known
	ok $? "$how: counted" || note "$(cat /tmp/u.err)"
	grep -q "by tables of [1-9]" /tmp/u.err
	ok $? "$how: says what it did" || note "$(cat /tmp/u.err)"
	whole /tmp/u "$how: nothing is lost" || note "$(cat /tmp/u.err)"
done

# Frame pointers in the program; Debian's libc for x86_64 has none, and is unwound by tables.
case $(uname -m) in
x86_64)
	started stacks /tmp/u -d "$dev" --stack user --top 1000
	framed "/dev/$dev"
	measured
	is "$(counted /tmp/u "false $inner;plain_c;plain_b;plain_a;$main")" 101 "mixed: one function behind another" || note "$(cat /tmp/u.err)"
	is "$(counted /tmp/u "false $inner;signal_handler;[^;]*;([^;]*;)+signal_a;$main")" 41 "mixed: through a signal's frame"
	is "$(counted /tmp/u "false $inner;sort_compare;([^;]*;)+sort_a;$main")" 31 "mixed: called by libc"
	is "$(counted /tmp/u "false $inner;thread_a;[^;]*;[^;]*")" 23 "mixed: a thread"
	;;
*) skip "mixed: a program with frame pointers, a libc without" "libc has them here" ;;
esac

# A process is known some time after its first I/O, when these have ended: their files are known from the first of them.
started stacks /tmp/u -d "$dev" --stack user --top 1000
unwound "/dev/$dev" 3 now
sleep 4
for nr in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	unwound "/dev/$dev" 3 now || note "run $nr failed"
done
measured
is "$(counted /tmp/u "false $inner;plain_c;plain_b;plain_a;$main")" 60 "processes that end at once" ||
	note "$(cat /tmp/u.err; grep -v 'plain_c","plain_b","plain_a","main",.*"_start"\]' /tmp/u)"

started stacks /tmp/u -d "$dev" --stack user --top 1000 --unwind fp
unwound "/dev/$dev"
measured
is "$(counted /tmp/u "false $inner;plain_c;plain_b;plain_a;$main")" 0 "fp: frame pointers do not lead there"
started stacks /tmp/u -d "$dev" --stack both --top 1000 --unwind none
unwound "/dev/$dev"
measured
is "$(grep '"type":"stacks"' /tmp/u | grep -vc '"user_stack":null')" 0 "none: no user stack"

# In a capture, and for the slowest.
iosonar record -w /tmp/cap --stacks -d "$dev" -- unwound "/dev/$dev" 2>/tmp/err
ok $? "record --stacks" || note "$(cat /tmp/err)"
iosonar stacks -r /tmp/cap --stack user --top 1000 -o json >/tmp/u 2>/tmp/err
is "$(counted /tmp/u "false $inner;plain_c;plain_b;plain_a;$main")" 101 "replayed" || note "$(cat /tmp/err)"
iosonar slow -d "$dev" --top 10000 --stack user -o json -- unwound "/dev/$dev" >/tmp/u 2>/tmp/err
is "$(grep -c '"user_stack":\[.*"plain_c","plain_b","plain_a","main",.*"_start"\],"user_truncated":false' /tmp/u)" 101 "slow"
done_testing
