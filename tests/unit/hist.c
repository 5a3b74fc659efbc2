/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hist.c: are sums, percentiles and ranges those of the values themselves? The second instrument is
 * the sorted list: percentiles are compared with it, merges with the histogram of the union.
 */
#include <stdlib.h>
#include "analyse/hist.h"
#include "tap.h"

enum { HIST_TEST_VALUES = 1000000 };

static uint64_t random_state = 88172645463325252ULL;

static uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static struct hist *new_hist(void)
{
	return calloc(1, sizeof(struct hist));
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool is_near(uint64_t got, uint64_t want)
{
	uint64_t difference = got > want ? got - want : want - got;

	return want < 64 ? !difference : (double)difference <= 0.016 * (double)want;
}

static void check_percentiles(uint64_t *values, uint64_t nr, const char *what)
{
	static const uint32_t percents[] = { 0,	   1,	 100,  2500, 5000, 7500,
					     9000, 9500, 9900, 9990, 9999, 10000 };
	struct hist *h = new_hist();
	uint64_t wrong = 0, rank, got, i;

	for (i = 0; i < nr; i++)
		hist__add(h, values[i], 1);
	qsort(values, nr, sizeof(*values), compare_u64);
	for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		rank = (nr * percents[i] + 9999) / 10000;
		got = hist__percentile(h, percents[i]);
		if (!is_near(got, values[rank ? rank - 1 : 0]) && ++wrong)
			printf("# %u/10000: got %" PRIu64 ", want %" PRIu64 "\n", percents[i], got,
			       values[rank ? rank - 1 : 0]);
		wrong += got > values[nr - 1];
	}
	is_u64(wrong, 0, what);
	is_u64(h->max_ns, values[nr - 1], "and the maximum is exact");
	free(h);
}

static void check_distributions(void)
{
	uint64_t *values = calloc(HIST_TEST_VALUES, sizeof(*values)), i, nr = HIST_TEST_VALUES;

	for (i = 0; i < nr; i++)
		values[i] = 87654;
	check_percentiles(values, nr, "constant");
	for (i = 0; i < nr; i++)
		values[i] = random_u64() % 50;
	check_percentiles(values, nr, "below 50 ns, exactly");
	for (i = 0; i < nr; i++)
		values[i] = 1000 + random_u64() % 10000000;
	check_percentiles(values, nr, "uniform");
	for (i = 0; i < nr; i++)
		values[i] = random_u64() % 10 ? 80000 + random_u64() % 4000
					      : 4000000 + random_u64() % 1000000;
	check_percentiles(values, nr, "two humps");
	for (i = 0; i < nr; i++)
		values[i] = i == 777 ? 2000000000 : 90000 + random_u64() % 1000;
	check_percentiles(values, nr, "one in a million");
	for (i = 0; i < nr; i++)
		values[i] = 1ULL << random_u64() % 38;
	check_percentiles(values, nr, "powers of two");
	check_percentiles(values, 1, "a single value");
	check_percentiles(values, 2, "two values");
	check_percentiles(values, 10001, "one more than ten thousand");
	free(values);
}

static void check_small(void)
{
	struct hist *h = new_hist();

	is_u64(hist__percentile(h, 5000), 0, "nothing has percentile 0");
	is_u64(hist__mean_ns(h), 0, "and mean 0");
	hist__add(h, 1000, 4096);
	hist__add(h, 2001, 512);
	is_u64(hist__mean_ns(h), 1500, "mean of 1000 and 2001, cut");
	is_u64(h->bytes, 4608, "bytes are added");
	is_u64(h->count, 2, "values are counted");
	h->max_ns = 1500;
	is_u64(hist__percentile(h, 10000), 1500, "a percentile never exceeds max_ns");
	hist__mend_max(h);
	is_u64(h->max_ns, hist_slot_from(hist_slot(2001)), "a torn maximum is raised");
	h->max_ns = 2001;
	hist__mend_max(h);
	is_u64(h->max_ns, 2001, "a good one stays");
	hist__add(h, 300000000000, 0);
	is_u64(hist__percentile(h, 10000), 300000000000, "past the top the maximum is the answer");
	h->count = h->slots[hist_slot(1000)] = UINT64_MAX - 2;
	is_u64(hist__percentile(h, 9999), 999, "ranks do not overflow");
	free(h);
}

