# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme lockdown
# kernels: 6.12
#
# lockdown: in the mode "integrity" everything works; in "confidentiality" doctor and latency say the same line.

mount -t securityfs securityfs /sys/kernel/security
if ! grep -q '\[none\]' /sys/kernel/security/lockdown 2>/dev/null; then
	echo "1..0 # SKIP this kernel has no lockdown module"
	exit 0
fi
said() { iosonar doctor -o json | grep '"item":"lockdown"' | sed 's/.*"state":"\([a-z]*\)","why":"\([a-z]*\);.*/\1 \2/'; }

is "$(said)" "ok none" "doctor names the mode none"
echo integrity >/sys/kernel/security/lockdown
is "$(said)" "ok integrity" "and integrity"
iosonar latency -t 100ms >/dev/null 2>/tmp/err
is $? 0 "which does not hinder latency" || note "$(cat /tmp/err)"
echo confidentiality >/sys/kernel/security/lockdown
is "$(said)" "no confidentiality" "and confidentiality"
iosonar latency -t 100ms >/tmp/latency 2>&1
is $? 4 "which does: exit 4"
iosonar doctor >/tmp/doctor
is $? 4 "doctor: exit 4"
is "$(sed -n '1s/latency cannot run: /iosonar: /p' /tmp/doctor)" "$(cat /tmp/latency)" "the same line"
grep -q 'lockdown=integrity' /tmp/latency
ok $? "that names the remedy" || note "$(cat /tmp/latency)"
is "$(bpf_objects)" 0 "nothing is left behind"
done_testing
