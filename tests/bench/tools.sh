# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2034,SC2154 # the caller reads and sets these
#
# tools.sh: the tools that are compared, how each is started, and what the kernel says its BPF programs cost. Sourced, on
# this machine by run and in the guest by tests/vm/peers.sh, read_peers.sh and waits_peers.sh. The
# caller sets
#	iosonar, floor	our programs		peers	the directory that `peers` prints
#	layer		nvme or block, where floor and bpftrace look
#	only		the one disk to look at, loop0; empty for all, which is cheaper for most

# tools: their names, in the order of the table; `record` when this iosonar has it.
tools() {
	echo floor latency trace
	! "$iosonar" record -h >/dev/null 2>&1 || echo record
	echo biolatency biolatency-D biosnoop bpftrace-histogram bpftrace-print
}

# host_tools: on this machine only: what a tool's process takes of a CPU cannot be measured where time is instructions.
host_tools() { echo trace-w; }

# stage_tools: those that follow an I/O from its submission on: how long it waited where, who submitted it.
stage_tools() { echo layers slow-alone slow stacks biosnoop-Q biostacks bpftrace-biostacks; }

# wait_tools: those that show for how long a thread waits; in the guest only. $call is the system call that is looked at.
wait_tools() { echo waits offcputime bpftrace-calls; }

# read_tools: those that are compared by what a whole read costs, with what is not done by BPF programs; in the guest only.
read_tools() { echo latency trace record biolatency-D biosnoop perf blktrace; }

# floors SCHEDULER: programs that do nothing but what the tools above cannot do without; in the guest only.
floors() {
	case $1 in
	none) echo floor-clocks ;;
	*) echo floor-inserted ;;
	esac
	echo floor-few floor-stack
}

# title TOOL: its command line for people.
title() {
	case $1 in
	floor) echo "two empty programs" ;;
	floor-beside) echo "four empty programs" ;;
	floor-clocks) echo "seven programs that read the clock" ;;
	floor-inserted) echo "eight programs that read the clock" ;;
	floor-few) echo "four programs that read the clock" ;;
	floor-calls) echo "two programs that submit the time" ;;
	floor-stack) echo "a program that takes the kernel's stack, and one that reads the clock" ;;
	latency-one) echo "iosonar latency, one job" ;;
	latency | trace | record | layers | slow | stacks | waits) echo "iosonar $1" ;;
	trace-w) echo "iosonar trace -w" ;;
	slow-alone) echo "iosonar slow --stack none" ;;
	biolatency-D) echo "biolatency -D" ;;
	biosnoop-Q) echo "biosnoop -Q" ;;
	bpftrace-biostacks) echo "bpftrace, biostacks.bt" ;;
	bpftrace-*) echo "bpftrace, ${1#*-} script" ;;
	perf) echo "perf record, issues and ends" ;;
	*) echo "$1" ;;
	esac
}

# script histogram|print: a bpftrace script as one writes it for the question. Requests are told apart by what the
# events have in common: queue and command id, or device and sector.
script() {
	local key start end where='' shown="hist((nsecs - @start[KEY]) / 1000)"
	if [ "$layer" = nvme ]; then
		start=nvme:nvme_setup_cmd end=nvme:nvme_complete_rq key='args.ctrl_id, args.qid, args.cid'
	else
		start=block:block_rq_issue end=block:block_rq_complete key='args.dev, args.sector'
		[ -z "$only" ] || where="/args.dev == $(device_number)/"
	fi
	if [ "$1" = print ]; then
		shown='printf("%llu %llu %d\n", nsecs, nsecs - @start[KEY], pid);'
	else
		shown="@us = $shown;"
	fi
	echo "tracepoint:$start $where { @start[KEY] = nsecs; }
		tracepoint:$end /@start[KEY]/ { $shown delete(@start, (KEY)); }
		END { clear(@start); }" | sed "s/KEY/$key/g"
}

