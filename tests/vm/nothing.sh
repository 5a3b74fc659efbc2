# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: none
# kernels: 6.1-cloud
#
# nothing: a machine without any disk to measure says so.

iosonar latency -t 1s >/tmp/out 2>&1
is $? 4 "exit 4" || note "$(cat /tmp/out)"
is "$(grep -c . /tmp/out)" 1 "one line" || note "$(cat /tmp/out)"
iosonar latency -d nvme9 >/tmp/out 2>&1
is $? 2 "a device that is not there: exit 2"
grep -q "no block device named 'nvme9'" /tmp/out
ok $? "named in one line"
done_testing
