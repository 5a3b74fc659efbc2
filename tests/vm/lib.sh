# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
#
# lib.sh: what a test in the guest can call. busybox sh; sourced by init before the test.
#	iosonar count -t 1 >out; ok $? "counts for a second"
#	is "$(stat_of $dev reads)" 97 "the kernel saw as many"
#	done_testing

tap_nr=0 tap_failed=0 tap_again=0

# ok RESULT NAME: RESULT is an exit status.
ok() {
	tap_nr=$((tap_nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_nr - $2"
		return 0
	fi
	echo "not ok $tap_nr - $2"
	tap_failed=$((tap_failed + 1))
	return 1
}

# is GOT WANT NAME
is() {
	[ "$1" = "$2" ]
	ok $? "$3" || {
		note "got  '$1'"
		note "want '$2'"
		return 1
	}
}

# between GOT LOW HIGH NAME: whole numbers.
between() {
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
	ok $? "$4" || {
		note "got $1, want $2 to $3"
		return 1
	}
}

# skip NAME REASON: the reason says what is missing.
skip() {
	tap_nr=$((tap_nr + 1))
	echo "ok $tap_nr - $1 # SKIP $2"
}

note() { printf '%s\n' "$*" | sed 's/^/# /'; }

# again NAME REASON: a run proved nothing about us and is repeated. `./check` lists it; a test that needs a second one fails.
again() {
	tap_again=$((tap_again + 1))
	note "again: $1: $2"
	[ "$tap_again" -le 1 ] || ok 1 "$1: at most one run of a test is repeated"
}

done_testing() {
	rmdir /sys/kernel/config/nullb/nullb* 2>/dev/null # the next test of this guest would find them
	echo "1..$tap_nr"
	exit $((tap_failed > 0))
}

# wait_for SECONDS COMMAND...: until it succeeds; false when the time is up.
wait_for() {
	wait_left=$(($1 * 20))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $wait_left -gt 0 ] || return 1
		wait_left=$((wait_left - 1))
		sleep 0.05
	done
}

# busybox sh runs its own applet first wherever it has one. Its dd quietly gives up O_DIRECT when refused (5.10).
setpriv() { /usr/bin/setpriv "$@"; }
dd() { /usr/bin/dd "$@"; }

# --- devices ---

# load MODULE [PARAMETER=VALUE]...: with what it needs; fine if it is built in or loaded.
load() { modprobe "$@"; }

# disk SERIAL [NSID]: name of a drive's block device, nvme0n1. Numbers change from boot to boot, serials do not;
# nor does the nsid have to be the number in the name. Under multipath it is the device that is seen, not a path.
disk() {
	for ctrl in /sys/class/nvme/nvme*; do
		[ "$(sed 's/ *$//' "$ctrl/serial" 2>/dev/null)" = "$1" ] || continue
		for ns in "$ctrl"/nvme*n*; do
			[ "$(cat "$ns/nsid" 2>/dev/null)" = "${2:-1}" ] || continue
			basename "$ns" | sed 's/c[0-9]*n/n/'
			return 0
		done
	done
	return 1
}

# set_scheduler DISK NAME
set_scheduler() { echo "$2" >"/sys/block/$1/queue/scheduler"; }

# stat_of DISK FIELD: from the kernel's own counts. reads, writes, discards and flushes are I/Os done, *_sectors are
# 512 bytes, *_ms their summed time.
stat_of() {
	awk -v want="$2" 'BEGIN {
		split("reads read_merges read_sectors read_ms writes write_merges write_sectors write_ms inflight busy_ms " \
			"queue_ms discards discard_merges discard_sectors discard_ms flushes flush_ms", name)
	}
	{ for (i in name) if (name[i] == want) print $i }' "/sys/block/$1/stat"
}

# null_disk NAME [ATTRIBUTE=VALUE]...: makes a null_blk disk; nullbN, because newer kernels name the disk after it.
# With irqmode=2 completion_nsec=N every I/O takes N ns, and under icount exactly that.
null_disk() {
	null_dir=/sys/kernel/config/nullb/$1
	[ -e /sys/kernel/config/nullb ] || load null_blk nr_devices=0 || return
	mkdir "$null_dir" || return
	shift
	for null_set in size=256 "$@" power=1; do
		echo "${null_set#*=}" >"$null_dir/${null_set%%=*}" || return
	done
}

null_remove() { rmdir "/sys/kernel/config/nullb/$1"; }

# monitor COMMAND: to QEMU's monitor, e.g. monitor qom-set /machine/peripheral/nv0 smart_critical_warning 1
monitor() { echo "@monitor $*" >&3; }

# freeze SECONDS: the whole guest stands still for so long; without KVM its clock too.
freeze() { echo "@freeze $1" >&3; }

