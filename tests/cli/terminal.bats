#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What a terminal shows: tables that fit it, in the order that the manual has, and messages wrapped at words. A pipe has
# everything. Needs no root.

setup() {
	root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	iosonar=${IOSONAR:-build/iosonar}
	iosonar=$(cd "$(dirname "$iosonar")" && pwd)/${iosonar##*/}
	tmp=$BATS_TEST_TMPDIR
	command -v script >/dev/null || skip "script is missing"
	cd "$root/tests/data" || return
}

# plain: lines as they stand on the terminal in the end: a status line is cleared and overwritten.
plain() {
	sed 's/\r$//; s/^.*\r\x1b\[K//'
}

# terminal COLUMNS WORDS: stdout and stderr of iosonar WORDS, which a shell reads, on a terminal of that width.
terminal() {
	script -qec "stty cols $1; LC_ALL=C TERM=dumb '$iosonar' $2" /dev/null </dev/null | plain
}

# hidden COLUMNS WORDS: the names of the columns that are left out, as the notes have them.
hidden() {
	script -qec "stty cols $1; LC_ALL=C '$iosonar' $2 2>'$tmp/notes'" /dev/null </dev/null >/dev/null || true
	plain <"$tmp/notes" | sed -n 's/.*hidden because the terminal has [0-9]* columns: \(.*\) (| less -S shows all)$/\1/p'
}

too_wide() {
	awk -v most="$1" 'length($0) > most' "$2"
}

# What is no table: data, a schema, and commands of any length.
@test "nothing that a capture shows is wider than a terminal of 80 columns" {
	local name arguments tables=0
	while read -r name arguments; do
		case $name in '#'* | '') continue ;; esac
		case "$name $arguments" in
		*' -o '* | *--columns* | *--cdw* | export-json* | sql-schema* | info-* | class-info* ) continue ;;
		class* | calls* | errors-hang* | errors-device*) continue ;; # the next test
		'requests '*) continue ;; # a path stands last, and is as long as it is
		sql-*) "$iosonar" --version | grep -qw sqlite || continue ;;
		esac
		terminal 80 "$arguments" >"$tmp/out"
		too_wide 80 "$tmp/out" >"$tmp/wide"
		[ ! -s "$tmp/wide" ] || { echo "$name: iosonar $arguments"; cat "$tmp/wide"; return 1; }
		tables=$((tables + 1))
	done <"$root/tests/replay/cases"
	[ "$tables" -gt 60 ]
}

@test "with the wall clock, too" {
	local words
	for words in 'latency -r nvme.cap' 'layers -r stacks.cap' 'trace -r nvme.cap' 'cache -r cache.cap' \
		'pattern -r nvme.cap'; do
		terminal 80 "$words --wall" >"$tmp/out"
		grep -q '^wall clock  *' "$tmp/out" || { echo "$words"; cat "$tmp/out"; return 1; }
		too_wide 80 "$tmp/out" >"$tmp/wide"
		[ ! -s "$tmp/wide" ] || { echo "$words --wall"; cat "$tmp/wide"; return 1; }
	done
}

# A last column of text that cannot fit is wrapped; what stands before it fits, with 20 columns to spare.
@test "a last column of text makes no other column go than those that its heading needs" {
	local words heading
	while IFS=: read -r words heading; do
		terminal 80 "$words" >"$tmp/out"
		grep -q "^ *$heading" "$tmp/out" || { echo "$words"; head "$tmp/out"; return 1; }
	done <<-'EOF'
		calls -r calls.cap:time cpu comm                pid duration call$
		errors -r hang.cap:time dev     what      op      sector try latency status$
		class -r class.cap:since cpu what    inside function                  data$
	EOF
}

