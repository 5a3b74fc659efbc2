#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Files whose inode is used again, on an ext4 of this machine: each has its own name, in latency, in a capture and in the page
# cache, and one that is made and removed again and again is one file. Second instruments: stat, and what dd was told.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/disk.sh
. "$(dirname "$0")/disk.sh"

# count_of OP NAME: of all rows of that file; rows_of likewise: how many rows it has.
of() { grep '"type":"latency","span":"total"' "$tmp/out" | grep "\"op\":\"$1\",\"file\":\"$tmp/mnt/$2\""; }
count_of() { of "$@" | sed 's/.*"count":\([0-9]*\).*/\1/' | awk '{ sum += $1 } END { print sum + 0 }'; }
rows_of() { of "$@" | grep -c .; }

# Four files one after the other, the first and the third of the same name; their inodes are in $tmp/inodes.
cat_work() {
	cat <<'WORK'
one() {
	dd if=/dev/zero of="$1" bs=4k count="$2" oflag=direct status=none
	stat -c %i "$1" >>../inodes
	rm "$1"
}
cd "$0" && one journal 3 && one secret-customer.2 5 && one journal 2 && one third 7
WORK
}

check_names() { # check_names WHERE
	is "$(count_of write journal) $(rows_of write journal)" "5 1" "$1: the file that comes again is one, with all its writes"
	is "$(count_of write secret-customer.2)" 5 "$1: the next one of that inode has its own name"
	is "$(count_of write third)" 7 "$1: and so has the last"
}

check_latency() {
	"$IOSONAR" latency -d "$name" --by op,file -o json -- sh -c "$(cat_work)" "$tmp/mnt" >"$tmp/out" 2>"$tmp/err"
	ok $? "latency --by file: exits 0"
	is "$(sort -u "$tmp/inodes" | wc -l) $(wc -l <"$tmp/inodes")" "1 4" "four files had one inode"
	check_names latency
}

check_capture() {
	"$IOSONAR" record --stages -d "$name" -w "$tmp/cap" -- sh -c "$(cat_work)" "$tmp/mnt" >"$tmp/out" 2>"$tmp/err"
	ok $? "record --stages: exits 0"
	"$IOSONAR" latency -r "$tmp/cap" --by op,file -o json >"$tmp/out" 2>"$tmp/err"
	check_names capture
	"$IOSONAR" report -r "$tmp/cap" --out "$tmp/page" 2>"$tmp/err"
	is "$(grep -o '"type":"file"[^}]*' "$tmp/page" | grep 'mnt/secret-customer.2"' | sed 's/.*"count":\([0-9]*\).*/\1/')" 5 "report: so it has there"
	is "$(grep -o '"type":"slow"[^}]*' "$tmp/page" | grep -c 'mnt/secret-customer.2"')" 5 "and among the longest"
}

# The page cache has the same table of names.
check_cache() {
	"$IOSONAR" cache --by file -o json -- sh -c "$(cat_work | sed 's/oflag=direct/conv=fsync/')" "$tmp/mnt" >"$tmp/out" 2>"$tmp/err"
	for file in journal:5 secret-customer.2:5 third:7; do
		is "$(grep '"type":"cache"' "$tmp/out" | grep "\"file\":\"$tmp/mnt/${file%:*}\"" |
			sed -n 's/.*"dirtied":\([0-9]*\).*/\1/p' | xargs)" "${file#*:}" "cache: ${file%:*} has its own pages"
	done
}

needs mkfs.ext4
make_ext4 64M

check_latency
check_capture
check_cache
echo "1..$nr"
exit $((failed > 0))