/* Of four values the ranks change at exactly 25, 50 and 75 per cent. */
static void check_ranks(void)
{
	static const struct {
		uint32_t per_10000;
		uint64_t want;
	} ranks[] = { { 0, 10 },    { 2500, 10 }, { 2501, 20 }, { 5000, 20 },
		      { 5001, 30 }, { 7500, 30 }, { 7501, 40 }, { 10000, 40 } };
	struct hist *h = new_hist();
	uint64_t i;

	for (i = 10; i <= 40; i += 10)
		hist__add(h, i, 0);
	for (i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++)
		is_u64(hist__percentile(h, ranks[i].per_10000), ranks[i].want, "nearest rank");
	free(h);
}

static void fill(struct hist *h, struct hist *all, int nr)
{
	uint64_t ns, bytes;

	while (nr--) {
		ns = random_u64() >> random_u64() % 64;
		bytes = random_u64() % 4096;
		hist__add(h, ns >> 12, bytes);
		hist__add(all, ns >> 12, bytes);
	}
}

static void check_merge(void)
{
	struct hist *a = new_hist(), *b = new_hist(), *both = new_hist(), *out = new_hist();

	fill(a, both, 1009);
	fill(b, both, 2003);
	*out = *a;
	hist__merge(out, b);
	ok(!memcmp(out, both, sizeof(*out)), "a merge is the union");
	hist__merge(b, a);
	ok(!memcmp(b, both, sizeof(*b)), "either way round");
	hist__difference(out, both, a);
	hist__merge(out, a);
	ok(!memcmp(out, both, sizeof(*out)), "a difference and what was taken are the whole");
	hist__difference(out, both, a);
	is_u64(out->count, 2003, "a difference has the rest");
	is_u64(out->max_ns, both->max_ns, "and now's maximum");
	hist__difference(both, both, both);
	is_u64(both->count + both->sum_ns + both->bytes, 0, "nothing is left of itself");
	free(a);
	free(b);
	free(both);
	free(out);
}

static bool is_boundary(uint64_t ns)
{
	return hist_slot_from(hist_slot(ns)) == ns;
}

/* Every property ranges promise; the counts are taken again from the buckets. */
static bool ranges_are_good(const struct hist *h, const struct hist_range *r, int nr, int most)
{
	uint64_t seen = 0, count, from;
	bool good = nr <= most && r[0].count && r[nr - 1].count;
	uint32_t slot;
	int i;

	for (i = 0; i < nr; i++) {
		count = 0;
		for (slot = 0; slot < HIST_CELLS; slot++) {
			from = hist_slot_from(slot);
			if (from >= r[i].from_ns && (!r[i].to_ns || from < r[i].to_ns))
				count += h->slots[slot];
		}
		seen += count;
		good = good && count == r[i].count && is_boundary(r[i].from_ns);
		good = good && (i + 1 == nr || r[i].to_ns == r[i + 1].from_ns);
		good = good && (!r[i].to_ns || is_boundary(r[i].to_ns));
		good = good && is_near((uint64_t)(r[i].cumulative_percent * 1e6),
				       (uint64_t)(1e8 * (double)seen / (double)h->count));
	}
	return good && seen == h->count && r[nr - 1].cumulative_percent == 100;
}

static void check_ranges_random(void)
{
	struct hist *h = new_hist(), *all = new_hist();
	struct hist_range r[HIST_CELLS];
	int most, round, wrong = 0, nr;

	for (round = 0; round < 300; round++) {
		memset(h, 0, sizeof(*h));
		fill(h, all, 1 + (int)(random_u64() % 50));
		most = 1 + (int)(random_u64() % 40);
		nr = hist__ranges(h, r, most);
		if (!ranges_are_good(h, r, nr, most) && ++wrong)
			printf("# round %d: %d of at most %d\n", round, nr, most);
	}
	is_u64((uint64_t)wrong, 0, "ranges hold every value once and end at bucket boundaries");
	free(h);
	free(all);
}

