/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schema.c: does --json-schema promise what -o json prints? Every object of every command goes
 * through a JSON table, and the keys of the line are compared with those of the schema, in order.
 */
#include <stdlib.h>
#include <string.h>
#include "cmd/commands.h"
#include "decode/column.h"
#include "tap.h"

enum { KEYS_SIZE = 8192, ROW_SIZE = 1 << 16 };

/* The schema as it is printed; the caller frees it. */
static char *schema_of(const char *title, const struct object *const *objects)
{
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	object__print_schema(out, title, objects);
	fclose(out);
	return text;
}

static uint64_t no_wall(const void *arg, uint64_t time_ns)
{
	(void)arg, (void)time_ns;
	return 0;
}

/* A line of this object with every column, of a row that is all zeros. */
static char *line_of(const struct object *object)
{
	const struct column *columns[OBJECT_COLUMNS];
	size_t nr = object__columns(object, columns), size = 0;
	void *row = calloc(1, ROW_SIZE);
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	struct table *table = table__new(out, TABLE_JSON, object->type, columns, nr);
	const struct table_clock clock = { .wall_ns = no_wall };

	ok(!table__set_clock(table, &clock), "%s: the clock of a run", object->type);
	table__row(table, row);
	table__free(table);
	fclose(out);
	free(row);
	return text;
}

/* "type dev count ": every word of text between the end of before and the start of after. */
static char *keys_between(const char *text, const char *before, const char *after)
{
	char *keys = calloc(1, KEYS_SIZE);
	size_t len = 0;
	const char *end;

	for (text = strstr(text, before); text; text = strstr(end, before)) {
		text += strlen(before);
		end = strstr(text, after);
		if (!end)
			break;
		len += (size_t)snprintf(keys + len, KEYS_SIZE - len, "%.*s ", (int)(end - text),
					text);
	}
	return keys;
}

/* The part of the schema about this type: up to the braces that close it. */
static char *keys_of_schema(const char *schema, const char *type)
{
	char title[64], *part, *keys;
	const char *start;

	snprintf(title, sizeof(title), "{\"title\":\"%s\",\"type\":\"object\"", type);
	start = strstr(schema, title);
	if (!start)
		return calloc(1, 1);
	part = strndup(start, (size_t)(strstr(start, "\n}}") - start));
	keys = keys_between(part, "\n\"", "\":");
	free(part);
	return keys;
}

static char *keys_of_line(const char *line)
{
	char *keys = keys_between(line, ",\"", "\":");
	char *all = calloc(1, KEYS_SIZE);

	snprintf(all, KEYS_SIZE, "%s%s", strstr(line, "{\"type\":") == line ? "type " : "", keys);
	free(keys);
	return all;
}

static void check_object(const struct object *object, const char *schema)
{
	const struct column *columns[OBJECT_COLUMNS];
	char *line = line_of(object), what[128], type[64];
	char *printed = keys_of_line(line), *promised = keys_of_schema(schema, object->type);

	snprintf(what, sizeof(what), "%s: the keys of its lines are those of its schema",
		 object->type);
	is_str(promised, printed, what);
	snprintf(type, sizeof(type), "\n\"type\":{\"const\":\"%s\"}", object->type);
	ok(strstr(schema, type) != NULL, "%s: the schema tells its type", object->type);
	ok(object__columns(object, columns) < OBJECT_COLUMNS, "%s: no column is left out",
	   object->type);
	free(promised);
	free(printed);
	free(line);
}

static void check_commands(void)
{
	char *schema;
	size_t i, j;

	for (i = 0; commands[i]; i++) {
		if (!strcmp(commands[i]->name, "serve") || !strcmp(commands[i]->name, "merge"))
			continue; /* they print no JSON */
		ok(commands[i]->objects && commands[i]->objects[0], "%s prints an object",
		   commands[i]->name);
		if (!commands[i]->objects)
			continue;
		schema = schema_of(commands[i]->name, commands[i]->objects);
		for (j = 0; commands[i]->objects[j]; j++)
			check_object(commands[i]->objects[j], schema);
		free(schema);
	}
}

/* ---- its words ---- */

static const struct column shared[] = {
	{ .key = "dev", .kind = CELL_TEXT, .help = "the device" },
	{ 0 },
};
static const struct column kinds[] = {
	{ .key = "count", .kind = CELL_COUNT },
	{ .key = "p99_ns", .kind = CELL_DURATION, .help = "99 of 100 are \"faster\"" },
	{ .key = "bytes", .kind = CELL_BYTES },
	{ .key = "iops", .kind = CELL_RATE },
	{ .key = "mb_per_s", .kind = CELL_MBPS },
	{ .key = "share", .kind = CELL_PERCENT },
	{ .key = "time_s", .kind = CELL_SECONDS },
	{ .key = "end_s", .kind = CELL_TIME },
	{ .key = "nothing", .kind = CELL_NONE },
	{ 0 },
};

static void check_words(void)
{
	static const struct object rows = { "rows", { shared, kinds } };
	static const struct object names = { "names", { shared } };
	const struct object *const objects[] = { &rows, &names, NULL };
	char *got = schema_of("test", objects);

	is_str(got,
	       "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"test\","
	       "\"oneOf\":[\n"
	       "{\"title\":\"rows\",\"type\":\"object\",\"required\":[\"type\"],\"properties\":{\n"
	       "\"type\":{\"const\":\"rows\"},\n"
	       "\"dev\":{\"type\":[\"string\",\"null\"],\"description\":\"the device\"},\n"
	       "\"count\":{\"type\":[\"integer\",\"null\"],\"minimum\":0},\n"
	       "\"p99_ns\":{\"type\":[\"integer\",\"null\"],\"minimum\":0,"
	       "\"description\":\"99 of 100 are \\\"faster\\\"\"},\n"
	       "\"bytes\":{\"type\":[\"integer\",\"null\"],\"minimum\":0},\n"
	       "\"iops\":{\"type\":[\"number\",\"null\"]},\n"
	       "\"mb_per_s\":{\"type\":[\"number\",\"null\"]},\n"
	       "\"share\":{\"type\":[\"number\",\"null\"]},\n"
	       "\"time_s\":{\"type\":[\"number\",\"null\"]},\n"
	       "\"wall\":{\"type\":[\"string\",\"null\"],\"description\":\"wall clock of "
	       "time_s, UTC, ISO 8601; null: not known\"},\n"
	       "\"end_s\":{\"type\":[\"number\",\"null\"]},\n"
	       "\"nothing\":{\"type\":\"null\"}\n"
	       "}},\n"
	       "{\"title\":\"names\",\"type\":\"object\",\"required\":[\"type\"],\"properties\":{\n"
	       "\"type\":{\"const\":\"names\"},\n"
	       "\"dev\":{\"type\":[\"string\",\"null\"],\"description\":\"the device\"}\n"
	       "}}\n"
	       "]}\n",
	       "one alternative per object, every kind of cell, help escaped");
	free(got);
}

int main(void)
{
	check_commands();
	check_words();
	return done_testing();
}
