# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# lib.sh: what the live tests share: cases, and what they say when one is red. The caller sets tmp to its folder; what
# iosonar said last is in $tmp/err.
nr=0 failed=0 nr_again=0 tmp=''
export LC_ALL=C
IOSONAR=${IOSONAR:-build/iosonar}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

ok() { # ok CONDITION-STATUS WHAT
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - $2"
		return 0
	fi
	echo "not ok $nr - $2"
	failed=$((failed + 1))
	sed 's/^/# stderr: /' "$tmp/err" 2>/dev/null
	return 1
}

is() { # is GOT WANT WHAT
	[ "$1" = "$2" ]
	ok $? "$3" || echo "# got '$1', want '$2'"
}

# shellcheck disable=SC2317 # not every test has something to skip
skip() { # skip WHAT WHY
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP $2"
}

# again NAME REASON: a run proved nothing about us and is repeated. `./check` lists it; a test that needs a second one fails.
# shellcheck disable=SC2317 # not every test repeats something
again() {
	nr_again=$((nr_again + 1))
	echo "# again: $1: $2"
	[ "$nr_again" -le 1 ] || ok 1 "$1: at most one run of a test is repeated"
}
