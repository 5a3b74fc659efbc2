# shape: nvme
t() { s=$(cut -d' ' -f1 /proc/uptime); "$@" >/dev/null 2>&1; e=$(cut -d' ' -f1 /proc/uptime); note "$(awk "BEGIN{print $e-$s}") s: $*"; }
dev=$(disk io0)
t fio --version
t fio --version
t fio --name=t --filename="/dev/$dev" --rw=randread --bs=4k --direct=1 --ioengine=psync --number_ios=97 --norandommap --output-format=json --output=/tmp/fio.json
t nvme id-ctrl /dev/nvme0
t nvme id-ctrl /dev/nvme0
t bpftool prog show
t bpftool prog show
t ftrace_start block/block_rq_issue block/block_rq_complete nvme/nvme_setup_cmd nvme/nvme_complete_rq
t ftrace_stop /tmp/x
t bpf_objects
t true
t /bin/busybox true
ok 0 a
done_testing
