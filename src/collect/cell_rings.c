/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/cell_rings.h"

#include "wire/io_stages.h"

enum { CELLS_LEAST = 64 };

/* 16,384 commands for each CPU that is online, unless --buffer says otherwise. */
static const uint64_t cells_default_bytes = 2 << 20, cells_default_most = 64 << 20;
static const uint64_t cells_most = 1 << 30; /* of all together with --buffer */
static const uint64_t cells_late_bytes = 64 << 10, cells_late_most = 16 << 20;

/* Cells of a ring of at most `bytes`, if all nr together have at most `most`. */
static uint32_t cells_fit(uint64_t bytes, uint64_t most, uint32_t nr)
{
	const uint64_t twice = 2 * sizeof(struct io_ladder);
	uint32_t cells = CELLS_LEAST;

	while (cells * twice <= bytes && cells * twice * nr <= most)
		cells *= 2;
	return cells;
}

void cell_rings__make(struct cell_rings *rings, uint64_t buffer_bytes, const bool *is_online,
		      uint32_t nr_cpus)
{
	uint64_t bytes = buffer_bytes ? buffer_bytes / 2 : cells_default_bytes;
	uint64_t most = buffer_bytes ? cells_most : cells_default_most;

	*rings = (struct cell_rings){ .nr_cpus = nr_cpus, .nr_first = nr_cpus };
	while (rings->nr_first > 1 && !is_online[rings->nr_first - 1])
		rings->nr_first--;
	rings->nr_cells = cells_fit(bytes, most, rings->nr_first);
	rings->late_cells = cells_fit(bytes < cells_late_bytes ? bytes : cells_late_bytes,
				      cells_late_most, nr_cpus - rings->nr_first);
	if (rings->late_cells > rings->nr_cells)
		rings->late_cells = rings->nr_cells;
}

uint32_t cell_rings__mask(uint32_t nr_cells)
{
	return (nr_cells - 1) * (uint32_t)sizeof(struct io_ladder);
}

uint32_t cell_rings__stride(uint32_t nr_cells)
{
	return (nr_cells + 1) * (uint32_t)sizeof(struct io_ladder);
}

uint32_t cell_rings__cells(const struct cell_rings *rings, uint32_t cpu)
{
	return cpu < rings->nr_first ? rings->nr_cells : rings->late_cells;
}

uint64_t cell_rings__at(const struct cell_rings *rings, uint32_t cpu)
{
	uint32_t first = cpu < rings->nr_first ? cpu : rings->nr_first;

	return (uint64_t)first * cell_rings__stride(rings->nr_cells) +
	       (uint64_t)(cpu - first) * cell_rings__stride(rings->late_cells);
}

uint64_t cell_rings__bytes(const struct cell_rings *rings)
{
	return cell_rings__at(rings, rings->nr_cpus);
}
