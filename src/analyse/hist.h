/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hist.h: a latency distribution and its statistics. Counters only grow, so an interval is the
 * difference of two snapshots and a device is the sum of its CPUs, both exact.
 */
#ifndef IOSONAR_ANALYSE_HIST_H
#define IOSONAR_ANALYSE_HIST_H

#include <stdint.h>
#include "wire/buckets.h"

struct hist {
	uint64_t slots[HIST_CELLS];
	uint64_t count; /* the sum of slots; as the programs count, with the untimed ones */
	uint64_t sum_ns, max_ns;
	uint64_t bytes;
	/* If only some commands were timed: see analyse/estimate.h. */
	uint64_t untimed; /* of count */
	uint64_t one_of;  /* now one of this many is timed; 0: all. Of several: the most */
	uint64_t doubt;	  /* how much values that stand for several add to the variance of a rank */
};

/* One value. */
static inline void hist__add(struct hist *h, uint64_t ns, uint64_t bytes)
{
	h->slots[hist_slot(ns)]++;
	h->count++;
	h->sum_ns += ns;
	h->bytes += bytes;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

/* Returns which octaves of slots `other` has, one bit each: HIST_OCTAVES bits. */
enum { HIST_OCTAVES = HIST_CELLS / HIST_SUB + 1 };
uint64_t hist__merge(struct hist *into, const struct hist *other);
/* now - before, cell by cell; max_ns is now's: the caller keeps the maximum of an interval. */
void hist__difference(struct hist *out, const struct hist *now, const struct hist *before);

/* Nearest rank, from 1: the smallest with per_10000 / 10000 of the values at or below it. */
uint64_t hist__rank(uint64_t count, uint32_t per_10000);
/*
 * The value below which per_mille_10 / 10000 of the values lie (9999 = p99.99): the middle of the
 * bucket that holds the value of that rank, never above max_ns. 0 for an empty histogram.
 */
uint64_t hist__percentile(const struct hist *h, uint32_t per_10000);
/* Where that percentile lies with a chance of 95 %, as far as chance is in the timed commands.
 * to_ns 0: too few were timed to say. */
struct hist_interval {
	uint64_t from_ns, to_ns;
};
struct hist_interval hist__percentile_interval(const struct hist *h, uint32_t per_10000);
uint64_t hist__mean_ns(const struct hist *h);
/* Running programs tear snapshots: raises a max_ns that is below the highest bucket in use. */
void hist__mend_max(struct hist *h);

/* Ranges for display: joins buckets so that at most `most` rows remain. */
struct hist_range {
	uint64_t from_ns, to_ns; /* to_ns 0: open-ended */
	uint64_t count;
	double cumulative_percent;
};
/* From the lowest used bucket to the highest, gaps included; returns the number of ranges. */
int hist__ranges(const struct hist *h, struct hist_range *ranges, int most);
/* The zoom's: every bucket from the first used to the last, underflow first, overflow last. */
int hist__zoom_ranges(const uint64_t cells[ZOOM_CELLS], uint64_t min_us, uint32_t shift,
		      struct hist_range ranges[ZOOM_CELLS]);

#endif
