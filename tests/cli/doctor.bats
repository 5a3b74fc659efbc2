#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2030,SC2031 # each test has its own user
# doctor on this machine, whatever it can do: its verdict is what latency then does, in the same words, as this user and
# as nobody; its formats; files that are no BTF.

setup() {
	iosonar=${IOSONAR:-build/iosonar}
	tmp=$BATS_TEST_TMPDIR
	as=()
	secret=''
}

teardown() {
	[ -z "$secret" ] || rm -f "$secret"
}

# doctor WORD…: leaves $status, $out, $err.
doctor() {
	status=0
	"${as[@]}" "$iosonar" doctor "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	out=$(cat "$tmp/out")
	err=$(cat "$tmp/err")
}

# become_nobody: what follows runs without privileges.
become_nobody() {
	if [ "$(id -u)" -eq 0 ]; then
		command -v setpriv >/dev/null || skip "setpriv is missing"
		as=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all)
		"${as[@]}" test -x "$iosonar" || skip "$iosonar is out of reach for another user"
	fi
}

# agrees: latency, as the same user, does what doctor said, and says what it said.
agrees() {
	local code=0
	doctor
	"${as[@]}" "$iosonar" latency -t 100ms --allow-loss >/dev/null 2>"$tmp/latency" </dev/null || code=$?
	[ "$status" -eq "$code" ] || { echo "doctor $status, latency $code: $(cat "$tmp/latency")"; return 1; }
	[ -z "$err" ]
	if [ "$status" -eq 0 ]; then
		[[ $(head -1 "$tmp/out") == "latency can run here, on Linux $(uname -r)" ]]
	else
		[ "$status" -eq 4 ]
		[ "$(sed -n '1s/^latency cannot run: /iosonar: /p' "$tmp/out")" = "$(cat "$tmp/latency")" ]
	fi
}

fits() { # no line is longer than 100 columns
	[ -z "$(LC_ALL=C.UTF-8 awk 'length($0) > 100' "$tmp/out")" ]
}

# refused CODE MESSAGE WORD…: exactly this line on stderr, nothing on stdout
refused() {
	local code=$1 message=$2
	shift 2
	doctor "$@"
	[ "$status" -eq "$code" ] || { echo "$*: exit $status, not $code: $err"; return 1; }
	[ -z "$out" ]
	[ "$err" = "iosonar: $message" ] || { echo "$*: said '$err'"; return 1; }
}

@test "the verdict is what latency does" {
	agrees
	fits
}

@test "without privileges the verdict is what latency does" {
	become_nobody
	agrees
	[ "$status" -eq 4 ]
	fits
	doctor -o json
	[ "$err" = "iosonar: $(sed -n 's/^{"type":"verdict".*"why":"\([^"]*\)".*/\1/p' "$tmp/out")" ]
}

@test "with CAP_BPF and CAP_PERFMON the verdict is what latency does" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	become_nobody
	local caps=-all,+bpf,+perfmon
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups "--inh-caps=$caps" "--ambient-caps=$caps")
	agrees
}

# words_of COMMAND STATE: of a short run of it, live, if this is its state.
words_of() {
	case $1 in
	latency) echo "latency --by file -t 20ms" ;;
	top) echo "top -o json --by dev,file -t 20ms" ;;
	serve) echo "serve --listen 127.0.0.1:0 -t 20ms" ;;
	count) echo "count raw:block_rq_issue -t 20ms" ;;
	sum | hist) echo "$1 raw:block_rq_complete of nr_bytes -t 20ms" ;;
	print) echo "print raw:block_rq_complete -t 20ms" ;;
	pair) echo "pair raw:block_rq_issue raw:block_rq_complete on rq -t 20ms" ;;
	class) echo "class bio -t 20ms" ;;
	calls) echo "calls user:$(readlink -f "$iosonar"):main -t 20ms" ;; # kernel functions may be out of reach
	record) echo "record --stages -w $dir/a.cap -t 20ms" ;;
	events) echo "events raw:block_*" ;;
	info | diff | merge | report | export | sql | doctor) echo "$1 --help" ;;
	*) echo "$1 -t 20ms" ;;
	esac
}

