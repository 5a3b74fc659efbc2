# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154 # lib.sh sets measure_pid
# shape: broken icount
# kernels: 6.12
# timeout: 120
#
# unload: how long after SIGTERM the core of the driver can go, to whose events programs are attached: 100 ms, three times. Time is
# guest instructions here, so a busy host does not make it longer. modules has what is counted.

if ! grep -q '^nvme_core ' /proc/modules; then
	echo "1..0 # SKIP NVMe is no module of this kernel"
	exit 0
fi
now_ms() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }
# unloaded MS: within that time, by this guest's clock.
unloaded() {
	until=$(($(now_ms) + $1))
	until rmmod nvme_core 2>/tmp/rmmod.err; do
		[ "$(now_ms)" -lt "$until" ] || return 1
	done
}

for round in 1 2 3; do
	dev=$(disk io0)
	measure /tmp/out
	dd if="/dev/$dev" of=/dev/null bs=4k count=37 iflag=direct 2>/dev/null
	rmmod nvme
	wait_for 20 grep -q "^$dev is gone" /tmp/out.err
	ok $? "$round: the driver goes, its core stays" || note "$(cat /tmp/out.err)"
	! unloaded 200
	ok $? "$round: as long as we are attached"
	began=$(now_ms)
	kill -TERM "$measure_pid"
	wait "$measure_pid"
	is $? 0 "$round: SIGTERM: exits 0" || note "$(cat /tmp/out.err)"
	ended=$(now_ms)
	unloaded 20000
	ok $? "$round: then its core can go" || note "$(cat /tmp/rmmod.err)"
	gone=$(now_ms)
	note "it ended $((ended - began)) ms after SIGTERM, the core could go $((gone - ended)) ms later"
	between $((gone - began)) 0 100 "$round: within 100 ms of SIGTERM"
	load nvme
	wait_for 30 disk io0
	ok $? "$round: the driver comes back"
done
done_testing
