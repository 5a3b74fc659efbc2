#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# layers and slow on this machine, with a journal: its writes wait for a flush before them and, on a loop device, which does
# not know FUA, for one behind them. Both are steps of their own, all steps add up, and the slowest are ranked by the whole.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/disk.sh
. "$(dirname "$0")/disk.sh"

work="cd '%s' && for i in 1 2 3 4 5; do dd if=/dev/zero of=f bs=4k count=4 conv=fsync status=none && rm f; done"

# total STEP KEY: of writes, of the whole run.
total() { grep '"span":"total"' "$tmp/out" | grep "\"op\":\"write\",\"step\":\"$1\"" | sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p" | head -1; }

check_layers() { # check_layers OPTION...
	local sum whole
	# shellcheck disable=SC2059 # a format of our own
	"$IOSONAR" layers -d "$name" -o json "$@" -- sh -c "$(printf "$work" "$mounted")" >"$tmp/out" 2>"$tmp/err"
	ok $? "layers $*: exits 0"
	[ "$(total G2F count)" -ge 5 ] && [ "$(total W2C count)" -ge 5 ]
	ok $? "journal writes wait for a flush before and behind them: $(total G2F count), $(total W2C count)"
	is "$(grep -E '"step":"(G2F|W2C)"' "$tmp/out" | grep '"span":"total"' | grep -vc '"what":"waits for a flush"')" 0 "and are said to"
	sum=$(grep '"span":"total"' "$tmp/out" | grep '"op":"write"' | grep -v '"what":"total"' | sed -n 's/.*"sum_ns":\([0-9]*\).*/\1/p' |
		awk '{ sum += $1 } END { printf "%.0f\n", sum }')
	whole=$(grep '"span":"total"' "$tmp/out" | grep '"op":"write"' | grep '"what":"total"' | sed -n 's/.*"sum_ns":\([0-9]*\).*/\1/p')
	is "$sum" "$whole" "the steps add up to the whole, to the nanosecond"
}

# Every row: WHOLE LATENCY SUM-OF-STEPS.
check_slow() {
	# shellcheck disable=SC2059
	"$IOSONAR" slow -d "$name" --stack none --top 100 -o json -- sh -c "$(printf "$work" "$mounted")" >"$tmp/out" 2>"$tmp/err"
	ok $? "slow: exits 0"
	sed -n 's/.*"type":"slow".*"whole_ns":\([0-9]*\),"lat_ns":\([0-9]*\),.*"steps":{\([^}]*\)}.*/\1 \2 \3/p' "$tmp/out" |
		sed 's/"//g; s/,/ /g' >"$tmp/rows"
	cut -d' ' -f1 "$tmp/rows" | sort -rnc 2>"$tmp/err"
	ok $? "ranked by the whole"
	is "$(awk '{ sum = 0; for (i = 3; i <= NF; i++) { split($i, step, ":"); sum += step[2] } if (sum != $1 || $2 > $1) wrong++ }
		END { print (NR > 5), wrong + 0 }' "$tmp/rows")" "1 0" "the steps of each are its whole, and its command is part of it"
	[ "$(grep -c 'G2F:.*W2C:' "$tmp/rows")" -ge 5 ]
	ok $? "journal writes are there with their waits"
}

needs mkfs.ext4
make_ext4 64M

check_layers
check_layers --at bio
check_layers --op write
check_slow
echo "1..$nr"
exit $((failed > 0))
