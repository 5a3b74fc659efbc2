# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 5.10
#
# privileges: CAP_BPF and CAP_PERFMON are enough; without, one line says so; a kernel without BTF too. Once attached there are
# none left, and what comes later is still measured.

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

# state FILE: of a copy of /proc/PID/status, inheritable, permitted, effective and ambient capabilities, whether exec can
# gain none, whether calls are filtered.
state() { sed -nE 's/^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp):[[:space:]]*0*([0-9a-f]+)$/\3/p' "$1" | xargs; }

# dropped WHO WANT COMMAND...: a run of iosonar whose own COMMAND looks at both.
dropped() {
	who=$1 want=$2
	shift 2
	# shellcheck disable=SC2016 # the COMMAND's own parent
	"$@" latency -v -o json --out /tmp/out/look -d "$dev" -- sh -c 'cat /proc/$PPID/status >/tmp/out/ours
		cat /proc/self/status >/tmp/out/its
		exec /usr/bin/dd if="/dev/'"$dev"'" of=/dev/null bs=4k count=11 iflag=direct 2>/dev/null' 2>/tmp/out/err
	is $? 0 "$who: exits 0" || note "$(cat /tmp/out/err)"
	is "$(state /tmp/out/ours)" "0 0 0 0 1 2" "$who: no capability, none to gain, system calls filtered"
	is "$(state /tmp/out/its)" "$want" "$who: the COMMAND has what iosonar was started with"
	is "$(row /tmp/out/look "$dev" read count)" 11 "$who: counted"
	grep -qE '^privileges: no capabilities, no new privileges,( no opening of files for writing,)? system calls filtered$' /tmp/out/err
	ok $? "$who: -v says so" || note "$(cat /tmp/out/err)"
	rm /tmp/out/*
}
chmod 666 "/dev/$dev"
dropped root "$(state /proc/self/status)" iosonar
dropped user "$(as -all,+bpf,+perfmon cat /proc/self/status >/tmp/out/user && state /tmp/out/user)" as -all,+bpf,+perfmon iosonar

# shellcheck disable=SC2016 # the COMMAND's own parent
iosonar latency --keep-privileges -o json --out /tmp/out/kept -d "$dev" -- \
	sh -c 'cat /proc/$PPID/status >/tmp/out/ours' 2>/tmp/out/err
is "$? $(state /tmp/out/ours)" "0 $(state /proc/self/status)" "--keep-privileges: as it was started"

# A disk that is not NVMe comes while NVMe alone is measured: its programs are attached without privileges.
later() { # later WHO COMMAND...
	who=$1
	shift
	"$@" latency -v -o json --out /tmp/out/later -- sh -c 'until [ -e /tmp/out/end ]; do sleep 0.1; done' 2>/tmp/out/err &
	pid=$!
	wait_for 60 grep -q '^privileges: ' /tmp/out/err || note "$(cat /tmp/out/err)"
	null_disk nullb0 >&2
	wait_for 60 grep -q '^nullb0 appeared' /tmp/out/err
	ok $? "$who: a disk that appears is found" || note "$(cat /tmp/out/err)"
	sleep 0.5
	/usr/bin/dd if=/dev/zero of=/dev/nullb0 bs=4k count=41 oflag=direct 2>/dev/null # the kernel itself reads
	: >/tmp/out/end
	wait $pid
	is $? 0 "$who: exits 0" || note "$(cat /tmp/out/err)"
	is "$(row /tmp/out/later nullb0 write count)" 41 "$who: and counted"
	null_remove nullb0
	rm /tmp/out/*
}
later root iosonar
later user as -all,+bpf,+perfmon iosonar

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
