#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# serve: what is wrong with its options and addresses is told in one line, with the right exit code, before anything is
# attached. Needs no root. What it serves: tests/live/serve.t.

setup() {
	iosonar=${IOSONAR:-build/iosonar}
	tmp=$BATS_TEST_TMPDIR
	"$iosonar" --version | grep -qw libmicrohttpd || skip "built without libmicrohttpd"
	as=() limit=(timeout 20)
	holder=''
}

teardown() {
	[ -z "$holder" ] || kill "$holder" 2>/dev/null || true
}

serve() {
	status=0
	"${as[@]}" "${limit[@]}" "$iosonar" serve "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	err=$(cat "$tmp/err")
}

# refused CODE MESSAGE WORD...: exactly this line on stderr, nothing on stdout
refused() {
	local code=$1 message=$2
	shift 2
	serve "$@"
	[ "$status" -eq "$code" ] || { echo "$*: exit $status, not $code: $err"; return 1; }
	[ ! -s "$tmp/out" ] || { echo "$*: stdout: $(cat "$tmp/out")"; return 1; }
	[ "$err" = "iosonar: $message" ] || { echo "$*: said '$err'"; return 1; }
}

# hold: a port of loopback that somebody listens on, in $port
hold() {
	python3 -c 'import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1], flush=True); time.sleep(60)' >"$tmp/port" 3>&- &
	holder=$!
	for _ in $(seq 100); do [ -s "$tmp/port" ] && break; sleep 0.05; done
	port=$(cat "$tmp/port")
}

@test "an address that is none" {
	for word in 9936 127.0.0.1 127.0.0.1:65536 store1:9936 ::1:9936 http://127.0.0.1:9936 :; do
		refused 2 "--listen $word: expected ADDRESS:PORT or unix:PATH, e.g. 127.0.0.1:9936 or [::1]:9936" --listen "$word"
	done
	long=$(printf 'x%.0s' $(seq 200))
	refused 2 "--listen unix:$long: expected a path of 1 to 107 bytes" --listen "unix:$long"
}

@test "a port that is taken, an address that is not ours" {
	hold
	refused 1 "cannot listen on http://127.0.0.1:$port: it is taken; choose another --listen" --listen "127.0.0.1:$port"
	# of a network for documentation: RFC 5737
	refused 2 "cannot listen on http://192.0.2.1:9936: this machine has no such address" --listen 192.0.2.1:9936 --allow-host x
	refused 1 "cannot listen on unix:/no/such/folder/s: No such file or directory" --listen unix:/no/such/folder/s
}

@test "what others reach needs a name" {
	for word in 0.0.0.0:9936 '[::]:9936' 192.0.2.1:9936; do
		refused 2 "http://$word is not loopback: --allow-host NAME is required, with the name in the scraper's URL" --listen "$word"
	done
	for word in 'a b' 'http://a' a:80 '*' '[::1'; do
		refused 2 "--allow-host $word: expected a name or address without a port, e.g. host1.example.org or [2001:db8::1]" \
			--allow-host "$word"
	done
}

@test "words and numbers that are none" {
	serve --by pid
	[ "$status" -eq 2 ] && [[ $err == *"--by"*"pid"*"path"*"cgroup"* ]] && [ "$(wc -l <"$tmp/err")" -eq 1 ]
	refused 2 "--buckets 3: expected 1, 2, 4 or 8" --buckets 3
	refused 2 "--keep-size requires --keep DURATION" --keep-size 8Mi
	refused 2 "--buffer requires --keep DURATION" --buffer 8Mi
	refused 2 "--budget and --keep cannot be combined" --budget 1% --keep 1m
	refused 2 "--budget and --by cannot be combined" --budget 1% --by cgroup
	refused 2 "--budget and --pid cannot be combined" --budget 1% -p 1
	for words in "--buckets 16" "--buckets 0" "--series 0" "--series x" "-i 1s" "-n 3" "-o json" "-w x.cap" "-r x.cap" "--keep 0s" "--keep 10" "--keep 99d" "--keep 1m --keep-size 1k" \
		"--keep 1m --keep-size 8Gi"; do
		# shellcheck disable=SC2086
		serve $words
		[ "$status" -eq 2 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] || { echo "$words: $status $err"; return 1; }
	done
}

@test "it has no JSON" {
	refused 2 "serve prints no JSON: it has no schema" --json-schema
}

@test "a socket of systemd that is none" {
	as=(bash -c 'exec 3</dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"' -)
	limit=() # timeout would be another process
	refused 2 "LISTEN_FDS: descriptor 3 is not a stream socket that listens"
	as=(bash -c 'LISTEN_PID=$$ LISTEN_FDS=2 exec "$@"' -)
	refused 2 "LISTEN_FDS is 2: serve takes one socket"
	as=(bash -c 'LISTEN_PID=1 LISTEN_FDS=1 exec "$@"' -) # another process's
	refused 2 "--listen x: expected ADDRESS:PORT or unix:PATH, e.g. 127.0.0.1:9936 or [::1]:9936" --listen x
}

@test "without privileges: latency's line, exit 4" {
	[ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
	if [ ${#as[@]} -gt 0 ]; then
		command -v setpriv >/dev/null || skip "there is no setpriv"
		cp "$iosonar" "/tmp/iosonar-serve.$$"
		chmod 755 "/tmp/iosonar-serve.$$"
		iosonar=/tmp/iosonar-serve.$$
	fi
	serve --listen 127.0.0.1:0 -t 1s
	said=$err code=$status
	"${as[@]}" "$iosonar" latency -t 1s >"$tmp/out" 2>"$tmp/latency" </dev/null || true
	rm -f "/tmp/iosonar-serve.$$"
	[ "$code" -eq 4 ]
	[ "$said" = "$(cat "$tmp/latency")" ]
	[ "$(wc -l <"$tmp/err")" -eq 1 ]
}

@test "without a disk of that name: exit 2" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	serve --listen 127.0.0.1:0 -d no-such-disk
	[ "$status" -eq 2 ]
	[[ $err == "iosonar: no block device named 'no-such-disk'"* ]]
}
