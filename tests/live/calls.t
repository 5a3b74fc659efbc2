#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# calls of a program on this machine, nested, added up and drawn: are counts, times and the way in which calls stand inside
# one another those that the program made? Second instruments: the program, which knows how often it calls what; python3 for
# JSON, Graphviz for its graphs. The kernel's functions are tested in guests: this machine may have no way to attach them.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2317 # called by the trap
clean() { [ -z "$tmp" ] || rm -rf "$tmp"; }

# 101 times: outer calls inner 3 times, each of which calls leaf once; then again calls itself, 5 deep; 7 leaves stand alone.
# Its name would end a string, and a frame of a folded line.
build() {
	cat >"$tmp/nest.c" <<'C'
#include <sys/prctl.h>
static volatile int sink;
__attribute__((noipa)) int leaf(int n) { for (int i = 0; i < 100; i++) sink += n; return n; }
__attribute__((noipa)) int inner(int n) { return leaf(n) + sink % 1; }
__attribute__((noipa)) int again(int n) { return n ? again(n - 1) + sink % 1 : 0; }
__attribute__((noipa)) int outer(int n) { int s = 0; for (int i = 0; i < 3; i++) s += inner(n + i); return s + again(4); }
int main(void)
{
	prctl(PR_SET_NAME, "n\"e;s\\t&");
	for (int i = 0; i < 101; i++) outer(i);
	for (int i = 0; i < 7; i++) leaf(i);
	return 0;
}
C
	cc -O1 -o "$tmp/nest" "$tmp/nest.c" 2>"$tmp/err"
}

# ask WORD...: of the program's functions; output in $tmp/out, exit code in $code. What the kernel says it skipped is exit 3,
# proves nothing about us, and is repeated, once in a test.
ask() {
	ask_once "$@"
	[ "$code" = 3 ] && grep -q 'running another program' "$tmp/err" || return 0
	again calls "$(grep -h 'running another program' "$tmp/err")"
	ask_once "$@"
}
ask_once() {
	timeout 60 "$IOSONAR" calls "user:$tmp/nest:*er" "user:$tmp/nest:leaf" "user:$tmp/nest:again" "$@" --out "$tmp/out" \
		-- "$tmp/nest" >"$tmp/stdout" 2>"$tmp/err" </dev/null
	code=$?
}

