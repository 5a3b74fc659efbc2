#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# However a run with -w ends, its capture is whole: a reader that goes, no more room, SIGINT, SIGTERM, a COMMAND that fails
# or is not there. Of every command that has -w. Second instrument: info --verify, which reads every block.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/disk.sh
. "$(dirname "$0")/disk.sh"
needs dd
make_disk 16M

# reads NUMBER: of the disk, past the page cache and through it.
reads() {
	dd if="$disk" of=/dev/null iflag=direct bs=4096 count="$1" status=none
	dd if="$disk" of=/dev/null bs=4096 count="$1" status=none
	dd of="$disk" oflag=nocache conv=notrunc,fdatasync count=0 status=none
}

# whole WHAT: the capture has its end, and nothing is missing that it does not say.
whole() {
	"$IOSONAR" info --verify "$tmp/x.cap" >"$tmp/out" 2>"$tmp/err"
	is "$? $(grep -c '^  intact' "$tmp/out")" "0 1" "$1" || sed 's/^/# /' "$tmp/out"
}

# started: iosonar with what is under test, in the background: its process is $pid.
started() {
	rm -f "$tmp/x.cap"
	"$IOSONAR" "${view[@]}" -w "$tmp/x.cap" >"$tmp/shown" 2>"$tmp/said" &
	pid=$!
	for _ in $(seq 300); do
		[ -s "$tmp/x.cap" ] && break
		kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
}

check_signal() { # check_signal SIGNAL: it comes twice, as timeout(1) sends it
	started
	reads 31
	kill -"$1" "$pid"
	sleep 0.001
	kill -"$1" "$pid" 2>/dev/null
	wait "$pid"
	is "$?" 0 "${view[*]}: $1: exit 0" || sed 's/^/# /' "$tmp/said"
	whole "${view[*]}: $1"
}

# The reader goes after its first line; more is printed until that is seen.
check_pipe() {
	rm -f "$tmp/x.cap"
	"$IOSONAR" "${view[@]}" -w "$tmp/x.cap" "${every[@]}" -t 20s -- sh -c "exec >/dev/null; for i in \$(seq 200); do
		dd if=$disk of=/dev/null iflag=direct bs=4096 count=11 status=none; dd if=$disk of=/dev/null bs=4096 count=11 status=none
		sleep 0.05; done" 2>"$tmp/said" | head -1 >/dev/null
	is "${PIPESTATUS[0]}" 0 "${view[*]}: the reader goes: exit 0" || sed 's/^/# /' "$tmp/said"
	whole "${view[*]}: the reader goes"
}

check_command() {
	rm -f "$tmp/x.cap"
	"$IOSONAR" "${view[@]}" -w "$tmp/x.cap" -- sh -c "dd if=$disk of=/dev/null iflag=direct bs=4096 count=11 status=none; exit 9" \
		>"$tmp/shown" 2>"$tmp/said"
	is "$?" 9 "${view[*]}: COMMAND fails: its own status" || sed 's/^/# /' "$tmp/said"
	whole "${view[*]}: COMMAND fails"
	rm -f "$tmp/x.cap"
	"$IOSONAR" "${view[@]}" -w "$tmp/x.cap" -- /nonexistent/command >"$tmp/shown" 2>"$tmp/said"
	is "$?" 1 "${view[*]}: no such COMMAND: exit 1" || sed 's/^/# /' "$tmp/said"
	[ ! -e "$tmp/x.cap" ] || whole "${view[*]}: no such COMMAND"
}

# What there was no room for is said, and the rest has its end. There is room for a capture of nothing and at most 1 KiB
# more. record.t has a disk that is full.
check_full() {
	rm -f "$tmp/x.cap"
	"$IOSONAR" "${view[@]}" -w "$tmp/x.cap" -- true >/dev/null 2>"$tmp/said"
	ulimit -S -f $(($(stat -c %s "$tmp/x.cap") / 1024 + 1))
	rm -f "$tmp/x.cap"
	"$IOSONAR" "${view[@]}" -w "$tmp/x.cap" "${every[@]}" -- sh -c "exec >/dev/null; for i in \$(seq 12); do
		dd if=$disk of=/dev/null iflag=direct bs=512 count=900 status=none; dd if=$disk of=/dev/null bs=4096 count=500 status=none
		dd of=$disk oflag=nocache conv=notrunc,fdatasync count=0 status=none; sleep 0.05; done" >/dev/null 2>"$tmp/said"
	is "$? $(grep -c 'has reached its size limit' "$tmp/said")" "3 1" "${view[*]}: no more room: exit 3, and one line" ||
		sed 's/^/# /' "$tmp/said"
	ulimit -S -f unlimited
	whole "${view[*]}: no more room"
}

functions=raw
"$IOSONAR" calls submit_bio_noacct -t 10ms >/dev/null 2>"$tmp/err" && functions=kernel
views=("latency -d $disk" "trace -d $disk" "record -d $disk" "cache" "cache --events -d $disk" "record --cache --events")
[ $functions = raw ] || views+=("calls submit_bio_noacct" "class bio" "waits")
[ $functions = kernel ] || skip "calls, class, waits" "this kernel lets nobody attach to functions: $(head -1 "$tmp/err")"
for words in "${views[@]}"; do
	read -ra view <<<"$words"
	every=(-i 20ms)
	case $words in cache\ --events* | calls* | class*) every=() ;; esac
	check_signal INT
	check_signal TERM
	check_command
	case $words in
	record*) ;;
	*) check_pipe ;;
	esac
	case $words in
	cache\ --events*) ;; # the misses of one disk are too few; record --cache has all
	*) check_full ;;
	esac
done
echo "1..$nr"
exit $((failed > 0))
