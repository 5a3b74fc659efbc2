/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hist.c: how are the latencies distributed? Sums, differences and percentiles of log-linear
 * histograms; each is one pass over about 1,000 counters. Values are accurate to 1.6 %; below 64 ns
 * they are exact, and past HIST_TOP_BIT only max_ns is known.
 */
#include "analyse/hist.h"

#include <math.h>
#include <stdbool.h>

/* Most octaves are empty, and thousands of histograms do not fit a cache: these are not touched. */
static bool hist_merge_octave(uint64_t *into, const uint64_t *other)
{
	uint64_t any = 0;

	for (int i = 0; i < HIST_SUB; i++)
		any |= other[i];
	for (int i = 0; any && i < HIST_SUB; i++)
		into[i] += other[i];
	return any;
}

uint64_t hist__merge(struct hist *into, const struct hist *other)
{
	uint64_t octaves = (uint64_t) !!other->slots[HIST_SLOTS] << (HIST_OCTAVES - 1);

	for (int i = 0; i < HIST_SLOTS / HIST_SUB; i++)
		octaves |= (uint64_t)hist_merge_octave(&into->slots[i * HIST_SUB],
						       &other->slots[i * HIST_SUB])
			   << i;
	into->slots[HIST_SLOTS] += other->slots[HIST_SLOTS];
	into->count += other->count;
	into->sum_ns += other->sum_ns;
	into->bytes += other->bytes;
	into->untimed += other->untimed;
	into->doubt += other->doubt;
	if (other->max_ns > into->max_ns)
		into->max_ns = other->max_ns;
	if (other->one_of > into->one_of)
		into->one_of = other->one_of;
	return octaves;
}

/* out may alias now or before. */
void hist__difference(struct hist *out, const struct hist *now, const struct hist *before)
{
	for (int i = 0; i < HIST_CELLS; i++)
		out->slots[i] = now->slots[i] - before->slots[i];
	out->count = now->count - before->count;
	out->sum_ns = now->sum_ns - before->sum_ns;
	out->bytes = now->bytes - before->bytes;
	out->untimed = now->untimed - before->untimed;
	out->doubt = now->doubt - before->doubt;
	out->max_ns = now->max_ns;
	out->one_of = now->one_of;
}

uint64_t hist__rank(uint64_t count, uint32_t per_10000)
{
	uint64_t rank = count / 10000 * per_10000 + (count % 10000 * per_10000 + 9999) / 10000;

	return rank ? rank : 1;
}

static int hist_slot_of_rank(const struct hist *h, uint64_t rank)
{
	uint64_t seen = 0;
	int i;

	for (i = 0; i < HIST_OVER; i++) {
		seen += h->slots[i];
		if (seen >= rank)
			break;
	}
	return i;
}

static uint64_t hist_middle(const struct hist *h, int slot)
{
	uint64_t from = hist_slot_from((uint32_t)slot);
	uint64_t last = slot == HIST_OVER ? h->max_ns : hist_slot_from((uint32_t)slot + 1) - 1;

	return last > from ? from + (last - from) / 2 : from;
}

uint64_t hist__percentile(const struct hist *h, uint32_t per_10000)
{
	uint64_t rank = hist__rank(h->count, per_10000), ns;
	int slot;

	if (!h->count)
		return 0;
	slot = hist_slot_of_rank(h, rank);
	/* The last bucket has no meaningful middle, but its highest value is known. */
	if (slot == HIST_OVER && rank == h->count)
		return h->max_ns;
	ns = hist_middle(h, slot);
	return ns < h->max_ns ? ns : h->max_ns;
}

/*
 * The rank of a percentile among the timed is binomial; a value that stands for w commands adds
 * w - 1 to `doubt`. One value more on either side, as ranks are whole values.
 */
struct hist_interval hist__percentile_interval(const struct hist *h, uint32_t per_10000)
{
	const double p = per_10000 / 10000.0, doubt = (double)h->doubt, count = (double)h->count;
	double rank = (double)hist__rank(h->count, per_10000), reach;
	struct hist_interval interval = { 0 };
	int slot;

