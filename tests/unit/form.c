/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * form.c: is a joined text an array, an object or a boolean in JSON, the text itself elsewhere, and
 * no value null? Hostile elements stay one element each, and their JSON stays valid.
 */
#include <stdlib.h>
#include "decode/column.h"
#include "tap.h"

struct form_row {
	const char *text;
};

static const struct form numbers = { FORM_NUMBERS, .separator = " " };
static const struct form names = { FORM_TEXTS, .separator = ", " };
static const struct form bios = {
	FORM_OBJECTS,
	.separator = " ",
	.parts = { { "dev", ':', true }, { "sector", '+' }, { "bytes", '=' }, { "whole_ns" } },
};
static const struct form tries = {
	FORM_OBJECTS,
	.separator = " ",
	.parts = { { "lat_ns", '=' }, { "status_code" } },
};

static struct cell form_get(const void *row)
{
	return (struct cell){ CELL_TEXT, .text = ((const struct form_row *)row)->text };
}

/* The line of a row with this text between two other columns. */
static char *form_line(const struct form *form, const char *text, enum table_format format,
		       bool is_computed)
{
	static const struct column end = { "z", "z", CELL_TEXT, 0, NULL };
	const struct column value = { "x",	   "x",	 CELL_TEXT,
				      0,	   NULL, .get = is_computed ? form_get : NULL,
				      .form = form };
	const struct column *const columns[] = { &end, &value, &end };
	const struct form_row row = { text };
	size_t size = 0;
	char *line = NULL;
	FILE *out = open_memstream(&line, &size);
	struct table *table = table__new(out, format, "t", columns, 3);

	table__row(table, &row);
	table__free(table);
	fclose(out);
	return line;
}

/* The value alone: the columns beside it show the same text as a string, or null. */
static void is_json(const struct form *form, const char *text, const char *want, const char *what)
{
	for (int is_computed = 0; is_computed < 2; is_computed++) {
		char *line = form_line(form, text, TABLE_JSON, is_computed);
		char *from = strstr(line, ",\"x\":") + 5, *to = from, *next;

		while ((next = strstr(to + 1, ",\"z\":")))
			to = next;
		*to = 0;
		is_str(from, want, what);
		free(line);
	}
}

static void check_truth(void)
{
	is_json(&form_truth, "yes", "true", "yes is true");
	is_json(&form_truth, "no", "false", "no is false");
	is_json(&form_truth, NULL, "null", "no value is null");
}

static void check_texts(void)
{
	is_json(&form_list, "vfs_read;ksys_read", "[\"vfs_read\",\"ksys_read\"]", "a list");
	is_json(&form_list, "vfs_read", "[\"vfs_read\"]", "a list of one");
	is_json(&form_list, "", "[]", "an empty list");
	is_json(&form_list, NULL, "null", "no list");
	is_json(&form_list, ";a;", "[\"\",\"a\",\"\"]", "elements without a character");
	is_json(&form_list, "\"a\";b\\;\n\033;\xff;\xe2\x82;\xe2\x80\xae",
		"[\"\\\"a\\\"\",\"b\\\\\",\"\\\\x0a\\\\x1b\",\"\\\\xff\","
		"\"\\\\xe2\\\\x82\",\"\\\\xe2\\\\x80\\\\xae\"]",
		"quotes, backslashes, control characters and what is not UTF-8 are escaped");
	is_json(&form_list, "\xc3;\xa9", "[\"\\\\xc3\",\"\\\\xa9\"]",
		"a character is never put together from two elements");
	is_json(&form_list, "\xc3\xa9;</script>", "[\"\xc3\xa9\",\"</script>\"]",
		"other characters stay");
	is_json(&names, "filemap_read, a,b, shmem fault",
		"[\"filemap_read\",\"a,b\",\"shmem fault\"]", "only the whole separator separates");
}

