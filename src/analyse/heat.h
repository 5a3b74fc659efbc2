/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heat.h: how long did commands take, when? A grid of bounded size: columns of time, just wide
 * enough for HEAT_COLUMNS of them to reach from the first command to the last, by rows of latency,
 * four per octave. Counts are always exact; the width of a column is final only at the end.
 */
#ifndef IOSONAR_ANALYSE_HEAT_H
#define IOSONAR_ANALYSE_HEAT_H

#include <stdint.h>
#include "wire/buckets.h"

enum {
	HEAT_COLUMNS = 128,
	HEAT_SLOTS = HIST_SUB / 4,		 /* slots of a histogram per row */
	HEAT_ROWS = HIST_SLOTS / HEAT_SLOTS + 1, /* the last row is open-ended */
	HEAT_LEAST_NS = 1024,			 /* first width of a column */
};

struct heat_column {
	uint64_t count, bytes, max_ns;
	uint64_t rows[HEAT_ROWS];
};

struct heat {
	uint64_t start_ns, width_ns;
	uint32_t nr; /* columns up to the last that is used */
	struct heat_column columns[HEAT_COLUMNS];
};

/* Earlier commands are counted at the start. */
void heat__init(struct heat *heat, uint64_t start_ns);
void heat__add(struct heat *heat, uint64_t time_ns, uint64_t lat_ns, uint64_t bytes);
/* Makes columns at least this wide; two grids with the same start then have the same columns. */
void heat__widen(struct heat *heat, uint64_t width_ns);

uint64_t heat__row_from_ns(uint32_t row);
uint64_t heat__row_to_ns(uint32_t row); /* 0: open-ended */

#endif
