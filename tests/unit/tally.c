/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tally.c: are counts by key, their differences and their order right? The second instrument is a
 * plain array of counts per key that random additions go to as well.
 */
#include <stdlib.h>
#include "analyse/tally.h"
#include "tap.h"

enum { NR_KEYS = 37, NR_BUCKETS = 5, NR_READS = 20 };

static uint64_t state = 88172645463325252ULL;

static uint64_t random_u64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

struct truth {
	uint64_t count[NR_KEYS][NR_BUCKETS], sum[NR_KEYS][NR_BUCKETS];
};

/* Rows in any order, some keys in two parts: as two CPUs or two addresses would have them. */
static void read_all(struct tally *t, const struct truth *truth)
{
	tally__begin(t);
	for (int i = 0; i < NR_KEYS * NR_BUCKETS; i++) {
		int at = i * 59 % (NR_KEYS * NR_BUCKETS), bucket = at % NR_BUCKETS;
		uint64_t key = (uint64_t)(at / NR_BUCKETS);
		struct tally_sum sum = { truth->count[key][bucket], truth->sum[key][bucket],
					 (int64_t)key };
		struct tally_sum half = { sum.count / 2, sum.count > 1 ? sum.sum / 3 : 0, sum.max };

		if (!sum.count)
			continue;
		sum.count -= half.count;
		sum.sum -= half.sum;
		if (tally__add(t, &key, (uint32_t)bucket, &sum) ||
		    (half.count && tally__add(t, &key, (uint32_t)bucket, &half)))
			printf("Bail out! no memory\n");
	}
}

static uint64_t key_of(const struct tally_group *group)
{
	uint64_t key;

	memcpy(&key, group->key, sizeof(key));
	return key;
}

/* Every group is as the truth, less what it was before; all that grew are there; order. */
static bool agrees(const struct tally *t, const struct truth *now, const struct truth *before)
{
	uint64_t all = 0, found = 0;

	for (size_t i = 0; i < t->nr_groups; i++) {
		const struct tally_group *g = &t->groups[i];
		uint64_t key = key_of(g), count = 0;

		for (size_t b = 0; b < g->nr; b++) {
			uint32_t bucket = g->buckets[b].bucket;

			if (g->buckets[b].sum.count !=
				    now->count[key][bucket] - before->count[key][bucket] ||
			    g->buckets[b].sum.sum !=
				    now->sum[key][bucket] - before->sum[key][bucket] ||
			    (b && bucket <= g->buckets[b - 1].bucket))
				return false;
			count += g->buckets[b].sum.count;
		}
		if (count != g->sum.count || (i && g[-1].sum.count < count))
			return false;
		found += count;
	}
	for (int k = 0; k < NR_KEYS; k++)
		for (int b = 0; b < NR_BUCKETS; b++)
			all += now->count[k][b] - before->count[k][b];
	return all == found;
}

static void test_random(void)
{
	static const struct truth nothing;
	static struct truth now, before;
	struct tally t;
	bool intervals = true, totals = true;

	tally__init(&t, 8);
	for (int read = 0; read < NR_READS; read++) {
		before = now;
		for (uint64_t i = random_u64() % 40; i; i--) {
			uint64_t key = random_u64() % NR_KEYS, bucket = random_u64() % NR_BUCKETS;

			now.count[key][bucket] += 1 + random_u64() % 3;
			now.sum[key][bucket] += random_u64();
		}
		read_all(&t, &now);
		intervals &= !tally__groups(&t, TALLY_INTERVAL, TALLY_BY_COUNT) &&
			     agrees(&t, &now, &before);
		totals &= !tally__groups(&t, TALLY_TOTAL, TALLY_BY_COUNT) &&
			  agrees(&t, &now, &nothing);
	}
	ok(intervals, "%d intervals of random additions are the differences", NR_READS);
	ok(totals, "and the totals the sums");
	tally__free(&t);
}

static void add(struct tally *t, uint64_t key, uint64_t count, int64_t sum, int64_t max)
{
	const struct tally_sum s = { count, (uint64_t)sum, max };

	tally__add(t, &key, 0, &s);
}

static void test_order(void)
{
	struct tally t;

	tally__init(&t, 8);
	tally__begin(&t);
	add(&t, 1, 5, -10, -1);
	add(&t, 2, 1, 100, 100);
	add(&t, 3, 5, 7, 4);
	tally__groups(&t, TALLY_TOTAL, TALLY_BY_COUNT);
	ok(key_of(&t.groups[0]) == 1 && key_of(&t.groups[1]) == 3 && key_of(&t.groups[2]) == 2,
	   "by count, equal ones by key");
	tally__groups(&t, TALLY_TOTAL, TALLY_BY_SIGNED_SUM);
	ok(key_of(&t.groups[0]) == 2 && key_of(&t.groups[2]) == 1, "by signed sum");
	tally__groups(&t, TALLY_TOTAL, TALLY_BY_SUM);
	is_u64(key_of(&t.groups[0]), 1, "by sum, a negative one is a large one");
	ok(t.groups[0].sum.max == -1, "the maximum of one value below zero is that value");
	tally__free(&t);
}

static void test_no_key(void)
{
	const struct tally_sum sum = { 3, 9, 5 };
	struct tally t;

	tally__init(&t, 0);
	tally__begin(&t);
	tally__add(&t, NULL, 0, &sum);
	tally__groups(&t, TALLY_TOTAL, TALLY_BY_COUNT);
	ok(t.nr_groups == 1 && t.groups[0].sum.count == 3, "without a key there is one group");
	tally__begin(&t);
	tally__groups(&t, TALLY_TOTAL, TALLY_BY_COUNT);
	is_u64(t.nr_groups, 0, "an empty snapshot has none");
	tally__free(&t);
}

int main(void)
{
	test_random();
	test_order();
	test_no_key();
	return done_testing();
}
