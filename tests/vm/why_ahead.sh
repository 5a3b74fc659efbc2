# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: files
# kernels: 6.12
# timeout: 120
#
# why_ahead: of many files only the first page is read: what was read ahead of the others is wasted, which is found first or second,
# and nothing is read again.

dev=$(disk io0)
mkdir -p /tmp/aheadfs
load ext4 >/dev/null 2>&1
mke2fs -b 4096 "/dev/$dev" 7000 >/dev/null 2>&1 && mount -t ext4 "/dev/$dev" /tmp/aheadfs
ok $? "a file system"
for i in $(seq 150); do
	head -c 32768 /dev/zero >/tmp/aheadfs/"$i"
done
umount /tmp/aheadfs
mount -t ext4 "/dev/$dev" /tmp/aheadfs
ok $? "nothing of its files is in the page cache"
echo 512 >"/sys/block/$dev/queue/read_ahead_kb"

# rank NAME CAUSE: of a finding in /tmp/NAME; 0: it is not found.
rank() { grep "\"finding\":\"$2\"" "/tmp/$1" | sed 's/.*"nr":\([0-9]*\).*/\1/' | grep . || echo 0; }

# shellcheck disable=SC2016 # of the inner shell
iosonar record --cache --events -w /tmp/ahead.cache -- iosonar record --stages -d "$dev" -w /tmp/ahead.cap -- \
	sh -c 'for i in $(seq 150); do head -c 4096 /tmp/aheadfs/$i >/dev/null; done; sync; echo 3 >/proc/sys/vm/drop_caches' >/tmp/said 2>&1
ok $? "recorded" || note "$(cat /tmp/said)"
iosonar why -r /tmp/ahead.cap -r /tmp/ahead.cache -o json >/tmp/ahead 2>/tmp/said
ok $? "judged" || note "$(cat /tmp/said)"
note "$(iosonar why -r /tmp/ahead.cap -r /tmp/ahead.cache 2>&1)"
between "$(rank ahead readahead)" 1 2 "wasted read-ahead is first or second" || note "$(cat /tmp/ahead)"
is "$(rank ahead evicted)" 0 "and nothing is read again"
note "$(iosonar cache -r /tmp/ahead.cache -o json 2>&1 | tail -3 | cut -c1-600)"
umount /tmp/aheadfs
done_testing
