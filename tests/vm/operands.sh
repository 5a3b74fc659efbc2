# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 7.2
# timeout: 90
#
# operands: values that are hard to get at are right, or marked as unreadable: arguments on the stack, USDT arguments in
# variables of the file, the names of 32-bit system calls, texts in pages that nobody has touched.

# asks NAME COMMAND [WORD]... -- LOAD...: runs it around the load, JSON to /tmp/NAME; it exits as the load, and loses nothing.
asks() {
	asks_name=$1
	shift
	iosonar "$@" >"/tmp/$asks_name" 2>"/tmp/$asks_name.err"
	asks_status=$?
	is "$asks_status $(grep -c '"lost_[a-z]*":[1-9]' "/tmp/$asks_name")" "0 0" "$asks_name: exits 0, nothing lost" ||
		note "$(cat "/tmp/$asks_name.err")"
}
# has NAME TEXT: how many of its lines have it.
has() { grep -v '"type":"event_ledger"' "/tmp/$1" | grep -cF "$2"; }

# ---- arguments on the stack: from the ninth on arm64, from the seventh on x86_64 ----

f=user:/usr/bin/operands:operands_many
asks user print $f show 'arg0, arg5, arg6 & 0xffff, arg7 & 0xffff, arg8 & 0xffff, arg9 & 0xff, arg10, arg11 & 0xffff' -o json -- operands many 13
is "$(has user '"arg0":101,"arg5":106,"arg6_0xffff":107,"arg7_0xffff":108')" 13 "a user function: the first eight of twelve arguments" ||
	note "$(head -3 /tmp/user)"
is "$(has user '"arg8_0xffff":109,"arg9_0xff":110,"arg10":111,"arg11_0xffff":112')" 13 "and the others"
asks key count $f by 'arg11 & 0xffff' -o json -- operands many 13
is "$(has key '"arg11_0xffff":112,"count":13')" 1 "one of them as a key" || note "$(cat /tmp/key)"
asks kernel print fn:ip_make_skb show 'length, transhdrlen, flags & 0x40' --follow -o json -- operands udp 7
is "$(has kernel '"length":25,"transhdrlen":8,"flags_0x40":64')" 7 "a kernel function: the sixth and the tenth argument" ||
	note "$(cat /tmp/kernel /tmp/kernel.err)"
iosonar calls ip_make_skb -- operands udp 7 >/tmp/calls 2>/tmp/calls.err
is "$? $(grep -c 'ip_make_skb(.*transhdrlen=8.*flags=' /tmp/calls)" "0 7" "calls shows them, too" ||
	note "$(cat /tmp/calls /tmp/calls.err)"

# ---- USDT arguments in variables of the file ----

if [ "$(uname -m)" = x86_64 ]; then
	u=usdt:/usr/bin/operands:iosonar:pair
	asks usdt print $u show 'arg0, arg1, arg2' -o json -- operands usdt 11
	is "$(has usdt ',"arg1":-7,"arg2":-7')" 11 "variables of the file, and their parts" || note "$(cat /tmp/usdt)"
	is "$(has usdt '"arg0":1,') $(has usdt '"arg0":11,')" "1 1" "as they are when the probe is passed"
	iosonar count $u by arg3 -- operands usdt 1 >/tmp/none 2>/tmp/none.err
	is "$?" 2 "one that the file does not have is refused" || note "$(cat /tmp/none /tmp/none.err)"
else
	skip "USDT arguments in variables of the file" "only x86_64 has them"
fi

# ---- 32-bit system calls ----

