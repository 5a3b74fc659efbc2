/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/heat.h"

#include <string.h>

void heat__init(struct heat *h, uint64_t start_ns)
{
	memset(h, 0, sizeof(*h));
	h->start_ns = start_ns;
	h->width_ns = HEAT_LEAST_NS;
}

static void heat_add_column(struct heat_column *to, const struct heat_column *from)
{
	to->count += from->count;
	to->bytes += from->bytes;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	for (uint32_t row = 0; row < HEAT_ROWS; row++)
		to->rows[row] += from->rows[row];
}

/* Joins each two columns into one. */
static void heat_fold(struct heat *h)
{
	for (uint32_t i = 1; i < h->nr; i++) {
		if (i % 2 == 0)
			h->columns[i / 2] = h->columns[i];
		else
			heat_add_column(&h->columns[i / 2], &h->columns[i]);
	}
	h->nr = (h->nr + 1) / 2;
	memset(&h->columns[h->nr], 0, (HEAT_COLUMNS - h->nr) * sizeof(h->columns[0]));
	h->width_ns *= 2;
}

void heat__widen(struct heat *h, uint64_t width_ns)
{
	while (h->width_ns < width_ns)
		heat_fold(h);
}

/* Widths are powers of two: a shift is faster than a division. */
static unsigned int heat_shift(const struct heat *h)
{
	_Static_assert(!(HEAT_LEAST_NS & (HEAT_LEAST_NS - 1)), "and so is the first");
	return (unsigned int)__builtin_ctzll(h->width_ns);
}

void heat__add(struct heat *h, uint64_t time_ns, uint64_t lat_ns, uint64_t bytes)
{
	uint64_t since_ns = time_ns > h->start_ns ? time_ns - h->start_ns : 0;
	struct heat_column *column;
	uint32_t nr;

	while (since_ns >> heat_shift(h) >= HEAT_COLUMNS)
		heat_fold(h);
	nr = (uint32_t)(since_ns >> heat_shift(h));
	if (nr >= h->nr)
		h->nr = nr + 1;
	column = &h->columns[nr];
	column->count++;
	column->bytes += bytes;
	if (lat_ns > column->max_ns)
		column->max_ns = lat_ns;
	column->rows[hist_slot(lat_ns) / HEAT_SLOTS]++;
}

uint64_t heat__row_from_ns(uint32_t row)
{
	return hist_slot_from(row * HEAT_SLOTS);
}

uint64_t heat__row_to_ns(uint32_t row)
{
	return row + 1 < HEAT_ROWS ? heat__row_from_ns(row + 1) : 0;
}
