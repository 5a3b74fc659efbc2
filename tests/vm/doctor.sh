# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 5.10 6.1-cloud
# timeout: 150
#
# doctor: its verdict is what latency then does, with the same words, as root, with two capabilities, as nobody, without
# tracefs, without BTF; commands do what it says of them; what it says of hooks, memory and controllers is what a run uses;
# it leaves nothing behind.

mkdir -m 777 /tmp/out
ulimit -l unlimited
before=$(bpf_objects)
as() { # as CAPS COMMAND...: a user with these capabilities
	as_caps=$1
	shift
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps="$as_caps" --ambient-caps="$as_caps" "$@"
}
plainly() { "$@"; }

# agrees WANT NAME RUNNER...: doctor and latency end alike; WANT is 0, 4 or "?" for either; at 4 with the same line.
agrees() {
	want=$1 name=$2
	shift 2
	"$@" iosonar doctor -o json >/tmp/out/doctor 2>/tmp/out/doctor.err
	doctor=$?
	"$@" iosonar latency -v -t 100ms --allow-loss >/tmp/out/latency 2>/tmp/out/verbose
	latency=$?
	grep '^iosonar: ' /tmp/out/verbose >/tmp/out/latency.err
	[ "$want" != "?" ] || want=$doctor
	is "$doctor $latency" "$want $want" "$name: doctor and latency exit alike" ||
		note "$(cat /tmp/out/doctor.err /tmp/out/latency.err)"
	if [ "$doctor" -eq 4 ]; then
		is "$(cat /tmp/out/doctor.err)" "$(cat /tmp/out/latency.err)" "$name: in the same words"
		is "$(grep -c . /tmp/out/doctor.err)" 1 "$name: in one line"
		note "$(cat /tmp/out/doctor.err)"
	else
		is "$(cat /tmp/out/doctor.err)" "" "$name: nothing to complain of"
		grep -q '"type":"verdict","command":"latency","state":"ok"' /tmp/out/doctor
		ok $? "$name: the verdict says so"
	fi
}

# text_of KEY: of a JSON object on standard input.
text_of() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

# same_hook NAME: the hook of nvme_setup_cmd is the one that the run just now loaded.
same_hook() {
	used=raw_tp
	! grep -q 'programs with typed pointers: loaded' /tmp/out/verbose || used=tp_btf
	said=$(grep '"item":"nvme_setup_cmd"' /tmp/out/doctor | grep '"state":"ok"' | text_of hook)
	is "$said" "$used" "$1: the hook is the one that is used"
	note "$1: $said"
}

agrees 0 "root" plainly
same_hook "root"
is "$(grep '"item":"memory"' /tmp/out/doctor | value bytes | awk '{ printf "%.1f MiB", $1 / 1048576 }')" \
	"$(sed -n 's/^tables: .*, //p' /tmp/out/verbose)" "the memory is what a run takes"
ctrl=$(basename "$(ls -d /sys/class/nvme/nvme*)")
is "$(grep "\"section\":\"device\",\"item\":\"$ctrl\"" /tmp/out/doctor | value queues)" \
	"$(cat "/sys/class/nvme/$ctrl/queue_count")" "the controller's queues are sysfs's"
held=$(grep -c '"section":"run","item":"nvme_core"' /tmp/out/doctor)
module=0
! grep -q '^nvme_core ' /proc/modules || module=1
is "$held" "$module" "a module is said to be held, a built-in driver is not"
iosonar doctor >/tmp/out/text
is "$(awk 'length($0) > 100' /tmp/out/text)" "" "text fits 100 columns"
is "$(head -1 /tmp/out/text)" "latency can run here, on Linux $(uname -r)" "its first line is the verdict"

agrees 0 "two capabilities" as -all,+bpf,+perfmon
same_hook "two capabilities"

# said_and_done WORD...: with the two capabilities this command does what doctor just said of it, and blames no memory.
said_and_done() {
	said=$(grep "\"section\":\"command\",\"item\":\"$1\"" /tmp/out/doctor | text_of state)
	as -all,+bpf,+perfmon iosonar "$@" -t 100ms --allow-loss >/tmp/out/run 2>&1
	done=$?
	case "$said $done" in
	"ok 0" | "partly 0" | "no 4") true ;;
	*) false ;;
	esac
	ok $? "two capabilities: $1 is said to be '$said', and exits $done" || note "$(head -3 /tmp/out/run)"
	! grep -q 'locked memory' /tmp/out/run
	ok $? "two capabilities: $1 does not blame the limit of locked memory"
}
ulimit -l 8192 # too little for the tables of files, where they count
case $(uname -r) in
5.10.*) ulimit -l unlimited ;;
esac
said_and_done latency --by file
said_and_done slow
said_and_done cache
said_and_done record --stages -w /tmp/out/a.cap
ulimit -l unlimited
agrees 4 "nobody" as -all

# The rest does not depend on the kernel so much: on two of them.
case $(uname -r) in
5.10.* | 6.12.*)
	# 5.10 counts tables as locked memory, newer kernels do not: the two have to agree, whatever it is.
	ulimit -l 64
	agrees "?" "two capabilities, 64 KiB of locked memory" as -all,+bpf,+perfmon
	ulimit -l unlimited
	agrees 4 "CAP_BPF alone" as -all,+bpf
	agrees 4 "CAP_PERFMON alone" as -all,+perfmon
	umount /sys/kernel/debug
	umount /sys/kernel/tracing
	agrees 0 "without tracefs" plainly
	mount -t tracefs tracefs /sys/kernel/tracing
	mount -t debugfs debugfs /sys/kernel/debug
	;;
esac

iosonar doctor --btf /sys/kernel/btf/vmlinux >/tmp/out/file
is $? 0 "--btf with this kernel's file: exit 0" || note "$(cat /tmp/out/file)"
mount -t tmpfs none /sys/kernel/btf
agrees 4 "without BTF" plainly
umount /sys/kernel/btf
none_left() { [ "$(bpf_objects)" -le "$before" ]; }
wait_for 10 none_left # the kernel frees some of it later
ok $? "nothing is left behind" || note "$(bpf_objects), before $before"
done_testing
