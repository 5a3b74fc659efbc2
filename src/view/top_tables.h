/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_tables.h: what does `top` print? The rows and the sum of an interval, for programs, and the
 * rows of the whole run. Serves that command alone.
 */
#ifndef IOSONAR_VIEW_TOP_TABLES_H
#define IOSONAR_VIEW_TOP_TABLES_H

#include "view/row_conditions.h"
#include "view/top_model.h"

struct top_tables {
	struct row_conditions conditions; /* its only_if is an option of the command */
	struct table *rows, *samples;
};

/* Before the run: --if, of these rows and of the levels of the model. -EINVAL or -ENOMEM, said. */
int top_tables__parse(struct top_tables *tables, struct top_model *model);

/* model: kept. -ENOMEM, said. */
int top_tables__open(struct top_tables *tables, const struct session *session,
		     const struct top_model *model);
void top_tables__free(struct top_tables *tables);
/* The rows of the interval by all keys, in their order, then the sample: the caller fills in what
 * is about the run. -ENOMEM, said. */
int top_tables__put_interval(struct top_tables *tables, struct session *session,
			     struct top_model *model, struct top_sample *sample);
/* The rows of the last interval, or of the run: the largest in text, all of them for programs.
 * -ENOMEM, said. */
int top_tables__put_window(struct top_tables *tables, struct session *session,
			   struct top_model *model, const char *title);
int top_tables__put_totals(struct top_tables *tables, struct session *session,
			   struct top_model *model);

#endif