# unplug: takes the drive of the shape hotplug away; it is gone when its disk is, which takes arm64 5 s and more.
unplug() { monitor device_del nv0; }

# plug: puts the other drive, io1, in its place. QEMU refuses until it has seen the slot's power go off.
plug() { wait_for 20 plug_once; }
plug_once() {
	monitor device_add nvme,id=nv0,bus=rp0,serial=io1,drive=d1
	sleep 0.5
	disk io1
}

# --- second instruments ---

# fio_ios FILE read|write|trim: I/Os done, over all jobs of fio's JSON.
fio_ios() {
	awk -v section="\"$2\"" '
	$1 == section && $3 == "{" { inside = 1 }
	inside && $1 == "\"total_ios\"" { sum += $3; inside = 0 }
	END { print sum + 0 }' "$1"
}

tracing=/sys/kernel/tracing

# ftrace_start EVENT... : block/block_rq_issue nvme/nvme_setup_cmd; one buffer, the clock of bpf_ktime_get_ns.
ftrace_start() {
	echo 0 >$tracing/tracing_on
	echo >$tracing/set_event
	echo "${ftrace_kb:-8192}" >$tracing/buffer_size_kb
	echo mono >$tracing/trace_clock
	echo >$tracing/trace
	for event; do
		echo 1 >"$tracing/events/$event/enable" || return
	done
	echo 1 >$tracing/tracing_on
}

# ftrace_clear: forgets what was seen. Not while it writes: 5.10 stamps what follows with wrong times.
ftrace_clear() {
	echo 0 >$tracing/tracing_on
	echo >$tracing/trace
	echo 1 >$tracing/tracing_on
}

# ftrace_settle: until nothing happens for a while; the driver looks for namespaces in its own time.
ftrace_settle() {
	settle_before=-1
	settle_now=$(grep -c . $tracing/trace)
	while [ "$settle_before" != "$settle_now" ]; do
		settle_before=$settle_now
		sleep 0.4
		settle_now=$(grep -c . $tracing/trace)
	done
}

# ftrace_stop FILE: what was seen. False if the buffer ran over: then the count would be a wrong answer.
ftrace_stop() {
	echo 0 >$tracing/tracing_on
	echo >$tracing/set_event
	cat $tracing/trace >"$1"
	! cat $tracing/per_cpu/cpu*/stats | grep -E '^(overrun|dropped events): [1-9]'
}

# ftrace_count FILE EVENT [PATTERN]: lines of that event that match, e.g. ftrace_count out block_rq_issue '259,0 R'
ftrace_count() { grep -cE " $2: .*${3:-}" "$1"; }

# ftrace_commands FILE: every NVMe command that was set up and completed, in the order of setup, one a line:
#	SETUP_US COMPLETED_US QID CID NSID STATUS RESULT NAME KEY=VALUE,...
# from the kernel's own text of nvme_setup_cmd and nvme_complete_rq, with the spaces taken out of what follows NAME.
# Paired by queue and tag: 5.10 leaves the generation, the upper four bits of the id, out of the second event.
ftrace_commands() {
	awk '
	{
		for (at = 4; at < NF && $at != "nvme_setup_cmd:" && $at != "nvme_complete_rq:"; at++)
			;
		time = $(at - 1)
		sub(/\./, "", time)
		for (i = at + 2; i <= NF; i++) {
			sign = index($i, "=")
			word = substr($i, 1, sign - 1)
			if (word == "cmd")
				break
			value[word] = substr($i, sign + 1)
		}
		key = $(at + 1) (value["qid"] + 0) "/" value["cmdid"] % 4096
	}
	$at == "nvme_setup_cmd:" && !(key in open) {
		open[key] = ++nr
		setup[nr] = time + 0
		ids[nr] = value["qid"] + 0 " " value["cmdid"] + 0 " " value["nsid"] + 0
		text = substr($0, index($0, " cmd=(") + 6)
		space = index(text, " ")
		rest = substr(text, space + 1, length(text) - space - 1)
		if (rest ~ /^fid=[^,]* sel=/) # 5.10 forgot the commas here
			gsub(/ /, ",", rest)
		gsub(/ /, "", rest)
		command[nr] = substr(text, 1, space - 1) " " rest
	}
	$at == "nvme_complete_rq:" && key in open {
		i = open[key]
		delete open[key]
		end[i] = time + 0
		outcome[i] = value["status"] " " substr(value["res"], 1, length(value["res"]) - 1)
	}
	END {
		for (i = 1; i <= nr; i++)
			if (i in end)
				printf "%d %d %s %s %s\n", setup[i], end[i], ids[i], outcome[i], command[i]
	}' "$1"
}

