/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"

int top__init(struct top *t)
{
	*t = (struct top){ .sums = calloc(TOP_ROOM, sizeof(*t->sums)) };
	return t->sums ? index__make_room(&t->index, TOP_ROOM) : -ENOMEM;
}

static bool top_is(const void *sums, uint32_t number, const void *key)
{
	const struct top_sum *sum = (const struct top_sum *)sums + number;

	return !memcmp(sum->key, key, sizeof(sum->key));
}

static struct top_sum *top_place(struct top *t, const uint64_t key[TOP_WORDS])
{
	uint64_t hash = 0;
	uint32_t at;

	for (size_t i = 0; i < TOP_WORDS; i++)
		hash = index__mix(hash, key[i]);
	at = index__find(&t->index, hash, top_is, t->sums, key);
	if (at == INDEX_NONE && t->nr == TOP_ROOM)
		return &t->rest;
	if (at == INDEX_NONE) {
		at = index__add(&t->index, hash);
		memcpy(t->sums[at].key, key, sizeof(t->sums[at].key));
		t->nr++;
	}
	return &t->sums[at];
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

/* Ties are sorted by key, so that the order is stable. */
static int top_compare(const void *a, const void *b)
{
	const struct top_sum *x = a, *y = b;
	int order = COMPARE(y->sum_ns, x->sum_ns);

	for (size_t i = 0; i < TOP_WORDS && !order; i++)
		order = COMPARE(x->key[i], y->key[i]);
	return order;
}

void top__sort(struct top *t)
{
	qsort(t->sums, t->nr, sizeof(*t->sums), top_compare);
}

void top__free(struct top *t)
{
	free(t->sums);
	index__free(&t->index);
}