# said_and_done: every command that help lists is judged, and then does what was said of it.
said_and_done() {
	local command state words code line
	dir=$(mktemp -d) # the test's own folder is closed to others
	chmod 777 "$dir"
	doctor -o json
	cp "$tmp/out" "$tmp/said"
	for command in $("$iosonar" help | sed -nE 's/^  ([a-z]+) +.*/\1/p'); do
		line=$(grep "^{\"type\":\"doctor\",\"section\":\"command\",\"item\":\"$command\"" "$tmp/said") || { echo "$command is not judged"; return 1; }
		state=${line##*\"state\":\"} state=${state%%\"*}
		read -ra words <<<"$(words_of "$command" "$state")"
		code=0
		"${as[@]}" "$iosonar" "${words[@]}" --allow-loss >"$dir/out" 2>&1 </dev/null || code=$?
		[ "$code" -ne 2 ] || { code=0 && "${as[@]}" "$iosonar" "${words[@]}" >"$dir/out" 2>&1 </dev/null || code=$?; }
		case $state in
		ok | partly) [ "$code" -eq 0 ] || [ "$code" -eq 3 ] ;;
		no) [ "$code" -eq 4 ] ;;
		*) false ;;
		esac || { echo "$command: $state, and exits $code: $(head -3 "$dir/out")"; return 1; }
	done
	rm -r "$dir"
}

@test "doctor lists every command, and each does what it says" {
	said_and_done
}

@test "with CAP_BPF and CAP_PERFMON too: nothing else is needed, and no limit of locked memory is blamed" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	become_nobody
	local caps=-all,+bpf,+perfmon
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups "--inh-caps=$caps" "--ambient-caps=$caps")
	said_and_done
}

@test "a user namespace's root is told so" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	unshare -U true 2>/dev/null || skip "no user namespaces here"
	as=(unshare -Ur)
	agrees
	[[ $(head -1 "$tmp/out") == *"user namespace"* ]]
}

@test "without sysfs it still answers" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	unshare -m true 2>/dev/null || skip "no mount namespaces here"
	printf '#!/bin/sh\nmount -t tmpfs none /sys && exec "$@"\n' >"$tmp/blind"
	chmod +x "$tmp/blind"
	as=(unshare -m "$tmp/blind")
	agrees
	[ "$status" -eq 4 ]
	[[ $(head -1 "$tmp/out") == *"/sys cannot be read"* ]]
}

# devices: those that have a size. Tests that run beside this one make some and remove them.
devices() { grep -l '[1-9]' /sys/block/*/size | cut -d/ -f4 | sort; }

@test "every section is there, and every device" {
	devices >"$tmp/before"
	doctor
	devices >"$tmp/after"
	for title in Commands Hooks Kernel Privileges Devices "A run"; do
		grep -qx "$title" "$tmp/out" || [ ! -r /sys/kernel/btf/vmlinux ] || { echo "no $title"; return 1; }
	done
	for name in $(comm -12 "$tmp/before" "$tmp/after"); do
		grep -qE "^  [a-z]+ +$name " "$tmp/out" || { echo "no $name"; return 1; }
	done
}

@test "JSON is JSON: findings, then one verdict" {
	doctor -o json
	grep -q '^{"type":"doctor","section":"command","item":"latency"' "$tmp/out"
	[ "$(grep -c '^{"type":"verdict"' "$tmp/out")" -eq 1 ]
	[[ $(tail -1 "$tmp/out") == '{"type":"verdict","command":"latency","state":'* ]]
	command -v python3 >/dev/null || skip "python3 is missing"
	python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <"$tmp/out"
}

@test "every JSON key and every cause is in the manual" {
	local page=$BATS_TEST_DIRNAME/../../man/iosonar-doctor.8
	doctor -o json
	[ "$(grep -oE '"[a-z_]+":' "$tmp/out" | sort -u | wc -l)" -gt 10 ]
	for key in $(grep -oE '"[a-z_]+":' "$tmp/out" | tr -d '":' | sort -u); do
		grep -qE "^\\.(It )?Li $key\$" "$page" || { echo "$key is not there"; return 1; }
	done
	sed -n 's/.*\[OBSTACLE_[A-Z_]*\] = { "\([a-z_]*\)".*/\1/p' "$BATS_TEST_DIRNAME/../../src/collect/obstacle.c" >"$tmp/causes"
	[ "$(wc -l <"$tmp/causes")" -gt 10 ]
	while read -r cause; do
		[ "$cause" = none ] || grep -qE "^\\.Li $cause( |\$)" "$page" || { echo "$cause is not there"; return 1; }
	done <"$tmp/causes"
}

@test "CSV has as many cells in every row" {
	doctor -o csv
	[ "$(head -1 "$tmp/out")" = "section,item,hook,state,why,remedy,queues,depth,bytes" ]
	command -v python3 >/dev/null || skip "python3 is missing"
	python3 -c 'import csv, sys; assert {len(row) for row in csv.reader(sys.stdin)} == {9}' <"$tmp/out"
}

@test "--out writes there; a place that cannot be written is exit 1" {
	doctor
	local text=$out code=$status
	doctor --out "$tmp/file"
	[ "$status" -eq "$code" ]
	[ -z "$out" ]
	[ "$(head -1 "$tmp/file")" = "$(head -1 <<<"$text")" ]
	refused 1 "cannot write $tmp/no/file: No such file or directory" --out "$tmp/no/file"
	[ -w /dev/full ] || skip "no /dev/full"
	refused 1 "cannot write /dev/full: No space left on device" --out /dev/full
}

