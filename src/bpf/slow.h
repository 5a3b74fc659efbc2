/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slow.h: is an I/O among the slowest so far? A threshold that rises as slower ones come, so that
 * of a hundred thousand I/Os a few hundred are sent.
 */
#ifndef IOSONAR_BPF_SLOW_H
#define IOSONAR_BPF_SLOW_H

#include "bpf/table.h"

/* A few buckets at a time: the first records raise it from 0 to the device's latency. */
inline_always void slow_rise(void)
{
	__u32 bucket = slow.bucket, nr = slow.nr;

#pragma unroll
	for (int i = 0; i < 24; i++) {
		__u32 sent = bucket < HIST_CELLS ? slow.sent[bucket] : 0;

		if (bucket >= HIST_CELLS || nr - sent < settings.slowest_nr)
			break;
		nr -= sent;
		bucket++;
	}
	slow.nr = nr;
	slow.bucket = bucket;
	fresh(slow.from_ns) = hist_slot_from(bucket);
}

inline_always bool may_be_slow(__u64 ns)
{
	return ns >= fresh(slow.from_ns);
}

/*
 * Is it among the slowest so far, as far as the buckets tell? One CPU counts at a time: a CPU that
 * finds another counting sends its record uncounted, and the threshold rises a little later.
 */
inline_always bool is_slow(__u64 ns)
{
	__u32 mine = bpf_get_smp_processor_id() + 1, bucket;

	if (!may_be_slow(ns))
		return false;
	bucket = hist_slot(ns);
	if (bucket >= HIST_CELLS)
		bucket = HIST_OVER;
	if (!cell_hold(&slow.claim, mine))
		return true;
	if (bucket >= fresh(slow.bucket)) {
		slow.sent[bucket]++;
		slow.nr++;
		slow_rise();
	}
	cell_release(&slow.claim, mine);
	return true;
}

#endif
