/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/condition.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "decode/column_name.h"
#include "expr/expr.h"

struct condition {
	struct expr *expr;
	const struct column *const *columns;
	struct expr_field *fields;
	char (*names)[COLUMN_NAME];
};

static enum expr_type condition_type(enum cell_kind kind)
{
	switch (kind) {
	case CELL_TEXT: return EXPR_TEXT;
	case CELL_TIME:
	case CELL_DURATION: return EXPR_DURATION;
	case CELL_BYTES: return EXPR_SIZE;
	default: return EXPR_NUMBER;
	}
}

/* A row and the condition, which has the columns of its fields. */
struct condition_lookup {
	const struct condition *condition;
	const void *row;
};

static struct expr_value condition_value(const void *at, size_t field)
{
	const struct condition_lookup *lookup = at;
	struct cell cell = column__cell(lookup->condition->columns[field], lookup->row);
	struct expr_value value = { .type = condition_type(cell.kind),
				    .absent = cell.kind == CELL_NONE };

	switch (cell.kind) {
	case CELL_TEXT:
		value.text = cell.text;
		value.absent = !cell.text;
		break;
	case CELL_SIGNED: value.number = (double)(int64_t)cell.n; break;
	case CELL_COUNT:
	case CELL_NUMBER:
	case CELL_NSID:
	case CELL_TIME:
	case CELL_DURATION:
	case CELL_BYTES:
		value.is_whole = true;
		value.whole = cell.n;
		break;
	default: value.number = cell.real; break;
	}
	return value;
}

static struct condition *condition_new(const struct column *const *columns, size_t nr)
{
	struct condition *condition = calloc(1, sizeof(*condition));

	if (!condition)
		return NULL;
	condition->columns = columns;
	condition->fields = calloc(nr, sizeof(*condition->fields));
	condition->names = calloc(nr, sizeof(*condition->names));
	if (!condition->fields || !condition->names) {
		condition__free(condition);
		return NULL;
	}
	for (size_t i = 0; i < nr; i++) {
		column__name(columns[i], condition->names[i]);
		condition->fields[i].name = condition->names[i];
		condition->fields[i].type = condition_type(columns[i]->kind);
	}
	return condition;
}

/* Where the names of a condition are looked up. */
struct condition_names {
	const struct column *const *columns;
	size_t nr;
};

static int condition_find(const void *arg, const char *word, size_t len, struct expr_error *error)
{
	const struct condition_names *names = arg;
	int found = columns__find(names->columns, names->nr, word, len);
	char keys[sizeof(error->message)];

	if (found == -EEXIST)
		snprintf(
			error->message, sizeof(error->message),
			"'%.*s' is the heading of several columns: %s", (int)len, word,
			columns__keys_of(names->columns, names->nr, word, len, keys, sizeof(keys)));
	return found;
}

static struct expr *condition_expr(const char *text, const struct expr_field *fields,
				   const struct condition_names *columns, struct expr_error *error)
{
	const char *headings[OBJECT_COLUMNS];
	struct expr_names names = { condition_find, columns, headings, 0 };

	for (size_t i = 0; i < columns->nr && names.nr < OBJECT_COLUMNS; i++)
		headings[names.nr++] = columns->columns[i]->header;
	return expr__parse(text, fields, columns->nr, &names, error);
}

/* -EINVAL: the mistake is in error. */
static int condition_make(const char *text, const struct column *const *columns, size_t nr,
			  struct condition **condition, struct expr_error *error)
{
	const struct condition_names names = { columns, nr };

	*condition = condition_new(columns, nr);
	if (!*condition)
		return -ENOMEM;
	(*condition)->expr = condition_expr(text, (*condition)->fields, &names, error);
	if ((*condition)->expr)
		return 0;
	condition__free(*condition);
	*condition = NULL;
	return -EINVAL;
}

int condition__try(const char *text, const struct column *const *columns, size_t nr,
		   struct condition **condition)
{
	struct expr_error error;

	return condition_make(text, columns, nr, condition, &error);
}

int condition__parse(const char *option, const char *text, const struct column *const *columns,
		     size_t nr, struct condition **condition)
{
	struct expr_error error;
	char lines[512];
	int err;

	*condition = NULL;
	err = text ? condition_make(text, columns, nr, condition, &error) : 0;
	if (err == -ENOMEM)
		return log_err(-ENOMEM, "out of memory");
	if (!err)
		return 0;
	expr__point_at(text, &error, lines, sizeof(lines));
	return log_err_lines(-EINVAL, lines, "%s: %s", option, error.message);
}

bool condition__is_true(const struct condition *condition, const void *row)
{
	const struct condition_lookup lookup = { condition, row };

	return expr__is_true(condition->expr, condition_value, &lookup);
}

void condition__free(struct condition *condition)
{
	if (!condition)
		return;
	expr__free(condition->expr);
	free(condition->fields);
	free(condition->names);
	free(condition);
}
