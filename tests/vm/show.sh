# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# timeout: 120
#
# show: not a test. What iosonar says of an NVMe drive under fio, for tests/vm/show to print.

dev=$(disk io0)
load_file=/tmp/show.fio
cat >$load_file <<-END
	[global]
	filename=/dev/$dev
	direct=1
	ioengine=libaio
	time_based
	runtime=${show_seconds:-4}
	[readers]
	rw=randread
	bs=4k
	iodepth=8
	[writer]
	rw=randwrite
	bs=16k
	iodepth=2
END
iosonar latency -d "$dev" -i 2s -- fio --output=/dev/null $load_file 2>&1
