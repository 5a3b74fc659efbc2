# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash disable=SC2154 # lib.sh sets measure_pid
# shape: nvme
# kernels: 6.12
# timeout: 180
#
# layers: every I/O passes each step once, steps add up to the whole, at each layer as many and as large as fio and the
# kernel's own statistics say; with and without a scheduler, merged, split, flushed, over dm.

dev=$(disk io0)
fio_read() { # ENGINE
	fio --name=t --filename="/dev/$dev" --rw=randread --bs=4k --direct=1 --ioengine="$1" --iodepth=16 --numjobs=2 \
		--number_ios=503 --norandommap --output-format=json --output=/tmp/f.json >&2
}

for scheduler in none mq-deadline; do
	set_scheduler "$dev" "$scheduler"
	case $scheduler in
	none) path="Q2G G2S S2D D2K K2N N2C Q2C " engine=libaio ;;
	*) path="Q2G G2I I2S S2D D2K K2N N2C Q2C " engine=io_uring ;;
	esac
	started layers /tmp/l -d "$dev"
	fio_read $engine
	measured
	ok $? "$scheduler, $engine: exits 0"
	is "$(steps /tmp/l "$dev" read)" "$path" "$scheduler: the steps of the path"
	for s in $path; do
		is "$(step /tmp/l "$dev" read "$s" count)" "$(fio_ios /tmp/f.json read)" "$scheduler: $s as often as fio read"
	done
	adds_up /tmp/l "$dev" read "$scheduler: the steps are the whole"
	whole /tmp/l "$scheduler: nothing is lost"
done

# stands_still BYTES COUNT: so many reads on one CPU while nobody reads their times, of which the buffer holds half.
stands_still() {
	started layers /tmp/l -d "$dev" --buffer "$1" --allow-loss
	kill -STOP "$measure_pid"
	stands_cells=$(bpftool map | grep -c ' name io_ladders ')
	fio --name=t --filename="/dev/$dev" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=16 --cpus_allowed=0 \
		--number_ios="$2" --norandommap --output-format=json --output=/tmp/f.json >&2
	kill -CONT "$measure_pid"
	sleep 0.5
	measured
	is $? 0 "$1 for $2 commands: exits 0"
	stands_lost=$(sed -n 's/.*lost \([0-9]*\): ring full.*/\1/p' /tmp/l.err)
	is $(($(step /tmp/l "$dev" read Q2C count) + ${stands_lost:-0})) "$(fio_ios /tmp/f.json read)" "$1: shown and lost are all there were"
	grep -q "issued $(fio_ios /tmp/f.json read) = completed $(fio_ios /tmp/f.json read) " /tmp/l.err
	ok $? "$1: the counts are whole" || note "$(cat /tmp/l.err)"
}

set_scheduler "$dev" none
stands_still 256Ki 1503
if [ "$stands_cells" -gt 0 ]; then
	whole /tmp/l "what 1,024 cells have no room for is in the kernel's ring"
else # an old kernel's programs have no cells: everything is in the kernel's ring, 240 bytes for each
	is "${stands_lost:-0}" $((1503 - 262144 / 240)) "what the kernel's ring has no room for is lost and counted"
fi
stands_still 32Ki 1503
[ "${stands_lost:-0}" -gt 0 ]
ok $? "what neither has room for is lost and counted: ${stands_lost:-none}"

# counted LAYER OP NAME COMMAND...: bytes and counts of reads or writes at this layer against the kernel's statistics.
counted() {
	counted_at=$1
	counted_op=$2
	counted_name=$3
	shift 3
	counted_ios=$(stat_of "$dev" "${counted_op}s")
	counted_sectors=$(stat_of "$dev" "${counted_op}_sectors")
	counted_merges=$(stat_of "$dev" "${counted_op}_merges")
	started layers /tmp/l -d "$dev" --at "$counted_at"
	"$@"
	measured
	ok $? "$counted_name at $counted_at: exits 0"
	counted_ios=$(($(stat_of "$dev" "${counted_op}s") - counted_ios))
	counted_sectors=$(($(stat_of "$dev" "${counted_op}_sectors") - counted_sectors))
	counted_merges=$(($(stat_of "$dev" "${counted_op}_merges") - counted_merges))
	[ "$counted_at" = command ] && counted_total=S2N || counted_total=Q2C
	is "$(step /tmp/l "$dev" "$counted_op" "$counted_total" bytes)" $((512 * counted_sectors)) "$counted_name at $counted_at: bytes as in stat"
	adds_up /tmp/l "$dev" "$counted_op" "$counted_name at $counted_at: the steps are the whole"
	whole /tmp/l "$counted_name at $counted_at: nothing is lost"
}

# Sixteen writes in a row that a plug makes one request of.
merged() {
	fio --name=m --filename="/dev/$dev" --rw=write --bs=4k --direct=1 --ioengine=libaio --iodepth=16 --iodepth_batch=16 \
		--iodepth_batch_complete_min=16 --number_ios=64 --output-format=json --output=/tmp/f.json >&2
}
for at in bio request command; do
	counted $at write "merged writes" merged
	case $at in
	bio) is "$(step /tmp/l "$dev" write Q2C count)" 64 "every bio, whatever it was merged with" ;;
	*) is "$(step /tmp/l "$dev" write "$counted_total" count)" "$counted_ios" "every request" ;;
	esac
