/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.h: the tables of a view: in the output and the format of its run, with the run's clock, and
 * with the headings again where a column grows.
 */
#ifndef IOSONAR_SESSION_TABLE_H
#define IOSONAR_SESSION_TABLE_H

#include <stddef.h>
#include "decode/column.h"
#include "session/session.h"

/* Like table__of and table__new. NULL: out of memory. */
struct table *session__table(const struct session *session, const struct object *object,
			     column_shown_fn shows, const void *view);
struct table *session__table_new(const struct session *session, const char *type,
				 const struct column *const *columns, size_t nr);
/* The clock, for tables that are made elsewhere. */
struct table_clock session__clock(const struct session *session);

#endif
