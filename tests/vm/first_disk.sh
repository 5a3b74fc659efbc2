# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 6.12
#
# first_disk: a machine with NVMe only gets another disk, which is read at once. The programs of such disks are attached then, the
# one for ends first: what was sent before the others were there is no loss. How much that is depends on the host.

measure /tmp/first
null_disk nullb0 &
wait_for 20 test -b /dev/nullb0
/usr/bin/dd if=/dev/nullb0 of=/dev/null bs=4k count=1009 iflag=direct 2>/dev/null
sleep 2
reads=$(stat_of nullb0 reads)
/usr/bin/dd if=/dev/nullb0 of=/dev/null bs=4k count=101 iflag=direct 2>/dev/null
is "$(stat_of nullb0 reads)" $((reads + 101)) "the first disk that is not NVMe is read at once, and later"
measured
ok $? "exits 0"
whole /tmp/first "nothing is lost"
counted=$(row /tmp/first nullb0 read count)
between "$counted" 101 $((reads + 101)) "at least the later reads are counted"
note "$counted of $((reads + 101)) reads, $(ledger /tmp/first mid_flight) attached mid-flight"
null_remove nullb0
done_testing
