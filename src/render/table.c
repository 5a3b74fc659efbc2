/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.c: how does a row look as text, JSON and CSV? A line is built in the table and handed to
 * the stream whole, or with many others: 13 columns in 150 ns. It never flushes: the owner of the
 * stream knows when a reader waits and what else writes to it. CSV lines end in LF, which cut and
 * awk expect, not in RFC 4180's CRLF.
 */
#define _GNU_SOURCE 1 /* mempcpy */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "render/form.h"
#include "render/plain.h"
#include "render/table_inside.h"

void table__hold(struct table *table)
{
	table->holds = true;
}

void table__head_growth(struct table *table)
{
	table->heads_growth = true;
}

void table__hand_over(struct table *table)
{
	if (table->held)
		table_hand_over(table, table_begin(table));
}

/* ---- JSON and CSV ---- */

/* Each is inlined for one format: differences are resolved at compile time. */
#define TABLE_INLINE static inline __attribute__((always_inline))

TABLE_INLINE char *table_put_key(struct table *table, const struct table_column *c, char *at,
				 enum table_format format)
{
	return format == TABLE_JSON ? table_copy(table, at, c->key, c->key_len) : at;
}

/* No value. */
TABLE_INLINE char *table_plain_none(char *at, enum table_format format)
{
	return format == TABLE_JSON ? mempcpy(at, "null", 4) : at;
}

static __attribute__((noinline)) char *table_plain_any(struct table *table,
						       const struct table_column *c, char *at,
						       const void *row)
{
	const bool is_json = table->format == TABLE_JSON;
	struct cell cell = table__cell(table, c, row);

	at = table_put_key(table, c, at, table->format);
	if (cell.kind == CELL_NONE)
		return table_plain_none(at, table->format);
	if (cell.kind != CELL_TEXT)
		return cell__put_plain(at, cell);
	at = table_hand_over(table, at);
	if (is_json && c->column->form)
		form__put(table->out, c->column->form, cell.text);
	else if (is_json)
		text__put_json_escaped(table->out, cell.text, strlen(cell.text));
	else
		text__put_csv(table->out, cell.text);
	return at;
}

TABLE_INLINE char *table_plain_name(struct table *table, const struct table_column *c, char *at,
				    const void *row, enum table_format format)
{
	const char *text = table_name_at(c, row);
	char *start = table_put_key(table, c, at, format);
	size_t len;

	if (!text)
		return table_plain_none(start, format);
	len = table_text_len(c, row, text);
	if (len > TABLE_SHORT || !(format == TABLE_JSON ? text__copy_json(start + 1, text, len)
							: text__copy_csv(start, text, len)))
		return table_plain_any(table, c, at, row);
	if (format == TABLE_CSV)
		return start + len;
	*start = '"';
	start[len + 1] = '"';
	return start + len + 2;
}

TABLE_INLINE char *table_plain_cell(struct table *table, const struct table_column *c, char *at,
				    const void *row, enum table_format format)
{
	uint64_t n;

	if (c->way == CELL_TEXT)
		return table_plain_name(table, c, at, row, format);
	if (c->way == CELL_NONE)
		return table_plain_any(table, c, at, row);
	n = table_number_at(c, row);
	at = table_put_key(table, c, at, format);
	if (n == CELL_NO_NUMBER)
		return table_plain_none(at, format);
	return c->way == CELL_TIME ? number__time(at, 0, n) : number__count(at, 0, n);
}

TABLE_INLINE char *table_plain_cells(struct table *table, char *at, const void *row,
				     enum table_format format)
{
	for (struct table_column *c = table->columns, *end = c + table->nr; c < end; c++) {
		at = table_plain_cell(table, c, table_make_room(table, at), row, format);
		if (format == TABLE_CSV)
			*at++ = ',';
	}
	return at;
}

static void table_json_row(struct table *table, const void *row)
{
	char *at = table_copy(table, table_begin(table), table->start, table->start_len);

	at = table_plain_cells(table, at, row, TABLE_JSON);
	*at++ = '}';
	*at++ = '\n';
	table_end(table, at);
}

void table_csv__heading(const struct table *table)
{
	for (size_t i = 0; i < table->nr; i++) {
		if (i)
			fputc(',', table->out);
		text__put_csv(table->out, table->columns[i].column->key);
	}
	fputc('\n', table->out);
}

static void table_csv_row(struct table *table, const void *row)
{
	char *at;

	if (table->heading_due) {
		table__hand_over(table);
		table_csv__heading(table);
	}
	at = table_plain_cells(table, table_begin(table), row, TABLE_CSV);
	at -= table->nr > 0;
	*at++ = '\n';
	table_end(table, at);
}