static void check_ranges(void)
{
	const int over = HIST_TOP_BIT - 16; /* octaves from 2^16 to the top */
	struct hist *h = new_hist();
	struct hist_range r[HIST_CELLS];

	is_u64((uint64_t)hist__ranges(h, r, 20), 0, "no values, no ranges");
	hist__add(h, 65536, 0);
	is_u64((uint64_t)hist__ranges(h, r, 0), 0, "no rows, no ranges");
	is_u64((uint64_t)hist__ranges(h, r, 20), 1, "one value, one range");
	is_u64(r[0].from_ns, 65536, "as narrow as the bucket: from");
	is_u64(r[0].to_ns, 67584, "to");
	hist__add(h, 131071, 0);
	is_u64((uint64_t)hist__ranges(h, r, 32), 32, "an octave in 32 rows");
	is_u64((uint64_t)hist__ranges(h, r, 31), 16, "or in 16");
	is_u64(r[0].to_ns, 69632, "two buckets each");
	is_u64((uint64_t)hist__ranges(h, r, 1), 1, "or in one");
	is_u64(r[0].from_ns, 65536, "the whole octave: from");
	is_u64(r[0].to_ns, 131072, "to");
	h->slots[hist_slot(65536)]--;
	hist__add(h, 70000, 0);
	hist__ranges(h, r, 1);
	is_u64(r[0].from_ns, 65536, "which it is also if its first bucket is empty");
	hist__add(h, 1ULL << 40, 0);
	is_u64((uint64_t)hist__ranges(h, r, 40), over + 1, "octaves, then what is past the top");
	is_u64(r[over].from_ns, 1ULL << HIST_TOP_BIT, "which begins at the top");
	is_u64(r[over].to_ns, 0, "and has no end");
	hist__add(h, 0, 0);
	is_u64((uint64_t)hist__ranges(h, r, 1), 1, "everything in one row");
	is_u64(r[0].count, 4, "with everything in it");
	free(h);
}

static void check_zoom(void)
{
	uint64_t cells[ZOOM_CELLS] = { 0 };
	struct hist_range r[ZOOM_CELLS];
	int nr;

	is_u64((uint64_t)hist__zoom_ranges(cells, 20, 0, r), 0, "an empty zoom");
	cells[3] = 1;
	cells[5] = 3;
	nr = hist__zoom_ranges(cells, 20, 0, r);
	is_u64((uint64_t)nr, 3, "from the first used to the last, gaps included");
	is_u64(r[0].from_ns, 24000, "slot 3 from 24 us");
	is_u64(r[0].to_ns, 28000, "to 28 us");
	ok(r[0].cumulative_percent == 25 && r[1].cumulative_percent == 25 &&
		   r[2].cumulative_percent == 100,
	   "25, 25 and 100 per cent");
	is_u64(r[1].count, 0, "the gap");
	cells[ZOOM_UNDER] = 7;
	cells[ZOOM_OVER] = 5;
	nr = hist__zoom_ranges(cells, 20, 0, r);
	is_u64((uint64_t)nr, ZOOM_CELLS, "all of them");
	is_u64(r[0].from_ns, 0, "underflow first: from 0");
	is_u64(r[0].to_ns, 20000, "to 20 us");
	is_u64(r[0].count, 7, "with its count");
	is_u64(r[ZOOM_CELLS - 1].from_ns, 67108884000, "overflow last");
	is_u64(r[ZOOM_CELLS - 1].to_ns, 0, "without end");
	is_u64(r[ZOOM_CELLS - 1].count, 5, "with its count");
	cells[ZOOM_UNDER] = 0;
	nr = hist__zoom_ranges(cells, UINT64_MAX, 63, r);
	is_u64(r[0].from_ns, UINT64_MAX, "absurd bounds end at the end of time");
}

int main(void)
{
	check_small();
	check_ranks();
	check_distributions();
	check_merge();
	check_ranges();
	check_ranges_random();
	check_zoom();
	return done_testing();
}
