/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lanes.c: do spans on a lane never overlap, and are there no more lanes than spans at a time?
 */
#include <errno.h>
#include <stdlib.h>
#include "analyse/lanes.h"
#include "tap.h"

struct span {
	uint64_t begin, end;
	int lane;
};

static int by_end(const void *a, const void *b)
{
	const struct span *left = a, *right = b;

	return (left->end > right->end) - (left->end < right->end);
}

/* How many go on at the moment at which one begins, at most. */
static size_t at_once(const struct span *spans, size_t nr)
{
	size_t most = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t now = 0;

		for (size_t k = 0; k < nr; k++)
			now += spans[k].begin <= spans[i].begin && spans[i].begin < spans[k].end;
		most = now > most ? now : most;
	}
	return most;
}

static bool overlap(const struct span *spans, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < i; k++)
			if (spans[i].lane == spans[k].lane && spans[i].begin < spans[k].end &&
			    spans[k].begin < spans[i].end)
				return true;
	return false;
}

static void test_random(void)
{
	enum { SPANS = 700 };
	static struct span spans[SPANS];
	struct lanes lanes = { 0 };
	uint64_t random = 7;
	bool all = true;

	for (size_t i = 0; i < SPANS; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		spans[i].begin = random >> 40 & 0xffff;
		spans[i].end = spans[i].begin + 1 + (random >> 20 & 0x7ff);
	}
	qsort(spans, SPANS, sizeof(spans[0]), by_end);
	for (size_t i = 0; i < SPANS; i++) {
		spans[i].lane = lanes__take(&lanes, spans[i].begin, spans[i].end);
		all &= spans[i].lane >= 0;
	}
	ok(all, "each has a lane");
	ok(!overlap(spans, SPANS), "none overlaps another of its lane");
	is_u64(lanes.nr, at_once(spans, SPANS), "as many lanes as there are at a time");
	lanes__free(&lanes);
}

static void test_edges(void)
{
	struct lanes lanes = { 0 };
	bool all = true;

	ok(lanes__take(&lanes, 0, 10) == 0, "the first is on the first lane");
	ok(lanes__take(&lanes, 10, 20) == 0, "one that begins where it ended, too");
	ok(lanes__take(&lanes, 19, 21) == 1, "one that begins before that is not");
	for (int i = 2; i < LANES_MOST; i++)
		all &= lanes__take(&lanes, 0, 30) == i;
	ok(all, "there are many");
	ok(lanes__take(&lanes, 0, 30) == -ENOSPC, "but not more");
	ok(lanes__take(&lanes, 25, 31) == 1, "what fits still has its place");
	lanes__free(&lanes);
}

int main(void)
{
	test_random();
	test_edges();
	return done_testing();
}
