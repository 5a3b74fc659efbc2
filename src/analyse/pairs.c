/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/pairs.h"

#include <errno.h>
#include <string.h>

static void pair_join(struct pair_ends *a, size_t at_a, struct pair_ends *b, size_t at_b,
		      enum pair_by by)
{
	a->ends[at_a].by = b->ends[at_b].by = by;
	a->ends[at_a].other = at_b;
	b->ends[at_b].other = at_a;
}

static struct pair_end *ends_find(const struct pair_ends *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->ends[i].name, name))
			return &list->ends[i];
	return NULL;
}

int pairs__ask(struct pair_ends *a, struct pair_ends *b, const char *name_a, const char *name_b)
{
	struct pair_end *end_a = ends_find(a, name_a), *end_b = ends_find(b, name_b);

	if (!end_a || !end_b || end_a->by != PAIR_NONE || end_b->by != PAIR_NONE)
		return -ENODEV;
	pair_join(a, (size_t)(end_a - a->ends), b, (size_t)(end_b - b->ends), PAIR_ASKED);
	return 0;
}

static bool is_same_drive(const struct pair_end *a, const struct pair_end *b)
{
	return a->serial[0] && !strcmp(a->serial, b->serial) && a->nsid == b->nsid &&
	       a->is_ctrl == b->is_ctrl;
}

static bool has_same_name(const struct pair_end *a, const struct pair_end *b)
{
	return !strcmp(a->name, b->name);
}

/* Devices that are equal within a run are matched by their order. */
static void pairs_by(struct pair_ends *a, struct pair_ends *b, enum pair_by by,
		     bool (*fits)(const struct pair_end *, const struct pair_end *))
{
	for (size_t i = 0; i < a->nr; i++)
		for (size_t j = 0; j < b->nr && a->ends[i].by == PAIR_NONE; j++)
			if (b->ends[j].by == PAIR_NONE && fits(&a->ends[i], &b->ends[j]))
				pair_join(a, i, b, j, by);
}

/* The disk without a partner; nr if there is none, or more than one. */
static size_t ends_left(const struct pair_ends *list)
{
	size_t left = list->nr, nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (list->ends[i].by == PAIR_NONE && !list->ends[i].is_ctrl) {
			left = i;
			nr++;
		}
	return nr == 1 ? left : list->nr;
}

void pairs__match(struct pair_ends *a, struct pair_ends *b)
{
	size_t left_a, left_b;

	pairs_by(a, b, PAIR_SERIAL, is_same_drive);
	pairs_by(a, b, PAIR_NAME, has_same_name);
	left_a = ends_left(a);
	left_b = ends_left(b);
	if (left_a < a->nr && left_b < b->nr)
		pair_join(a, left_a, b, left_b, PAIR_LEFT);
}
