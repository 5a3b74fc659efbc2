# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 6.1
# timeout: 90
#
# calls: which call was inside which, and for how long, as ftrace's function_graph has it of the same functions and the
# same run. The first read of a file goes down to the drive, the second one does not. Functions of the program itself
# stand around those of the kernel; only the command, or the process, is shown.

if iosonar calls vfs_read -t 100ms 2>&1 | grep -q '^returns are not traced'; then
	echo "1..0 # SKIP this kernel has no trampoline for returns (arm64 before 6.4): the test returns is for it"
	exit
fi
tracing=/sys/kernel/tracing
dev=$(disk io0)
mkdir /tmp/fs
mke2fs -b 4096 "/dev/$dev" 8192 >/dev/null 2>&1 && mount -t ext4 "/dev/$dev" /tmp/fs
dd if=/dev/urandom of=/tmp/fs/file bs=4k count=64 status=none
sync

# The seventh argument of jbd2__journal_start is on the stack of x86_64; a glob that means it does not leave it out.
if [ "$(uname -m)" = x86_64 ]; then
	iosonar calls 'jbd2__journal_*' 'vfs_rea*' --out /tmp/odd -- dd if=/tmp/fs/file of=/dev/null bs=4k count=3 2>/tmp/odd.err
	is "$? $(grep -c 'is left out' /tmp/odd.err)" "0 0" "no function of a glob is left out" || note "$(cat /tmp/odd.err)"
	grep -q 'vfs_read(' /tmp/odd
	ok $? "they are traced" || note "$(tail -5 /tmp/odd; tail -3 /tmp/odd.err)"
fi

# Those that this kernel has.
functions=
for name in vfs_read ext4_file_read_iter filemap_read filemap_get_pages page_cache_sync_readahead page_cache_sync_ra \
	ondemand_readahead page_cache_ra_order page_cache_ra_unbounded ext4_readahead submit_bio; do
	grep -q "^$name\$" $tracing/available_filter_functions && functions="$functions $name"
done
note "functions:$functions"

# graph_start: function_graph of these; graph_calls FILE COMM: its calls, one a line: DEPTH FUNCTION DURATION_US
graph_start() {
	echo 0 >$tracing/tracing_on
	echo >$tracing/trace
	# shellcheck disable=SC2086 # words are words
	printf '%s\n' $functions >$tracing/set_ftrace_filter
	echo function_graph >$tracing/current_tracer
	for option in funcgraph-proc funcgraph-abstime funcgraph-irqs; do
		echo 1 >$tracing/options/$option
	done
	echo 1 >$tracing/tracing_on
}
graph_stop() {
	echo 0 >$tracing/tracing_on
	cat $tracing/trace >"$1"
	echo nop >$tracing/current_tracer
	echo >$tracing/set_ftrace_filter
}
# "  1)  reader-155  | + 12.345 us |    vfs_read() {", and "}" in the place of its beginning.
graph_calls() {
	awk -F'|' -v comm="$2" '
	index($0, " " comm "-") && !index($0, "=>") {
		text = $NF
		match(text, /^ */)
		depth = RLENGTH / 2 - 1
		split($(NF - 1), time, " ")
		us = time[1] ~ /^[0-9]/ ? time[1] : time[2]
		if (text ~ /^ *}/) {
			duration[at[depth]] = us
			next
		}
		sub(/^ */, "", text)
		name[++nr] = text
		sub(/\(.*/, "", name[nr])
		depths[nr] = depth
		at[depth] = nr
		duration[nr] = us
	}
	END {
		for (i = 1; i <= nr; i++)
			print depths[i], name[i], duration[i] + 0
	}' "$1"
}
# calls_of FILE COMM: the same of ours; user functions are around those of the kernel and are left out.
calls_of() {
	grep '"type":"call"' "$1" | grep "\"comm\":\"$2\"" |
		sed 's/.*"depth":\([0-9]*\),"duration_ns":\([0-9a-z]*\),"function":"\([^"]*\)".*/\1 \3 \2/' |
		awk '$1 == 0 { user = index($2, "reader_") == 1 }
			index($2, "reader_") != 1 { printf "%d %s %.3f\n", $1 - user, $2, $3 / 1000 }'
}

before=$(bpf_objects)
graph_start
# shellcheck disable=SC2086
iosonar calls -v $functions user:/usr/bin/reader:reader_cold user:/usr/bin/reader:reader_warm -o json --out /tmp/calls -- \
	reader /tmp/fs/file >/tmp/read 2>/tmp/calls.err
status=$?
graph_stop /tmp/graph
note "$(grep -e attached -e hits -e lost -e returns /tmp/calls.err)"
ok "$status" "a run" || note "$(tail -5 /tmp/calls.err)"
is "$(cat /tmp/read)" "4096 4096" "the file is read twice"
# Before it runs the command waits at its gate, in a read that began before anything was attached.
graph_calls /tmp/graph reader | awk 'NR == 1 && $2 == "vfs_read" { gate = $0; next } NR == 2 && gate && $1 > 0 { print gate } { print }' \
	>/tmp/graph.calls
# On x86_64, 5.10's function_graph leaves out functions that have a trampoline: then it traces a second run, without ours.
alone=
if [ ! -s /tmp/graph.calls ]; then
	alone=1
	graph_start
	reader /tmp/fs/file >/dev/null
	graph_stop /tmp/graph
	graph_calls /tmp/graph reader >/tmp/graph.calls