# of PATH KEY: a number of the graph's row.
of() { grep -F "\"functions\":[\"${1//;/\",\"}\"]" "$tmp/out" | sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p"; }

check_graph() {
	ask --graph -o json
	is "$code" 0 "--graph: exit 0"
	is "$(of outer count)" 101 "each call of outer"
	is "$(of 'outer;inner' count)" 303 "each inside it"
	is "$(of 'outer;inner;leaf' count)" 303 "each inside that"
	is "$(of leaf count)" 7 "those in no other are apart"
	is "$(of 'outer;again;again;again;again;again' count)" 101 "one that calls itself is inside itself"
	is "$(of 'outer;again;again;again;again;again;again' count)" "" "as often as it did"
	is "$(($(of outer self_ns) + $(of 'outer;inner' total_ns) + $(of 'outer;again' total_ns)))" "$(of outer total_ns)" \
		"the time of a call is its own and that of those inside"
	is "$(($(of outer total_ns) / 101))" "$(of outer avg_ns)" "the mean is the time by the calls"
	[ "$(of outer min_ns)" -le "$(of outer avg_ns)" ] && [ "$(of outer avg_ns)" -le "$(of outer max_ns)" ]
	ok $? "and lies between the shortest and the longest"
	is "$(grep -c '"type":"graph"' "$tmp/out")" 9 "no other row"
	ask --graph --depth 2 -o json
	is "$(of 'outer;inner' self_ns)" "$(of 'outer;inner' total_ns)" "--depth: what is left out is time of who is around it"
	is "$(of 'outer;inner;leaf' count)" "" "and does not show"
	ask --graph
	is "$(awk '$NF == "outer" { print $1 }' "$tmp/out")" 101 "text has the same rows"
	is "$(grep -c '  inner$' "$tmp/out")" 1 "those inside are indented"
}

check_rows() {
	ask -n 3 -o json
	is "$(grep -c '"depth":0' "$tmp/out")" 3 "-n: so many calls that are in no other"
	is "$(grep -c '"function":"leaf"' "$tmp/out")" 9 "with all that are inside"
}

check_folded() {
	ask -o folded
	is "$(sed 's/ [0-9]*$//' "$tmp/out" | sort | head -3)" \
		'n"e:s\t&;leaf
n"e:s\t&;outer
n"e:s\t&;outer;again' "folded: the task below its functions, its name in no way of ours"
	is "$(grep -cE '^[^;]*(;[a-z]+)+ [0-9]+$' "$tmp/out")" "$(wc -l <"$tmp/out")" "a number behind every one"
	is "$(wc -l <"$tmp/out")" 9 "each way once"
	ask -o svg
	is "$(grep -c '</svg>' "$tmp/out")" 1 "svg: a picture"
}

# Every edge is one that the program has.
check_dot() {
	ask -o dot
	is "$(sed -n 's/.*label="\([a-z]*\)\\n\([0-9]*\) calls.*/\1 \2/p' "$tmp/out" | sort | tr '\n' ' ')" \
		"again 505 inner 303 leaf 310 outer 101 " "dot: each function, with its calls"
	is "$(sed -n 's/.* -> .*label="\([0-9]*\)".*/\1/p' "$tmp/out" | sort -n | tr '\n' ' ')" "101 303 303 404 " \
		"each way from one to another"
	if command -v dot >/dev/null; then
		dot -Tsvg "$tmp/out" >/dev/null 2>"$tmp/err"
		ok $? "Graphviz draws it"
	else
		skip "Graphviz draws it" "there is no Graphviz"
	fi
}

check_chrome() {
	ask -o chrome
	command -v python3 >/dev/null || { skip "chrome" "there is no python3"; return; }
	python3 - "$tmp/out" >"$tmp/told" 2>"$tmp/err" <<'P'
import json, sys
from decimal import Decimal
events = json.load(open(sys.argv[1]), parse_float=Decimal)["traceEvents"]
calls = [e for e in events if e["ph"] == "X"]
names = {e["args"]["name"] for e in events if e["ph"] == "M"}
print(len(calls), len({(e["pid"], e["tid"]) for e in calls}), sorted(names))
open_, depth = [], {}
for e in calls:
    end = e["ts"] + e["dur"]
    while open_ and open_[-1][1] <= e["ts"]:
        open_.pop()
    if open_ and end > open_[-1][1]:
        print("overlaps", e)
    depth[e["name"], len(open_)] = depth.get((e["name"], len(open_)), 0) + 1
    open_.append((e["name"], end))
for key in sorted(depth):
    print(*key, depth[key])
print(calls[0]["name"], calls[0]["args"]["ret"])
P
	is "$(cat "$tmp/told")" "$(printf '%s\n' "1219 1 ['n\"e;s\\\\t&']" 'again 1 101' 'again 2 101' 'again 3 101' 'again 4 101' \
		'again 5 101' 'inner 1 303' 'leaf 0 7' 'leaf 2 303' 'outer 0 101' 'outer 3')" \
		"chrome: JSON with every call, one inside the other as the program has them"
}

# One whose arguments are known: with DWARF, and without.
build_fib() {
	cat >"$tmp/fib.c" <<'C'
#include <stdbool.h>
#include <stdlib.h>
struct point { int x; };
__attribute__((noipa)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noipa)) long mixed(double no, unsigned char byte, bool yes, struct point *at, short s) { return (long)no - byte * yes - at->x + s; }
__attribute__((noipa)) double half(long n) { return n / 2.0; }
__attribute__((noipa)) int deep(int n) { return n ? deep(n - 1) + 1 : 0; }
int main(int argc, char **argv)
{
	struct point p = { 3 };
	return argc > 1 ? deep(atoi(argv[1])) < 0 : fib(5) + mixed(1.5, 200, true, &p, -9) + half(-7) > 1e9;
}
C
	cc -O1 -fno-optimize-sibling-calls -g -o "$tmp/fib" "$tmp/fib.c" 2>"$tmp/err" &&
		cc -O1 -fno-optimize-sibling-calls -g0 -o "$tmp/bare" "$tmp/fib.c" 2>"$tmp/err"
}

