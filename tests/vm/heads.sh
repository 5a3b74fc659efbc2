# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: mpath
# kernels: 7.2
#
# heads: a bio of a multipath head is, on its way, one of a path: it is counted once, there, with all steps of its
# command, and its time in the head is that before it got a request.

head=$(disk io0)
[ -e "/sys/block/$head" ] && ls -d /sys/block/nvme*c*n* >/dev/null 2>&1 ||
	ls -d /sys/class/nvme-subsystem/*/nvme*c*n* >/dev/null 2>&1 || note "$(ls /sys/block)"
for view in bio request; do
	started layers /tmp/l --at $view -d "$head" -w /tmp/l.cap
	dd if="/dev/$head" of=/dev/null bs=4k count=101 iflag=direct 2>/dev/null
	measured
	ok $? "$view: exits 0"
	total='"type":"layers","span":"total"'
	is "$(grep "$total" /tmp/l | grep '"what":"total"' | sed 's/.*"op":"\([a-z]*\)".*"count":\([0-9]*\).*/\1 \2/')" "read 101" \
		"$view: every read, once" || note "$(grep "$total" /tmp/l)"
	leg=$(grep "$total" /tmp/l | sed 's/.*"dev":"\([a-z0-9]*\)".*/\1/' | sort -u)
	case $leg in nvme*c*n*) true ;; *) false ;; esac
	ok $? "$view: on a path: $leg"
	is "$(steps /tmp/l "$leg" read | sed 's/G2I I2S/G2S/')" "Q2G G2S S2D D2K K2N N2C Q2C " "$view: with all its steps"
	adds_up /tmp/l "$leg" read "$view: the steps are the whole"
	whole /tmp/l "$view: nothing is lost"
	iosonar layers --at $view -r /tmp/l.cap -o json --out /tmp/again 2>/dev/null
	is "$(step /tmp/again "$leg" read Q2C sum_ns)" "$(step /tmp/l "$leg" read Q2C sum_ns)" "$view: the capture says the same"
done
done_testing
