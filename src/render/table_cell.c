/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_cell.c: what a row shows in a column. The wall clock is the time of the row on the clock of
 * the table.
 */
#include "decode/number.h"
#include "render/table_inside.h"

/* The time of the row, which counts from the start of the run, to the digits that it has. */
struct cell table__cell(struct table *table, const struct table_column *c, const void *row)
{
	struct cell time;
	uint64_t ns;

	if (c->column->kind != CELL_WALL)
		return column__cell(c->column, row);
	time = table->time ? column__cell(table->time, row) : (struct cell){ CELL_NONE };
	if (time.kind != CELL_TIME && time.kind != CELL_SECONDS)
		return (struct cell){ CELL_NONE };
	ns = time.kind == CELL_TIME ? time.n : (uint64_t)(time.real * 1e9 + 0.5);
	time.text = number__wall(&table->wall, table->clock.wall_ns(table->clock.arg, ns),
				 time.kind == CELL_TIME ? 9 : 3);
	time.kind = time.text ? CELL_TEXT : CELL_NONE;
	return time;
}
