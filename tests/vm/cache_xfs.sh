# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: files
# kernels: none
# timeout: 90
#
# cache_xfs: on xfs, whose reads come in large folios since 6.1 and whose writes go another way than those of ext4,
# accesses and misses are what mincore and the test itself know they are.

command -v mkfs.xfs >/dev/null || {
	echo "1..0 # SKIP there is no mkfs.xfs: install xfsprogs"
	exit
}
dev=$(disk io0)
export DISK="$dev"
mkdir -p /tmp/xfs
load xfs >/dev/null 2>&1
# Smaller than mkfs.xfs likes: it lets those pass who test xfs.
TEST_DIR=x TEST_DEV=x QA_CHECK_FS=x mkfs.xfs -f -q "/dev/$dev" >/tmp/xfs-made 2>&1 && mount -t xfs "/dev/$dev" /tmp/xfs
ok $? "a file system" || note "$(cat /tmp/xfs-made)"
f=/tmp/xfs/file
dd if=/dev/zero of=$f bs=64k count=32 2>/dev/null # 512 pages
truncate -s 1M /tmp/xfs/sparse
sync
: >/tmp/xfs-truth
do_it() { pages "$@" >>/tmp/xfs-truth || note "pages $* failed"; }
cold() {
	pages - drop $f
	do_it "$@"
}

work() {
	for ra in 0 128; do
		echo $ra >"/sys/block/$dev/queue/read_ahead_kb"
		cold x-cold4k-$ra read $f 4096
		do_it x-warm4k-$ra read $f 4096
		cold x-cold1m-$ra read $f 1048576
		do_it x-warm1m-$ra read $f 1048576
		cold x-random-$ra random $f 100
		cold x-map-$ra mmap $f 256
		cold x-maprand-$ra mmap-random $f 100
		cold x-mapwr-$ra mmap-write $f 64
		cold x-rewrite-$ra write $f 65536 0 1048576
		do_it x-again-$ra write $f 65536 0 1048576
		cold x-odd-$ra write $f 65536 100 262144
		cold x-splice-$ra splice $f 262144
		cold x-direct-$ra direct $f 65536
		do_it x-sparse-$ra read /tmp/xfs/sparse 4096
		sync
	done
	: >/tmp/xfs/grown
	do_it x-append append /tmp/xfs/grown 1000 100
	: >/tmp/xfs/grown64
	do_it x-append64 append /tmp/xfs/grown64 65536 8
}

# of NAME OP KEY: from the final row.
of() { grep '"type":"cache","span":"total"' /tmp/xfs.json | grep "\"comm\":\"$1\"" | grep "\"op\":\"$2\"" | value "$3"; }

started cache /tmp/xfs.json --by comm,op -i 600s --top 1000
work
measured
ok $? "exits 0"
while read -r name op accesses misses; do
	is "$(of "$name" "$op" accesses)/$(of "$name" "$op" misses)" "$accesses/$misses" "$name: accesses and misses"
done </tmp/xfs-truth
is "$(of x-rewrite-0 write dirtied)" 256 "pages that are rewritten become dirty"
whole /tmp/xfs.json "the ledger is whole"
note "$(grep '"type":"method"' /tmp/xfs.json)"
umount /tmp/xfs
done_testing
