/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * row_conditions.h: --if and --fail-if of a command that shows rows: which rows are shown, and does
 * one of them end the run with exit status 5? Both use the columns of the rows.
 */
#ifndef IOSONAR_VIEW_ROW_CONDITIONS_H
#define IOSONAR_VIEW_ROW_CONDITIONS_H

#include "decode/column.h"
#include "session/session.h"

struct row_conditions {
	/* options */
	const char *only_if, *fail_if;
	/* state */
	const struct column *columns[OBJECT_COLUMNS];
	size_t nr;
	struct condition *only, *fails;
};

#define ROW_IF_OPTION(at, example)                                                               \
	{                                                                                        \
		"if", 0, OPTION_STRING, (at) + offsetof(struct row_conditions, only_if), "EXPR", \
			"show only rows for which this is true, e.g. " example                   \
	}
#define ROW_FAIL_IF_OPTION(at, example)                                                       \
	{                                                                                     \
		"fail-if", 0, OPTION_STRING, (at) + offsetof(struct row_conditions, fail_if), \
			"EXPR", "exit with 5 if this is true for a row, e.g. " example        \
	}

/* 0; -EINVAL or -ENOMEM, said. */
int row_conditions__parse(struct row_conditions *conditions, const struct object *object,
			  column_shown_fn shows, const void *view);
/* False: the row is not shown. The first row for which --fail-if is true is named. */
bool row_conditions__admit(const struct row_conditions *conditions, struct session *session,
			   const void *row);
void row_conditions__free(struct row_conditions *conditions);

#endif
