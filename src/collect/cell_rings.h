/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cell_rings.h: how many cells has the mapped ring of each CPU, and where is it? CPUs up to the
 * last that is online have large rings, those that may come later small ones. A CPU that is offline
 * between two others counts as online: a program compares its number, it looks nothing up.
 */
#ifndef IOSONAR_COLLECT_CELL_RINGS_H
#define IOSONAR_COLLECT_CELL_RINGS_H

#include <stdbool.h>
#include <stdint.h>

struct cell_rings {
	uint32_t nr_cpus;    /* possible ones */
	uint32_t nr_first;   /* of those, with large rings */
	uint32_t nr_cells;   /* of each of these, a power of two */
	uint32_t late_cells; /* of each other, likewise */
};

/* buffer_bytes: --buffer, of which half is for cells; 0: as many as the machine should have. */
void cell_rings__make(struct cell_rings *rings, uint64_t buffer_bytes, const bool *is_online,
		      uint32_t nr_cpus);

/* The cells of one ring and its head. */
uint32_t cell_rings__stride(uint32_t nr_cells);
/* Of byte offsets in one ring. */
uint32_t cell_rings__mask(uint32_t nr_cells);

uint32_t cell_rings__cells(const struct cell_rings *rings, uint32_t cpu);
uint64_t cell_rings__at(const struct cell_rings *rings, uint32_t cpu); /* byte offset */
uint64_t cell_rings__bytes(const struct cell_rings *rings);	       /* of all */

#endif
