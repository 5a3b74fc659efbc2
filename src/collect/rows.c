/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROWS_OPS_PER_DEVICE = 8,
	ROWS_TASK_KEYS = 1024, /* for each CPU, if tasks are keys */
	ROWS_LEAST = 64,       /* for each CPU */
	ROWS_LATER = 4096,     /* for all CPUs that are not online */
	ROWS_CHUNK = 16,
	ROWS_CHUNKS_PER_CPU = 4, /* at least, so that no CPU holds much that others lack */
	ROWS_LEAST_KEYS = 1024,	 /* disks may appear */
};

static const uint64_t rows_most_bytes = 176 << 20; /* up to 128 CPUs; more have as much for each */
/* The verifier allows offsets of up to 512 MiB. */
static const uint64_t rows_most_bytes_ever = 480 << 20;

uint64_t row_plan__most_bytes(uint32_t nr_online)
{
	uint64_t bytes = nr_online > 128 ? nr_online * rows_most_bytes / 128 : rows_most_bytes;

	return bytes < rows_most_bytes_ever ? bytes : rows_most_bytes_ever;
}

static uint32_t rows_power_of_two(uint64_t n, uint32_t min, uint32_t max)
{
	uint32_t p = min;

	while (p < n && p < max)
		p *= 2;
	return p;
}

/* Begins the pool at a chunk, and ends it there. */
static void row_plan_fit(struct row_plan *plan, uint32_t nr_fixed, uint64_t pool, uint32_t nr_cpus)
{
	plan->chunk = ROWS_CHUNK;
	while (plan->chunk > 1 && pool < (uint64_t)plan->chunk * ROWS_CHUNKS_PER_CPU * nr_cpus)
		plan->chunk /= 2;
	plan->first = (nr_fixed + plan->chunk - 1) & ~(plan->chunk - 1);
	plan->nr = plan->first + ((uint32_t)pool & ~(plan->chunk - 1));
}

void row_plan__make(struct row_plan *plan, const struct row_needs *needs)
{
	uint64_t keys = needs->nr_devices * ROWS_OPS_PER_DEVICE, rows, later, most;
	uint32_t nr_fixed = needs->nr_cpus + 1;

	if (needs->by_size)
		keys *= 4;
	if (needs->by_queue)
		keys *= 2; /* a CPU mostly uses one queue */
	if (needs->by_task)
		keys += ROWS_TASK_KEYS;
	rows = keys < ROWS_LEAST ? ROWS_LEAST : keys;
	later = rows * (needs->nr_cpus - needs->nr_online);
	later = later < ROWS_LATER ? later : ROWS_LATER;
	rows = rows * needs->nr_online + later + keys; /* the last: far rows */
	most = row_plan__most_bytes(needs->nr_online) / sizeof(struct io_row) - nr_fixed -
	       ROWS_CHUNK;
	row_plan_fit(plan, nr_fixed, rows < most ? rows : most, needs->nr_online);
	if (needs->by_cpu || needs->by_queue)
		keys *= needs->nr_cpus;
	plan->nr_keys = rows_power_of_two(4 * keys, ROWS_LEAST_KEYS, IO_MAX_KEYS);
}

bool row_plan__halve(struct row_plan *plan)
{
	uint32_t pool = (plan->nr - plan->first) / 2;

	if (!pool)
		return false;
	if (plan->chunk > 1)
		plan->chunk /= 2; /* as many chunks, at the same boundaries */
	plan->nr = plan->first + (pool & ~(plan->chunk - 1));
	return true;
}

/* ---- what they have counted ---- */

int row_table__init(struct row_table *table, struct io_row *rows, const struct row_plan *plan,
		    uint32_t nr_cpus, bool zoom)
{
	*table = (struct row_table){
		.rows = rows, .plan = *plan, .nr_fixed = nr_cpus + 1, .zoom = zoom
	};
	rows[nr_cpus].is_far = true;
	table->spilled = calloc(plan->nr_keys, sizeof(struct hist *));
	table->part = malloc(sizeof(*table->part));
	return table->spilled && table->part ? 0 : -ENOMEM;
}

void row_table__free(struct row_table *table)
{
	for (uint32_t i = 0; table->spilled && i < table->plan.nr_keys; i++)
		free(table->spilled[i]);
	free(table->spilled);
	free(table->part);
	*table = (struct row_table){ 0 };
}

static uint32_t row_slot(const struct row_table *table, const struct io_row *row, uint32_t cell)
{
	if (table->zoom)
		return cell;
	return row->is_far ? row_far_slot(cell) : ROW_FIRST + cell;
}

static uint32_t row_nr_cells(const struct row_table *table, const struct io_row *row)
{
	if (table->zoom)
		return ZOOM_CELLS;
	return row->is_far ? ROW_FAR_CELLS : ROW_CELLS;
}

static bool row_is_used(const struct row_table *table, uint32_t nr)
{
	return nr < table->nr_fixed || (nr >= table->plan.first && table->rows[nr].claim);
}

/* Without memory the count stays where it is. */
static void row_spill(struct row_table *table, struct io_row *row, uint32_t cell)
{
	struct hist **spilled = &table->spilled[row->key_nr & (table->plan.nr_keys - 1)];
	uint32_t nr;

	if (!*spilled)
		*spilled = calloc(1, sizeof(**spilled));
	if (!*spilled)
		return;
	nr = __atomic_exchange_n(&row->cells[cell], 0, __ATOMIC_SEQ_CST);
	(*spilled)->slots[row_slot(table, row, cell)] += nr;
	(*spilled)->count += nr;
}

void row_table__spill(struct row_table *table)
{
	for (uint32_t nr = 0; nr < table->plan.nr; nr++) {
		struct io_row *row = &table->rows[nr];

		if (!row_is_used(table, nr))
			continue;
		for (uint32_t i = 0; i < row_nr_cells(table, row); i++)
			if (row->cells[i] >= ROW_SPILL)
				row_spill(table, row, i);
	}
}

static uint64_t row_take_max(struct io_row *row)
{
	uint64_t max_ns = 0;

	for (int depth = 0; depth < IO_MAX_DEPTH; depth++) {
		uint64_t ns = __atomic_exchange_n(&row->max_ns[depth], 0, __ATOMIC_SEQ_CST);

		max_ns = ns > max_ns ? ns : max_ns;
	}
	return max_ns;
}

static void row_read(struct row_table *table, struct io_row *row, row_table_fn fn, void *arg)
{
	uint32_t nr_cells = row_nr_cells(table, row), first = row_slot(table, row, 0);
	struct hist *part = table->part;

	memset(part, 0, sizeof(*part));
	for (uint32_t i = 0; i < nr_cells; i++) {
		uint32_t slot = row->is_far ? row_slot(table, row, i) : first + i;

		part->slots[slot] = row->cells[i];
		part->count += part->slots[slot];
	}
	part->sum_ns = row->sum_ns;
	part->bytes = row->bytes;
	if (!part->count && !part->sum_ns && !part->bytes)
		return;
	part->max_ns = row_take_max(row);
	fn(arg, row->key_nr, part);
}

void row_table__read(struct row_table *table, row_table_fn fn, void *arg)
{
	row_table__spill(table);
	for (uint32_t nr = 0; nr < table->plan.nr; nr++)
		if (row_is_used(table, nr))
			row_read(table, &table->rows[nr], fn, arg);
	for (uint32_t key = 0; key < table->plan.nr_keys; key++)
		if (table->spilled[key])
			fn(arg, key, table->spilled[key]);
}
