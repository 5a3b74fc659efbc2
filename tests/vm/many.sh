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
all=$(echo /dev/nvme?n* | tr ' ' ':')
for load in "read 600" "write 400"; do # each in turn: 3 and 2 of every namespace
	fio --name=many --filename="$all" --file_service_type=roundrobin --rw="${load% *}" --number_ios="${load#* }" \
		--bs=4k --direct=1 >&2
done
measured
ok $? "exits 0"
is "$(grep '"type":"latency","span":"total"' /tmp/many | grep -c '"op":"read","count":3,')" 200 "200 rows of 3 reads"
is "$(grep '"type":"latency","span":"total"' /tmp/many | grep -c '"op":"write","count":2,')" 200 "200 rows of 2 writes"
whole /tmp/many "nothing is lost"
done_testing
