# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154 # lib.sh sets measure_pid
# shape: nvme
# kernels: 5.10
# timeout: 90
#
# stacks: the slowest are those that trace saw as the slowest, few records are sent for them, and every I/O is charged to
# the stack and task that submitted it, whoever carried it on.

dev=$(disk io0)
set_scheduler "$dev" mq-deadline

# Every command in a capture, and the slowest beside it: the same ten, ranked by the whole time from submission to end.
wholes() { sed -n 's/.*"type":"slow".*"whole_ns":\([0-9]*\).*/\1/p' "$1"; }
started slow /tmp/s -d "$dev" --top 10 --stack none
slow_pid=$measure_pid
started layers /tmp/l -d "$dev" -w /tmp/cap
fio --name=t --filename="/dev/$dev" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=8 --number_ios=3001 \
	--norandommap --output-format=json --output=/tmp/f.json >&2
measured
kill -INT "$slow_pid"
wait "$slow_pid"
ok $? "slow beside layers: exits 0"
is "$(grep -c '"type":"slow"' /tmp/s)" 10 "ten of them"
iosonar slow -r /tmp/cap --top 10 -o json >/tmp/replayed 2>/tmp/err
least=$(wholes /tmp/replayed | sort -rn | tail -1)
is "$(wholes /tmp/s | awk -v least="${least:-1e18}" '$1 < least * 0.9' | grep -c .)" 0 \
	"none that was faster than the tenth of the capture, give or take what the two programs see" || note "$(cat /tmp/err)"
wholes /tmp/s | sort -rnc 2>/tmp/err
ok $? "slowest first" || note "$(wholes /tmp/s)"
iosonar trace -r /tmp/cap -o json >/tmp/t 2>/tmp/err
first=$(sed -n 's/.*"type":"slow","rank":1,.*"sector":\([0-9]*\),"bytes":\([0-9]*\).*/\1 \2/p' /tmp/s)
grep '"type":"trace"' /tmp/t | grep -q "\"sector\":${first% *},"
ok $? "the slowest one's sector is one that trace saw: $first"
is "$(ledger /tmp/s issued)" "$(fio_ios /tmp/f.json read)" "every command was watched"
whole /tmp/s "nothing is lost"

# The bar: few records for many commands.
started slow /tmp/s -d "$dev" --stack none
fio --name=t --filename="/dev/$dev" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=8 --number_ios=5003 \
	--norandommap --output-format=json --output=/tmp/f.json >&2
measured
records=$(sed -n 's/^records sent: \([0-9]*\).*/\1/p' /tmp/s.err)
between "${records:-0}" 10 300 "5003 reads send at most 300 records"

# --bio: from submit to end, the queue included.
started slow /tmp/s -d "$dev" --bio --top 3 --stack kernel
dd if="/dev/$dev" of=/dev/null bs=4k count=9 iflag=direct 2>/dev/null
measured
ok $? "--bio: exits 0"
is "$(grep '"type":"slow"' /tmp/s | grep -c '"steps":{"Q2G":')" 3 "--bio: from submit on"
grep '"type":"slow"' /tmp/s | grep -q '"kernel_stack":\[[^]]*submit_bio'
ok $? "with the stack that submitted it" || note "$(grep '"type":"slow"' /tmp/s | head -2)"
is "$(grep '"type":"slow"' /tmp/s | grep -c '"comm":"dd"')" 3 "and its task"

# Two jobs, two stacks: each I/O is charged to its own, although a kworker may carry it on. The first ones are walked, the others known.
started stacks /tmp/k -d "$dev" --top 100
for count in 20 311; do
	dd if="/dev/$dev" of=/dev/null bs=4k count=$count iflag=direct 2>/dev/null
	dd if=/dev/zero of="/dev/$dev" bs=4k count=$((count / 2)) oflag=direct 2>/dev/null
	sleep 1
done
measured
ok $? "stacks: exits 0"
counted_by() { grep '"type":"stacks"' /tmp/k | grep "$1" | sed 's/.*"count":\([0-9]*\).*/\1/' | awk '{ sum += $1 } END { print sum + 0 }'; }
is "$(counted_by '"comm":"dd".*submit_bio.*_read')" 331 "reads by the stack that read"
is "$(counted_by '"comm":"dd".*submit_bio.*_write')" 165 "writes by the one that wrote"
whole /tmp/k "nothing is lost"
is "$(grep -c 'taken for another' /tmp/k.err)" 0 "and no stack was taken for another"
iosonar stacks -d "$dev" -o folded --sort bytes -- /usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k count=31 iflag=direct >/tmp/folded 2>/tmp/err
is "$(awk '/^dd;/ { sum += $NF } END { print sum }' /tmp/folded)" $((31 * 4096)) "folded lines add up to the bytes"
iosonar stacks -d "$dev" -o svg --out /tmp/flame.svg -- /usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k count=31 iflag=direct 2>/tmp/err
ok $? "a flame graph"
grep -q submit_bio /tmp/flame.svg
ok $? "with names in it"
done_testing
