/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/event_values.h"

#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/log.h"

enum {
	VALUE_TEXT = 512,      /* bytes of one value as text */
	VALUE_WIDTH_MOST = 48, /* columns: longer texts do not widen the others */
};

#define VALUE(name) offsetof(struct value_row, name)

static const struct column value_columns[] = {
	{ "event", "event", CELL_TEXT, 0, "name of the event", .at = VALUE(event) },
	{ "value", "value", CELL_TEXT, 24, "name of the value in by, of, if and show",
	  .at = VALUE(value) },
	{ "c_type", "type", CELL_TEXT, 24, "C type of the value", .at = VALUE(c_type) },
	{ "offset_bytes", "offset", CELL_COUNT, 6,
	  "offset in the record or in the struct; null: an argument", .at = VALUE(offset_bytes) },
	{ "size_bytes", "size", CELL_COUNT, 4, "size in the record or in the struct",
	  .at = VALUE(size_bytes) },
	{ 0 },
};

const struct object event_values_object = { "value", { value_columns } };

void event_values__free(struct event_values *values)
{
	while (values->nr--) {
		free((char *)values->rows[values->nr].value);
		free((char *)values->rows[values->nr].c_type);
	}
	free(values->rows);
}

static int values_add(struct event_values *values, const char *value, const char *c_type,
		      uint64_t offset, uint64_t size)
{
	struct value_row row = {
		.event = values->event,
		.value = strdup(value),
		.c_type = strdup(c_type),
		.offset_bytes = offset,
		.size_bytes = size,
	};

	if (!row.value || !row.c_type || GROW_BY_ONE(values->rows, values->nr)) {
		free((char *)row.value);
		free((char *)row.c_type);
		return log_no_memory();
	}
	values->rows[values->nr++] = row;
	return 0;
}

static int values_add_member(struct event_values *values, const struct probe_field *field,
			     const struct type *of, const char *name)
{
	bool is_pointer = field->type.kind == TYPE_POINTER;
	char value[VALUE_TEXT], c_type[VALUE_TEXT];
	struct type member;
	uint32_t offset;

	if (!type__member(of, name, &member, &offset))
		return 0;
	snprintf(value, sizeof(value), "%s%s%s", field->name, is_pointer ? "->" : ".", name);
	return values_add(values, value, type__print(&member, c_type, sizeof(c_type)), offset,
			  member.size);
}

/* Members reached by "->", or by "." in an embedded struct. */
static int values_add_members(struct event_values *values, const struct probe_field *field)
{
	struct type of =
		field->type.kind == TYPE_POINTER ? type__target(&field->type) : field->type;
	const char **names = type__member_names(&of);
	int err = 0;

	if (!names)
		return log_no_memory();
	for (size_t i = 0; !err && names[i]; i++)
		err = values_add_member(values, field, &of, names[i]);
	free(names);
	return err;
}

int event_values__add(struct event_values *values, const struct probe_field *field)
{
	char c_type[VALUE_TEXT];
	int err = values_add(values, field->name,
			     field->declared ? field->declared
					     : type__print(&field->type, c_type, sizeof(c_type)),
			     field->place == PLACE_RECORD ? field->at : CELL_NO_NUMBER,
			     field->type.size);

	if (field->type.kind != TYPE_POINTER && field->type.kind != TYPE_STRUCT)
		return err;
	return err ?: values_add_members(values, field);
}

void event_values__show(const struct event_values *values, struct table *table)
{
	for (size_t i = 0; i < values->nr; i++)
		table__row(table, &values->rows[i]);
}

void event_values__widen(int *width, const char *text)
{
	size_t columns = text__width(text);

	if (columns <= VALUE_WIDTH_MOST && (int)columns > *width)
		*width = (int)columns;
}

int event_values__tell(const struct event_values *values, FILE *out)
{
	struct column value = value_columns[1], c_type = value_columns[2];
	const struct column *const shown[] = { &value, &c_type, &value_columns[3],
					       &value_columns[4] };
	struct table *table;

	for (size_t i = 0; i < values->nr; i++) {
		event_values__widen(&value.width, values->rows[i].value);
		event_values__widen(&c_type.width, values->rows[i].c_type);
	}
	table = table__new(out, TABLE_TEXT, "value", shown, 4);
	if (!table)
		return log_no_memory();
	event_values__show(values, table);
	table__free(table);
	return 0;
}
