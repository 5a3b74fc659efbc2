# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# timeout: 300
#
# privileges: CAP_BPF and CAP_PERFMON are enough; without, one line says so; a kernel without BTF too.

dev=$(disk io0)
mkdir -m 777 /tmp/out
as() { # as CAPS COMMAND...: a user with these capabilities
	as_caps=$1
	shift
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps="$as_caps" --ambient-caps="$as_caps" "$@"
}
ulimit -l unlimited # 5.10 counts BPF memory against it

as -all,+bpf,+perfmon iosonar latency -v -o json --out /tmp/out/some -d "$dev" -t 3s 2>/tmp/out/err &
pid=$!
wait_for 20 grep -q 'from .*_rq' /tmp/out/err || note "$(cat /tmp/out/err)"
/usr/bin/dd if="/dev/$dev" of=/dev/null bs=4k count=37 iflag=direct 2>/dev/null
wait $pid
is $? 0 "CAP_BPF and CAP_PERFMON: exits 0" || note "$(cat /tmp/out/err)"
is "$(row /tmp/out/some "$dev" read count)" 37 "and counts"

as -all iosonar latency -d "$dev" -t 1s >/tmp/out/none 2>&1
is $? 4 "without: exit 4"
is "$(grep -c . /tmp/out/none)" 1 "one line" || note "$(cat /tmp/out/none)"
grep -q CAP_BPF /tmp/out/none
ok $? "that names the remedy"

mount -t tmpfs none /sys/kernel/btf
iosonar latency -t 1s >/tmp/out/btf 2>&1
is $? 4 "without BTF: exit 4"
is "$(grep -c . /tmp/out/btf)" 1 "one line"
grep -q BTF /tmp/out/btf
ok $? "that says what is missing"
umount /sys/kernel/btf
is "$(bpf_objects)" 0 "nothing is left behind"
done_testing
