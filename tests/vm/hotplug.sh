# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: hotplug
# kernels: 7.2
#
# hotplug: a drive is taken away under load and another takes its place and its name. Every command is accounted for,
# the second drive has its own row.

dev=$(disk io0)
reads_before=$(stat_of "$dev" reads)
has_read() { [ $(($(stat_of "$dev" reads) - reads_before)) -ge "$1" ]; }
iosonar errors -o json >/tmp/events 2>/tmp/events.err &
events=$!
measure /tmp/plug
fio --name=t --filename="/dev/$dev" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=16 --time_based \
	--runtime=12 --rate_iops=500 --output=/tmp/fio.txt >/dev/null 2>&1 &
fio_pid=$!
wait_for 30 has_read 100
ok $? "the drive is read"
unplug
wait_for 30 test ! -e "/sys/block/$dev"
ok $? "the drive is gone"
wait $fio_pid # it met errors
plug
new=$(disk io1)
[ -n "$new" ]
ok $? "another drive is there"
is "$new" "$dev" "under the old name"
sleep 1
/usr/bin/dd if="/dev/$new" of=/dev/null bs=4k count=101 iflag=direct 2>/dev/null
ok $? "it can be read"
sleep 0.5
measured
ok $? "nothing was lost"
whole /tmp/plug "the ledger balances"
is "$(ledger /tmp/plug in_flight)" 0 "nothing is left in flight"
kill -INT $events
wait $events
ok $? "errors beside: nothing was lost"
is "$(grep '"type":"errors"' /tmp/events | grep "\"dev\":\"$dev\"" | grep -oE '"what":"(gone|appeared)"' | tr '\n' ' ')" \
	'"what":"gone" "what":"appeared" ' "it tells both"
grep -q "^$dev is gone" /tmp/plug.err
ok $? "the first drive is said to be gone"
grep -q "^$new appeared" /tmp/plug.err
ok $? "the second is said to have appeared"
[ "$(row /tmp/plug "$dev" read count)" -gt 0 ]
ok $? "the first drive stays in the summary"
[ "$(row /tmp/plug "$dev#2" read count)" -ge 101 ]
ok $? "the second drive is another row" || grep '"span":"total"' /tmp/plug | cut -c1-120 | sed 's/^/# /'
done_testing
