/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top.c: are sums exact, whoever comes in whatever order, and does nobody get lost when there are
 * more than there is room for?
 */
#include "analyse/top.h"
#include "tap.h"

static void add(struct top *t, uint64_t key, uint64_t ns, uint64_t bytes)
{
	top__add(t, (const uint64_t[TOP_WORDS]){ key, key % 7 },
		 &(struct top_io){ ns, bytes, ns % 2 });
}

static void test_sums(void)
{
	struct top t;

	ok(!top__init(&t), "made");
	for (uint64_t i = 0; i < 3000; i++)
		add(&t, i % 3, 10 + i % 3, i % 3 == 1 ? 512 : 4096);
	add(&t, 2, 1000000, 0);
	top__sort(&t);
	is_u64(t.nr, 3, "three of them");
	is_u64(t.sums[0].key[0], 2, "who took longest is first");
	is_u64(t.sums[0].sum_ns, 1012000, "with all of it");
	is_u64(t.sums[0].max_ns, 1000000, "and the longest");
	is_u64(t.sums[0].count, 1001, "and each once");
	is_u64(t.sums[1].key[0], 1, "then the next");
	is_u64(t.sums[1].bytes, 512000, "with its bytes");
	is_u64(t.sums[1].failed, 1000, "and failures");
	is_u64(t.rest.count, 0, "nobody is left");
	top__free(&t);
}

static void test_full(void)
{
	uint64_t count = 0;
	struct top t;

	ok(!top__init(&t), "made");
	for (uint64_t i = 0; i < 3 * TOP_ROOM; i++)
		add(&t, i, 1, 1);
	add(&t, 0, 1, 1);
	for (size_t i = 0; i < t.nr; i++)
		count += t.sums[i].count;
	is_u64(t.nr, TOP_ROOM, "a full table");
	is_u64(count, TOP_ROOM + 1, "those that were there still count");
	is_u64(t.rest.count, 2 * TOP_ROOM, "the others share a place");
	top__sort(&t);
	is_u64(t.sums[1].key[0], 1, "equal ones in the order of their keys");
	top__free(&t);
}

int main(void)
{
	test_sums();
	test_full();
	return done_testing();
}
