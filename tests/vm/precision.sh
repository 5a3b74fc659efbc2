# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=dash
# shape: none icount
# kernels: 7.2
#
# precision: a device that takes exactly 100 us, 1 ms or 5 ms is measured so. Under icount time is instructions, so the
# figures repeat however busy the host is. Max and mean within 5 us, percentiles within 5 us or 1.6 %. The tick is an
# interrupt, too: where it met a read's end in both tries, max may be longer by as much as it takes, 50 us.

for us in 100 1000 5000; do
	null_disk nullb0 irqmode=2 completion_nsec=${us}000 >&2 || ok 1 "null_blk makes a disk"
	set_scheduler nullb0 none
	# An interrupt of another's at the moment of the end makes that read longer, and is rightly measured: again, then.
	for try in first second; do
		[ $try = first ] && tick_ns=5000 || tick_ns=50000
		measure /tmp/exact -d nullb0
		/usr/bin/dd if=/dev/nullb0 of=/dev/null bs=4k count=307 iflag=direct 2>/dev/null
		measured
		status=$?
		[ $try = first ] || break
		[ "$(row /tmp/exact nullb0 read max_ns)" -gt $((us * 1000 + 5000)) ] || break
		again precision "$us us: max $(row /tmp/exact nullb0 read max_ns) ns"
	done
	ok "$status" "$us us: exits 0"
	is "$(row /tmp/exact nullb0 read count)" 307 "$us us: every read is counted"
	between "$(row /tmp/exact nullb0 read max_ns)" ${us}000 $((us * 1000 + tick_ns)) "$us us: max within $((tick_ns / 1000)) us"
	between "$(row /tmp/exact nullb0 read mean_ns)" ${us}000 $((us * 1000 + 5000)) "$us us: mean within 5 us"
	slack=$((us * 16 > 5000 ? us * 16 : 5000))
	for p in p50 p90 p99 p99.9 p99.99; do
		between "$(row /tmp/exact nullb0 read ${p}_ns)" $((us * 1000 - slack)) $((us * 1000 + slack)) \
			"$us us: $p within 5 us or 1.6 %"
	done
	null_remove nullb0
done

# The zoom's buckets are exact: with min 90 and shift 0 a read of 100 to 106 us falls into [98, 106).
null_disk nullb0 irqmode=2 completion_nsec=100000 >&2
set_scheduler nullb0 none
zoomed() { grep '"type":"bucket"' /tmp/zoom | grep '"from_ns":98000,"to_ns":106000' | value count; }
for try in first second; do
	measure /tmp/zoom -d nullb0 --lat_min_us 90 --lat_shift 0
	/usr/bin/dd if=/dev/nullb0 of=/dev/null bs=4k count=101 iflag=direct 2>/dev/null
	measured
	[ $try = first ] || break
	[ "$(zoomed)" != 101 ] || break
	again precision "zoom: $(zoomed) of 101 in the bucket"
done
is "$(zoomed)" 101 "the zoom's bucket holds them all"
is "$(grep -c '"type":"bucket"' /tmp/zoom)" 1 "and no other bucket any"
measure /tmp/under -d nullb0 --lat_min_us 2000
/usr/bin/dd if=/dev/nullb0 of=/dev/null bs=4k count=11 iflag=direct 2>/dev/null
measured
is "$(grep '"type":"bucket"' /tmp/under | grep '"from_ns":0,"to_ns":2000000' | value count)" 11 "what is below the zoom has its own row"
is "$(row /tmp/under nullb0 read count)" 11 "and is counted"
null_remove nullb0
done_testing