	if (!h->count)
		return interval;
	reach = doubt ? 1.96 * sqrt(doubt * p * (1 - p)) + 1 + doubt / count : 0;
	slot = hist_slot_of_rank(h, rank > reach + 1 ? (uint64_t)(rank - reach) : 1);
	interval.from_ns = hist_slot_from((uint32_t)slot);
	if (rank + reach > count)
		return interval;
	slot = hist_slot_of_rank(h, (uint64_t)ceil(rank + reach));
	interval.to_ns = slot == HIST_OVER ? 0 : hist_slot_from((uint32_t)slot + 1);
	return interval;
}

uint64_t hist__mean_ns(const struct hist *h)
{
	return h->count ? h->sum_ns / h->count : 0;
}

static int hist_highest(const struct hist *h)
{
	int i = HIST_CELLS - 1;

	while (i >= 0 && !h->slots[i])
		i--;
	return i;
}

void hist__mend_max(struct hist *h)
{
	int highest = hist_highest(h);
	uint64_t from;

	if (highest < 0)
		return;
	from = hist_slot_from((uint32_t)highest);
	if (h->max_ns < from)
		h->max_ns = from;
}

static uint64_t hist_row_count(const struct hist *h, int from, int to)
{
	uint64_t count = 0;

	for (int i = from; i < to && i < HIST_CELLS; i++)
		count += h->slots[i];
	return count;
}

static void hist_add_percents(struct hist_range *ranges, int nr)
{
	uint64_t total = 0, seen = 0;

	for (int i = 0; i < nr; i++)
		total += ranges[i].count;
	for (int i = 0; i < nr; i++) {
		seen += ranges[i].count;
		/* Divide first: then the full count is exactly 100. */
		ranges[i].cumulative_percent = 100 * ((double)seen / (double)total);
	}
}

int hist__ranges(const struct hist *h, struct hist_range *ranges, int most)
{
	int lowest = 0, highest = hist_highest(h), size = 1, nr = 0;

	if (highest < 0 || most <= 0)
		return 0;
	while (lowest < HIST_CELLS && !h->slots[lowest])
		lowest++;
	/* Buckets per row: 1, 2, ... 32 (an octave), then whole octaves, until the rows fit. */
	while (highest / size - lowest / size >= most)
		size = size < HIST_SUB ? size * 2 : size + HIST_SUB;
	for (int from = lowest - lowest % size; from <= highest; from += size)
		ranges[nr++] = (struct hist_range){
			.from_ns = hist_slot_from((uint32_t)from),
			.to_ns = from + size > HIST_OVER ? 0
							 : hist_slot_from((uint32_t)(from + size)),
			.count = hist_row_count(h, from, from + size),
		};
	hist_add_percents(ranges, nr);
	return nr;
}

static uint64_t zoom_slot_from_ns(uint32_t slot, uint64_t min_us, uint32_t shift)
{
	uint64_t us = zoom_slot_from_us(slot, min_us, shift);

	return us <= UINT64_MAX / 1000 ? us * 1000 : UINT64_MAX;
}

/* Cells from low to high: underflow, the slots, overflow. */
static uint32_t zoom_cell(int position)
{
	if (!position)
		return ZOOM_UNDER;
	return position <= ZOOM_SLOTS ? (uint32_t)position - 1 : ZOOM_OVER;
}

int hist__zoom_ranges(const uint64_t cells[ZOOM_CELLS], uint64_t min_us, uint32_t shift,
		      struct hist_range ranges[ZOOM_CELLS])
{
	int first = 0, last = ZOOM_CELLS - 1, nr = 0, i;

	while (first < ZOOM_CELLS && !cells[zoom_cell(first)])
		first++;
	while (last >= first && !cells[zoom_cell(last)])
		last--;
	for (i = first; i <= last; i++)
		ranges[nr++] = (struct hist_range){
			.from_ns = zoom_slot_from_ns(zoom_cell(i), min_us, shift),
			.to_ns = zoom_cell(i) == ZOOM_OVER
					 ? 0
					 : zoom_slot_from_ns(zoom_cell(i + 1), min_us, shift),
			.count = cells[zoom_cell(i)],
		};
	hist_add_percents(ranges, nr);
	return nr;
}
