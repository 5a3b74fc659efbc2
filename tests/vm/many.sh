# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: many
# kernels: 6.12
#
# many: two hundred namespaces, each with its own rows.

wait_for 30 disk io0 200
ok $? "200 namespaces are there"
measure /tmp/many
for ns in /sys/block/nvme?n*; do
	read -r nsid <"$ns/nsid"
	for opcode in 2 1 2 1 2; do
		echo "io /dev/${ns##*/} $opcode $nsid 4096 0 0 0 7"
	done
done | passthru >/dev/null
measured
ok $? "exits 0"
is "$(grep '"type":"latency","span":"total"' /tmp/many | grep -c '"op":"read","count":3,')" 200 "200 rows of 3 reads"
is "$(grep '"type":"latency","span":"total"' /tmp/many | grep -c '"op":"write","count":2,')" 200 "200 rows of 2 writes"
whole /tmp/many "nothing is lost"
done_testing
