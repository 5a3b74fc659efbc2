#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Where --out writes, and how a run of captures ends: FILE is replaced by a whole output or left as it was, and never is
# the capture that is read; links in directories that anyone can write to are not followed; a replay that is interrupted
# says how far it came. Needs no root.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
	data=$root/tests/data
	cd "$tmp" || return
}

has_sql() { "$iosonar" --version | grep -qw sqlite; }

# ends STATUS ARGUMENT...: iosonar ends so; what it says is in out and err.
ends() {
	local want=$1 status=0
	shift
	"$iosonar" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	[ $status -eq "$want" ] || { echo "exit $status, not $want: iosonar $*"; cat "$tmp/err"; return 1; }
}

# says TEXT: on stderr, in a line of its own.
says() { grep -qFx "$1" "$tmp/err" || { echo "wanted: $1"; cat "$tmp/err"; return 1; }; }

@test "--out is not the capture that is read" {
	cp "$data/before.cap" "$data/class.cap" "$data/calls.cap" "$data/cache.cap" "$data/errors.cap" .
	ln -s before.cap link
	ln before.cap hard
	mkdir sub
	for command in "report -r before.cap" "trace -r before.cap" "latency -r before.cap" "layers -r before.cap" "slow -r before.cap" \
		"export -r before.cap -o csv" "diff errors.cap before.cap" "info before.cap" "sql before.cap .tables" \
		"trace -r errors.cap -r before.cap"; do
		case $command in sql*) has_sql || continue ;; esac
		for file in before.cap link hard ./sub/../before.cap; do
			# shellcheck disable=SC2086 # words
			ends 2 $command --out $file
			says "iosonar: --out $file is a file that this run also reads or records to; choose another name"
		done
	done
	ends 2 class -r class.cap --out class.cap
	ends 2 calls -r calls.cap --out calls.cap
	ends 2 export -r calls.cap -o json --out calls.cap
	ends 2 cache -r cache.cap --out cache.cap
	for file in *.cap; do
		cmp "$file" "$data/$file"
	done
	[ -z "$(find . -name '*.partial')" ]
}

@test "--out is not what it writes to first, nor what -w keeps" {
	cp "$data/before.cap" x.partial
	ends 2 trace -r x.partial --out x
	says "iosonar: --out x is first written to x.partial, which this run also reads or records to; choose another name"
	cmp x.partial "$data/before.cap"
	ends 2 latency -w y --out ./y
	ends 2 latency -w y.partial --out y
	[ ! -e y ]
	[ ! -e y.partial ]
}

@test "a run that ends well replaces FILE at its end, with its permissions" {
	echo old >file
	chmod 640 file
	ln file second
	ends 0 latency -r "$data/before.cap" -o json --out file
	grep -q '"type":"ledger"' file
	[ "$(stat -c %a file)" = 640 ]
	[ "$(cat second)" = old ]
	[ ! -e file.partial ]
	umask 027
	ends 0 latency -r "$data/before.cap" --out new
	[ "$(stat -c %a new)" = 640 ]
	echo left >new.partial
	ends 0 latency -r "$data/before.cap" --out new
	[ ! -e new.partial ]
}

@test "a run that fails to start leaves FILE as it was, and nothing beside it" {
	echo old >file
	head -c 100 /dev/zero >none
	for command in "latency -r absent.cap" "report -r none" "trace -r none" "latency -r $data/before.cap --by file" "class -r $data/before.cap" \
		"calls -r $data/before.cap" "cache -r $data/before.cap" "export -r $data/before.cap -o json --if 1" \
		"diff none $data/before.cap" "info absent.cap" "class --list no_such_struct_at_all" "cache --residency absent"; do
		# shellcheck disable=SC2086 # words
		! "$iosonar" $command --out file >out 2>err || { echo "ends well: $command"; return 1; }
		[ "$(cat file)" = old ] || { echo "$command"; return 1; }
		[ ! -e file.partial ] || { echo "$command"; cat file.partial; return 1; }
	done
	if has_sql; then
		ends 2 sql "$data/before.cap" 'SELECT nothing FROM io' --out file
		[ "$(cat file)" = old ]
		[ ! -e file.partial ]
	fi
}

@test "an output that is cut stays in FILE.partial, and one line says so" {
	echo old >file
	(
		ulimit -f 8
		ends 1 trace -r "$data/before.cap" --out file
	)
	says "iosonar: cannot write file: File too large"
	says "iosonar: the output is incomplete; it is in file.partial; file is unchanged"
	[ "$(grep -c . err)" -eq 2 ]
	[ "$(cat file)" = old ]
	grep -q latency file.partial
	if has_sql; then
		(
			ulimit -f 8
			ends 1 sql "$data/before.cap" 'SELECT * FROM io' --out fresh
		)
		says "iosonar: the output is incomplete; it is in fresh.partial"
		[ ! -e fresh ]
	fi
}

