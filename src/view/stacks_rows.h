/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks_rows.h: a row of `stacks`: the I/Os of one stack, with its frames below the line in text.
 * It serves that command alone and goes with it.
 */
#ifndef IOSONAR_VIEW_STACKS_ROWS_H
#define IOSONAR_VIEW_STACKS_ROWS_H

#include "analyse/stacks.h"
#include "session/session.h"
#include "view/row_conditions.h"

extern const struct object stacks_rows;

/* What is printed, and how. */
struct stacks_list {
	const struct stacks *stacks; /* after stacks__sort by this measure */
	enum stack_measure by;
	size_t top; /* rows shown */
	struct table *table;
	const struct row_conditions *conditions;
};

/* The rows, with the histogram of each stack that has one. Those below the top are only judged. */
void stacks_rows__put(struct session *session, const struct stacks_list *list);
/* Stacks that could not be taken, by reason: their I/Os are counted, without frames. */
void stacks_rows__tell_missing(const struct session *session, const struct stacks *stacks);
/* The column of the machine; and of the process, which a stack of the kernel alone does not have.
 */
bool stacks_rows__is_of_host(const struct column *column);
bool stacks_rows__is_of_process(const struct column *column);

#endif
