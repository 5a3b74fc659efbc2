# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 7.2
# timeout: 60
#
# top: samples of an NVMe drive: every command is in the rows, and those in flight are told by their keys.

dev=$(disk io0)
iosonar top -d "$dev" -i 50ms -o json --out /tmp/top.json -- fio --name=t --filename="/dev/$dev" --direct=1 --norandommap \
	--ioengine=libaio --iodepth=32 --rw=randrw --bs=4k --number_ios=1009 --size=16M --output-format=json --output=/tmp/fio.json 2>/tmp/err
is $? 0 "exits 0"
field() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p"; }
sum() { awk '{ n += $1 } END { print n + 0 }'; }
for op in read write; do
	is "$(grep '"span":"total"' /tmp/top.json | grep "\"dev\":\"$dev\",\"op\":\"$op\"" | field count)" "$(fio_ios /tmp/fio.json $op)" \
		"${op}s as fio counts them"
done
samples=$(grep -c '"type":"sample"' /tmp/top.json)
[ "$samples" -ge 2 ]
ok $? "it has samples: $samples"
is "$(grep '"type":"sample"' /tmp/top.json | field count | sum)" "$(grep '"type":"top","span":"interval"' /tmp/top.json | field count | sum)" \
	"samples are the sums of their rows"
[ "$(grep '"type":"sample"' /tmp/top.json | field in_flight | sum)" -gt 0 ]
ok $? "commands were in flight"
is "$(grep '"type":"sample"' /tmp/top.json | field in_flight | sum)" "$(grep '"type":"top","span":"interval"' /tmp/top.json | field in_flight | sum)" \
	"each of them under its keys"
whole /tmp/top.json "nothing is lost"
done_testing
