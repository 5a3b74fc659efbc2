# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC1091,SC2034,SC2154 # tools.sh is tests/bench/tools.sh, which reads and sets these
# shape: nvme icount large
# kernels: none
# brings: tests/bench/tools.sh
# timeout: 300
#
# trace_cost: what it costs to have every call of some functions with its time, in instructions of the guest: whole reads
# are timed, under ftrace's function_graph, bpftrace and ours, with the same functions. A warm read of a file calls two of
# them, a direct one of a null_blk disk four that have its bio in hand. The floor is what programs at entry and return of the same
# functions cost that only read the clock and submit it, 8 bytes. Part of `make bench`, which brings bpftrace in /files.
# The bounds are for 6.12 on arm64 and x86_64; elsewhere the figures are printed, not judged.
# Lines "tracecost WHAT TOOL INSTRUCTIONS CALLS" are for tests/bench/report: a whole read, and how many calls were seen.

. /tests/tools.sh
floor=/usr/bin/floor
tracing=/sys/kernel/tracing
reads=500
ln -s /proc/self/fd /dev/fd # bpftrace compiles through it
null_disk nullb0 irqmode=0 queue_mode=2
dd if=/dev/zero of=/tmp/file bs=4k count=4 2>/dev/null

# per_read HOW: instructions, the least of three; the first read is not timed.
# shellcheck disable=SC2086 # words
per_read() { for _ in 1 2 3; do pages - $1 4096 $reads; done | sort -n | head -1; }
# standing HOW: the same while the tool stands still: on one CPU what it does with the records would be in the time.
standing() {
	kill -STOP $tool
	per_read "$1"
	kill -CONT $tool
}
expected() { echo $((3 * (reads + 1) * $(echo "$1" | wc -w))); }

# Per cent of what function_graph and bpftrace add.
bounds=''
case $(uname -rm) in
6.12.*aarch64) bounds='100 50' ;;
6.12.*x86_64) bounds='103 59' ;;
esac

# bounded WHAT TOOL PERCENT: what we add to a read is at most so much of what TOOL adds. Its figure is in $theirs.
bounded() {
	ratio=$(((with - without) * 1000 / (theirs - without)))
	note "$1 to $2: $((ratio / 1000)).$(printf %03d $((ratio % 1000)))"
	if [ -z "$bounds" ]; then
		skip "$1: at most so much of $2" "bounds are for 6.12 on arm64 and x86_64"
		return
	fi
	[ "$with" -gt "$without" ] && [ "$ratio" -le $(($3 * 10)) ]
	ok $? "$1: at most $3 % of $2"
}

# told WHAT TOOL INSTRUCTIONS CALLS FUNCTIONS: every call was seen, and each costs something.
told() {
	note "tracecost $1 $2 $3 $4"
	[ "$4" -ge "$(expected "$5")" ]
	ok $? "$2, $1: every call was seen" || note "$4 of $(expected "$5")"
}

graph_of() {
	echo 32768 >$tracing/buffer_size_kb
	# shellcheck disable=SC2086 # words
	printf '%s\n' $2 >$tracing/set_ftrace_filter
	echo function_graph >$tracing/current_tracer
	echo 1 >$tracing/tracing_on
	with=$(per_read "$3")
	echo 0 >$tracing/tracing_on
	seen=$(cat $tracing/trace | grep -c '()')
	echo nop >$tracing/current_tracer
	echo >$tracing/set_ftrace_filter
	graph=$with
	told "$1" function_graph "$with" "$seen" "$2"
}

# A line for each call, at its return: the time that it took. Counted, so that nothing is printed while it runs.
bpftrace_of() {
	for f in $2; do
		echo "fentry:$f { @start[tid, \"$f\"] = nsecs; }
			fexit:$f /@start[tid, \"$f\"]/ { printf(\"$f %lld\\n\", nsecs - @start[tid, \"$f\"]); delete(@start, (tid, \"$f\")); }"
	done >/tmp/script
	echo 'END { clear(@start); }' >>/tmp/script
	BPFTRACE_PERF_RB_PAGES=4096 /files/peers/bpftrace /tmp/script >/tmp/peer 2>/tmp/peer.err &
	tool=$!
	wait_for 60 grep -q Attach /tmp/peer.err /tmp/peer
	sleep 2
	with=$(standing "$3")
	sleep 1
	kill -INT $tool
	wait $tool
	seen=$(grep -c '^[a-z_]* [0-9]*$' /tmp/peer)
	bpftrace=$with
	told "$1" bpftrace "$with" "$seen" "$2" || note "$(tail -3 /tmp/peer.err)"
}

# floor_of WHAT FUNCTIONS HOW: its programs are counted while other reads are done: statistics cost more than they do.
floor_of() {
	floor_functions=$2
	start floor-calls /tmp/floor
	attached
	with=$(per_read "$3")
	statistics 1
	per_read "$3" >/dev/null
	cost
	statistics 0
	stop
	told "$1" floor-calls "$with" $((cost_runs / 2)) "$2" || note "$(tail -3 /tmp/floor.err)"
}

# ours WHAT FUNCTIONS HOW COMMAND...
ours() {
	what=$1 wanted=$2 how=$3
	shift 3
	iosonar "$@" -v -o json --out /tmp/out 2>/tmp/out.err &
	tool=$!
	wait_for 60 grep -q 'with returns of' /tmp/out.err
	sleep 1
	with=$(standing "$how")
	kill -INT $tool
	wait $tool
	ok $? "$what: exits 0" || note "$(tail -3 /tmp/out.err)"
	seen=$(grep -c '"what":"enter"\|"type":"call"' /tmp/out)
	told "$what" iosonar "$with" "$seen" "$wanted"
}

# compared WHAT FUNCTIONS HOW COMMAND...
compared() {
	without=$(per_read "$3")
	note "tracecost $1 nothing $without 0"
	graph_of "$1" "$2" "$3"
	[ ! -x /files/peers/bpftrace ] || bpftrace_of "$1" "$2" "$3"
	floor_of "$1" "$2" "$3"
	least=$with
	ours "$@"
	[ "$least" -gt "$without" ] && [ "$least" -lt "$with" ]
	ok $? "$1: costs more than its floor, which costs something" || note "$without, $least, $with"
	theirs=$graph
	bounded "$1" function_graph "${bounds% *}"
	[ -x /files/peers/bpftrace ] || return
	theirs=$bpftrace
	bounded "$1" bpftrace "${bounds#* }"
}

functions="vfs_read touch_atime"
# shellcheck disable=SC2086 # words
compared calls "$functions" "time /tmp/file" calls --buffer 64Mi $functions
functions="bio_init submit_bio bio_endio bio_uninit"
compared class "$functions" "time-direct /dev/nullb0" class --buffer 64Mi bio --only "$(echo "$functions" | tr ' ' ,)"
done_testing
