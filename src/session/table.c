/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/table.h"

#include "session/source.h"

static uint64_t table_wall_ns(const void *session, uint64_t time_ns)
{
	const struct session *s = session;

	return session__wall_ns(s, s->start_ns + time_ns);
}

struct table_clock session__clock(const struct session *s)
{
	return (struct table_clock){ table_wall_ns, s, s->options->output.wall };
}

struct table *session__table_new(const struct session *s, const char *type,
				 const struct column *const *columns, size_t nr)
{
	const struct table_clock clock = session__clock(s);
	struct table *table = table__new(s->out, s->format, type, columns, nr);

	if (table && table__set_clock(table, &clock)) {
		table__free(table);
		return NULL;
	}
	if (table)
		table__head_growth(table);
	return table;
}

struct table *session__table(const struct session *s, const struct object *object,
			     column_shown_fn shows, const void *view)
{
	const struct column *columns[OBJECT_COLUMNS];

	return session__table_new(s, object->type, columns,
				  object__pick(object, s->format, shows, view, columns));
}
