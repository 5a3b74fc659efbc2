#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# An allocation that fails, wherever it is: no crash, and no output that lacks something without a word and an exit code.

setup() {
	iosonar=$(realpath "${IOSONAR:-build/iosonar}")
	tmp=$BATS_TEST_TMPDIR
	! grep -qa __asan_init "$iosonar" || skip "AddressSanitizer has allocations of its own"
	[ "$("$iosonar" --version | grep -c static)" -eq 0 ] || skip "nothing can be preloaded into a static program"
	"${CC:-gcc}" -O2 -shared -fPIC -o "$tmp/starve.so" tests/cli/starve.c || skip "no compiler"
}

# starved NUMBER COMMAND...: exit code in $status, output in $tmp/out and $tmp/err. In a shell of its own, which reports no signal.
starved() {
	local number=$1
	shift
	status=0
	env LD_PRELOAD="$tmp/starve.so" STARVE_AT="$number" STARVE_COUNT="$tmp/count" timeout 60 "$iosonar" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
}

# survives COMMAND...: with each of the first 16 allocations and some of the others failing.
survives() {
	local number=1 all failed=0
	starved 0 "$@"
	[ "$status" -eq 0 ] || { echo "$*: exit $status"; cat "$tmp/err"; return 1; }
	all=$(cat "$tmp/count")
	[ "$all" -gt 100 ]
	mv "$tmp/out" "$tmp/whole"
	while [ "$number" -lt "$all" ]; do
		starved "$number" "$@"
		case $status in
		0) cmp "$tmp/out" "$tmp/whole" || { echo "$*: allocation $number of $all: exit 0, and the output differs"; return 1; } ;;
		1 | 3)
			failed=$((failed + 1))
			grep -q '^iosonar: ' "$tmp/err" || { echo "$*: allocation $number of $all: exit $status without a word"; return 1; }
			;;
		*) echo "$*: allocation $number of $all: exit $status"; cat "$tmp/err"; return 1 ;;
		esac
		number=$((number < 16 ? number + 1 : number + 1 + all / 60))
	done
	[ "$failed" -ge 10 ] || { echo "$*: only $failed of them mattered"; return 1; }
}

@test "an allocation that fails: latency of a capture" { survives latency -r tests/data/nvme.cap -o json; }
@test "an allocation that fails: trace of a capture" { survives trace -r tests/data/nvme.cap -o json; }
@test "an allocation that fails: layers of a capture" { survives layers -r tests/data/stacks.cap -o csv; }
@test "an allocation that fails: diff of two captures" { survives diff tests/data/before.cap tests/data/after.cap; }
@test "an allocation that fails: the ledger of JSON" {
	local number all
	starved 0 latency -r tests/data/nvme.cap -o json
	all=$(cat "$tmp/count")
	for number in $(seq $((all - 40)) "$all"); do # it is printed last
		starved "$number" latency -r tests/data/nvme.cap -o json
		[ "$status" -ne 0 ] || grep -q '"type":"ledger"' "$tmp/out" || { echo "allocation $number of $all: exit 0 without a ledger"; return 1; }
	done
}
