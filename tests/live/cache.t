#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# cache on this machine: does --residency say what fincore says, and does the view see pages come and go? On a loop device
# with an ext4 of its own. Second instruments: fincore, and the size of the file that was read or removed.
set -u
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/live/disk.sh
. "$(dirname "$0")/disk.sh"
needs mkfs.ext4 fincore
make_ext4 64M
page=$(getconf PAGESIZE)
file=$tmp/mnt/file
dd if=/dev/zero of="$file" bs=64k count=65 conv=fsync status=none
pages=$((65 * 65536 / page))

# field KEY TYPE [PATTERN]: of the last object that matches.
field() { grep "\"type\":\"$2\"" "$tmp/out" | grep -e "${3:-.}" | tail -1 | sed -n 's/.*"'"$1"'":"*\([^,"}]*\).*/\1/p'; }
residency() { "$IOSONAR" cache --residency "$@" -o json >"$tmp/out" 2>"$tmp/err"; }
fincores() { fincore -nb -o PAGES "$1" | tr -d ' '; }

drop() { dd of="$1" oflag=nocache conv=notrunc,fdatasync count=0 status=none; }

residency "$file"
is "$?/$(field cached_pages residency)" "0/$(fincores "$file")" "a file that was written is there, says fincore too"
drop "$file"
residency "$file"
is "$(field cached_pages residency)/$(field pages residency)" "0/$pages" "dropped, nothing is"
dd if="$file" of=/dev/null bs=64k skip=8 count=4 status=none
residency "$file"
is "$(field cached_pages residency)" "$(fincores "$file")" "a part was read: as many pages as fincore says"
is "$(grep -c residency_part "$tmp/out")/$(grep residency_part "$tmp/out" | sed 's/.*"cached_pages":\([0-9]*\).*/\1/' | paste -sd+ | bc)" \
	"$(field map residency | wc -m | awk '{ print $1 - 1 }')/$(fincores "$file")" "its parts add up to that"
"$IOSONAR" cache --residency "$file" "$tmp/none" >"$tmp/out" 2>"$tmp/err"
is "$?/$(grep -c "$file" "$tmp/out")" 2/1 "one that is not there is said, the other is shown"

drop "$file"
"$IOSONAR" cache -d "$disk" --by file -o json >"$tmp/out" 2>"$tmp/err" -- dd if="$file" of=/dev/null bs=64k status=none
is "$?" 0 "a run ends well"
is "$(field added cache "\"file\":\"$file\"")" "$pages" "every page of a file that was read came"
for name in dd cat; do
	drop "$file"
	"$IOSONAR" cache --comm $name --file "$file" -o json >"$tmp/out" 2>"$tmp/err" -- dd if="$file" of=/dev/null bs=64k status=none
	field added cache
done >"$tmp/added"
is "$(paste -sd/ "$tmp/added")" "$pages/0" "--comm: what tasks of this name brought, and no others"
drop "$file"
# It is read within one interval: what happens while counts are read can be in either of two.
"$IOSONAR" cache -d "$disk" --by comm,file -i 500ms -w "$tmp/run.cap" -o json >"$tmp/live" 2>"$tmp/err" -- sh -c "dd if=$file of=/dev/null bs=64k status=none; sleep 0.7"
"$IOSONAR" cache -d "$disk" --by comm,file -r "$tmp/run.cap" -o json >"$tmp/out" 2>"$tmp/err"
is "$(grep -c '"span":"interval"' "$tmp/live" | awk '{ print ($1 > 0) }')/$(cmp "$tmp/live" "$tmp/out" && echo same)" 1/same "a capture says the same again, in each interval"
drop "$file"
"$IOSONAR" record --cache -w "$tmp/run.cap" 2>"$tmp/err" -- dd if="$file" of=/dev/null bs=64k status=none
is "$?" 0 "record --cache ends well"
"$IOSONAR" cache -r "$tmp/run.cap" --file "$file" -o json >"$tmp/out" 2>"$tmp/err"
is "$(field added cache)" "$pages" "and its capture has the file's pages"
"$IOSONAR" cache --file "$file" -o json >"$tmp/out" 2>"$tmp/err" -- rm "$file"
is "$(field truncated cache)/$(field evicted cache)" "$pages/0" "and went with it: not evicted"
is "$(field unaccounted ledger)" 0 "the ledger is whole"
echo "1..$nr"
exit $((failed > 0))
