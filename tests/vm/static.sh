# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: nvme
# kernels: 5.10 6.1-cloud
#
# static: the static program needs no file but itself. It counts in a root that holds nothing else, as in an initramfs
# without libraries: only proc, sys and dev are mounted there. So does its serve, which is what a container runs.

bare=/tmp/bare
dev=$(disk io0)
command -v iosonar-static >/dev/null
ok $? "it is built: make static" || done_testing
mkdir -p $bare/proc $bare/sys $bare/dev
cp "$(command -v iosonar-static)" $bare/iosonar
cp "$(command -v iosonar)" $bare/dynamic

chroot $bare /dynamic --version >/dev/null 2>&1
is $? 127 "the other one does not start there: libraries are missing"
rm $bare/dynamic
is "$(find $bare -type f)" $bare/iosonar "no other file is there"
is "$(env -i chroot $bare /iosonar --version | head -1)" "$(iosonar --version | head -1)" "it starts, without a mount" ||
	{ note "$(iosonar --version 2>&1)" && done_testing; }

mount -t proc proc $bare/proc
mount -t sysfs sysfs $bare/sys
mount -t devtmpfs dev $bare/dev
iosonar() { exec env -i chroot $bare /iosonar "$@"; } # what measure starts
before=$(stat_of "$dev" reads)
measure /out -d "$dev" # rows are in /out, messages in /out.err
dd if="/dev/$dev" of=/dev/null bs=4k count=101 iflag=direct 2>/dev/null
measured
ok $? "exits 0"
is "$(row /out "$dev" read count)" 101 "every read is counted"
is "$(($(stat_of "$dev" reads) - before))" 101 "the kernel counts as many"
whole /out "nothing is lost"
# The ring of layers needs an atomic that each architecture's JIT has to know.
started layers /ways -d "$dev"
dd if="/dev/$dev" of=/dev/null bs=4k count=103 iflag=direct 2>/dev/null
measured
ok $? "layers exits 0"
is "$(step /ways "$dev" read Q2C count)" 103 "the way of every read is known"
whole /ways "nothing is lost on the way"
ifconfig lo 127.0.0.1 up
iosonar serve -d "$dev" 2>/tmp/serve.err &
pid=$!
wait_for 30 grep -q '^serving http://127.0.0.1:9936$' /tmp/serve.err
dd if="/dev/$dev" of=/dev/null bs=4k count=107 iflag=direct 2>/dev/null
wget -qO /tmp/page http://127.0.0.1:9936/metrics
is "$(sed -n "s/^iosonar_commands_total{device=\"$dev\",.*op=\"read\"} //p" /tmp/page)" 107 "serve: a scrape has every read" || note "$(cat /tmp/serve.err)"
is "$(wget -qO - http://127.0.0.1:9936/ | grep -c '^<!DOCTYPE html>$')" 1 "serve: the page is in the program"
kill -TERM $pid
wait $pid
is "$? $(grep -c '^issued 107 = completed 107 + in flight 0; nothing lost$' /tmp/serve.err)" "0 1" "serve: SIGTERM ends it, nothing is lost" ||
	note "$(cat /tmp/serve.err)"
umount $bare/proc $bare/sys $bare/dev
done_testing
