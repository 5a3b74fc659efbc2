# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 5.10 7.2
# timeout: 90
#
# counts: every command is counted once. Reads, writes, flushes, discards and write zeroes against fio and the
# kernel's own statistics, passthrough and admin commands against ftrace, with and without a scheduler.

dev=$(disk io0) ctrl=/dev/$(disk io0 | sed 's/n[0-9]*$//')

# load_with NAME ARGS...: fio on the drive.
load_with() {
	load_name=$1
	shift
	fio --name=t --filename="/dev/$dev" --direct=1 --norandommap --output-format=json --output="/tmp/$load_name.json" \
		--ioengine=libaio "$@" >&2
}

snapshot() { for f in reads writes discards flushes; do eval "$1_$f=$(stat_of "$dev" $f)"; done; }
# delta FIELD: how far the kernel's own count went between snapshots a and b.
delta() { eval "echo \$((b_$1 - a_$1))"; }

for scheduler in none mq-deadline; do
	load $scheduler 2>/dev/null
	set_scheduler "$dev" $scheduler
	measure /tmp/mixed -d "$dev"
	snapshot a
	load_with mixed --rw=randrw --bs=4k --iodepth=64 --numjobs=2 --number_ios=997
	load_with sync --rw=write --bs=4k --iodepth=1 --number_ios=53 --fsync=1
	load_with trim --rw=randtrim --bs=64k --iodepth=4 --number_ios=41
	/usr/sbin/blkdiscard -f -z -o 0 -l 16777216 "/dev/$dev" # -f: it reads nothing first; busybox's has no -z
	snapshot b
	measured
	ok $? "$scheduler: exits 0"
	reads=$(fio_ios /tmp/mixed.json read) writes=$(($(fio_ios /tmp/mixed.json write) + 53))
	is "$(row /tmp/mixed "$dev" read count)" "$reads" "$scheduler: reads as fio counts them"
	is "$(row /tmp/mixed "$dev" read count)" "$(delta reads)" "$scheduler: reads as the kernel counts them"
	is "$(row /tmp/mixed "$dev" dsm count)" 41 "$scheduler: discards as fio counts them"
	is "$(row /tmp/mixed "$dev" dsm count)" "$(delta discards)" "$scheduler: discards as the kernel counts them"
	is "$(row /tmp/mixed "$dev" write count)" "$writes" "$scheduler: writes as fio counts them"
	# The kernel's writes are writes, write zeroes and the empty write that carries a flush.
	zeroes=$(row /tmp/mixed "$dev" write-zeroes count) flushes=$(row /tmp/mixed "$dev" flush count)
	is "$((writes + zeroes + flushes))" "$(delta writes)" "$scheduler: writes of every kind as the kernel counts them"
	is "$((zeroes * $(row /tmp/mixed "$dev" write-zeroes size_bytes)))" 16777216 "$scheduler: 16 MiB of zeroes"
	is "$(row /tmp/mixed "$dev" flush count)" "$(delta flushes)" "$scheduler: flushes as the kernel counts them"
	whole /tmp/mixed "$scheduler: nothing is lost"
done
set_scheduler "$dev" none

is "$(row /tmp/mixed "$dev" read size_bytes)" 4096 "the size of a read is right"
is "$(row /tmp/mixed "$dev" dsm size_bytes)" 65536 "the size of a discard is that of its range"

# Commands the block layer does not count: ftrace saw each being set up.
ftrace_start nvme/nvme_setup_cmd
measure /tmp/pass
for i in 1 2 3; do
	nvme read "/dev/$dev" -s $i -c 0 -z 512 >/dev/null
	nvme flush "/dev/$dev" -n 1 >/dev/null
	nvme id-ctrl "$ctrl" >/dev/null
	nvme smart-log "$ctrl" >/dev/null
done
nvme write-zeroes "/dev/$dev" -s 0 -c 7 >&2
nvme io-passthru "/dev/$dev" --opcode=2 --namespace-id=1 --data-len=4096 --read --cdw10=0 --cdw12=7 >/dev/null
measured
ok $? "passthrough: exits 0"
ftrace_stop /tmp/trace
ok $? "the trace buffer did not run over"
is "$(ledger /tmp/pass issued)" "$(ftrace_count /tmp/trace nvme_setup_cmd)" "every command that ftrace saw"
name=${ctrl#/dev/}
is "$(row /tmp/pass "$name" identify count)" "$(ftrace_count /tmp/trace nvme_setup_cmd 'nvme_admin_identify')" "identify"
is "$(row /tmp/pass "$name" get-log-page count)" "$(ftrace_count /tmp/trace nvme_setup_cmd 'nvme_admin_get_log_page')" \
	"get log page"
is "$(row /tmp/pass "$dev" read count)" 4 "reads by ioctl"
is "$(row /tmp/pass "$dev" flush count)" 3 "flushes by ioctl"
is "$(row /tmp/pass "$dev" write-zeroes count)" 1 "write zeroes by ioctl"
whole /tmp/pass "nothing is lost"

done_testing
