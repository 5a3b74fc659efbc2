#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that are over before anybody looks at them: twenty dd, one after the other, each of a few milliseconds. Their user
# stacks have names all the same, in stacks, in a capture and in a line of any event.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/disk.sh
. "$(dirname "$0")/disk.sh"

# sums PATTERN: what the rows with it count.
sums() { grep "$1" "$tmp/out" | sed 's/.*"count":\([0-9]*\).*/\1/' | awk '{ sum += $1 } END { print sum + 0 }'; }
# Whose stack it is, read(2) is its innermost function; what is not known stands in brackets.
named='"user_stack":\["[^"[]*read'

needs dd
make_disk 16M
load="for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	dd if=$disk of=/dev/null bs=4k count=3 iflag=direct status=none
done"

"$IOSONAR" record --stacks -d "${disk#/dev/}" -w "$tmp/cap" --allow-loss -- sh -c "$load" >"$tmp/out" 2>"$tmp/err"
ok $? "record --stacks: exits 0"
"$IOSONAR" stacks -r "$tmp/cap" --stack user --top 1000 -o json >"$tmp/out" 2>"$tmp/err"
# The kernel may have taken no stack at all where a page was not in memory: that is told, and another matter.
taken=$(sums '"comm":"dd".*"user_stack":\["')
is "$(sums "\"comm\":\"dd\".*$named")" "$taken" "stacks: every stack of dd has its names" || grep '"comm":"dd"' "$tmp/out" | sed 's/^/# /'
[ "$taken" -gt 40 ]
ok $? "and there are some: $taken"
"$IOSONAR" count raw:block_bio_queue if 'comm == "dd"' by ustack -o json -- sh -c "$load" >"$tmp/out" 2>"$tmp/err"
is "$(sums '"ustack":\["[^"[]*read')" 60 "count by ustack: every one has its names" || sed 's/^/# /' "$tmp/out"
echo "1..$nr"
exit $((failed > 0))