# calls_script: of bpftrace, each call with its time.
calls_script() {
	echo "tracepoint:syscalls:sys_enter_$call { @start[tid] = nsecs; }
		tracepoint:syscalls:sys_exit_$call /@start[tid]/ {
			printf(\"%s %d %llu\\n\", comm, args.ret, nsecs - @start[tid]); delete(@start, (tid)); }
		END { clear(@start); }"
}

# device_number: as the block events have it.
device_number() { awk -F: '{ print $1 * 1048576 + $2 }' "/sys/block/$only/dev"; }

# start TOOL FILE: sets tool_pid; rows go to FILE, messages to FILE.err. It is attached when `attached` says so.
start() {
	case $1 in
	floor)
		if [ "$layer" = nvme ]; then
			set -- "$2" "$floor" nvme_setup_cmd nvme_complete_rq
		else
			set -- "$2" "$floor" block_rq_issue block_rq_complete
		fi
		;;
	floor-beside) set -- "$2" "$floor" nvme_setup_cmd nvme_complete_rq block_rq_issue block_rq_complete ;;
	floor-clocks) # where layers has programs, without a scheduler
		set -- "$2" "$floor" clock:block_bio_queue clock:block_getrq clock:block_rq_issue clock:nvme_setup_cmd clock:nvme_sq \
			clock:nvme_complete_rq clock:block_rq_complete
		;;
	floor-inserted) # and with one
		set -- "$2" "$floor" clock:block_bio_queue clock:block_getrq clock:block_rq_insert clock:block_rq_issue \
			clock:nvme_setup_cmd clock:nvme_sq clock:nvme_complete_rq clock:block_rq_complete
		;;
	floor-few) # where stacks has them
		set -- "$2" "$floor" clock:block_bio_queue clock:nvme_setup_cmd clock:nvme_complete_rq clock:block_rq_complete
		;;
	floor-calls) # $floor_functions
		set -- "$2" "$floor"
		for f in $floor_functions; do
			set -- "$@" "record:fentry:$f" "record:fexit:$f"
		done
		;;
	floor-stack) set -- "$2" "$floor" stack:block_bio_queue clock:block_rq_complete ;;
	latency | trace | layers | slow | stacks) set -- "$2" "$iosonar" "$1" ${only:+-d "$only"} ;;
	slow-alone) set -- "$2" "$iosonar" slow --stack none ${only:+-d "$only"} ;;
	trace-w) set -- "$2" "$iosonar" trace -w "$2.capture" ${only:+-d "$only"} ;;
	record) set -- "$2" "$iosonar" record -w "$2.capture" ${only:+-d "$only"} ;;
	# Issues and ends of requests.
	perf) set -- "$2" "$peers/perf" record -a -m 1024 -o "$2.data" -e block:block_rq_issue,block:block_rq_complete ;;
	blktrace) set -- "$2" "$peers/blktrace" -d "/dev/$only" -D /tmp -o "${2##*/}" ;;
	waits) set -- "$2" "$iosonar" waits "$call" ;;
	offcputime) set -- "$2" "$peers/offcputime" ;;
	bpftrace-calls) set -- "$2" "$peers/bpftrace" -e "$(calls_script)" ;;
	biolatency-D) set -- "$2" "$peers/biolatency" -D ${only:+-d "$only"} ;;
	biosnoop-Q) set -- "$2" "$peers/biosnoop" -Q ${only:+-d "$only"} ;;
	biolatency | biosnoop | biostacks) set -- "$2" "$peers/$1" ${only:+-d "$only"} ;;
	bpftrace-biostacks) set -- "$2" "$peers/bpftrace" "$peers/biostacks.bt" ;; # it knows no disks
	bpftrace-*) set -- "$2" "$peers/bpftrace" -e "$(script "${1#*-}")" ;;
	esac
	tool_file=$1
	shift
	"$@" >"$tool_file" 2>"$tool_file.err" &
	tool_pid=$!
}

# programs: the ids of the tool's BPF programs.
programs() { grep -hs '^prog_id:' "/proc/$tool_pid/fdinfo/"* | sort -u | awk '{ print $2 }'; }

# attached: waits until the tool holds programs, and has held the same ones for a second. False if it ended or takes
# longer than two minutes. That they all work is for the caller to see: by how often they ran.
attached() {
	local before='' now same=0 left=600
	while [ $same -lt 5 ] && [ $left -gt 0 ] && [ -e "/proc/$tool_pid/fdinfo" ]; do
		sleep 0.2
		now=$(programs)
		if [ -n "$now" ] && [ "$now" = "$before" ]; then
			same=$((same + 1))
		else
			same=0
		fi
		before=$now
		left=$((left - 1))
	done
	[ $same -eq 5 ]
}

# cost: sets cost_ns and cost_runs, the sums over the tool's programs since the statistics were switched on.
cost() {
	local id
	cost_runs=0 cost_ns=0
	for id in $(programs); do
		# shellcheck disable=SC2046 # two words
		set -- $(bpftool prog show id "$id" | awk '{ for (i = 1; i < NF; i++) if ($i ~ /^run_(time_ns|cnt)$/) print $(i + 1) }')
		cost_ns=$((cost_ns + ${1:-0})) cost_runs=$((cost_runs + ${2:-0}))
	done
}

# statistics 0|1
statistics() { sysctl -qw kernel.bpf_stats_enabled="$1"; }

# stop: as Ctrl-C does.
stop() {
	kill -INT "$tool_pid" 2>/dev/null
	wait "$tool_pid" 2>/dev/null
	tool_pid=
}
