# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: many
# kernels: 6.12
# timeout: 240
#
# many: two hundred namespaces, each with its own rows.

wait_for 30 disk io0 200
ok $? "200 namespaces are there"
measure /tmp/many
for d in /dev/nvme?n*; do
	/usr/bin/dd if="$d" of=/dev/null bs=4k count=3 iflag=direct 2>/dev/null
	/usr/bin/dd if=/dev/zero of="$d" bs=4k count=2 oflag=direct 2>/dev/null
done
measured
ok $? "exits 0"
is "$(grep '"type":"latency","span":"total"' /tmp/many | grep -c '"op":"read","count":3,')" 200 "200 rows of 3 reads"
is "$(grep '"type":"latency","span":"total"' /tmp/many | grep -c '"op":"write","count":2,')" 200 "200 rows of 2 writes"
whole /tmp/many "nothing is lost"
done_testing
