/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slow_rows.h: a row of `slow`: one I/O with its sector, its task, the duration of each step, the
 * bios that a volume made from it, and its submitter. In text, steps and stacks are below its line.
 * `report` shows these rows too.
 */
#ifndef IOSONAR_VIEW_SLOW_ROWS_H
#define IOSONAR_VIEW_SLOW_ROWS_H

#include "analyse/below.h"
#include "analyse/slowest.h"
#include "session/session.h"
#include "view/row_conditions.h"

extern const struct object slow_rows;

/* rank: 1 is the slowest; CELL_NO_NUMBER: it is shown as it comes. The conditions are asked first.
 * Returns the stages of the steps that it shows to people, a bit each (analyse/steps.h). */
uint32_t slow_rows__put(struct table *table, struct session *session, const struct slow_io *io,
			uint64_t rank, const struct row_conditions *conditions);
/* The bios below it, as text that the caller owns. NULL: no volume made any, or out of memory. */
char *slow_rows__below(const struct below *below, const struct session *session,
		       const struct io_record *record);

#endif