@test "colors only when asked" {
	doctor
	[[ $out != *$'\e'* ]]
	doctor --color always
	[[ $out == *$'\e[32mok\e[0m'* || $out == *$'\e[31mno\e[0m'* ]]
	[ "$(sed $'s/\e\\[[0-9]*m//g' "$tmp/out" | head -1)" = "$(head -1 "$tmp/out")" ]
}

@test "--btf: this kernel's own file is good" {
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	become_nobody
	doctor --btf /sys/kernel/btf/vmlinux
	[ "$status" -eq 0 ]
	[ "$(head -1 "$tmp/out")" = "latency can run on a kernel with this BTF" ]
	[ "$(grep -cx "Privileges" "$tmp/out")" -eq 0 ]
	fits
}

@test "--btf: a file that is absent, cut short or no BTF is exit 2 and one line" {
	local none="not a BTF file; give a kernel's /sys/kernel/btf/vmlinux, or its vmlinux"
	refused 2 "--btf $tmp/absent: No such file or directory" --btf "$tmp/absent"
	printf 'no BTF\n' >"$tmp/text"
	refused 2 "--btf $tmp/text: $none" --btf "$tmp/text"
	: >"$tmp/empty"
	refused 2 "--btf $tmp/empty: $none" --btf "$tmp/empty"
	refused 2 "--btf $tmp: $none" --btf "$tmp"
	refused 2 "--btf $iosonar: $none" --btf "$iosonar" # an ELF file without BTF
	head -c 65536 /dev/urandom >"$tmp/garbage"
	refused 2 "--btf $tmp/garbage: $none" --btf "$tmp/garbage"
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	for size in 1 23 24 1000 100000 1000000; do
		head -c $size /sys/kernel/btf/vmlinux >"$tmp/cut"
		refused 2 "--btf $tmp/cut: $none" --btf "$tmp/cut"
	done
}

@test "--btf: a file that may not be read is exit 1" {
	become_nobody
	secret=$(mktemp) # not in $tmp, which is out of reach for another user
	chmod 000 "$secret"
	refused 1 "--btf $secret: Permission denied" --btf "$secret"
}

@test "a command to run is refused" {
	refused 2 "doctor takes no COMMAND (got 'fio')" -- fio
}

# limited LIMIT WANT COMMAND...: a limit of the process is named, and the kernel is not blamed for it.
within=() # a command before it
limited() {
	local limit=$1 want=$2 status=0
	shift 2
	"${within[@]}" prlimit "$limit" "$iosonar" "$@" >/dev/null 2>"$tmp/err" </dev/null 3>&- 4>&- 5>&- 6>&- 7>&- || status=$?
	[ "$status" -eq 1 ] || { echo "$limit $*: exit $status"; cat "$tmp/err"; return 1; }
	grep -qE "$want" "$tmp/err" || { echo "$limit $*"; cat "$tmp/err"; return 1; }
	! grep -qE 'BTF|kernel refuses|nothing to measure' "$tmp/err" || { echo "$limit $*"; cat "$tmp/err"; return 1; }
}

@test "few files or little memory: the limit is named, exit 1, and the kernel is not blamed" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	command -v prlimit >/dev/null || skip "prlimit is missing"
	"$iosonar" latency -t 1ms >/dev/null 2>&1 || skip "latency does not run here"
	for nr in 4 5 6 7 8 12 16; do
		for command in latency cache inflight; do
			limited --nofile=$nr "the limit of $nr open files is" "$command" -t 1ms
		done
	done
	limited --nofile=5 "the limit of 5 open files is" count raw:block_rq_complete -t 1ms
	limited --nofile=7 "ulimit -n" count raw:block_rq_complete -t 1ms
	limited --nofile=12 "the limit of 12 open files is" doctor -o csv
	limited --nofile=5 "ulimit -n" latency -r tests/data/nvme.cap
	! grep -qa __asan_init "$iosonar" || return 0 # which takes terabytes of addresses
	for command in latency "count raw:block_rq_complete" cache inflight; do
		# shellcheck disable=SC2086
		limited --as=$((24 << 20)) "the limit of 24576 KiB of memory is" $command -t 1ms
	done
	# shellcheck disable=SC2016 # it is for the other shell
	within=(unshare -m sh -c 'umount -l /sys/kernel/tracing /sys/kernel/debug 2>/dev/null; exec "$@"' sh)
	limited --as=$((24 << 20)) "the limit of 24576 KiB of memory is" count raw:block_rq_complete -t 1ms
}
