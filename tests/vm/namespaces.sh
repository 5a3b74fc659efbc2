# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: ns
# kernels: 6.12
#
# namespaces: several behind one controller, one with blocks of 4096 bytes; sizes come from the command and the block
# size, numbers from the command and not from the name.

a=$(disk io0 1) b=$(disk io0 5) ctrl=$(disk io0 1 | sed 's/n[0-9]*$//')
read_some() { /usr/bin/dd if="/dev/$1" of=/dev/null bs="$2" count="$3" iflag=direct 2>/dev/null; }

measure /tmp/all
read_some "$a" 512 31
read_some "$b" 8192 17
read_some "$(disk io0 2)" 4096 11
measured
ok $? "exits 0"
is "$(row /tmp/all "$a" read count)" 31 "namespace 1"
is "$(row /tmp/all "$a" read size_bytes)" 512 "its blocks have 512 bytes"
is "$(row /tmp/all "$b" read count)" 17 "namespace 5"
is "$(row /tmp/all "$b" read size_bytes)" 8192 "its blocks have 4096 bytes"

measure /tmp/ns --by ns,op
read_some "$a" 512 7
read_some "$b" 4096 5
measured
is "$(grep '"type":"latency","span":"total"' /tmp/ns | grep '"nsid":1,"op":"read"' | value count)" 7 "--by ns: 1"
is "$(grep '"type":"latency","span":"total"' /tmp/ns | grep '"nsid":5,"op":"read"' | value count)" 5 "--by ns: 5"

measure /tmp/one --nsid 5
read_some "$a" 512 7
read_some "$b" 4096 5
measured
is "$(ledger /tmp/one issued)" 5 "--nsid 5 leaves the others out"

measure /tmp/ctrl -d "$ctrl"
read_some "$a" 512 7
read_some "$b" 4096 5
nvme id-ctrl "/dev/$ctrl" >/dev/null
measured
is "$(row /tmp/ctrl "$a" read count) $(row /tmp/ctrl "$b" read count)" "7 5" "-d nvme0 means its namespaces"
between "$(row /tmp/ctrl "$ctrl" identify count)" 1 9 "and its admin queue"

measure /tmp/disk -d "$b"
read_some "$a" 512 7
read_some "$b" 4096 5
nvme id-ctrl "/dev/$ctrl" >/dev/null
measured
is "$(ledger /tmp/disk issued)" 5 "-d of one namespace means only that"
done_testing