# bpf_objects: BPF programs, links and maps in the whole guest. Nothing else uses BPF here, so what is more than before
# a run is ours.
bpf_objects() {
	bpf_list=$(bpftool prog show && bpftool link show && bpftool map show) || { echo "bpftool failed" && return 1; }
	echo "$bpf_list" | grep -cE '^[0-9]+:'
}

# --- iosonar ---

# row FILE DEV OP KEY: from the run's final JSON row of that device and operation; 0 if there is none.
row() {
	grep '"type":"latency","span":"total"' "$1" | grep "\"dev\":\"$2\",\"op\":\"$3\"" | value "$4"
}

# ledger FILE KEY
ledger() { grep '"type":"ledger"' "$1" | value "$2"; }

# value KEY: of a JSON object on standard input, one number; 0 if there is none.
value() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" | tail -1 | grep . || echo 0; }

# measure FILE [OPTION...]: starts iosonar latency into FILE, and returns when it is attached; then `measured FILE`
# ends it and gives its exit status. Its messages are in FILE.err.
measure() {
	measure_file=$1
	shift
	rm -f "$measure_file" "$measure_file.err" # what an earlier run said is no sign of this one
	iosonar latency -o json "$@" >"$measure_file" 2>"$measure_file.err" &
	measure_pid=$!
	wait_for 60 grep -q 'from .*_rq' "$measure_file.err" || cat "$measure_file.err" >&2
}
measured() {
	kill -INT "$measure_pid"
	wait "$measure_pid"
	measure_status=$?
	[ $measure_status -eq 0 ] || sed 's/^/# /' "$measure_file.err"
	return $measure_status
}

# started COMMAND FILE [OPTION...]: as measure, for any view; `measured` ends it too.
started() {
	started_view=$1
	measure_file=$2
	shift 2
	rm -f "$measure_file" "$measure_file.err"
	iosonar "$started_view" -v -o json "$@" >"$measure_file" 2>"$measure_file.err" &
	measure_pid=$!
	wait_for 60 grep -q '^tables' "$measure_file.err" || cat "$measure_file.err" >&2
}
traced() { started trace "$@"; }

# step FILE DEV OP STEP KEY: from the final row of layers of that step; 0 if there is none.
step() {
	grep '"type":"layers","span":"total"' "$1" | grep "\"dev\":\"$2\",\"op\":\"$3\",\"step\":\"$4\"" | value "$5"
}

# steps FILE DEV OP: their names in order, the total last.
steps() {
	grep '"type":"layers","span":"total"' "$1" | grep "\"dev\":\"$2\",\"op\":\"$3\"" |
		sed 's/.*"step":"\([A-Z2]*\)".*/\1/' | tr '\n' ' '
}

# adds_up FILE DEV OP NAME: the times of all steps are the total's.
adds_up() {
	adds_rows=$(grep '"type":"layers","span":"total"' "$1" | grep "\"dev\":\"$2\",\"op\":\"$3\"" | sed 's/.*"sum_ns":\([0-9]*\).*/\1/')
	is "$(echo "$adds_rows" | sed '$d' | awk '{ sum += $1 } END { printf "%.0f", sum }')" "$(echo "$adds_rows" | tail -1)" "$4"
}

# column FILE KEY: that value of every JSON row of trace, one a line.
column() { sed -n '/"type":"trace"/s/.*"'"$2"'":"*\([^,"}]*\).*/\1/p' "$1"; }

# trace_commands FILE KEY...: these values of every row of trace, in the order of issue, one command a line.
trace_commands() {
	trace_file=$1
	shift
	grep '"type":"trace"' "$trace_file" | awk -v keys="$*" '
	function value(key, at, rest) { # no regular expressions: busybox compiles each anew
		at = index($0, "\"" key "\":")
		rest = substr($0, at + length(key) + 3)
		if (substr(rest, 1, 1) == "\"")
			return substr(rest, 2, index(substr(rest, 2), "\"") - 1)
		at = index(rest, ",")
		return at ? substr(rest, 1, at - 1) : substr(rest, 1, index(rest, "}") - 1)
	}
	BEGIN { nr = split(keys, key) }
	{
		line = value("start_ns")
		for (i = 1; i <= nr; i++)
			line = line " " value(key[i])
		print line
	}' | sort -n | cut -d' ' -f2-
}

# whole FILE NAME: the run's ledger balances and nothing was lost.
whole() {
	[ "$(ledger "$1" unaccounted)" = 0 ] && ! grep '"type":"ledger"' "$1" | grep -qE '"lost_[a-z_]*":[1-9]'
	ok $? "$2" || note "$(grep '"type":"ledger"' "$1")"
}