operands compat 1
case $? in
0)
	name=compat:20
	[ "$(uname -m)" != x86_64 ] || name=compat:getpid
	asks compat_count count raw_syscalls:sys_enter by 'syscall(id)' if 'comm == "compat"' -o json -- operands compat 17
	is "$(has compat_count "\"syscall_id\":\"$name\",\"count\":17")" 1 "a 32-bit call is not one of 64 bits" || note "$(cat /tmp/compat_count)"
	asks compat_raw count raw:sys_enter by 'syscall(id)' if 'comm == "compat" && syscall(id) >> 32' -o json -- operands compat 17
	is "$(has compat_raw "\"syscall_id\":\"$name\",\"count\":17")" 1 "also at the raw tracepoint, and in a condition" ||
		note "$(cat /tmp/compat_raw)"
	asks compat_print print raw_syscalls:sys_enter if 'comm == "compat"' -o json -- operands compat 17
	is "$(has compat_print "\"id\":\"$name\"")" 17 "and in a line for each" || note "$(tail -5 /tmp/compat_print)"
	asks compat_pair pair raw_syscalls:sys_enter raw_syscalls:sys_exit on tid --each if 'comm == "compat"' -o json -- operands compat 17
	is "$(has compat_pair "\"entry_id\":\"$name\"")" 17 "or for each pair" || note "$(tail -5 /tmp/compat_pair)"
	is "$(has compat_pair '"entry_id":"execve"')" "$(uname -m | grep -c aarch64)" "what starts the program is a 64-bit call"
	;;
*) skip "32-bit system calls" "this kernel has none" ;;
esac

# ---- texts in pages that were never touched ----

asks exec print syscalls:sys_enter_execve show 'str(filename), args(argv), comm' if 'comm == "unread"' -o json -- operands exec
is "$(has exec '"str_filename":"/bin/true","args_argv":"true unread","by_comm":"unread"')" 1 "the path of execve is read again" || note "$(cat /tmp/exec)"
is "$(grep -c '"faults":0[,}]' /tmp/exec)" 1 "and no fault is left"
asks thread print syscalls:sys_enter_execve show 'str(filename)' if 'comm == "unread"' -o json -- operands thread
is "$(has thread '"str_filename":"/bin/true"')" 1 "by another thread than the first one" || note "$(cat /tmp/thread)"
asks failing print syscalls:sys_enter_execve show 'str(filename)' if 'comm == "unread"' -o json -- operands failing
is "$(has failing '"str_filename":"/nowhere"') $(has failing '"str_filename":"/bin/true"')" "1 1" "also if the call fails" || note "$(cat /tmp/failing)"
asks key count syscalls:sys_enter_execve by 'str(filename)' if 'comm == "unread" && str(filename) == "/bin/true"' -o json -- operands exec
is "$(has key '"str_filename":"/bin/true","count":1')" 1 "in a condition and a key" || note "$(cat /tmp/key)"
asks rename count 'syscalls:sys_enter_rename*' by 'str(oldname), str(newname)' if 'comm == "unread"' -o json -- operands rename 17
is "$(has rename '"str_oldname":"/tmp/unread-a","str_newname":"/tmp/unread-b","count":17')" 1 "two texts of a call" || note "$(cat /tmp/rename)"
asks all print raw_syscalls:sys_enter if 'comm == "unread"' -o json -- operands exec
is "$(has all '"id":"execve","args":"\"/bin/true\", ')" 1 "among all system calls" || note "$(cat /tmp/all)"
asks invalid print syscalls:sys_enter_openat show 'str(filename)' if 'comm == "unread"' -o json -- operands invalid 13
is "$(has invalid '"str_filename":null') $(grep -c '"faults":13[,}]' /tmp/invalid)" "13 1" "a text that cannot be read is null, and counted" ||
	note "$(cat /tmp/invalid)"
asks stack print syscalls:sys_enter_execve show 'str(filename), ustack(1)' if 'comm == "unread"' -o json -- operands exec
is "$(has stack '"str_filename":null') $(grep -c '"faults":1[,}]' /tmp/stack)" "1 1" "with a stack, which would be another one, it is not read again" ||
	note "$(cat /tmp/stack)"
asks copied print sched:sched_process_exec if 'filename == "/bin/true"' -o json -- operands exec
is "$(has copied '"filename":"/bin/true"')" 1 "sched:sched_process_exec has the kernel's copy" || note "$(cat /tmp/copied)"
done_testing
