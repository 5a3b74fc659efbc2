/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_text.c: a row as text: cells aligned in columns that grow to the widest so far, under a
 * heading. A line whose cells all fit is written at fixed positions; any other line cell by cell.
 */
#include "render/plain.h"
#include "render/table_inside.h"

static void table_put_spaces(FILE *out, size_t nr)
{
	for (; nr; nr--)
		fputc(' ', out);
}

/* Aligns a text of any length in its column; no padding at the end of a line. */
static void table_put_aligned(FILE *out, const struct table_column *c, const char *words)
{
	size_t width = text__width(words);
	size_t pad = width < c->width ? c->width - width : 0;

	if (!c->is_left)
		table_put_spaces(out, pad);
	text__put_terminal(out, words);
	if (c->is_left && !c->is_last)
		table_put_spaces(out, pad);
}

static void table_fit_row(struct table *table, const void *row)
{
	struct table_column *c, *end = table->columns + table->nr;
	char buf[NUMBER_ROOM];

	for (c = table->columns; c < end; c++) {
		struct cell cell = table__cell(table, c, row);

		table_widen(c, text__width(cell__words(cell, buf)));
		c->is_left |= c->column->kind == CELL_ANY && cell.kind == CELL_TEXT;
	}
}

void table__fit(struct table *table, const void *row)
{
	table->is_fitted = true;
	table_fit_row(table, row);
}

void table_text__put_heading(struct table *table)
{
	struct table_column *c, *end;

	table_terminal__choose(table);
	end = table->columns + table->nr;
	for (c = table->columns; c < end; c++) {
		c->headed = c->width;
		table_put_aligned(table->out, c, c->column->header);
		fputc(c->is_last ? '\n' : ' ', table->out);
	}
}

static void table_text_say_growth(struct table *table)
{
	for (size_t i = 0; i < table->nr; i++)
		table->columns[i].headed = table->columns[i].width;
	table->on_growth(table->on_growth_arg);
}

/* Columns are first widened to the first row, so that the heading is aligned with it. */
static void table_text_heading(struct table *table, const void *row)
{
	table_hand_over(table, table_begin(table));
	table_fit_row(table, row);
	if (table->on_growth)
		table_text_say_growth(table);
	else
		table_text__put_heading(table);
}

/* Has a column grown that others stand behind? Then they stand beside their headings. */
bool table_text__outgrew_heading(const struct table *table)
{
	const struct table_column *c, *end = table->columns + table->nr;

	for (c = table->columns; table->heads_growth && c < end; c++)
		if (c->width > c->headed && !(c->is_last && c->is_left))
			return true;
	return false;
}

static bool table_outgrew_heading(struct table *table, const void *row)
{
	if (!table->heads_growth && !table->limit)
		return false;
	table_fit_row(table, row);
	return (table->limit && table_terminal__is_outgrown(table)) ||
	       table_text__outgrew_heading(table);
}

static char *table_text_aligned(struct table_column *c, char *at, struct cell cell)
{
	char words[NUMBER_ROOM];
	size_t len = (size_t)(cell__put(words, cell) - words), pad;

	table_widen(c, len);
	pad = c->width - len;
	memset(at, ' ', pad);
	memcpy(at + pad, words, len);
	return at + c->width;
}

/* ---- text whose cells all fit: each is written at its position, independent of others ---- */

/* The first number that may not fit. */
static uint64_t table_fits_below(const struct table_column *c)
{
	enum { BEHIND_SECONDS = 10, MOST_SECONDS = 10 };
	size_t width = c->width;
	size_t seconds = width > BEHIND_SECONDS ? width - BEHIND_SECONDS : 0;

	switch (c->way) {
	case CELL_COUNT: return width < 20 ? number_powers[width] : CELL_NO_NUMBER;
	case CELL_NSID: /* and "all" is a word */
		return width < 10 ? number_powers[width] : CELL_ALL_NAMESPACES;
	case CELL_DURATION: return width < NUMBER_SHORT ? 0 : NUMBER_SHORT_NS;
	case CELL_TIME:
		return number_powers[seconds < MOST_SECONDS ? seconds : MOST_SECONDS] * 1000000000;
	default: return CELL_NO_NUMBER; /* number__bytes tells where it ended */
	}
}

/* Computes positions again whenever a column may have grown. */
void table_text__lay_out(struct table *table)
{
	size_t at = 0;

	table->is_quick = table->nr && table->nr == table->nr_all;
	for (size_t i = 0; i < table->nr; i++) {
		struct table_column *c = &table->columns[i];

		c->from = at;
		c->below = table_fits_below(c);
		at += c->width + 1;
		table->is_quick &= c->way != CELL_NONE && at < TABLE_LINE - TABLE_HELD;
	}
}

