/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/edges.h"

#include <stdio.h>

_Static_assert(EDGES_MOST <= (int)OPENMETRICS_BOUNDS, "they fit");

/* 15 digits print a number of ns as it is, and as short as Prometheus writes it: 1.023e-06. */
static void edges_add(struct edges *e, uint32_t slot)
{
	size_t nr = e->bounds.nr++;

	e->least[nr] = hist_slot_from(slot) - 1;
	snprintf(e->texts[nr], sizeof(e->texts[nr]), "%.15g", (double)e->least[nr] / 1e9);
	e->text_of[nr] = e->texts[nr];
}

void edges__init(struct edges *e, unsigned int per_octave)
{
	const uint32_t step = HIST_SUB / per_octave;
	const uint32_t last = hist_slot(1ULL << EDGES_LAST_BIT);
	uint16_t bucket = 0;

	e->bounds = (struct openmetrics_bounds){ e->text_of, e->least, 0 };
	for (uint32_t slot = hist_slot(1ULL << EDGES_FIRST_BIT); slot <= last; slot += step)
		edges_add(e, slot);
	for (uint32_t slot = 0; slot < HIST_CELLS; slot++) {
		while (bucket < e->bounds.nr && hist_slot_from(slot) > e->least[bucket])
			bucket++;
		e->bucket_of[slot] = bucket;
	}
}

void edges__count(const struct edges *e, const struct hist *hist,
		  struct openmetrics_histogram *into)
{
	for (size_t i = 0; i < HIST_CELLS; i++)
		into->buckets[e->bucket_of[i]] += hist->slots[i];
	into->sum += hist->sum_ns;
}