# fib FILE WORD...: calls of its functions, in $tmp/out; exit code in $code.
fib() {
	local file=$1
	shift
	timeout 60 "$IOSONAR" calls "user:$tmp/$file:fib" "user:$tmp/$file:mixed" "user:$tmp/$file:half" "$@" --out "$tmp/out" \
		-- "$tmp/$file" >"$tmp/stdout" 2>"$tmp/err" </dev/null
	code=$?
}

check_arguments() {
	build_fib
	ok $? "a program with arguments is built" || sed 's/^/# /' "$tmp/err"
	if "$IOSONAR" --version | grep -q libdw; then
		fib fib
		is "$code" 0 "arguments by DWARF: exit 0"
		is "$(sed -n '2,5s/.*\(fib(\)/\1/p' "$tmp/out" | tr '\n' ' ')" "fib(5) = 5 fib(4) = 3 fib(3) = 2 fib(2) = 1 " "fib(5) = 5"
		is "$(grep -c 'fib(' "$tmp/out")" 15 "every call"
		grep -qE ' mixed\(200, 1, 0x[0-9a-f]+, -9\) = -211$' "$tmp/out"
		ok $? "of each kind, by width and sign; not what a vector register holds" || sed 's/^/# /' "$tmp/out"
		grep -qE ' half\(-7\)$' "$tmp/out"
		ok $? "nor what it returns there"
		fib fib -o json
		grep -q '"function":"mixed","arguments":"byte=200 yes=1 at=0x[0-9a-f]* s=-9","ret":"-211"' "$tmp/out"
		ok $? "JSON has their names"
	else
		skip "arguments by DWARF" "built without libdw"
	fi
	fib bare
	is "$(sed -n '2s/.*\(fib(\)/\1/p' "$tmp/out")" "fib() = 5" "without DWARF nothing is known"
	fib bare --args 1
	is "$(sed -n '2s/.*\(fib(\)/\1/p' "$tmp/out")" "fib(5) = 5" "--args: what is in the registers"
	is "$(grep -c 'fib(' "$tmp/out")" 15 "every call, too"
}

# The kernel keeps the returns of the outermost 64.
check_deep() {
	timeout 60 "$IOSONAR" calls "user:$tmp/bare:deep" -o csv --out "$tmp/out" -- "$tmp/bare" 999 >"$tmp/stdout" 2>"$tmp/err" </dev/null
	is $? 3 "a function inside itself 1,000 times: exit 3"
	is "$(awk -F, 'NR > 1 && $8 != "" { timed++; if ($11 != 999 - (NR - 2)) wrong++ } END { print NR - 1, timed, wrong + 0 }' "$tmp/out")" \
		"1000 64 0" "64 returns, and they are those of the outermost calls"
	is "$(grep -c 'nested deeper than 64,\|were inside 64 other user functions' "$tmp/err")" 1 "one line says so"
}

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
[ -r /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF"
command -v cc >/dev/null || skip_all "there is no compiler"
trap clean EXIT
trap "exit 1" HUP INT TERM
tmp=$(mktemp -d /tmp/iosonar-calls.XXXXXX) || skip_all "no room in /tmp"
build || skip_all "the program cannot be built"
ask
[ "$code" != 4 ] || skip_all "user functions cannot be probed here: $(head -1 "$tmp/err")"

check_graph
check_rows
check_folded
check_dot
check_chrome
check_arguments
check_deep
echo "1..$nr"
exit $((failed > 0))
