/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/row_conditions.h"

#include <string.h>
#include "base/log.h"
#include "session/condition.h"

enum { ROW_TITLE_TEXTS = 4 };

int row_conditions__parse(struct row_conditions *c, const struct object *object,
			  column_shown_fn shows, const void *view)
{
	int err;

	c->nr = object__pick(object, TABLE_TEXT, shows, view, c->columns);
	err = condition__parse("--if", c->only_if, c->columns, c->nr, &c->only);
	return err ?: condition__parse("--fail-if", c->fail_if, c->columns, c->nr, &c->fails);
}

/* "nvme0n1 read device": the first texts of the row. */
static void row_title(const struct row_conditions *c, const void *row, char *buf, size_t size)
{
	size_t len = 0, nr = 0;

	buf[0] = 0;
	for (size_t i = 0; i < c->nr && nr < ROW_TITLE_TEXTS && len < size; i++) {
		struct cell cell = column__cell(c->columns[i], row);

		if (cell.kind != CELL_TEXT || !cell.text || !strcmp(c->columns[i]->key, "span"))
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s%s", nr++ ? " " : "", cell.text);
	}
}

bool row_conditions__admit(const struct row_conditions *c, struct session *s, const void *row)
{
	char title[512];

	if (c->only && !condition__is_true(c->only, row))
		return false;
	if (!c->fails || s->came_true || !condition__is_true(c->fails, row))
		return true;
	row_title(c, row, title, sizeof(title));
	log_warn("--fail-if '%s' is true: %s, at %.1f s", c->fail_if, title, s->elapsed_s);
	s->came_true = true;
	return true;
}

void row_conditions__free(struct row_conditions *c)
{
	condition__free(c->only);
	condition__free(c->fails);
	c->only = c->fails = NULL;
}