void table__row(struct table *table, const void *row)
{
	switch (table->format) {
	case TABLE_TEXT: table_text__row(table, row); break;
	case TABLE_JSON: table_json_row(table, row); break;
	case TABLE_CSV: table_csv_row(table, row); break;
	}
	table->heading_due = false;
	if (table->nr < table->nr_all)
		table_terminal__watch(table, row);
}

/* ---- creation and destruction ---- */

/* before, the text in quotes, after; *len bytes, and some to spare for a copy of constant length.
 */
static char *table_quoted(const char *before, const char *text, const char *after, size_t *len)
{
	char *words = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&words, &size);

	if (!out)
		return NULL;
	fputs(before, out);
	text__put_json(out, text);
	fputs(after, out);
	*len = (size_t)ftell(out);
	for (int i = 0; i < TABLE_STORE; i++)
		fputc(0, out);
	if (!fclose(out))
		return words;
	free(words);
	return NULL;
}

static enum cell_kind table_way(const struct column *column, enum table_format format)
{
	static const bool is_quick[CELL_KINDS] = {
		[CELL_TEXT] = true,	[CELL_COUNT] = true, [CELL_NSID] = true,
		[CELL_DURATION] = true, [CELL_BYTES] = true, [CELL_TIME] = true
	};

	if (column->form && format == TABLE_JSON)
		return CELL_NONE;
	return !column->get && is_quick[column->kind] ? column->kind : CELL_NONE;
}

static void table_clear_column(struct table_column *column)
{
	free(column->key);
	*column = (struct table_column){ 0 };
}

static bool table_fill_column(struct table_column *to, const struct column *column,
			      enum table_format format)
{
	to->column = column;
	to->at = column->at;
	to->len_at = column->len_at;
	to->way = table_way(column, format);
	to->is_left = column->kind == CELL_TEXT || column->kind == CELL_WALL;
	table_widen(to, text__width(column->header));
	table_widen(to, column->width > 0 ? (size_t)column->width : 0);
	to->key = table_quoted(",", column->key, ":", &to->key_len);
	if (to->key_len > TABLE_SHORT)
		to->way = CELL_NONE;
	return to->key != NULL;
}

struct table *table__new(FILE *out, enum table_format format, const char *type,
			 const struct column *const *columns, size_t nr)
{
	struct table *table = calloc(1, sizeof(*table));
	bool done;

	if (!table)
		return NULL;
	table->out = out;
	table->format = format;
	table->heading_due = true;
	table->start = table_quoted("{\"type\":", type, "", &table->start_len);
	table->columns = calloc(nr + 1, sizeof(*table->columns));
	done = table->start && table->columns;
	for (size_t i = 0; done && i < nr; i++)
		done = table_fill_column(&table->columns[table->nr_all++], columns[i], format);
	table->nr = table->nr_all;
	if (!done) {
		table__free(table);
		return NULL;
	}
	if (nr)
		table->columns[nr - 1].is_last = true;
	return table;
}

void table__free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->nr_all; i++)
		table_clear_column(&table->columns[i]);
	free(table->columns);
	free(table->start);
	free(table);
}

/* ---- the clock ---- */

const struct column column_wall = { "wall", "wall clock", CELL_WALL, 0,
				    "wall clock of time_s, UTC, ISO 8601; null: not known" };

/* The place of the column; nr: there is none. */
static size_t table_find(const struct table *table, const char *key)
{
	size_t i = 0;

	while (i < table->nr && strcmp(table->columns[i].column->key, key))
		i++;
	return i;
}

/* table__new leaves room for one more. */
static void table_open_gap(struct table *table, size_t at)
{
	memmove(&table->columns[at + 1], &table->columns[at],
		(table->nr - at) * sizeof(*table->columns));
	memset(&table->columns[at], 0, sizeof(*table->columns));
	table->nr = ++table->nr_all;
}

int table__set_clock(struct table *table, const struct table_clock *clock)
{
	const bool is_text = table->format == TABLE_TEXT;
	size_t at = table_find(table, "time_s");

	if (at == table->nr || table_find(table, column_wall.key) < table->nr ||
	    (is_text && !clock->in_text))
		return 0;
	table->time = table->columns[at].column;
	table->clock = *clock;
	if (is_text)
		table_clear_column(&table->columns[at]);
	else
		table_open_gap(table, ++at);
	if (!table_fill_column(&table->columns[at], &column_wall, table->format))
		return -ENOMEM;
	table->columns[table->nr - 1].is_last = true;
	if (table->nr > 1)
		table->columns[table->nr - 2].is_last = false;
	return 0;
}

/* Only in text: a second heading would be a broken row in CSV. */
void table__heading_again(struct table *table)
{
	if (table->format == TABLE_TEXT)
		table->heading_due = true;
}
