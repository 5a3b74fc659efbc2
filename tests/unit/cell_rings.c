/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cell_rings.c: is the memory of the rings of cells bounded on every machine, and does it follow
 * the CPUs that are online? Do rings lie side by side?
 */
#include "collect/cell_rings.h"

#include <string.h>
#include "tap.h"
#include "wire/io_stages.h"

enum { MOST_CPUS = 1024, MIB = 1 << 20 };

static bool online[MOST_CPUS];

/* The first ones are online. */
static struct cell_rings rings_of(uint32_t cpus, uint32_t nr_online, uint64_t buffer_bytes)
{
	struct cell_rings rings;

	for (uint32_t cpu = 0; cpu < cpus; cpu++)
		online[cpu] = cpu < nr_online;
	cell_rings__make(&rings, buffer_bytes, online, cpus);
	return rings;
}

static bool is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

static bool is_side_by_side(const struct cell_rings *rings)
{
	uint64_t at = 0;

	for (uint32_t cpu = 0; cpu < rings->nr_cpus; cpu++) {
		uint32_t cells = cell_rings__cells(rings, cpu);

		if (cell_rings__at(rings, cpu) != at || !is_power_of_two(cells) ||
		    cell_rings__mask(cells) != (cells - 1) * sizeof(struct io_ladder))
			return false;
		at += sizeof(struct io_ladders) + cells * sizeof(struct io_ladder);
	}
	return at == cell_rings__bytes(rings);
}

/* What ladders and heads may take together: 64 MiB for CPUs that are online, 16 for the others. */
static uint64_t most_bytes(uint32_t cpus, uint32_t nr_online)
{
	uint64_t late = nr_online < cpus ? 16 * MIB : 0;

	return 64 * MIB + late + cpus * sizeof(struct io_ladders);
}

static void check_every_machine(void)
{
	uint64_t above = 0, askew = 0, less = 0, large = 0;

	for (uint32_t cpus = 1; cpus <= MOST_CPUS; cpus++) {
		uint32_t step = 1 + cpus / 16;

		for (uint32_t on = 1; on <= cpus; on += step) {
			struct cell_rings rings = rings_of(cpus, on, 0);
			struct cell_rings alone = rings_of(on, on, 0);

			above += cell_rings__bytes(&rings) > most_bytes(cpus, on);
			askew += !is_side_by_side(&rings);
			less += rings.nr_first != on || rings.nr_cells != alone.nr_cells;
			large += rings.late_cells > rings.nr_cells || rings.late_cells > 512;
		}
	}
	is_u64(above, 0, "1 to 1,024 CPUs, some or all online: the rings are within their bound");
	is_u64(askew, 0, "each is a power of two, and lies behind the one before");
	is_u64(less, 0, "CPUs that may come take nothing from those that are online");
	is_u64(large, 0, "and have at most 64 KiB each");
}

static void check_some_machines(void)
{
	struct cell_rings rings = rings_of(128, 2, 0);

	is_u64(rings.nr_cells, 16384, "2 of 128 CPUs online: 16,384 cells for each of these");
	is_u64(rings.late_cells, 512, "and 512 for each other");
	ok(cell_rings__bytes(&rings) < 12 * MIB, "12 MiB together");
	rings = rings_of(32, 32, 0);
	is_u64(rings.nr_cells, 16384, "32 CPUs: 16,384");
	rings = rings_of(128, 128, 0);
	is_u64(rings.nr_cells, 4096, "128: a quarter");
	rings = rings_of(1024, 1024, 0);
	is_u64(rings.nr_cells, 512, "1,024: 512");
	rings = rings_of(4, 2, 64 << 10);
	is_u64(rings.nr_cells, 256, "--buffer 64K: half of it is for cells");
	is_u64(rings.late_cells, 256, "also of a CPU that may come");
	rings = rings_of(128, 128, 1 << 30);
	is_u64(cell_rings__bytes(&rings) >> 20, 1024, "--buffer 1G on 128 CPUs: 1 GiB at most");
}

static void check_holes(void)
{
	struct cell_rings rings;

	memset(online, 0, sizeof(online));
	online[0] = online[5] = true;
	cell_rings__make(&rings, 0, online, 8);
	is_u64(rings.nr_first, 6,
	       "CPUs 0 and 5 are online: those between them have large rings, too");
	is_u64(cell_rings__cells(&rings, 5), 16384, "CPU 5 has a large ring");
	is_u64(cell_rings__cells(&rings, 6), 512, "CPU 6 has a small one");
}

int main(void)
{
	check_every_machine();
	check_some_machines();
	check_holes();
	return done_testing();
}