static void check_numbers(void)
{
	is_json(&numbers, "Q2G=1200 G2S=0", "{\"Q2G\":1200,\"G2S\":0}", "numbers by name");
	is_json(&numbers, "S2N=18446744073709551615", "{\"S2N\":18446744073709551615}",
		"the largest");
	is_json(&numbers, "", "{}", "none");
	is_json(&numbers, NULL, "null", "no object");
	is_json(&numbers, "a\"=b=7 c= d e=-1", "{\"a\\\"=b\":7,\"c\":null,\"d\":null,\"e\":null}",
		"a name may hold anything but the separator, any other value is null");
}

static void check_objects(void)
{
	is_json(&tries, "812345=0x281 7=0x0",
		"[{\"lat_ns\":812345,\"status_code\":641},{\"lat_ns\":7,\"status_code\":0}]",
		"objects in their order, with decimal and hexadecimal numbers");
	is_json(&tries, "", "[]", "none");
	is_json(&tries, NULL, "null", "no array");
	is_json(&bios, "sda:8+512=99 ...",
		"[{\"dev\":\"sda\",\"sector\":8,\"bytes\":512,\"whole_ns\":99},null]",
		"what is no object is null");
	is_json(&bios, "a:b=+1\"\xff:8+512=99",
		"[{\"dev\":\"a:b=+1\\\"\\\\xff\",\"sector\":8,\"bytes\":512,\"whole_ns\":99}]",
		"a text may hold the characters that end parts");
	is_json(&bios, "sda:8+512= sda:8+=9 sda:+1=9 sda:8=9 8+512=9 sda:x+1=9 sda:1+1=0xg",
		"[null,null,null,null,null,null,null]", "a part that is missing or no number");
}

static void check_formats(void)
{
	char *line = form_line(&form_list, "a;b", TABLE_CSV, false);

	is_str(line, "z,x,z\na;b,a;b,a;b\n", "CSV has the text");
	free(line);
	line = form_line(&form_list, "a;b", TABLE_TEXT, false);
	is_str(line, "z   x   z\na;b a;b a;b\n", "text has it, too");
	free(line);
	line = form_line(&form_list, "a;b", TABLE_JSON, false);
	is_str(line, "{\"type\":\"t\",\"z\":\"a;b\",\"x\":[\"a\",\"b\"],\"z\":\"a;b\"}\n",
	       "JSON has the array between its neighbours");
	free(line);
}

static void check_schema(void)
{
	static const struct column columns[] = {
		{ "born", "", CELL_TEXT, 0, "seen", .form = &form_truth },
		{ "stack", "", CELL_TEXT, 0, NULL, .form = &form_list },
		{ "steps", "", CELL_TEXT, 0, NULL, .form = &numbers },
		{ "tries", "", CELL_TEXT, 0, NULL, .form = &tries },
		{ "dev", "", CELL_TEXT, 0, NULL },
		{ 0 },
	};
	static const struct object object = { "t", { columns } };
	const struct object *const objects[] = { &object, NULL };
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	object__print_schema(out, "test", objects);
	fclose(out);
	ok(strstr(text, "\"born\":{\"type\":[\"boolean\",\"null\"],\"description\":\"seen\"}"),
	   "schema of a boolean");
	ok(strstr(text,
		  "\"stack\":{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"string\"}}"),
	   "schema of a list");
	ok(strstr(text, "\"steps\":{\"type\":[\"object\",\"null\"],\"additionalProperties\":"
			"{\"type\":\"integer\",\"minimum\":0}}"),
	   "schema of numbers by name");
	ok(strstr(text, "\"tries\":{\"type\":[\"array\",\"null\"],\"items\":"
			"{\"type\":[\"object\",\"null\"],\"properties\":"
			"{\"lat_ns\":{\"type\":\"integer\",\"minimum\":0},"
			"\"status_code\":{\"type\":\"integer\",\"minimum\":0}}}}"),
	   "schema of objects");
	ok(strstr(text, "\"dev\":{\"type\":[\"string\",\"null\"]}"), "schema of a text");
	free(text);
}

int main(void)
{
	check_truth();
	check_texts();
	check_numbers();
	check_objects();
	check_formats();
	check_schema();
	return done_testing();
}