@test "a link is followed and stays; a pipe, a device and /dev/stdout are written to" {
	mkdir sub
	ln -s sub/target link
	ends 0 latency -r "$data/before.cap" --out link
	[ -L link ]
	[ -s sub/target ]
	ends 0 latency -r "$data/before.cap" --out link
	[ -L link ]
	mkfifo pipe
	cat pipe >came &
	ends 0 latency -r "$data/before.cap" --out pipe
	wait $!
	cmp came sub/target
	[ -p pipe ]
	ends 0 latency -r "$data/before.cap" --out /dev/null
	ends 1 latency -r "$data/before.cap" --out /dev/full
	says "iosonar: cannot write /dev/full: No space left on device"
	{
		echo first
		"$iosonar" latency -r "$data/before.cap" --out /dev/stdout
	} >both 2>/dev/null
	[ "$(head -1 both)" = first ]
	tail -n +2 both | cmp - sub/target
	ends 1 latency -r "$data/before.cap" --out sub
	says "iosonar: cannot write sub: Is a directory"
	ends 1 latency -r "$data/before.cap" --out none/file
	says "iosonar: cannot write none/file: No such file or directory"
}

@test "a link in a sticky directory that anyone can write to is not followed" {
	mkdir shared mine
	chmod 1777 shared
	echo old >mine/file
	ln -s ../mine/file shared/link
	ln -s ../mine shared/dir
	ln -s shared/link chain
	for file in shared/link shared/dir/file chain; do
		ends 1 latency -r "$data/before.cap" --out $file
		grep -q '^iosonar: cannot write .*: it is a symbolic link in a directory that anyone can write to' err
	done
	[ "$(cat mine/file)" = old ]
	ends 0 latency -r "$data/before.cap" --out shared/plain
	[ -s shared/plain ]
}

# interrupted SIGNAL STATUS ARGUMENT...: a signal is pending when iosonar starts, so that it is seen at the first look.
interrupted() {
	local signal=$1 want=$2 status=0
	shift 2
	python3 -c '
import os, signal, sys
number = signal.Signals[sys.argv[1]]
signal.pthread_sigmask(signal.SIG_BLOCK, [number])
os.kill(os.getpid(), number)
os.execv(sys.argv[2], sys.argv[2:])' "$signal" "$iosonar" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	[ $status -eq "$want" ] || { echo "exit $status, not $want: iosonar $*"; cat "$tmp/err"; return 1; }
	! grep -q 'nothing lost' err || { echo "iosonar $*"; cat err; return 1; }
}

# tells: how far it came.
tells() {
	grep -qE '^iosonar: interrupted after [0-9]+ % of the capture: the output is incomplete$' err || { cat err; return 1; }
}

@test "a replay that is interrupted says how far it came, and exits 3" {
	for command in latency trace layers slow errors pattern "report -o json" "export -o csv" "export -o chrome" "trace --allow-loss" \
		"latency -i 1ms" "latency -r $data/v1.cap"; do
		# shellcheck disable=SC2086 # words
		interrupted SIGTERM 3 $command -r "$data/v1-stages.cap"
		tells
		! grep -q '"type":"ledger"' out
	done
	interrupted SIGINT 3 class -r "$data/class.cap"
	tells
	interrupted SIGTERM 3 calls -r "$data/calls.cap"
	tells
	interrupted SIGTERM 3 export -r "$data/calls.cap" -o json
	tells
	interrupted SIGTERM 3 cache -r "$data/cache.cap"
	tells
}

@test "its output stays in FILE.partial" {
	echo old >file
	interrupted SIGTERM 3 export -r "$data/before.cap" -o csv --out file
	tells
	says "iosonar: the output is incomplete; it is in file.partial; file is unchanged"
	[ "$(cat file)" = old ]
	"$iosonar" export -r "$data/before.cap" -o csv 2>/dev/null | head -1024 | cmp - file.partial
}

@test "diff that is interrupted compares nothing, and exits 1" {
	for file in before calls; do
		interrupted SIGTERM 1 diff "$data/$file.cap" "$data/$file.cap" --out file
		[ ! -e file ]
		[ ! -e file.partial ]
		says "iosonar: cannot compare: $data/$file.cap was not read to its end"
	done
}

@test "sql that is interrupted says how far it came, and exits 3" {
	has_sql || skip "built without SQLite"
	interrupted SIGTERM 3 sql "$data/v1.cap" 'SELECT count(*) FROM io a, io b'
	tells
	interrupted SIGINT 3 sql "$data/v1.cap" 'SELECT a.* FROM io a, io b' --out file
	tells
	[ ! -e file ]
}
