/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tally.c: how often, how much, by which key? Snapshots are sorted by key and bucket, so that the
 * difference of two is one pass through both. A row never shrinks and never disappears.
 */
#define _GNU_SOURCE 1 /* qsort_r */
#include "analyse/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "base/grow.h"

void tally__init(struct tally *tally, size_t key_bytes)
{
	*tally = (struct tally){ .key_bytes = key_bytes };
}

static void tally_snapshot_free(struct tally_snapshot *s)
{
	free(s->keys);
	free(s->rows);
	*s = (struct tally_snapshot){ 0 };
}

void tally__free(struct tally *tally)
{
	tally_snapshot_free(&tally->now);
	tally_snapshot_free(&tally->before);
	free(tally->buckets);
	free(tally->groups);
	*tally = (struct tally){ 0 };
}

void tally__begin(struct tally *tally)
{
	struct tally_snapshot spare = tally->before;

	tally->before = tally->now;
	tally->now = spare;
	tally->now.nr = 0;
}

static int tally_grow(struct tally *tally, struct tally_snapshot *s)
{
	size_t room = s->room, key_bytes = tally->key_bytes ? tally->key_bytes : 1;

	return GROW(s->rows, room, s->nr + 1)
		       ?: grow__room(&s->keys, &s->room, s->nr + 1, key_bytes);
}

int tally__add(struct tally *tally, const void *key, uint32_t bucket, const struct tally_sum *sum)
{
	struct tally_snapshot *s = &tally->now;
	int err = s->nr < s->room ? 0 : tally_grow(tally, s);

	if (err)
		return err;
	if (tally->key_bytes)
		memcpy(s->keys + s->nr * tally->key_bytes, key, tally->key_bytes);
	s->rows[s->nr++] = (struct tally_bucket){ bucket, *sum };
	return 0;
}

/* ---- order ---- */

struct tally_view {
	const struct tally *tally;
	const struct tally_snapshot *snapshot;
};

static const uint8_t *tally_key(const struct tally *tally, const struct tally_snapshot *s, size_t i)
{
	return s->keys + i * tally->key_bytes;
}

static int tally_compare_rows(const struct tally *tally, const struct tally_snapshot *a, size_t i,
			      const struct tally_snapshot *b, size_t j)
{
	int order = tally->key_bytes ? memcmp(tally_key(tally, a, i), tally_key(tally, b, j),
					      tally->key_bytes)
				     : 0;

	return order ?: COMPARE(a->rows[i].bucket, b->rows[j].bucket);
}

static int tally_compare(const void *a, const void *b, void *arg)
{
	const struct tally_view *view = arg;

	return tally_compare_rows(view->tally, view->snapshot, *(const size_t *)a, view->snapshot,
				  *(const size_t *)b);
}

static void tally_sum_add(struct tally_sum *into, const struct tally_sum *sum)
{
	if (sum->count && (!into->count || sum->max > into->max))
		into->max = sum->max;
	into->count += sum->count;
	into->sum += sum->sum;
}

/* Sorts, and joins rows of the same key and bucket. */
static int tally_settle(struct tally *tally, struct tally_snapshot *s)
{
	struct tally_view view = { tally, s };
	struct tally_snapshot sorted = { 0 };
	size_t *order = malloc((s->nr + 1) * sizeof(*order));
	struct tally settled = { .key_bytes = tally->key_bytes };
	int err = order ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < s->nr; i++)
		order[i] = i;
	if (!err)
		qsort_r(order, s->nr, sizeof(*order), tally_compare, &view);
	for (size_t i = 0; !err && i < s->nr; i++) {
		if (i && !tally_compare_rows(tally, s, order[i - 1], s, order[i]))
			tally_sum_add(&settled.now.rows[settled.now.nr - 1].sum,
				      &s->rows[order[i]].sum);
		else
			err = tally__add(&settled, tally_key(tally, s, order[i]),
					 s->rows[order[i]].bucket, &s->rows[order[i]].sum);
	}
	sorted = settled.now;
	free(order);
	tally_snapshot_free(err ? &sorted : s);
	if (!err)
		*s = sorted;
	return err;
}

/* ---- groups ---- */

/* The growth of a row; *at walks through the older snapshot. */
static struct tally_sum tally_growth(const struct tally *tally, size_t i, size_t *at)
{
	const struct tally_snapshot *now = &tally->now, *before = &tally->before;
	struct tally_sum sum = now->rows[i].sum;

	while (*at < before->nr && tally_compare_rows(tally, before, *at, now, i) < 0)
		(*at)++;
	if (*at == before->nr || tally_compare_rows(tally, before, *at, now, i))
		return sum;
	sum.count -= before->rows[*at].sum.count;
	sum.sum -= before->rows[*at].sum.sum;
	return sum;
}

static bool tally_is_next(const struct tally *tally, size_t i)
{
	return !tally->nr_groups ||
	       (tally->key_bytes && memcmp(tally->groups[tally->nr_groups - 1].key,
					   tally_key(tally, &tally->now, i), tally->key_bytes));
}

static void tally_group(struct tally *tally, enum tally_span span)
{
	size_t before = 0, nr = 0;

	tally->nr_groups = 0;
	for (size_t i = 0; i < tally->now.nr; i++) {
		struct tally_sum sum = span == TALLY_TOTAL ? tally->now.rows[i].sum
							   : tally_growth(tally, i, &before);
		struct tally_group *group;

		if (!sum.count && span == TALLY_INTERVAL)
			continue;
		if (tally_is_next(tally, i))
			tally->groups[tally->nr_groups++] =
				(struct tally_group){ .key = tally_key(tally, &tally->now, i),
						      .buckets = &tally->buckets[nr] };
		group = &tally->groups[tally->nr_groups - 1];
		tally->buckets[nr++] = (struct tally_bucket){ tally->now.rows[i].bucket, sum };
		group->nr++;
		tally_sum_add(&group->sum, &sum);
	}
}

static int tally_compare_groups(const void *a, const void *b, void *arg)
{
	const struct tally_group *l = a, *r = b;
	enum tally_measure measure = *(const enum tally_measure *)arg;
	uint64_t x = measure == TALLY_BY_COUNT ? l->sum.count : l->sum.sum;
	uint64_t y = measure == TALLY_BY_COUNT ? r->sum.count : r->sum.sum;
	int order =
		measure == TALLY_BY_SIGNED_SUM ? COMPARE((int64_t)y, (int64_t)x) : COMPARE(y, x);

	return order ?: COMPARE(l->key, r->key); /* groups lie in key order */
}

static int tally_make_room(struct tally *tally)
{
	const size_t nr = tally->now.nr + 1;

	return GROW(tally->buckets, tally->room_buckets, nr)
		       ?: GROW(tally->groups, tally->room_groups, nr);
}

int tally__groups(struct tally *tally, enum tally_span span, enum tally_measure measure)
{
	int err = tally_settle(tally, &tally->now);

	err = err ?: tally_make_room(tally);
	if (err)
		return err;
	tally_group(tally, span);
	qsort_r(tally->groups, tally->nr_groups, sizeof(*tally->groups), tally_compare_groups,
		&measure);
	return 0;
}
