/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/exemplars.h"

#include <stdlib.h>

/* Commands of one device and operation, and the number of their series. */
struct exemplar_place {
	uint64_t key;
	int32_t series; /* 0: not yet known */
	uint32_t pad;
};

static uint64_t exemplar_key(const struct io_record *r)
{
	return (uint64_t)r->device << 16 | (uint64_t)r->kind << 8 | r->op;
}

/* NULL: none, or out of memory: an exemplar is missing, no count is. */
static struct series *exemplars_series(struct exemplars *e, const struct io_record *r)
{
	struct exemplar_place *place =
		index__entry(&e->by_key, &e->places, sizeof(*e->places), exemplar_key(r));
	struct io_tags tags = { .device = 0 };
	int number;

	if (!place)
		return NULL;
	if (!place->series && e->tags(e->arg, r, &tags)) {
		number = series_set__find(e->set, &tags);
		place->series = number > 0 ? number : 0;
	}
	return place->series ? e->set->all[place->series] : NULL;
}

void exemplars__add(struct exemplars *e, const struct io_record *r, uint64_t kept_from)
{
	const uint64_t lat_ns = r->end_ns - r->first_ns;
	struct series *series;
	struct exemplar *slowest;

	e->nr++;
	if (r->what != RECORD_END || r->end_ns < r->first_ns)
		return;
	series = exemplars_series(e, r);
	if (!series)
		return;
	if (!series->slowest)
		series->slowest = calloc(e->set->edges->bounds.nr + 1, sizeof(*series->slowest));
	if (!series->slowest)
		return;
	slowest = &series->slowest[edges__bucket(e->set->edges, lat_ns)];
	if (slowest->number < kept_from || lat_ns >= slowest->lat_ns)
		*slowest = (struct exemplar){ e->nr, lat_ns, r->end_ns };
}

void exemplars__forget(struct exemplars *e)
{
	index__clear(&e->by_key);
}

void exemplars__free(struct exemplars *e)
{
	free(e->places);
	index__free(&e->by_key);
}