@test "a wide terminal and a pipe have every column, and no note" {
	local words
	for words in 'latency -r nvme.cap --no-hist' 'layers -r stacks.cap' 'slow -r stacks.cap --stack none' 'trace -r nvme.cap' \
		'errors -r errors.cap' 'cache -r cache.cap' 'cache -r cache.cap --then-io' 'cache -r cache.cap --events' 'info v1.cap' \
		'class -r class.cap --summary' 'calls -r calls.cap --graph' 'diff before.cap after.cap' 'diff calls.cap class.cap' \
		'stacks -r stacks.cap --stack user'; do
		eval "LC_ALL=C '$iosonar' $words" >"$tmp/piped" 2>"$tmp/err" || true
		! grep -q '^hidden because' "$tmp/err" || { echo "$words"; return 1; }
		script -qec "stty cols 200; LC_ALL=C '$iosonar' $words 2>'$tmp/err'" /dev/null </dev/null | plain >"$tmp/wide"
		! grep -q 'hidden because' "$tmp/err" || { echo "$words"; cat "$tmp/err"; return 1; }
		diff "$tmp/piped" "$tmp/wide" || { echo "$words"; return 1; }
	done
	"$iosonar" latency -r nvme.cap --no-hist 2>/dev/null | grep -q 'count  IO/s  MB/s  size    p50    p90    p99  p99.9 p99.99    max   mean$'
}

# In a terminal of ten columns everything goes that may. A page with several tables has a line for each.
@test "columns go in the order that the manual has" {
	local words page gone
	while read -r words; do
		page=$root/man/iosonar-${words%% *}.8
		hidden 10 "$words" | sed 's/~//' >"$tmp/gone"
		[ -s "$tmp/gone" ] || { echo "$words: nothing is hidden"; return 1; }
		awk '/^A terminal that is too narrow/ { on = 1 } on { print } on && /\.$/ { exit }' "$page" | tr '\n' ' ' | sed 's/^.* in this order: //; s/\. $//' |
			tr ';' '\n' | sed 's/^ //; s/^.*: //' >"$tmp/order"
		while read -r gone; do
			grep -qxF -- "$gone" "$tmp/order" || { echo "$words: $gone"; return 1; }
		done <"$tmp/gone"
	done <<-'EOF'
		trace -r nvme.cap
		latency -r nvme.cap --no-hist
		layers -r stacks.cap
		slow -r stacks.cap --stack none
		errors -r errors.cap
		cache -r cache.cap
		cache -r cache.cap --events
		cache -r cache.cap --then-io
		pattern -r nvme.cap
		info v1-stages.cap
		stacks -r stacks.cap
		calls -r calls.cap
		calls -r calls.cap --graph
		class -r class.cap
		class -r class.cap --summary
		class -r class.cap --graph
		diff before.cap after.cap
		diff calls.cap class.cap
		diff calls.cap class.cap --graph
	EOF
}

@test "a matrix shows the culprits that have room, and the sum of the others" {
	terminal 80 'blame -r blame.cap -o matrix' >"$tmp/out"
	grep -qx 'nvme0n1    backup fstrim dsm postgres device itself' "$tmp/out"
	terminal 49 'blame -r blame.cap -o matrix' >"$tmp/out"
	grep -qx 'nvme0n1    backup other culprits device itself' "$tmp/out"
	grep -qx 'postgres    75.0%          10.5%         14.5%' "$tmp/out"
}

@test "columns that were chosen stay" {
	terminal 60 'trace -r nvme.cap --columns time_s,dev,qid,cid,op,nsid,command,status,attempts,lat_ns' >"$tmp/out"
	grep -q '^ *time dev     qid   cid op       nsid command .* status try latency$' "$tmp/out"
	terminal 80 'latency -r nvme.cap --no-hist --sort mean' >"$tmp/out"
	grep -q '  max   mean$' "$tmp/out"
	terminal 80 'latency -r stacks.cap --no-hist --by dev,op,size,qid,cpu,pid,comm,file' >"$tmp/out"
	grep -q '^ *time dev     op       up to qid cpu     pid comm            file  *count' "$tmp/out"
}

@test "messages on a terminal are wrapped at words" {
	terminal 80 'layers -r stacks.cap' >"$tmp/out"
	grep -q '^steps: Q submitted; .* K$' "$tmp/out"
	grep -q '^  completion found; ' "$tmp/out"
	terminal 80 'latency -r nvme.cap --by file' >"$tmp/out"
	grep -q '^iosonar: --by file: this capture does not name the files of commands; record it$' "$tmp/out"
	grep -qx '  with --stages' "$tmp/out"
}
