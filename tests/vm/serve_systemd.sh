# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: systemd
# kernels: none
# timeout: 120
# brings: contrib/systemd/iosonar.service contrib/systemd/iosonar.socket
#
# serve_systemd: the units of contrib under a real systemd, which is process 1 of a namespace here. The first request starts the
# service as a dynamic user with two capabilities; it counts every read, and keeps none of them.

dev=$(disk io0)
ifconfig lo 127.0.0.1 up
root=/mnt/systemd group=/sys/fs/cgroup/systemd

set_up() {
	load ext4 && load virtio_blk || return
	image=$(grep -l '^systemd$' /sys/block/vd*/serial) || return
	image=${image%/serial}
	mkdir -p $root && mount -t ext4 "/dev/${image##*/}" $root || return
	for dir in dev sys; do mount -o rbind /$dir $root/$dir || return; done
	mount -t tmpfs run $root/run && mount -t tmpfs tmp $root/tmp || return
	cp "$(command -v iosonar-static)" $root/usr/bin/iosonar || return # the image lacks our libraries
	cp /tests/iosonar.service /tests/iosonar.socket $root/etc/systemd/system/ || return
	echo 0123456789abcdef0123456789abcdef >$root/etc/machine-id
	# Without logins, and without mounts of the guest's disks.
	printf '[Unit]\nRequires=iosonar.socket\nAfter=iosonar.socket\n' >$root/etc/systemd/system/test.target
}

boot() {
	mkdir -p $group
	(
		echo 0 >$group/cgroup.procs
		exec unshare -p -m -f sh -c "mount -t proc proc $root/proc && exec chroot $root /usr/bin/env -i container=guest \
			PATH=/usr/sbin:/usr/bin /lib/systemd/systemd --unit=test.target --log-target=console --show-status=no" >/tmp/systemd.log 2>&1
	) &
	systemd=$!
}
# first UNIT: its first process; one: systemd itself.
first() { head -n 1 "$group/$1/cgroup.procs" 2>/dev/null; }
one() { first init.scope; }
# there COMMAND...: systemd answers only processes in its namespaces.
there() { nsenter -t "$(one)" -m -p -r /usr/bin/env -i PATH=/usr/sbin:/usr/bin "$@"; }
scrape() { timeout 60 wget -O /tmp/page http://127.0.0.1:9936/metrics 2>/tmp/wget; }
state() { there systemctl show -P "$2" "$1" 2>/dev/null; }
listens() { [ -n "$(one)" ] && [ "$(state iosonar.socket ActiveState)" = active ]; }
# status NAME...: these lines of the service's /proc/PID/status, without leading zeros
status() { for name; do sed -n "s/^$name:[^0-9]*0*\([0-9a-f]\)/\1/p" "/proc/$pid/status"; done | xargs; }

set_up
ok $? "a system with systemd" || done_testing
boot
wait_for 60 listens
ok $? "the socket listens" || { note "$(tail -n 40 /tmp/systemd.log)" && done_testing; }
is "$(state iosonar.service ActiveState)" inactive "nothing runs before the first request"
scrape
ok $? "the first request starts the service" || { note "$(cat /tmp/wget; tail -n 30 /tmp/systemd.log)" && done_testing; }
is "$(state iosonar.service ActiveState)" active "it is active"
dd if="/dev/$dev" of=/dev/null bs=4k count=101 iflag=direct 2>/dev/null
sleep 0.2
scrape
is "$(sed -n "s/^iosonar_commands_total{device=\"$dev\",.*op=\"read\"} //p" /tmp/page)" 101 "it counts 101 reads"
is "$(grep '^iosonar_lost_total' /tmp/page | grep -cv ' 0$')" 0 "and loses nothing"

pid=$(first system.slice/iosonar.service)
uid=$(sed -n 's/^Uid:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status")
between "${uid:-0}" 61184 65519 "a dynamic user"
is "$(status CapBnd)" c000000000 "it started with CAP_BPF and CAP_PERFMON alone"
is "$(status CapInh CapPrm CapEff CapAmb)" "0 0 0 0" "and has dropped them" || note "$(grep Cap "/proc/$pid/status")"
is "$(status NoNewPrivs Seccomp)" "1 2" "none to gain, system calls filtered"
is "$(awk '$5 == "/" { print substr($6, 1, 3) }' "/proc/$pid/mountinfo" | tail -n 1)" ro, "the file system is read-only for it"
there systemd-analyze security --threshold=30 --no-pager iosonar.service >/tmp/security 2>&1
ok $? "its exposure is below 3.0" || note "$(tail -n 5 /tmp/security)"

there systemctl stop iosonar.service
is "$(state iosonar.service ExecMainStatus) $(state iosonar.service Result)" "0 success" "it ends, exit 0" || note "$(tail -n 30 /tmp/systemd.log)"
is "$(state iosonar.socket ActiveState)" active "the socket still listens"
kill -KILL "$(one)"
wait $systemd 2>/dev/null
done_testing
