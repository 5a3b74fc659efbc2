# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: mpath
# kernels: 6.18
#
# inflight_paths: a multipath head has no tags, its hidden paths do. CAP_BPF and CAP_PERFMON are enough to look at them.

head=$(disk io0)
ulimit -l unlimited # 5.10 counts BPF memory against it
as() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon "$@"
}
values() { sed -n '/"type":"inflight"/s/.*"'"$1"'":"*\([^,"}]*\).*/\1/p' "$2"; }

set -- /sys/block/nvme*c*n*
[ -e "$1" ]
ok $? "there are paths: $*"
for path; do
	echo 600000 >"$path/queue/io_timeout"
done

# QEMU lets the drive move a byte a second: the first read passes, the next one hangs.
monitor block_set_io_throttle d0 1 0 0 0 0 0
reads_left=60
while [ $reads_left -gt 0 ]; do
	reads_left=$((reads_left - 1))
	/usr/bin/dd if="/dev/$head" of=/dev/null bs=4k skip=3 count=1 iflag=direct 2>/dev/null &
	reader=$!
	sleep 1
	! kill -0 $reader 2>/dev/null || break
done

as iosonar inflight --older 500ms -d "$head" -o json >/tmp/head 2>/tmp/head.err
is $? 6 "-d HEAD: what its paths have" || note "$(cat /tmp/head.err)"
is "$(values op /tmp/head) $(values lba /tmp/head) $(values bytes /tmp/head)" "read 24 4096" "the read"
leg=$(values dev /tmp/head)
case $leg in "${head%n*}"c*n*) true ;; *) false ;; esac
ok $? "on a path: $leg"
is "$(awk '{ print $1 }' "/sys/block/$leg/inflight")" 1 "which has it by the kernel's count"
as iosonar inflight --older 500ms -o json >/tmp/all 2>/tmp/all.err
is "$? $(values dev /tmp/all)" "6 $leg" "without -d: the same, once" || note "$(cat /tmp/all.err)"
monitor block_set_io_throttle d0 0 0 0 0 0 0
wait "$reader"
as iosonar inflight --older 500ms >/tmp/none 2>/tmp/none.err
is "$? $(cat /tmp/none)" "0 nothing in flight" "then nothing" || note "$(cat /tmp/none.err)"
done_testing
