# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: files
# kernels: 5.10
# timeout: 120
#
# cache: accesses and misses of reads, writes and mappings are what mincore and the test itself know they are, on ext4, a
# block device and tmpfs, readahead off and on; each way under a task name of its own, all in one run.

dev=$(disk io0)
export DISK="$dev"
mkdir -p /tmp/fs /tmp/mem
load ext4 >/dev/null 2>&1
mke2fs -b 4096 "/dev/$dev" 8192 >/dev/null 2>&1 && mount -t ext4 "/dev/$dev" /tmp/fs && mount -t tmpfs none /tmp/mem
ok $? "file systems"
f=/tmp/fs/file
dd if=/dev/zero of=$f bs=64k count=32 2>/dev/null # 512 pages
dd if=/dev/zero of=/tmp/mem/file bs=64k count=32 2>/dev/null
truncate -s 1M /tmp/fs/sparse
sync

# readahead KIB: of files that are opened from now on.
readahead() { echo "$1" >"/sys/block/$dev/queue/read_ahead_kb"; }
do_it() { pages "$@" >>/tmp/truth || note "pages $* failed"; }
drop() { pages - drop "$@"; }

work() {
	for ra in 0 128; do
		readahead $ra
		drop $f
		do_it cold4k-$ra read $f 4096
		do_it warm4k-$ra read $f 4096
		drop $f
		do_it cold1m-$ra read $f 1048576
		do_it warm1m-$ra read $f 1048576
		drop $f 100 7
		drop $f 300 111
		do_it partly-$ra read $f 65536
		drop $f
		do_it random-$ra random $f 100
		drop $f
		do_it bytes-$ra read $f 512 0 64
		drop $f
		do_it map-$ra mmap $f 256
		do_it mapwarm-$ra mmap $f 256
		drop $f
		do_it maprand-$ra mmap-random $f 100
		drop $f
		do_it mapwrite-$ra mmap-write $f 64
		drop $f
		do_it rewrite-$ra write $f 65536 0 1048576
		do_it again-$ra write $f 65536 0 1048576
		drop $f
		do_it odd-$ra write $f 65536 100 262144
		drop $f
		do_it noatime-$ra read-noatime $f 65536
		drop $f
		do_it splice-$ra splice $f 262144
		drop $f
		do_it direct-$ra direct $f 65536
		drop /tmp/fs/sparse
		do_it sparse-$ra read /tmp/fs/sparse 4096
		do_it sparsewarm-$ra read /tmp/fs/sparse 65536
		drop "/dev/$dev"
		do_it raw-$ra read "/dev/$dev" 65536 10000 256
		do_it rawwarm-$ra read "/dev/$dev" 65536 10000 256
	done
	: >/tmp/fs/grown
	do_it append append /tmp/fs/grown 1000 100
	: >/tmp/fs/grown2
	do_it append64k append /tmp/fs/grown2 65536 8
	do_it tmpfs read /tmp/mem/file 65536
	do_it tmpfswrite write /tmp/mem/file 65536 0 262144
	: >/tmp/mem/grown
	do_it tmpfsgrow append /tmp/mem/grown 65536 8
	drop $f
	pages advised willneed $f 0 64
	do_it afteradvice read $f 65536 0 64
}

# of NAME OP KEY: from the final row.
of() { grep '"type":"cache","span":"total"' /tmp/out | grep "\"comm\":\"$1\"" | grep "\"op\":\"$2\"" | value "$3"; }

started cache /tmp/out --by comm,op -i 600s --top 1000
work
measured
ok $? "exits 0"
sed -n 's/^page cache by/# &/p' /tmp/out.err
note "$(grep '"type":"method"' /tmp/out)"
while read -r name op accesses misses; do
	is "$(of "$name" "$op" accesses)/$(of "$name" "$op" misses)" "$accesses/$misses" "$name: accesses and misses"
	is $(($(of "$name" "$op" hits) + $(of "$name" "$op" ra_hits) + misses)) "$accesses" "$name: hits and misses are the accesses"
done </tmp/truth
is "$(of advised readahead readahead)" 64 "fadvise: pages are read ahead"
is "$(of advised readahead misses)" 0 "and are no misses"
is "$(of afteradvice read ra_hits)" 64 "their first uses are ra_hits"
is "$(of cold4k-0 read ra_hits)/$(of warm4k-0 read hits)" 0/512 "readahead off: no ra_hits, then hits"
is "$(of cold4k-128 read ra_hits)/$(of warm4k-128 read hits)" 511/512 "readahead on: ra_hits, then hits"
is "$(of again-0 write dirtied)" 0 "pages that are dirty do not become dirty"
is "$(of rewrite-0 write dirtied)" 256 "pages that are rewritten do"
is "$(of append64k write allocated)" 128 "appended pages are allocated"
whole /tmp/out "the ledger is whole"
note "$(grep '"type":"ledger"' /tmp/out)"
note "$(cat /tmp/out.err)"
umount /tmp/fs /tmp/mem
done_testing
