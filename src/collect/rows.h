/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.h: the user side of the rows: how many a machine needs, and what they have counted. Reads
 * the mapped table; takes out the maxima, and cells that would overflow.
 */
#ifndef IOSONAR_COLLECT_ROWS_H
#define IOSONAR_COLLECT_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include "analyse/hist.h"
#include "wire/io_tables.h"

/* ---- how many ---- */

struct row_needs {
	uint32_t nr_cpus;    /* possible ones */
	uint32_t nr_online;  /* of those, now */
	uint64_t nr_devices; /* whose commands can be seen */
	bool by_size, by_queue, by_cpu;
	bool by_task; /* or by what tasks do: group, file */
};

struct row_plan {
	uint32_t nr;	  /* in total; the first ones belong to no key */
	uint32_t first;	  /* of the pool */
	uint32_t chunk;	  /* a power of two */
	uint32_t nr_keys; /* a power of two */
};

/*
 * Rows for all operations of all devices on all CPUs that are online, and some for CPUs that come
 * later. Never more than row_plan__most_bytes, so a larger machine may run out of rows.
 */
void row_plan__make(struct row_plan *plan, const struct row_needs *needs);

/* The bound grows with the machine: 176 MiB up to 128 CPUs, 352 MiB with 256, 480 MiB at most. */
uint64_t row_plan__most_bytes(uint32_t nr_online);

/* Half of the pool, for a kernel that takes no larger table; false: it cannot be smaller. */
bool row_plan__halve(struct row_plan *plan);

static inline uint64_t row_plan__bytes(const struct row_plan *plan)
{
	return (uint64_t)plan->nr * sizeof(struct io_row);
}

/* Of which the pool has at least one. */
static inline uint32_t row_plan__nr_chunks(const struct row_plan *plan)
{
	return (plan->nr - plan->first) / plan->chunk;
}

/* ---- what they have counted ---- */

struct row_table {
	struct io_row *rows; /* mapped, or a test's own */
	struct row_plan plan;
	uint32_t nr_fixed; /* the rows before the pool */
	bool zoom;
	struct hist **spilled; /* by key: what was taken out of cells; NULL: nothing */
	struct hist *part;     /* scratch */
};

typedef void (*row_table_fn)(void *arg, uint32_t key_nr, const struct hist *part);

int row_table__init(struct row_table *table, struct io_row *rows, const struct row_plan *plan,
		    uint32_t nr_cpus, bool zoom);
void row_table__free(struct row_table *table);

/* Everything since the start, in parts: a key has several. The maxima are new ones only. */
void row_table__read(struct row_table *table, row_table_fn fn, void *arg);

/* Takes out full cells, and nothing else: before 2^32 - ROW_SPILL more can be in one. */
void row_table__spill(struct row_table *table);

#endif
