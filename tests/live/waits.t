#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# waits on this machine: each call of a file is followed, by its function, or by the tracepoints of all system calls where functions
# cannot be probed. Each is counted once, under its name, its parts add up, and it took no longer than its caller says. Second
# instrument: the clock of build/vm/waiter.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/disk.sh
. "$(dirname "$0")/disk.sh"

key() { grep '"type":"ledger"' "$tmp/out" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; } # key NAME: of the ledger

# follows CALL NAME WORD...: seven calls that waiter makes, WORD... as its arguments, have this name among those of CALL.
follows() {
	local call=$1 name=$2 sum
	shift 2
	"$IOSONAR" waits "$call" --file "$file" --slow 100 -o json -- build/vm/waiter "$file" "$@" >"$tmp/all" 2>"$tmp/err"
	is "$?" 0 "$*: exit 0" || return
	grep '^{' "$tmp/all" >"$tmp/out"
	is "$(key calls) $(key unaccounted) $(($(key unwaited) + $(key shown)))" "7 0 7" "seven calls, all are accounted for"
	is "$(grep '"type":"waits"' "$tmp/out" | grep -o '"call":"[a-z]*"' | sort -u | grep -v "\"$name\"")" "" "under no other name than $name"
	is "$(sed -n '/"type":"wait",/s/.*"whole_ns":\([0-9]*\).*"parts":{\([^}]*\)}.*/\1 \2/p' "$tmp/out" |
		awk '{ sum = 0; nr = split($2, part, ","); for (i = 1; i <= nr; i++) { split(part[i], at, ":"); sum += at[2] } bad += sum != $1 }
			END { print NR, bad + 0 }')" "$(key shown) 0" "the parts of each add up to its duration"
	sum=$(sed -n '/"type":"wait",/s/.*"whole_ns":\([0-9]*\).*/\1/p' "$tmp/out" | awk '{ sum += $1 } END { printf "%.0f", sum }')
	[ "$sum" -le "$(grep -v '^{' "$tmp/all" | cut -d' ' -f1)" ]
	ok $? "they took no longer than their caller says: $sum ns" || grep -v '^{' "$tmp/all"
}

needs mkfs.ext4 build/vm/waiter
make_ext4 64M
file=$mounted/file
dd if=/dev/zero of="$file" bs=1M count=1 conv=fsync status=none

follows read read read 7 65536 direct
follows read read readv 7 65536 direct
follows read read preadv2 7 65536 direct
follows write write write 7 65536 direct
follows write write writev 7 65536 direct
follows write syncwrite write 7 65536 dsync
follows write syncwrite pwritev2 7 65536
follows fsync fsync fsync 7 65536
follows fsync fdatasync fdatasync 7 65536
follows fsync syncrange range 7 65536

# An open has its file at its end.
# shellcheck disable=SC2016 # the shell that is started expands them
"$IOSONAR" waits open --file "$file" -o json -- sh -c 'for i in 1 2 3 4 5 6 7; do : <"$0"; (: <"$0.none") 2>/dev/null; : </dev/null; done' "$file" \
	>"$tmp/out" 2>"$tmp/err"
is "$? $(key calls) $(key unaccounted) $(($(key unwaited) + $(key shown)))" "0 7 0 7" "seven opens, all are accounted for"

# A 32-bit call has a number of its own: 74 is fsync for others.
if build/vm/waiter "$file" int80 7 4096 >"$tmp/out" 2>"$tmp/err"; then
	"$IOSONAR" waits fsync --file "$file" -o json -- build/vm/waiter "$file" int80 7 4096 >"$tmp/out" 2>"$tmp/err"
	is "$? $(key calls)" "0 0" "a 32-bit call with the number of fsync is none"
else
	skip "a 32-bit call with the number of fsync is none" "this kernel or machine has none"
fi
"$IOSONAR" waits fault -t 50ms >"$tmp/out" 2>"$tmp/err"
status=$?
[ $status -eq 0 ] || { [ $status -eq 4 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q '^iosonar: functions cannot be probed here: ' "$tmp/err"; }
ok $? "page faults are followed, or one line says why not"
echo "1..$nr"
exit $((failed > 0))