/* False: it does not fit. */
static inline bool table_quick_number(const struct table_column *c, char *at, uint64_t n)
{
	size_t width = c->width;

	if (n >= c->below) {
		if (n != CELL_NO_NUMBER || !width)
			return false;
		at[width - 1] = '-';
		return true;
	}
	if (c->way == CELL_COUNT || c->way == CELL_NSID)
		number__write(at + width, n);
	else if (c->way == CELL_DURATION)
		number__write_duration(at + width, n);
	else if (c->way == CELL_TIME)
		number__write_time(at + width, n);
	else
		return number__bytes(at, width, n) == at + width;
	return true;
}

/* Returns the end of the line; NULL: something needs escaping or a wider column. */
static char *table_quick_row(struct table *table, const void *row)
{
	const struct table_column *c = table->columns, *end = c + table->nr;
	char *line = table_begin(table), *at = line;
	text_bytes odd = { 0 };
	size_t len = 0; /* of the current cell; no padding at the end of a line */

	memset(line, ' ', end[-1].from + end[-1].width);
	for (; c < end; c++) {
		at = line + c->from;
		len = c->width;
		if (c->way == CELL_TEXT) {
			const char *text = table_name_at(c, row);

			if (!text)
				return NULL;
			len = table_text_len(c, row, text);
			if (len > c->width)
				return NULL;
			odd |= text__copy_many(at, text, len);
		} else if (!table_quick_number(c, at, table_number_at(c, row))) {
			return NULL;
		}
	}
	at[len] = '\n';
	return text__is_plain(odd) ? at + len + 1 : NULL;
}

/* Any kind, any length, any width. */
static __attribute__((noinline)) char *table_text_any(struct table *table, struct table_column *c,
						      char *at, const void *row)
{
	struct cell cell = table__cell(table, c, row);
	char buf[NUMBER_ROOM];
	const char *words;

	if (cell.kind != CELL_TEXT && !c->is_left && c->width <= TABLE_SHORT)
		return table_text_aligned(c, at, cell);
	words = cell__words(cell, buf);
	at = table_hand_over(table, at);
	table_widen(c, text__width(words));
	table_put_aligned(table->out, c, words);
	return at;
}

static inline char *table_text_name(struct table *table, struct table_column *c, char *at,
				    const void *row)
{
	const char *text = table_name_at(c, row);
	size_t len = text ? table_text_len(c, row, text) : SIZE_MAX, width = c->width;

	if (len > TABLE_SHORT || !text__copy_terminal(at, text, len))
		return table_text_any(table, c, at, row);
	if (c->is_last || len > width) {
		table_widen(c, len);
		return at + len;
	}
	memset(at + len, ' ', 16);
	if (width - len > 16)
		memset(at + len + 16, ' ', width - len - 16);
	return at + width; /* does not wait for len: see number__end */
}

static inline char *table_text_number(struct table *table, struct table_column *c, char *at,
				      const void *row)
{
	uint64_t n = table_number_at(c, row);
	size_t width = c->width;
	char *end;

	if (n == CELL_NO_NUMBER || (n == CELL_ALL_NAMESPACES && c->way == CELL_NSID))
		return table_text_any(table, c, at, row);
	if (c->way == CELL_COUNT || c->way == CELL_NSID)
		end = number__count(at, width, n);
	else if (c->way == CELL_DURATION)
		end = number__duration(at, width, n);
	else if (c->way == CELL_BYTES)
		end = number__bytes(at, width, n);
	else
		end = number__time(at, width, n);
	if (end > at + width)
		table_widen(c, (size_t)(end - at));
	return end;
}

static inline char *table_text_cell(struct table *table, struct table_column *c, char *at,
				    const void *row)
{
	if (c->way == CELL_TEXT)
		return table_text_name(table, c, at, row);
	if (c->way == CELL_NONE)
		return table_text_any(table, c, at, row);
	return table_text_number(table, c, at, row);
}

void table_text__row(struct table *table, const void *row)
{
	struct table_column *c, *end;
	char *at;

	if (!table->heading_due && table->is_quick && (at = table_quick_row(table, row))) {
		table_end(table, at);
		return;
	}
	if (table->heading_due || table_outgrew_heading(table, row))
		table_text_heading(table, row);
	if (!table->nr)
		return;
	at = table_begin(table);
	end = table->columns + table->nr;
	for (c = table->columns; c < end; c++) {
		at = table_text_cell(table, c, table_make_room(table, at), row);
		*at++ = ' ';
	}
	at[-1] = '\n';
	table_end(table, at);
	table_text__lay_out(table);
}