fi
calls_of /tmp/calls reader >/tmp/ours.calls
# Only the first of two runs reads the inode, when the file is opened.
first=${alone:+vfs_read}
cut -d' ' -f1,2 /tmp/graph.calls | sed -n "/^0 $first/,\$p" >/tmp/want
cut -d' ' -f1,2 /tmp/ours.calls | sed -n "/^0 $first/,\$p" >/tmp/got
cmp -s /tmp/want /tmp/got
ok $? "the same calls, in the same order, nested in the same way: $(wc -l </tmp/got)" ||
	note "$(diff /tmp/want /tmp/got | head -20; grep reader- /tmp/graph | head -30)"
# Each of the two is inside the other at some functions, and guests wait for their CPUs.
if [ -n "$alone" ]; then
	skip "durations agree" "they are of two runs"
else
	paste -d' ' /tmp/graph.calls /tmp/ours.calls | awk '
		$3 > 0 && $6 > 0 && ($6 > 5 * $3 + 2000 || $3 > 5 * $6 + 2000) { print; bad = 1 } END { exit bad }' >/tmp/odd
	ok $? "durations agree" || note "$(cat /tmp/odd)"
fi
note "$(paste -d' ' /tmp/graph.calls /tmp/ours.calls | head -12)"
is "$(awk '!($3 > 0)' /tmp/ours.calls | wc -l)" 0 "all were left"

# inside FUNCTION: what is in the tree below it, at any depth.
inside() {
	grep '"type":"call"' /tmp/calls | sed 's/.*"depth":\([0-9]*\),.*"function":"\([^"]*\)".*/\1 \2/' |
		awk -v f="$1" 'on && $1 <= depth { on = 0 } on { print $2 } $2 == f { on = 1; depth = $1 }'
}
is "$(inside reader_cold | head -1) $(inside reader_warm | head -1)" "vfs_read vfs_read" "the kernel's functions are inside the program's"
inside reader_cold | grep -q '^page_cache_.*ra' && inside reader_cold | grep -q '^submit_bio$'
ok $? "the first read reads ahead, and asks the drive" || note "$(inside reader_cold)"
is "$(inside reader_warm | grep -c -e ra_ -e readahead -e submit_bio)" 0 "the second one does not" || note "$(inside reader_warm)"
case $functions in
*' filemap_read'*) inside reader_warm | grep -q '^filemap_read$' ;;
*) inside reader_warm | grep -q '^vfs_read$' ;;
esac
ok $? "it finds the page"
is "$(grep '"function":"reader_cold"' /tmp/calls | sed 's/.*"ret":"\([^"]*\)".*/\1/')" 4096 "a program's function has its return value"
is "$(grep '"function":"vfs_read"' /tmp/calls | grep '"comm":"reader"' | sed 's/.*"ret":"\([^"]*\)".*/\1/' | tail -1)" 4096 "so has the kernel's"
grep '"function":"vfs_read"' /tmp/calls | grep '"comm":"reader"' | tail -1 | grep -q '"arguments":"file=0x[0-9a-f]* buf=0x[0-9a-f]* count=4096 '
ok $? "and its arguments by name"
is "$(grep '"type":"call"' /tmp/calls | sed 's/.*"pid":\([0-9]*\),.*/\1/' | sort -u | wc -l)" 1 "nobody but the command is shown"

# --- one process, and not all that it does ---

# While programs of another run are taken off a function, the kernel skips ours at the return of who is in it.
nothing_left() { [ "$(bpf_objects)" = "$before" ]; }
wait_for 60 nothing_left
ok $? "nothing of the run stays"

sh -c 'while :; do read -r x </proc/loadavg; usleep 50000; done' &
busy=$!
sh -c 'while :; do read -r x </proc/loadavg; usleep 50000; done' &
other=$!
iosonar calls vfs_read seq_read_iter -p $busy --depth 1 -t 2s >/tmp/process 2>/tmp/process.err
status=$?
# Where a task may be preempted inside a program, the kernel skips that program for the next task on that CPU, and it is told.
[ $status -ne 3 ] || ! grep -q '^iosonar: lost [0-9]*: the kernel was running another program on that CPU' /tmp/process.err || status=0
ok $status "a process that runs already" || note "$(cat /tmp/process.err)"
iosonar calls vfs_read seq_read_iter -p $busy --min 1h -t 1s >/tmp/none 2>/tmp/none.err
kill $busy $other
between "$(grep -c " $busy .* vfs_read(file=0x[0-9a-f]* .*) = [0-9]" /tmp/process)" 3 1000 "its calls, with what they return" || note "$(head -5 /tmp/process; cat /tmp/process.err)"
is "$(sed 1d /tmp/process | grep -vc " $busy .*vfs_read(")" 0 "and nobody else's, nor what is inside them"
is "$(sed 1d /tmp/none | wc -l)" 0 "--min: shorter ones are left out"

# --- how a capture ends ---

iosonar calls vfs_read -w /tmp/e.cap -t 20s -- sh -c "exec >/dev/null; for i in $(seq -s ' ' 60); do read -r x </proc/loadavg; usleep 100000; done" \
	2>/tmp/e.err | head -1 >/dev/null
iosonar info --verify /tmp/e.cap >/tmp/e.info 2>&1
is "$? $(grep -c '^  intact' /tmp/e.info)" "0 1" "the reader goes: the capture is whole" || note "$(cat /tmp/e.err /tmp/e.info)"
iosonar calls -r /tmp/e.cap >/tmp/e.text 2>/tmp/e.err
is $? 0 "and can be read" || note "$(cat /tmp/e.err)"
umount /tmp/fs
done_testing
