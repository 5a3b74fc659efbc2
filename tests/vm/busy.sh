# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: swiotlb
# kernels: 5.10
#
# busy: a driver that cannot map a command hands it back. That is neither an attempt nor a loss.

dev=$(disk io0)
set_scheduler "$dev" none
echo 2 >"/sys/block/$dev/queue/nomerges" # what waits to be handed out again stays as many commands
before=$(stat_of "$dev" reads)
measure /tmp/busy -d "$dev"
fio --name=t --filename="/dev/$dev" --rw=randread --bs=64k --direct=1 --ioengine=libaio --iodepth=32 --number_ios=211 \
	--norandommap --output-format=json --output=/tmp/busy.json >&2
sleep 0.3
measured
ok $? "exits 0"
is "$(row /tmp/busy "$dev" read count)" "$(fio_ios /tmp/busy.json read)" "every read is counted once"
is "$(row /tmp/busy "$dev" read count)" $(($(stat_of "$dev" reads) - before)) "as the kernel counts them"
if [ "$(ledger /tmp/busy requeues)" -gt 0 ]; then
	ok 0 "some were handed back: $(ledger /tmp/busy requeues)"
else
	skip "some were handed back" "the bounce buffer sufficed this time"
fi
is "$(ledger /tmp/busy retries)" 0 "none of that is a retry"
whole /tmp/busy "nothing is lost"
done_testing
