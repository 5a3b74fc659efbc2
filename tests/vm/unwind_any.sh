# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 5.10
# timeout: 300
#
# unwind_any: user stacks of any event, in a program without frame pointers, by every way that a program is attached: they
# have every function, in order, from the one that the event is in to the one that the kernel started.

dev=$(disk io0)
start='(__libc_start_call_main|.libc.so.6.);__libc_start_main;_start'
main="main;$start"

# counted FILE PATTERN: hits whose user stack matches, from innermost to outermost. A line without a count is one hit.
counted() {
	grep '"ustack":\["' "$1" | grep -v '"type":"[a-z_]*bucket' | awk -v pattern="^$2\$" '{
		count = match($0, /"count":[0-9]+/) ? substr($0, RSTART + 8, RLENGTH - 8) : 1
		match($0, /"ustack":\["/); text = substr($0, RSTART + RLENGTH)
		sub(/"\][,}].*/, "", text); gsub(/","/, ";", text)
		if (text ~ pattern) sum += count } END { print sum + 0 }'
}

# events COMMAND WORDS...: runs it over the program; the stacks are in /tmp/u.
events() {
	events_view=$1
	shift
	iosonar "$events_view" "$@" --follow --unwind dwarf -o json -- unwound "/dev/$dev" >/tmp/u 2>/tmp/u.err
	ok $? "$events_view $1: exits 0" || note "$(cat /tmp/u.err)"
}

# all NAME INNER: every kind of stack.
all() {
	is "$(counted /tmp/u "$2;plain_c;plain_b;plain_a;$main")" 101 "$1: one function behind another" || note "$(cat /tmp/u.err; head -c 3000 /tmp/u)"
	is "$(counted /tmp/u "$2;alloca_b;alloca_a;$main")" 53 "$1: a frame of any size"
	is "$(counted /tmp/u "$2;signal_handler;[^;]*;([^;]*;)+signal_a;$main")" 41 "$1: through a signal's frame"
	is "$(counted /tmp/u "$2;sort_compare;([^;]*;)+sort_a;$main")" 31 "$1: called by libc"
	is "$(counted /tmp/u "$2;thread_a;[^;]*;[^;]*")" 23 "$1: a thread"
	is "$(counted /tmp/u "$2;(deep_a;)+.truncated.")" 11 "$1: deeper than is kept: marked"
	grep -q "by tables of [1-9]" /tmp/u.err
	ok $? "$1: says what it did" || note "$(cat /tmp/u.err)"
}

events count syscalls:sys_enter_pread64 by ustack
all tracepoint '[^;]*;read_one'
events count fn:blkdev_read_iter by ustack
all function '[^;]*;read_one'
events count "user:$(command -v unwound):read_one" by ustack
all 'user function' read_one
events count raw:sys_enter by ustack if 'id == 67 || id == 17'
is "$(counted /tmp/u "[^;]*;read_one;plain_c;plain_b;plain_a;$main")" 101 "raw tracepoint" || note "$(cat /tmp/u.err)"
events print syscalls:sys_enter_pread64 show ustack, fd
is "$(counted /tmp/u "[^;]*;read_one;plain_c;plain_b;plain_a;$main")" 101 "print" || note "$(cat /tmp/u.err)"
events stacks syscalls:sys_enter_pread64 --stack user --top 100
is "$(counted /tmp/u "[^;]*;read_one;plain_c;plain_b;plain_a;$main")" 101 "stacks" || note "$(cat /tmp/u.err)"
# Two functions per line: the stack is that of the start.
iosonar pair syscalls:sys_enter_pread64 syscalls:sys_exit_pread64 on tid by ustack --follow --unwind dwarf -o json -- unwound "/dev/$dev" >/tmp/u 2>/tmp/u.err
is "$(counted /tmp/u "[^;]*;read_one;plain_c;plain_b;plain_a;$main")" 101 "pair" || note "$(cat /tmp/u.err)"

iosonar count syscalls:sys_enter_pread64 by ustack --follow --unwind fp -o json -- unwound "/dev/$dev" >/tmp/u 2>/tmp/u.err
is "$(counted /tmp/u "[^;]*;read_one;plain_c;plain_b;plain_a;$main")" 0 "fp: frame pointers do not lead there"
iosonar count syscalls:sys_enter_pread64 by ustack --follow --unwind none -o json -- unwound "/dev/$dev" >/tmp/u 2>/tmp/u.err
# The loader of x86_64 makes two such calls of its own.
is "$(grep -cE '"ustack":null,"count":26[13],' /tmp/u)" 1 "none: no user stack" || note "$(cat /tmp/u)"
done_testing
