# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154 # lib.sh sets measure_pid
# shape: mpath
# kernels: 6.18
#
# paths: one disk behind two controllers. Its row has each command once; --by path has the paths, by names that no node in
# /dev bears; when one goes under load nothing is lost, and what failed with it is told.

dev=$(disk io0)
legs=$(cd /sys/block && echo nvme*c*n*)
is "$(echo "$legs" | wc -w)" 2 "two paths: $legs"
subsystem=$(echo /sys/class/nvme-subsystem/nvme-subsys*)
echo round-robin >"$subsystem/iopolicy"
# path FILE LEG KEY: from the final row of reads.
path() { grep '"type":"latency","span":"total"' "$1" | grep '"op":"read"' | grep "\"path\":\"$2\"" | value "$3"; }

measure /tmp/d -d "$dev" --by dev,op
dd if="/dev/$dev" of=/dev/null bs=4k count=101 iflag=direct 2>/dev/null
measured
ok $? "exits 0"
is "$(row /tmp/d "$dev" read count)" 101 "the disk has every read once"
is "$(ledger /tmp/d issued)" 101 "and nobody else has"

measure /tmp/p -d "$dev" --by path,op -w /tmp/p.cap
dd if="/dev/$dev" of=/dev/null bs=4k count=100 iflag=direct 2>/dev/null
measured
ok $? "--by path: exits 0"
sum=0
for leg in $legs; do
	is "$(path /tmp/p "$leg" count) $(path /tmp/p "$leg" share_percent) $(path /tmp/p "$leg" failovers)" "50 50 0" "$leg: half of them"
	sum=$((sum + $(path /tmp/p "$leg" count)))
done
is "$sum" 100 "together all"
iosonar latency -r /tmp/p.cap --by path,op -o json >/tmp/r 2>/dev/null
for leg in $legs; do
	is "$(path /tmp/r "$leg" count) $(path /tmp/r "$leg" share_percent)" "50 50" "$leg: the same from a capture"
done

# One path goes while both are used.
started errors /tmp/e -d "$dev"
errors_pid=$measure_pid
measure /tmp/l -d "$dev" --by path,op
fio --name=t --filename="/dev/$dev" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=8 --time_based --runtime=6 --rate_iops=300 \
	--output-format=json --output=/tmp/f.json >&2 &
fio_pid=$!
sleep 2
gone=nvme$(echo "$legs" | awk '{ print $2 }' | sed 's/.*c\([0-9]*\)n.*/\1/')
echo 1 >"/sys/class/nvme/$gone/device/remove"
wait $fio_pid
ok $? "fio met no error"
measured
ok $? "nothing is lost"
kill -INT "$errors_pid"
wait "$errors_pid"
ok $? "nor beside" || note "$(cat /tmp/e.err)"
whole /tmp/l "the ledger balances"
failovers=0
for leg in $legs; do failovers=$((failovers + $(path /tmp/l "$leg" failovers))); done
is "$failovers" "$(grep '"type":"errors"' /tmp/e | grep -c '"what":"failed-over"')" "what failed with its path is a failover here and there: $failovers"
reads=$(fio_ios /tmp/f.json read) sum=0
for leg in $legs; do sum=$((sum + $(path /tmp/l "$leg" count))); done
is "$((sum - failovers))" "$reads" "every read of fio ended well on some path"
left=$(echo "$legs" | awk '{ print $1 }')
[ "$(path /tmp/l "$left" count)" -gt "$(path /tmp/l "$(echo "$legs" | awk '{ print $2 }')" count)" ]
ok $? "the path that stayed served more" || note "$(grep '"span":"total"' /tmp/l)"
done_testing
