/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object.c: what can a command's JSON contain, and which part does a table show? A JSON Schema with
 * one alternative per type of object, made from the columns that print it. A run omits columns that
 * were not requested, so only "type" is required.
 */
#include <errno.h>
#include <string.h>
#include "decode/column.h"
#include "render/form.h"

size_t object__columns(const struct object *object, const struct column *columns[OBJECT_COLUMNS])
{
	const struct column *column;
	size_t nr = 0, i;

	for (i = 0; object->parts[i]; i++)
		for (column = object->parts[i]; column->key && nr < OBJECT_COLUMNS; column++)
			columns[nr++] = column;
	return nr;
}

size_t object__pick(const struct object *object, enum table_format format, column_shown_fn shows,
		    const void *view, const struct column *columns[OBJECT_COLUMNS])
{
	size_t nr = 0, nr_all = object__columns(object, columns);

	for (size_t i = 0; i < nr_all; i++)
		if (!(format == TABLE_TEXT ? columns[i]->not_in_text : columns[i]->only_in_text) &&
		    (!shows || shows(view, columns[i])))
			columns[nr++] = columns[i];
	return nr;
}

struct table *table__of(FILE *out, enum table_format format, const struct object *object,
			column_shown_fn shows, const void *view)
{
	const struct column *columns[OBJECT_COLUMNS];

	return table__new(out, format, object->type, columns,
			  object__pick(object, format, shows, view, columns));
}

int object__put(const struct object *object, FILE *out, enum table_format format, const void *row)
{
	struct table *table = table__of(out, format, object, NULL, NULL);

	if (!table)
		return -ENOMEM;
	table__row(table, row);
	table__free(table);
	return 0;
}

static const char *schema_type(enum cell_kind kind)
{
	switch (kind) {
	case CELL_WALL:
	case CELL_TEXT: return "[\"string\",\"null\"]";
	case CELL_SIGNED: return "[\"integer\",\"null\"]";
	case CELL_COUNT:
	case CELL_NUMBER:
	case CELL_NSID:
	case CELL_DURATION:
	case CELL_BYTES: return "[\"integer\",\"null\"],\"minimum\":0";
	case CELL_RATE:
	case CELL_MBPS:
	case CELL_PERCENT:
	case CELL_SECONDS:
	case CELL_REAL:
	case CELL_TIME: return "[\"number\",\"null\"]";
	case CELL_ANY: return "[\"string\",\"number\",\"null\"]";
	default: return "\"null\"";
	}
}

static void schema_put_column(FILE *out, const struct column *column)
{
	fputs(",\n", out);
	text__put_json(out, column->key);
	fputs(":{\"type\":", out);
	if (column->form)
		form__put_schema(out, column->form);
	else
		fputs(schema_type(column->kind), out);
	if (column->help) {
		fputs(",\"description\":", out);
		text__put_json(out, column->help);
	}
	fputc('}', out);
}

static bool schema_has(const struct column *const *columns, size_t nr, const char *key)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(columns[i]->key, key))
			return true;
	return false;
}

static void schema_put_object(FILE *out, const struct object *object)
{
	const struct column *columns[OBJECT_COLUMNS];
	size_t nr = object__columns(object, columns), i;

	fputs("{\"title\":", out);
	text__put_json(out, object->type);
	fputs(",\"type\":\"object\",\"required\":[\"type\"],\"properties\":{\n\"type\":{\"const\":",
	      out);
	text__put_json(out, object->type);
	fputc('}', out);
	for (i = 0; i < nr; i++) {
		schema_put_column(out, columns[i]);
		if (!strcmp(columns[i]->key, "time_s") && !schema_has(columns, nr, column_wall.key))
			schema_put_column(out, &column_wall); /* table__set_clock adds it */
	}
	fputs("\n}}", out);
}

void object__print_schema(FILE *out, const char *title, const struct object *const *objects)
{
	const char *gap = "";

	fputs("{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":", out);
	text__put_json(out, title);
	fputs(",\"oneOf\":[\n", out);
	for (; *objects; objects++) {
		fputs(gap, out);
		schema_put_object(out, *objects);
		gap = ",\n";
	}
	fputs("\n]}\n", out);
}
