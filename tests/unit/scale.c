/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scale.c: do buckets hold the values that fall into them, and are percentiles and ranges those of
 * the values? The second instrument is the sorted list of random values, many of them negative.
 */
#include <stdlib.h>
#include "analyse/scale.h"
#include "tap.h"
#include "wire/buckets.h"

enum { NR_VALUES = 20011, NR_BUCKETS = 8192 };

static uint64_t state = 88172645463325252ULL;

static uint64_t random_u64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Any magnitude, as likely as others. */
static int64_t random_value(bool negative)
{
	uint64_t v = random_u64() >> (1 + random_u64() % 62);

	return negative && random_u64() & 1 ? -(int64_t)v : (int64_t)v;
}

static uint32_t bucket_of(const struct scale *scale, int64_t v)
{
	uint64_t magnitude = v < 0 ? -(uint64_t)v : (uint64_t)v;
	uint32_t negative = v < 0 ? SCALE_NEGATIVE : 0;

	if (scale->kind == SCALE_LOG2)
		return negative | (magnitude ? hist_log2(magnitude) + 1 : 0);
	if (scale->kind == SCALE_FINE)
		return negative | hist_wide_slot(magnitude);
	if (v < scale->from)
		return 0;
	if (v >= scale->to)
		return 1 + (uint32_t)((scale->to - scale->from + scale->step - 1) / scale->step);
	return 1 + (uint32_t)((v - scale->from) / scale->step);
}

static bool holds(struct scale_span span, int64_t v)
{
	return (span.no_from || span.from <= v) && (span.no_last || v <= span.last);
}

static void test_span(const struct scale *scale, const char *name, bool negative)
{
	bool all = true;

	for (int i = 0; i < NR_VALUES; i++) {
		int64_t v = random_value(negative);

		all &= holds(scale__span(scale, bucket_of(scale, v)), v);
	}
	ok(all, "%s: every value lies in the span of its bucket", name);
}

static int compare_i64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int compare_buckets(const void *a, const void *b)
{
	const struct tally_bucket *x = a, *y = b;

	return (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

/* The group of these values, buckets in order of their numbers. */
static struct tally_group group_of(const struct scale *scale, const int64_t *values, int nr,
				   struct tally_bucket *buckets)
{
	struct tally_group group = { .buckets = buckets };

	for (int i = 0; i < nr; i++) {
		uint32_t bucket = bucket_of(scale, values[i]);
		size_t at = 0;

		while (at < group.nr && buckets[at].bucket != bucket)
			at++;
		if (at == group.nr)
			buckets[group.nr++] = (struct tally_bucket){ .bucket = bucket };
		buckets[at].sum.count++;
		group.sum.count++;
		if (!i || values[i] > group.sum.max)
			group.sum.max = values[i];
	}
	qsort(buckets, group.nr, sizeof(*buckets), compare_buckets);
	return group;
}

static void test_percentiles(const struct scale *scale, const char *name, bool negative)
{
	static int64_t values[NR_VALUES];
	static struct tally_bucket buckets[NR_BUCKETS];
	struct tally_group group;
	bool all = true;

	for (int i = 0; i < NR_VALUES; i++)
		values[i] = random_value(negative);
	qsort(values, NR_VALUES, sizeof(values[0]), compare_i64);
	group = group_of(scale, values, NR_VALUES, buckets);
	for (uint32_t p = 1; p <= 10000; p++) {
		int64_t want = values[((uint64_t)NR_VALUES * p + 9999) / 10000 - 1];
		struct scale_span span = scale__span(scale, bucket_of(scale, want));
		int64_t got = scale__percentile(scale, &group, p);

		all &= holds(span, got);
	}
	ok(all, "%s: every percentile lies in the bucket of the value of its rank", name);
}

static void test_ranges(const struct scale *scale, const char *name, bool negative, int most)
{
	static int64_t values[NR_VALUES];
	static struct tally_bucket buckets[NR_BUCKETS];
	struct scale_range ranges[64];
	struct tally_group group;
	uint64_t counted = 0;
	bool all = true, joined = true;
	int nr;

	for (int i = 0; i < NR_VALUES; i++)
		values[i] = random_value(negative);
	group = group_of(scale, values, NR_VALUES, buckets);
	nr = scale__ranges(scale, &group, ranges, most);
	for (int i = 0; i < nr; i++) {
		uint64_t inside = 0;

		for (int v = 0; v < NR_VALUES; v++)
			inside += holds(ranges[i].span, values[v]);
		all &= inside == ranges[i].count;
		joined &= !i || ranges[i].span.from == ranges[i - 1].span.last + 1;
		counted += ranges[i].count;
	}
	ok(nr > 0 && nr <= most, "%s: %d ranges, at most %d", name, nr, most);
	ok(all, "%s: each counts the values in its span", name);
	ok(joined, "%s: each begins where the last one ends", name);
	is_u64(counted, NR_VALUES, "none is forgotten");
	ok(ranges[nr - 1].cumulative_percent == 100, "%s: all are 100 %%", name);
}

static void test_small(void)
{
	const struct scale fine = { SCALE_FINE, 0, 0, 0 };
	const int64_t values[] = { -5, -5, -1, 0, 3 };
	struct tally_bucket buckets[8];
	struct tally_group group = group_of(&fine, values, 5, buckets);

	ok(scale__percentile(&fine, &group, 4000) == -5, "p40 of -5 -5 -1 0 3 is -5");
	ok(scale__percentile(&fine, &group, 5000) == -1, "p50 is -1");
	ok(scale__percentile(&fine, &group, 10000) == 3, "p100 is 3");
	group = (struct tally_group){ 0 };
	ok(scale__percentile(&fine, &group, 5000) == 0, "of nothing it is 0");
}

int main(void)
{
	const struct scale fine = { SCALE_FINE, 0, 0, 0 }, log2 = { SCALE_LOG2, 0, 0, 0 };
	const struct scale linear = { SCALE_LINEAR, -100, 1001, 10 };

	test_span(&fine, "fine", true);
	test_span(&log2, "log2", true);
	test_span(&linear, "linear", true);
	test_percentiles(&fine, "fine", true);
	test_percentiles(&fine, "fine, none below zero", false);
	test_percentiles(&log2, "log2", true);
	test_percentiles(&linear, "linear", true);
	test_ranges(&fine, "fine", true, 24);
	test_ranges(&fine, "fine, none below zero", false, 64);
	test_ranges(&log2, "log2", true, 24);
	test_ranges(&linear, "linear", true, 24);
	test_small();
	return done_testing();
}
