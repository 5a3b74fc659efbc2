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

static struct top_sum *top_find(struct top *t, const uint64_t key[TOP_WORDS])
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

/* Most commands are of a few keys: the hash of the index takes longer than to compare the key. */
static struct top_sum *top_place(struct top *t, const uint64_t key[TOP_WORDS])
{
	uint64_t all = key[0] ^ key[1] ^ key[2];
	uint16_t *recent = &t->recent[all * 0x9e3779b97f4a7c15ULL >> 58];
	struct top_sum *sum;

	_Static_assert(TOP_WORDS == 3 && TOP_RECENT == 1 << 6 && TOP_ROOM <= UINT16_MAX, "as used");
	if (*recent < t->nr && top_is(t->sums, *recent, key))
		return &t->sums[*recent];
	sum = top_find(t, key);
	if (sum != &t->rest)
		*recent = (uint16_t)(sum - t->sums);
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
