# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2034,SC2154 # who sources it sets and reads variables, too
#
# oneliners_lib.sh: runs lines of docs/one-liners.md as they stand there, and asks a second source. oneliners_cpu, _files
# and _disks source it, each for some sections of the page:
#	page CPU
#	of_process='21 59'		# lines that keep to the process calls, whose numbers are known
#	hears() { hear calls "$calls_pid" '' 'vfs_*'; }
#	checks() { same 25 "functions" "$(table 25 func)" "$(calls_of calls vfs_)"; }
#	watch 21 59 25			# together, around loads()
#	page_is_done
# The second source is ftrace, in instances of its own, or /proc and /sys/block, or what the load says that it did.

# What a test before this one left in the guest is not ours.
rm -rf /tmp/lines /tmp/runs /tmp/calls /tmp/heard /tmp/ran
mkdir -p /tmp/lines /tmp/runs /tmp/calls /tmp/heard
tracefs=$tracing

# ---- the page ----

# page SECTION...: the numbers of the notes that stand before a line are its names, the first of them its key; further
# lines below them are 11b, 11c. The line is in KEY.line, what it says when it is refused in KEY.says.
page() {
	awk -v mine="$(printf '|%s' "$@")|" '
	/^## / { section = substr($0, 4); print section >"/tmp/lines/sections" }
	/^- N?[0-9]+ / { if (used) { nr = 0; used = 0 } number[nr++] = $2; print $2 >"/tmp/lines/numbers" }
	/^```/ { inside = substr($0, 4); next }
	!index(mine, "|" section "|") { if (inside == "sh") used++; next }
	inside == "sh" { used++; key = number[0] (used > 1 ? substr("abcdefgh", used, 1) : ""); print >("/tmp/lines/" key ".line") }
	inside == "text" { print >("/tmp/lines/" key ".says") }' /tests/one-liners.md
}

# page_is_done: nothing of the notes is missing on it, no section is left to nobody, every line of ours was run.
page_is_done() {
	page_missing=$(seq 107 | grep -vxFf /tmp/lines/numbers)
	is "$page_missing" "" "every line of the notes is on the page"
	is "$(tr '\n' ' ' </tmp/lines/sections)" "CPU Memory File systems Disks NVMe " "and every section of the page is some test's"
	(cd /tmp/lines && ls -- *.line) | sed 's/\.line$//' | sort >/tmp/lines/all
	sort -u /tmp/ran >/tmp/lines/tried
	is "$(diff /tmp/lines/all /tmp/lines/tried)" "" "every line of ours was run"
}

# read_lists_once: a guest without KVM takes 10 s to write out these two lists, and most lines read them. Not before all
# modules are loaded.
read_lists_once() {
	for list in /proc/kallsyms "$tracefs/available_filter_functions"; do
		cat "$list" >"/tmp/lines/${list##*/}"
		mount --bind "/tmp/lines/${list##*/}" "$list"
	done
	trap 'umount /proc/kallsyms "$tracefs/available_filter_functions"' EXIT
	trap 'exit 143' TERM
}

# ---- runs ----

of_process='' of_family='' # keys of lines that keep to calls; to it and those that it starts
is_among() { case " $2 " in *" $1 "*) ;; *) return 1 ;; esac }

# A line begins with this word.
iosonar() {
	view=$1
	shift
	[ "$view" != events ] || exec /usr/bin/iosonar events "$@"
	set -- -v -o json --out "$out" "$@"
	is_among "$key" "$of_process" && set -- -p "$calls_pid" "$@"
	is_among "$key" "$of_family" && set -- -p "$calls_pid" --children "$@"
	exec /usr/bin/iosonar "$view" "$@"
}
pidof() { echo "$calls_pid"; } # one line asks for a process

begin() {
	: >/tmp/running
	for key; do
		out=/tmp/runs/$key
		rm -f "$out" "$out.err"
		(cd /tests && eval "$(cat "/tmp/lines/$key.line")") >"$out.out" 2>"$out.err" </dev/null &
		echo "$key $!" >>/tmp/running
		echo "$key" >>/tmp/ran
	done
}
# A line that has ended has begun. Leaves the name of one that has not in $slow.
all_begun() {
	for slow in $(cd /tmp/runs && cut -d' ' -f1 /tmp/running | sed 's/$/.err/' | xargs grep -L '^privileges:'); do
		slow=${slow%.err}
		! readlink "/proc/$(sed -n "s/^$slow //p" /tmp/running)/exe" >/dev/null || return
	done
}
uptime_s() { cut -d. -f1 /proc/uptime; }
begin_all() {
	begin_until=$(($(uptime_s) + 250))
	begin "$@"
	until all_begun; do
		[ "$(uptime_s)" -lt $begin_until ] || { note "$slow does not begin: $(cat "/tmp/runs/$slow.err")" && break; }
		sleep 0.5
	done
}
end() {
	# shellcheck disable=SC2046 # numbers
	kill -INT $(cut -d' ' -f2 /tmp/running) 2>/dev/null
	while read -r key pid; do
		wait "$pid"
		echo $? >"/tmp/runs/$key.status"
	done </tmp/running
}

# watch KEY...: these lines at the same time, around a load, and those of $besides, which end by themselves. The kernel
# skips a classic probe that interrupts another; where it does not count these, or has counted some, what differs proves
# nothing, and all is repeated, once in a test.
besides=''
befores() { :; }
hears() { :; }
loads() { :; }
afters() { :; }
watch() {
	for watch_try in 1 2; do
		befores
		hears
		note "try $watch_try at $(uptime_s) s"
		# shellcheck disable=SC2086 # words are words
		begin_all "$@" $besides
		note "all have begun at $(uptime_s) s"
		listen 1
		loads
		listen 0
		end
		heard_all
		afters
		note "all have ended at $(uptime_s) s"
		watch_nr=$tap_nr watch_failed=$tap_failed
		{ each_is_whole "$@" && checks; } >/tmp/verdict
		if [ "$tap_failed" -eq "$watch_failed" ] || [ "$watch_try" -eq 2 ] || ! may_have_skipped "$@"; then
			break
		fi
		tap_nr=$watch_nr tap_failed=$watch_failed
		again "one-liners $*" "the kernel may have skipped programs; what differs:"
		grep -A9 '^not ok' /tmp/verdict | sed 's/^/# /'
	done
	cat /tmp/verdict
	note "judged at $(uptime_s) s"
}
may_have_skipped() { (cd /tmp/runs && grep -q '"skipped":[1-9]' "$@") || (cd /tmp/runs && printf '%s.err\n' "$@" | xargs grep -q 'skips hits without counting them'); }
# Whose a skipped one was is not known: where the kernel always skips some, of others, it has to be told, and the figures
# have to be right nevertheless.
each_is_whole() {
	for key; do
		case $(cat "/tmp/runs/$key.status") in
		0) balances "$key" ;;
		3) tells_skipped "$key" && balances "$key" ;;
		*) false ;;
		esac
		ok $? "$key: every hit is accounted for, exit 0, or 3 where the kernel skips programs" || note "$(cat "/tmp/runs/$key.status" "/tmp/runs/$key.err")"
	done
	return 0
}
tells_skipped() { grep -q '"skipped":[1-9]' "/tmp/runs/$1" && grep -q ': the kernel was running another program on that CPU$' "/tmp/runs/$1.err"; }
# The ledger of any event; that of I/Os has other terms.
balances() {
	grep '_*ledger"' "/tmp/runs/$1" | tr -d '{}"' | tr ',' '\n' | awk -F: '
		$1 == "type" { any = $2 == "event_ledger" }
		any && $1 == "hits" { left += $2 }
		any && $1 ~ /^(refused|added|sent|begun|no_start)$/ { left -= $2 }
		$1 ~ /^(lost|unaccounted)/ { bad += $2 }
		END { exit !NR || left || bad }'
}

# refused KEY STATUS: a line that was run ended so, in the words of the page.
refused() {
	is "$(cat "/tmp/runs/$1.status") $(grep -c . "/tmp/runs/$1.err")" "$2 1" "$1: is refused, in one line"
	grep -qF "$(cat "/tmp/lines/$1.says")" "/tmp/runs/$1.err"
	ok $? "$1: and says why" || note "$(cat "/tmp/runs/$1.err")"
}

# ---- what was shown ----

rows() { grep -v '_*ledger"\|"type":"open"\|"span":"interval"' "/tmp/runs/$1" | grep "${2:-}"; }
# total KEY [PATTERN] [NAME]: the sum of these values, of count if not said; not of buckets.
total() {
	rows "$1" "${2:-}" | grep -v '"type":"bucket"' | grep -o "\"${3:-count}\":-*[0-9]*" | cut -d: -f2 | awk '{ n += $1 } END { print n + 0 }'
}
# bucket KEY FROM: what is in it.
bucket() { grep '"type":"bucket"' "/tmp/runs/$1" | grep "\"from\(_[a-z]*\)*\":$2," | value count; }
lines() { rows "$1" "${2:-}" | grep -c .; }
term() { grep '"type":"event_ledger"' "/tmp/runs/$1" | value "$2"; }
# by_name: NAME COUNT of lines NAME COUNT, one for each, in order of names.
by_name() { awk '$2 { n[$1] += $2 } END { for (i in n) print i, n[i] }' | LC_ALL=C sort; }
each_name() { LC_ALL=C sort | uniq -c | awk '{ print $2, $1 }'; }
# table KEY COLUMN [SYSTEM]: NAME COUNT of what was hit at all, without its prefix.
table() { rows "$1" | sed -n 's/.*"'"$2"'":"'"${3:+$3:}"'\([^"]*\)".*"count":\([1-9][0-9]*\).*/\1 \2/p' | by_name; }

# ---- the second source ----

# hear NAME PID EVENTS FUNCTIONS [FILTER]: of that process alone unless PID is empty; the filter is of events. What
# happens during the load, unless it is told to listen earlier.
hear() {
	tracing=$tracefs/instances/$1
	mkdir -p "$tracing"
	echo 0 >"$tracing/tracing_on"
	echo nop >"$tracing/current_tracer"
	[ -z "$2" ] || echo "$2" >"$tracing/set_event_pid"
	[ -z "$2" ] || echo "$2" >"$tracing/set_ftrace_pid"
	for event in ${5:+$3}; do
		echo "$5" >"$tracing/events/$event/filter"
	done
	: >"$tracing/set_ftrace_filter"
	for glob in $4; do
		echo "$glob" >>"$tracing/set_ftrace_filter"
	done
	# An empty filter would be all functions.
	! grep -q '^#' "$tracing/set_ftrace_filter" && echo function >"$tracing/current_tracer"
	# shellcheck disable=SC2086 # words are words
	ftrace_start $3
	echo 0 >"$tracing/tracing_on"
	tracing=$tracefs
}
# listen 0|1 [NAME]: not, or from now on; all of them, if none is named.
listen() {
	for instance in "$tracefs"/instances/${2:-*}; do
		[ ! -e "$instance/tracing_on" ] || echo "$1" >"$instance/tracing_on"
	done
}
# heard_names FILE: FUNCTION TASK-PID CPU of every call into FILE.calls, every event's name into FILE.events. Without
# regular expressions: busybox takes milliseconds for each line.
#	dd-427     [001] d..1.   277.456001: nvme_setup_cmd: nvme0: disk=…
#	dd-427     [001] d..1.   277.456001: nvme_queue_rq <-…
heard_names() {
	: >"$1.calls"
	: >"$1.events"
	awk -v calls="$1.calls" -v events="$1.events" '
	substr($1, 1, 1) == "#" { next }
	{
		for (cpu = 2; cpu < NF && substr($cpu, 1, 1) != "["; cpu++)
			;
		name = $(cpu + 3)
		size = length(name)
		if (substr(name, size) == ":")
			print substr(name, 1, size - 1) >events
		else
			print name, $1, substr($cpu, 2, 3) >calls
	}' "$1"
}
heard_all() {
	for tracing in "$tracefs"/instances/*; do
		[ -e "$tracing/trace" ] || continue
		heard=/tmp/heard/${tracing##*/}
		ftrace_stop "$heard" || note "ftrace lost something of ${heard##*/}"
		echo nop >"$tracing/current_tracer"
		heard_names "$heard"
		rmdir "$tracing"
	done
	tracing=$tracefs
}
# called NAME FUNCTION [TASK CPU]; happened NAME EVENT [PATTERN]: how often.
called() { grep -c "^$2 ${3:-}" "/tmp/heard/$1.calls"; }
happened() { heard "$1" "$2" | grep -c "${3:-}"; }
# heard NAME EVENT: its lines.
heard() { grep -F " $2: " "/tmp/heard/$1"; }
# calls_of NAME BEGIN, events_of NAME SYSTEM: NAME COUNT of all.
calls_of() { cut -d' ' -f1 "/tmp/heard/$1.calls" | grep "^$2" | each_name; }
events_of() {
	ls "$tracefs/events/$2" >/tmp/names
	grep -xFf /tmp/names "/tmp/heard/$1.events" | each_name
}

# same KEY WHAT TABLE TABLE: and not empty.
same() {
	[ -n "$3" ] && [ "$3" = "$4" ]
	ok $? "$1: $2, $(echo "$3" | grep -c .) of them" || {
		echo "$3" >/tmp/a
		echo "$4" >/tmp/b
		note "$(diff /tmp/a /tmp/b | head -20)"
	}
}

# ---- a process that says what it did ----

calls_stopped() { grep -q '^State:.*T' "/proc/$calls_pid/status"; }
start_calls() {
	rm -f /tmp/calls/*
	calls /tmp/calls >/tmp/did &
	calls_pid=$!
	wait_for 20 calls_stopped
}
# It stops a second time, after it has written.
calls_are_done() { [ -s /tmp/calls/opened ] && calls_stopped; }
run_calls() {
	kill -CONT "$calls_pid"
	wait_for 60 calls_are_done
	sleep 0.3 # stopped by name, it still tells its parent, and is preempted at that
}
finish_calls() {
	kill -CONT "$calls_pid"
	wait "$calls_pid"
}
did() { sed -n "s/^$1 //p" /tmp/did; }