done
[ "$counted_merges" -gt 0 ]
ok $? "some were merged: $counted_merges"

# A write that is larger than the drive takes at once.
largest=$(cat "/sys/block/$dev/queue/max_hw_sectors_kb")
size=$((largest * 3))
split() { dd if=/dev/zero of="/dev/$dev" bs=${size}k count=5 oflag=direct 2>/dev/null; }
bios=$((size <= 1024 ? 5 : 5 * ((size + 1023) / 1024)))
for at in bio request; do
	counted $at write "split writes" split
	[ $at = request ] && is "$(step /tmp/l "$dev" write Q2C count)" "$counted_ios" "every part is a request"
	[ $at = bio ] && between "$(step /tmp/l "$dev" write Q2C count)" 5 $bios "every bio, however it was split"
done

# 1 MiB is one bio on every kernel, and several commands.
large() { dd if="/dev/$dev" of=/dev/null bs=1M count=7 iflag=direct 2>/dev/null; }
parts=$(((1023 + largest) / largest))
[ $parts -gt 1 ]
ok $? "1 MiB is too large for the drive: $parts parts"
for at in bio request command; do
	counted $at read "1 MiB reads" large
	[ $at = bio ] && ios=7 || ios=$counted_ios
	is "$(step /tmp/l "$dev" read "$counted_total" count)" "$ios" "1 MiB reads at $at: each once"
	[ "$counted_ios" -ge $((7 * parts)) ] # more where the memory of the reader is in many pieces
	ok $? "1 MiB reads: the kernel counts requests, at least $((7 * parts))" || note "it counts $counted_ios"
done

# A log write of xfs waits for a flush, and that is what its step is called.
mkdir -p /tmp/xfs
if command -v mkfs.xfs >/dev/null && load xfs >/dev/null 2>&1 &&
	TEST_DIR=x TEST_DEV=x QA_CHECK_FS=x mkfs.xfs -f -q "/dev/$dev" >/tmp/xfs-made 2>&1 && mount -t xfs "/dev/$dev" /tmp/xfs; then
	started layers /tmp/l -d "$dev" --op write
	for i in 1 2 3 4 5; do dd if=/dev/zero of=/tmp/xfs/$i bs=4k count=1 conv=fsync 2>/dev/null; done
	measured
	ok $? "log writes: exits 0"
	[ "$(step /tmp/l "$dev" write G2F count)" -ge 5 ]
	ok $? "log writes wait for a flush: $(step /tmp/l "$dev" write G2F count)" || note "$(steps /tmp/l "$dev" write)"
	is "$(grep '"span":"total"' /tmp/l | grep '"step":"G2F"' | grep -c '"what":"waits for a flush"')" 1 "and it says so"
	adds_up /tmp/l "$dev" write "log writes: the steps are the whole"
	whole /tmp/l "log writes: nothing is lost"
	umount /tmp/xfs
else
	skip "log writes wait for a flush" "no mkfs.xfs: install xfsprogs"
fi

# fsync: the bio that asks for a flush waits for a request that has none.
flushes() { dd if=/dev/zero of="/dev/$dev" bs=4k count=1 conv=fsync 2>/dev/null; }
counted bio write "flushed write" flushes
[ "$(cat "/sys/block/$dev/queue/write_cache")" = "write through" ] ||
	is "$(grep '"span":"total"' /tmp/l | grep '"op":"\(flush\|write\)"' | grep '"what":"total"' | grep -c .)" 2 "a bio that only flushes is one, too"

# A commit of a journal flushes before itself: its write ends twice. For the kernel it is still in flight at its second end, if the
# driver ends requests by itself, as null_blk's timers do.
if null_disk nullb9 irqmode=2 completion_nsec=100000 memory_backed=1 cache_size=16 && load ext4 >/dev/null 2>&1 &&
	mkfs.ext4 -q /dev/nullb9 >&2 && mkdir -p /tmp/commits && mount -t ext4 /dev/nullb9 /tmp/commits; then
	started layers /tmp/l -d nullb9
	for i in $(seq 23); do dd if=/dev/zero of="/tmp/commits/$i" bs=4k count=1 conv=fsync 2>/dev/null; done
	umount /tmp/commits
	measured
	ok $? "commits: exits 0" || note "$(cat /tmp/l.err)"
	whole /tmp/l "commits: the second end of a write is no loss"
	null_remove nullb9
else
	skip "commits" "this kernel has no null_blk or no ext4, or there is no mkfs.ext4"
fi

# dm: its bios are its own, the drive has others.
load dm_mod >/dev/null 2>&1
if dmsetup create layers --table "0 $(($(cat "/sys/block/$dev/size"))) linear /dev/$dev 0" >&2; then
	dm=$(cd /sys/block && echo dm-*)
	started layers /tmp/l --at bio -d "$dm" -d "$dev"
	dd if="/dev/$dm" of=/dev/null bs=4k count=21 iflag=direct 2>/dev/null
	measured
	ok $? "dm: exits 0"
	is "$(steps /tmp/l "$dm" read)" "Q2V V2E E2C Q2C " "dm: its own time before and after, and what lies below"
	is "$(step /tmp/l "$dm" read Q2C count)" 21 "dm: every bio"
	is "$(step /tmp/l "$dev" read Q2C count)" 21 "and those of the drive below"
	dmsetup remove layers
else
	skip "dm" "this kernel's modules have no device mapper"
fi
done_testing
