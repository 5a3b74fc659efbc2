# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
#
# boot: the test bed itself. If this fails, no other result in a guest means anything.

note "$(uname -rm), $(nproc) CPUs, $(cut -d' ' -f1 /proc/uptime) s after start"

dev=$(disk io0)
[ -b "/dev/$dev" ]
ok $? "the drive with serial io0 is there" || done_testing
is "$(cat "/sys/block/$dev/size")" 524288 "it has 256 MiB"

set_scheduler "$dev" none
grep -q '\[none\]' "/sys/block/$dev/queue/scheduler"
ok $? "its scheduler can be set"

# fio opens the drive and reads nothing else of it: 97 I/Os of its own are all there is.
before=$(stat_of "$dev" reads)
ftrace_start block/block_rq_issue block/block_rq_complete nvme/nvme_setup_cmd nvme/nvme_complete_rq
ok $? "the events of block and nvme can be traced"
fio --name=t --filename="/dev/$dev" --rw=randread --bs=4k --direct=1 --ioengine=psync --number_ios=97 --norandommap \
	--output-format=json --output=/tmp/fio.json >&2
ok $? "fio runs"
ftrace_stop /tmp/trace
ok $? "the trace buffer did not run over"
is "$(fio_ios /tmp/fio.json read)" 97 "fio counts its reads"
is "$(($(stat_of "$dev" reads) - before))" 97 "so does the kernel"
is "$(ftrace_count /tmp/trace block_rq_issue ' RS? 4096 ')" 97 "so does ftrace, at issue"
is "$(ftrace_count /tmp/trace block_rq_complete ' RS? ')" 97 "and at completion"
is "$(ftrace_count /tmp/trace nvme_complete_rq 'qid=[1-9]')" 97 "and at the drive"

nvme id-ctrl "/dev/${dev%n*}" | grep -q '^sn *: *io0 *$'
ok $? "nvme-cli identifies the controller"

null_disk nullb0 irqmode=2 completion_nsec=1000000
ok $? "null_blk makes a disk"
[ -b /dev/nullb0 ]
ok $? "it is there"
null_remove nullb0
ok $? "it can be removed"

for m in dm-delay loop nvmet-tcp nvme-tcp virtio_blk ext4 kyber-iosched bfq zram; do
	load $m || { note "cannot load $m" && false; }
	ok $? "module $m loads"
done

dmsetup version >&2
ok $? "dmsetup finds device-mapper"
setpriv --clear-groups --reuid 65534 --bounding-set=-all true
ok $? "setpriv drops privileges"
[ -e /sys/fs/cgroup/cgroup.procs ] && [ -d /sys/kernel/debug/block ] && ping -c 1 127.0.0.1 >&2
ok $? "cgroup2, debugfs and the loopback interface are set up"
is "$(bpf_objects)" 0 "no BPF program, link or map is loaded"
bpftool map create /sys/fs/bpf/m type array key 4 value 4 entries 1 name m
is "$(bpf_objects)" 1 "one that is loaded is counted"
rm /sys/fs/bpf/m

if command -v iosonar >/dev/null; then
	iosonar --version >&2
	ok $? "iosonar starts"
else
	skip "iosonar starts" "it is not built"
fi
done_testing
