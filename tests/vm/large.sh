# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: possible none
# kernels: 6.1
# timeout: 240
#
# large: 64 disks, each read and written on two CPUs of 128 possible ones: no row is missing, in memory for the two. One
# more disk needs more than a second: its latencies are beyond the cells of a row.

online=$(nproc)
possible=$(sed 's/.*-//' /sys/devices/system/cpu/possible)
possible=$((possible + 1))
if [ "$possible" -eq 128 ]; then
	is "$online" 2 "2 CPUs are online, 128 possible"
else
	skip "2 CPUs are online, 128 possible" "only x86_64 has more CPUs than are plugged in, and 6.12 ignores that; here are $possible"
fi

# on_both: reads each disk 11 times and writes it 7 times, on either CPU.
on_both() {
	for i in $(seq 0 63); do
		for cpu in 0 1; do
			taskset -c $cpu /usr/bin/dd if="/dev/nullb$i" of=/dev/null bs=4k count=11 iflag=direct
			taskset -c $cpu /usr/bin/dd if=/dev/zero of="/dev/nullb$i" bs=4k count=7 oflag=direct
		done
	done 2>/dev/null
}

disks() {
	for i in $(seq 0 63); do
		"$@" "nullb$i" || return
	done
}

# all FILE OP COUNT NAME: so many of this operation on each of the 64 disks.
all() { is "$(grep '"span":"total"' "$1" | grep -c "\"op\":\"$2\",\"count\":$3,")" 64 "$4"; }

disks null_disk
null_disk nullb64 irqmode=2 completion_nsec=1500000000
is "$(find /sys/block -name 'nullb*' | wc -l)" 65 "65 disks are there"

measure /tmp/out -v
on_both
dd if=/dev/nullb64 of=/dev/null bs=4k count=3 iflag=direct 2>/dev/null
measured
ok $? "exits 0"
all /tmp/out read 22 "64 rows of 22 reads"
all /tmp/out write 14 "64 rows of 14 writes"
is "$(row /tmp/out nullb64 read count)" 3 "3 reads beyond the cells of a row"
between "$(row /tmp/out nullb64 read p50_ns)" 1475000000 4000000000 "their median is right"
[ "$(row /tmp/out nullb64 read max_ns)" -ge 1500000000 ]
ok $? "and their maximum"
whole /tmp/out "nothing is lost"
note "$(grep '^tables' /tmp/out.err)"
grep -q "for the $online of $possible CPUs that are online" /tmp/out.err
ok $? "the tables are for the CPUs that are online"
between "$(sed -n 's/^tables: .*, \([0-9]*\)\.[0-9] MiB$/\1/p' /tmp/out.err)" 4 40 "and small"

traced /tmp/out -d nullb0
for cpu in 0 1; do
	taskset -c $cpu /usr/bin/dd if=/dev/nullb0 of=/dev/null bs=4k count=11 iflag=direct 2>/dev/null
done
measured
ok $? "trace: exits 0"
is "$(grep -c '"type":"trace"' /tmp/out)" 22 "22 records of two CPUs"
whole /tmp/out "nothing is lost"
note "$(grep '^rings' /tmp/out.err)"
is "$(sed -n 's/^rings: .*, \([0-9.]*\) MiB$/\1/p' /tmp/out.err)" \
	"$(awk "BEGIN { printf \"%.1f\", $online * 4 + ($possible - $online) / 16 }")" "4 MiB for each CPU, 64 KiB for those to come"

# Disks that appear later. Two CPUs alone have no rows for them; the rows for CPUs that come later are enough.
disks null_remove
measure /tmp/out -v
disks null_disk
on_both
measured
status=$?
note "$(grep '^tables' /tmp/out.err)"
is "$(ledger /tmp/out unaccounted)" 0 "disks that appear: nothing is unaccounted for"
if [ "$possible" -eq 128 ]; then
	is "$(ledger /tmp/out lost_row)" 0 "what is kept for CPUs that come serves disks that come"
else
	is $status 3 "without rows the run is incomplete"
	[ "$(ledger /tmp/out lost_row)" -ge 1 ]
	ok $? "and says why"
fi
done_testing
