/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_INDEX = 2 * TOP_ROOM }; /* a power of two */
_Static_assert((TOP_INDEX & (TOP_INDEX - 1)) == 0, "places are found by a mask");

int top__init(struct top *t)
{
	*t = (struct top){
		.sums = calloc(TOP_ROOM, sizeof(*t->sums)),
		.index = calloc(TOP_INDEX, sizeof(*t->index)),
	};
	return t->sums && t->index ? 0 : -ENOMEM;
}

static size_t top_hash(const uint64_t key[TOP_WORDS])
{
	uint64_t hash = 0;

	for (size_t i = 0; i < TOP_WORDS; i++)
		hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15ULL;
	return (size_t)(hash >> 32) & (TOP_INDEX - 1);
}

/* Half of the index stays free, so a search ends. */
static struct top_sum *top_place(struct top *t, const uint64_t key[TOP_WORDS])
{
	size_t at = top_hash(key);
	struct top_sum *sum;

	for (; t->index[at]; at = (at + 1) & (TOP_INDEX - 1)) {
		sum = &t->sums[t->index[at] - 1];
		if (!memcmp(sum->key, key, sizeof(sum->key)))
			return sum;
	}
	if (t->nr == TOP_ROOM)
		return &t->rest;
	sum = &t->sums[t->nr++];
	memcpy(sum->key, key, sizeof(sum->key));
	t->index[at] = (uint32_t)t->nr;
	return sum;
}

void top__add(struct top *t, const uint64_t key[TOP_WORDS], const struct top_io *io)
{
	struct top_sum *sum = top_place(t, key);

	sum->count++;
	sum->bytes += io->bytes;
	sum->failed += io->failed;
	sum->sum_ns += io->ns;
	if (io->ns > sum->max_ns)
		sum->max_ns = io->ns;
}

/* Of equal ones the key decides, so that the order is always the same. */
static int top_compare(const void *a, const void *b)
{
	const struct top_sum *x = a, *y = b;

	if (x->sum_ns != y->sum_ns)
		return x->sum_ns < y->sum_ns ? 1 : -1;
	for (size_t i = 0; i < TOP_WORDS; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

void top__sort(struct top *t)
{
	qsort(t->sums, t->nr, sizeof(*t->sums), top_compare);
}

void top__free(struct top *t)
{
	free(t->sums);
	free(t->index);
}
