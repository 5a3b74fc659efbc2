/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scale.c: buckets of any value, from the lowest to the highest. A bucket has a position on a line:
 * its number, negative for values below zero; neighbours on the line are neighbours in value.
 */
#include "analyse/scale.h"

#include "analyse/hist.h"
#include "wire/buckets.h"

static int64_t scale_position(const struct scale *scale, uint32_t bucket)
{
	if (scale->kind == SCALE_LINEAR || !(bucket & SCALE_NEGATIVE))
		return bucket;
	return -(int64_t)(bucket & ~SCALE_NEGATIVE);
}

/* The smallest magnitude of a fine or log2 bucket; saturates past the largest number. */
static uint64_t scale_magnitude(const struct scale *scale, uint64_t number)
{
	if (scale->kind == SCALE_LOG2)
		return !number ? 0 : number > 64 ? UINT64_MAX : 1ULL << (number - 1);
	return number < HIST_WIDE_SLOTS ? hist_slot_from((uint32_t)number) : UINT64_MAX;
}

static int64_t scale_clamp(uint64_t magnitude)
{
	return magnitude > INT64_MAX ? INT64_MAX : (int64_t)magnitude;
}

/* Steps: bucket 0 is below the first step, the one after the last is above. */
static struct scale_span scale_span_linear(const struct scale *scale, int64_t position)
{
	int64_t steps = (scale->to - scale->from + scale->step - 1) / scale->step;
	struct scale_span span = { .no_from = position <= 0, .no_last = position > steps };

	span.from = span.no_from   ? INT64_MIN
		    : span.no_last ? scale->to
				   : scale->from + (position - 1) * scale->step;
	span.last = span.no_last ? INT64_MAX : scale->from + position * scale->step - 1;
	if (!span.no_last && span.last >= scale->to)
		span.last = scale->to - 1;
	return span;
}

static struct scale_span scale_span_at(const struct scale *scale, int64_t position)
{
	uint64_t number = (uint64_t)(position < 0 ? -position : position);
	int64_t near, far;

	if (scale->kind == SCALE_LINEAR)
		return scale_span_linear(scale, position);
	near = scale_clamp(scale_magnitude(scale, number));
	far = scale_clamp(scale_magnitude(scale, number + 1) - 1);
	return position < 0 ? (struct scale_span){ -far, -near, false, false }
			    : (struct scale_span){ near, far, false, false };
}

struct scale_span scale__span(const struct scale *scale, uint32_t bucket)
{
	return scale_span_at(scale, scale_position(scale, bucket));
}

/* ---- percentiles ---- */

/* Buckets are sorted by number; negative ones come last, in reverse. */
static size_t scale_negatives(const struct scale *scale, const struct tally_group *group)
{
	size_t nr = 0;

	if (scale->kind == SCALE_LINEAR)
		return 0;
	while (nr < group->nr && group->buckets[group->nr - 1 - nr].bucket & SCALE_NEGATIVE)
		nr++;
	return nr;
}

/* From the lowest value to the highest. */
static const struct tally_bucket *scale_nth(const struct tally_group *group, size_t negatives,
					    size_t i)
{
	return &group->buckets[i < negatives ? group->nr - 1 - i : i - negatives];
}

static int64_t scale_middle(struct scale_span span)
{
	if (span.no_from || span.no_last)
		return span.no_from ? span.last : span.from;
	return (int64_t)((uint64_t)span.from + ((uint64_t)span.last - (uint64_t)span.from) / 2);
}

int64_t scale__percentile(const struct scale *scale, const struct tally_group *group,
			  uint32_t per_10000)
{
	uint64_t rank = hist__rank(group->sum.count, per_10000), seen = 0;
	size_t negatives = scale_negatives(scale, group);
	int64_t middle;

	for (size_t i = 0; i < group->nr; i++) {
		const struct tally_bucket *b = scale_nth(group, negatives, i);

		seen += b->sum.count;
		if (seen < rank)
			continue;
		middle = scale_middle(scale__span(scale, b->bucket));
		return middle < group->sum.max ? middle : group->sum.max;
	}
	return 0;
}

/* ---- ranges ---- */

static int64_t scale_floor(int64_t position, int64_t size)
{
	return position >= 0 ? position / size : -((-position + size - 1) / size);
}

/* 1, 2, 4 ... 32, then whole octaves; of other scales 1, 2, 3 ... */
static int64_t scale_row_size(const struct scale *scale, int64_t lowest, int64_t highest, int most)
{
	int64_t size = 1;

	while (scale_floor(highest, size) - scale_floor(lowest, size) >= most)
		size = scale->kind != SCALE_FINE ? size + 1
		       : size < HIST_SUB	 ? size * 2
						 : size + HIST_SUB;
	return size;
}

static struct scale_span scale_join(const struct scale *scale, int64_t first, int64_t size)
{
	struct scale_span from = scale_span_at(scale, first);
	struct scale_span last = scale_span_at(scale, first + size - 1);

	return (struct scale_span){ from.from, last.last, from.no_from, last.no_last };
}

static void scale_fill(const struct scale *scale, const struct tally_group *group, int64_t first,
		       int64_t size, struct scale_range *ranges)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < group->nr; i++) {
		int64_t at = scale_position(scale, group->buckets[i].bucket);

		ranges[scale_floor(at, size) - first].count += group->buckets[i].sum.count;
	}
	for (size_t i = 0; seen < group->sum.count; i++) {
		seen += ranges[i].count;
		ranges[i].cumulative_percent = 100 * ((double)seen / (double)group->sum.count);
	}
}

int scale__ranges(const struct scale *scale, const struct tally_group *group,
		  struct scale_range *ranges, int most)
{
	size_t negatives = scale_negatives(scale, group);
	int64_t lowest, highest, size, first;
	int nr;

	if (!group->nr || !group->sum.count || most <= 0)
		return 0;
	lowest = scale_position(scale, scale_nth(group, negatives, 0)->bucket);
	highest = scale_position(scale, scale_nth(group, negatives, group->nr - 1)->bucket);
	size = scale_row_size(scale, lowest, highest, most);
	first = scale_floor(lowest, size);
	nr = (int)(scale_floor(highest, size) - first) + 1;
	for (int i = 0; i < nr; i++)
		ranges[i] = (struct scale_range){
			.span = scale_join(scale, (first + i) * size, size),
		};
	scale_fill(scale, group, first, size, ranges);
	return nr;
}
