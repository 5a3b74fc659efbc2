/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.c: how does a row look as text, JSON and CSV? A line is put together in the table and
 * handed to the stream whole, or with many others: 13 columns in 150 ns. It never flushes: who owns
 * the stream knows when a reader waits, and who else writes to it. CSV lines end in LF, which cut
 * and awk expect, not in RFC 4180's CRLF.
 */
#define _GNU_SOURCE 1 /* mempcpy */
#include <stdlib.h>
#include <string.h>
#include "decode/column.h"
#include "decode/number.h"
#include "render/plain.h"

enum {
	TABLE_SHORT = 256, /* longer texts and wider columns go to the stream by themselves */
	TABLE_CELL = 3 * TABLE_SHORT + NUMBER_ROOM,
	TABLE_HELD = 16384,		/* bytes of lines that wait, at most */
	TABLE_LINE = TABLE_HELD + 4096, /* behind it there is room for one more cell */
	TABLE_STORE = 16,		/* bytes of a key that are copied at once */
};

struct table_column {
	const struct column *column;
	size_t at, len_at; /* as in column */
	enum cell_kind
		way; /* the column's kind; CELL_NONE: getter, real or wide, by the way for any */
	bool is_last;
	bool is_left;	/* in text; CELL_ANY: as its first row is */
	size_t width;	/* in text: the widest so far */
	size_t from;	/* in a line of text in which every cell fits its column: its place, */
	uint64_t below; /* and the first number that does not fit */
	char *key;	/* in JSON: ",\"p99_ns\":" */
	size_t key_len;
};

struct table {
	FILE *out;
	enum table_format format;
	size_t nr;
	bool heading_due;
	bool is_quick; /* every column can be written by its place */
	bool holds;
	size_t held; /* bytes of whole lines that wait, before the line at hand */
	struct table_column *columns;
	char *start; /* of a JSON line: "{\"type\":\"latency\"" */
	size_t start_len;
	char line[TABLE_LINE + TABLE_CELL];
};

/* ---- cells ---- */

static bool cell_is_real(enum cell_kind kind)
{
	return kind == CELL_RATE || kind == CELL_MBPS || kind == CELL_PERCENT ||
	       kind == CELL_SECONDS || kind == CELL_REAL;
}

static struct cell cell_of_number(enum cell_kind kind, uint64_t n)
{
	return (struct cell){ n == CELL_NO_NUMBER ? CELL_NONE : kind, .n = n };
}

static struct cell cell_of_real(enum cell_kind kind, double real)
{
	return (struct cell){ __builtin_isfinite(real) ? kind : CELL_NONE, .real = real };
}

static struct cell cell_of_text(const char *text)
{
	return (struct cell){ text ? CELL_TEXT : CELL_NONE, .text = text };
}

static struct cell cell_checked(struct cell cell)
{
	if (cell.kind == CELL_TEXT)
		return cell_of_text(cell.text);
	return cell_is_real(cell.kind) ? cell_of_real(cell.kind, cell.real) : cell;
}

/* What cannot be shown is nothing in every format. */
static struct cell cell_of(const struct column *column, const void *row)
{
	const void *field = (const char *)row + column->at;

	if (column->get)
		return cell_checked(column->get(row));
	if (column->kind == CELL_ANY)
		return cell_checked(*(const struct cell *)field);
	if (column->kind == CELL_TEXT)
		return cell_of_text(*(const char *const *)field);
	if (cell_is_real(column->kind))
		return cell_of_real(column->kind, *(const double *)field);
	if (column->kind == CELL_SIGNED || column->kind == CELL_NUMBER)
		return (struct cell){ column->kind, .n = *(const uint64_t *)field };
	return cell_of_number(column->kind, *(const uint64_t *)field);
}

struct cell column__cell(const struct column *column, const void *row)
{
	return cell_of(column, row);
}

static char *cell_put_signed(char *at, uint64_t n)
{
	if (n >> 63)
		*at++ = '-';
	return number__count(at, 0, n >> 63 ? -n : n);
}

/* Every kind but text, as people read it. */
static char *cell_put(char *at, struct cell cell)
{
	switch (cell.kind) {
	case CELL_COUNT:
	case CELL_NUMBER: return number__count(at, 0, cell.n);
	case CELL_DURATION: return number__duration(at, 0, cell.n);
	case CELL_BYTES: return number__bytes(at, 0, cell.n);
	case CELL_TIME: return number__time(at, 0, cell.n);
	case CELL_SIGNED: return cell_put_signed(at, cell.n);
	case CELL_RATE: return number__rate(at, 0, cell.real);
	case CELL_MBPS: return number__fixed(at, 0, cell.real, 1);
	case CELL_PERCENT: return mempcpy(number__fixed(at, 0, cell.real, 1), "%", 1);
	case CELL_SECONDS: return number__fixed(at, 0, cell.real, 3);
	case CELL_REAL: return number__exact(at, cell.real);
	default: return mempcpy(at, "-", 1);
	}
}

/* The plain number, the same in JSON and CSV. */
static char *cell_put_plain(char *at, struct cell cell)
{
	if (cell.kind == CELL_REAL)
		return number__exact(at, cell.real);
	if (cell_is_real(cell.kind))
		return number__real(at, cell.real);
	if (cell.kind == CELL_TIME)
		return number__time(at, 0, cell.n);
	if (cell.kind == CELL_SIGNED)
		return cell_put_signed(at, cell.n);
	return number__count(at, 0, cell.n);
}

/* ---- the line ---- */

/* Errors stay in the stream, for who flushes it. Nobody else has the stream while we write. */
static char *table_hand_over(struct table *table, const char *at)
{
	fwrite_unlocked(table->line, 1, (size_t)(at - table->line), table->out);
	table->held = 0;
	return table->line;
}

static inline char *table_begin(struct table *table)
{
	return table->line + table->held;
}

/* The line is whole. */
static inline void table_end(struct table *table, const char *at)
{
	table->held = (size_t)(at - table->line);
	if (!table->holds || table->held > TABLE_HELD)
		table_hand_over(table, at);
}

void table__hold(struct table *table)
{
	table->holds = true;
}

void table__hand_over(struct table *table)
{
	if (table->held)
		table_hand_over(table, table_begin(table));
}

static inline char *table_make_room(struct table *table, char *at)
{
	return at < table->line + TABLE_LINE ? at : table_hand_over(table, at);
}

static inline char *table_copy(struct table *table, char *at, const char *words, size_t len)
{
	if (len <= TABLE_STORE) {
		memcpy(at, words, TABLE_STORE);
		return at + len;
	}
	if (len <= TABLE_SHORT) {
		memcpy(at, words, len);
		return at + len;
	}
	at = table_hand_over(table, at);
	fwrite_unlocked(words, 1, len, table->out);
	return at;
}

static inline const char *table_name_at(const struct table_column *c, const void *row)
{
	return *(const char *const *)((const char *)row + c->at);
}

/* Of a text that is there. */
static inline size_t table_text_len(const struct table_column *c, const void *row, const char *text)
{
	return c->len_at ? *(const size_t *)((const char *)row + c->len_at) : strlen(text);
}

static inline uint64_t table_number_at(const struct table_column *c, const void *row)
{
	return *(const uint64_t *)((const char *)row + c->at);
}

/* ---- text ---- */

static void table_put_spaces(FILE *out, size_t nr)
{
	for (; nr; nr--)
		fputc(' ', out);
}

/* Words of any length into their column; nothing is padded at the end of a line. */
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

static const char *table_words(struct cell cell, char buf[NUMBER_ROOM])
{
	if (cell.kind == CELL_TEXT)
		return cell.text;
	*cell_put(buf, cell) = '\0';
	return buf;
}

static void table_widen(struct table_column *c, size_t width)
{
	if (width > c->width)
		c->width = width;
	if (c->width > TABLE_SHORT)
		c->way = CELL_NONE;
}

void table__fit(struct table *table, const void *row)
{
	struct table_column *c, *end = table->columns + table->nr;
	char buf[NUMBER_ROOM];

	for (c = table->columns; c < end; c++) {
		struct cell cell = cell_of(c->column, row);

		table_widen(c, text__width(table_words(cell, buf)));
		c->is_left |= c->column->kind == CELL_ANY && cell.kind == CELL_TEXT;
	}
}

/* Widened to its first row before, so that it stands over it. */
static void table_text_heading(struct table *table, const void *row)
{
	struct table_column *c, *end = table->columns + table->nr;

	table__fit(table, row);
	for (c = table->columns; c < end; c++) {
		table_put_aligned(table->out, c, c->column->header);
		fputc(c->is_last ? '\n' : ' ', table->out);
	}
}

static char *table_text_aligned(struct table_column *c, char *at, struct cell cell)
{
	char words[NUMBER_ROOM];
	size_t len = (size_t)(cell_put(words, cell) - words), pad;

	table_widen(c, len);
	pad = c->width - len;
	memset(at, ' ', pad);
	memcpy(at + pad, words, len);
	return at + c->width;
}

/* ---- text whose cells all fit: each is written in its place, without regard to others ---- */

/* The first number that may not fit. */
static uint64_t table_fits_below(const struct table_column *c)
{
	enum { BEHIND_SECONDS = 10, MOST_SECONDS = 10 };
	size_t width = c->width;
	size_t seconds = width > BEHIND_SECONDS ? width - BEHIND_SECONDS : 0;

	switch (c->way) {
	case CELL_COUNT: return width < 20 ? number_powers[width] : CELL_NO_NUMBER;
	case CELL_DURATION: return width < NUMBER_SHORT ? 0 : NUMBER_SHORT_NS;
	case CELL_TIME:
		return number_powers[seconds < MOST_SECONDS ? seconds : MOST_SECONDS] * 1000000000;
	default: return CELL_NO_NUMBER; /* number__bytes tells where it ended */
	}
}

/* Anew, whenever a column may have grown. */
static void table_lay_out(struct table *table)
{
	size_t at = 0;

	table->is_quick = table->nr;
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
	if (c->way == CELL_COUNT)
		number__write(at + width, n);
	else if (c->way == CELL_DURATION)
		number__write_duration(at + width, n);
	else if (c->way == CELL_TIME)
		number__write_time(at + width, n);
	else
		return number__bytes(at, width, n) == at + width;
	return true;
}

/* Where the line ends; NULL: something has to be escaped, or needs a wider column. */
static char *table_quick_row(struct table *table, const void *row)
{
	const struct table_column *c = table->columns, *end = c + table->nr;
	char *line = table_begin(table), *at = line;
	text_bytes odd = { 0 };
	size_t len = 0; /* of the cell at hand; nothing is padded at the end of a line */

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
	struct cell cell = cell_of(c->column, row);
	char buf[NUMBER_ROOM];
	const char *words;

	if (cell.kind != CELL_TEXT && !c->is_left && c->width <= TABLE_SHORT)
		return table_text_aligned(c, at, cell);
	words = table_words(cell, buf);
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

	if (n == CELL_NO_NUMBER)
		return table_text_any(table, c, at, row);
	if (c->way == CELL_COUNT)
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

static void table_text_row(struct table *table, const void *row)
{
	struct table_column *c = table->columns, *end = c + table->nr;
	char *at;

	if (table->heading_due) {
		table__hand_over(table);
		table_text_heading(table, row);
	} else if (table->is_quick && (at = table_quick_row(table, row))) {
		table_end(table, at);
		return;
	}
	if (c == end)
		return;
	at = table_begin(table);
	for (; c < end; c++) {
		at = table_text_cell(table, c, table_make_room(table, at), row);
		*at++ = ' ';
	}
	at[-1] = '\n';
	table_end(table, at);
	table_lay_out(table);
}

/* ---- JSON ---- */

static inline char *table_put_key(struct table *table, const struct table_column *c, char *at)
{
	return table_copy(table, at, c->key, c->key_len);
}

static __attribute__((noinline)) char *table_json_any(struct table *table,
						      const struct table_column *c, char *at,
						      const void *row)
{
	struct cell cell = cell_of(c->column, row);

	at = table_put_key(table, c, at);
	if (cell.kind == CELL_NONE)
		return mempcpy(at, "null", 4);
	if (cell.kind != CELL_TEXT)
		return cell_put_plain(at, cell);
	at = table_hand_over(table, at);
	text__put_json(table->out, cell.text);
	return at;
}

static inline char *table_json_name(struct table *table, const struct table_column *c, char *at,
				    const void *row)
{
	const char *text = table_name_at(c, row);
	size_t len = text ? table_text_len(c, row, text) : SIZE_MAX;

	char *start = table_put_key(table, c, at);

	if (len > TABLE_SHORT || !text__copy_json(start + 1, text, len))
		return table_json_any(table, c, at, row);
	*start = '"';
	start[len + 1] = '"';
	return start + len + 2;
}

static inline char *table_json_number(struct table *table, const struct table_column *c, char *at,
				      const void *row)
{
	uint64_t n = table_number_at(c, row);

	if (n == CELL_NO_NUMBER)
		return table_json_any(table, c, at, row);
	at = table_put_key(table, c, at);
	return c->way == CELL_TIME ? number__time(at, 0, n) : number__count(at, 0, n);
}

static inline char *table_json_cell(struct table *table, const struct table_column *c, char *at,
				    const void *row)
{
	if (c->way == CELL_TEXT)
		return table_json_name(table, c, at, row);
	if (c->way == CELL_NONE)
		return table_json_any(table, c, at, row);
	return table_json_number(table, c, at, row);
}

static void table_json_row(struct table *table, const void *row)
{
	struct table_column *c = table->columns, *end = c + table->nr;
	char *at = table_copy(table, table_begin(table), table->start, table->start_len);

	for (; c < end; c++)
		at = table_json_cell(table, c, table_make_room(table, at), row);
	*at++ = '}';
	*at++ = '\n';
	table_end(table, at);
}

/* ---- CSV ---- */

static void table_csv_heading(const struct table *table)
{
	for (size_t i = 0; i < table->nr; i++) {
		if (i)
			fputc(',', table->out);
		text__put_csv(table->out, table->columns[i].column->key);
	}
	fputc('\n', table->out);
}

static __attribute__((noinline)) char *table_csv_any(struct table *table,
						     const struct table_column *c, char *at,
						     const void *row)
{
	struct cell cell = cell_of(c->column, row);

	if (cell.kind == CELL_NONE)
		return at;
	if (cell.kind != CELL_TEXT)
		return cell_put_plain(at, cell);
	at = table_hand_over(table, at);
	text__put_csv(table->out, cell.text);
	return at;
}

static inline char *table_csv_name(struct table *table, const struct table_column *c, char *at,
				   const void *row)
{
	const char *text = table_name_at(c, row);
	size_t len = text ? table_text_len(c, row, text) : SIZE_MAX;

	if (len > TABLE_SHORT || !text__copy_csv(at, text, len))
		return table_csv_any(table, c, at, row);
	return at + len;
}

static inline char *table_csv_number(struct table *table, const struct table_column *c, char *at,
				     const void *row)
{
	uint64_t n = table_number_at(c, row);

	if (n == CELL_NO_NUMBER)
		return table_csv_any(table, c, at, row);
	return c->way == CELL_TIME ? number__time(at, 0, n) : number__count(at, 0, n);
}

static inline char *table_csv_cell(struct table *table, const struct table_column *c, char *at,
				   const void *row)
{
	if (c->way == CELL_TEXT)
		return table_csv_name(table, c, at, row);
	if (c->way == CELL_NONE)
		return table_csv_any(table, c, at, row);
	return table_csv_number(table, c, at, row);
}

static void table_csv_row(struct table *table, const void *row)
{
	struct table_column *c = table->columns, *end = c + table->nr;
	char *at;

	if (table->heading_due) {
		table__hand_over(table);
		table_csv_heading(table);
	}
	at = table_begin(table);
	for (; c < end; c++) {
		at = table_csv_cell(table, c, table_make_room(table, at), row);
		*at++ = ',';
	}
	at -= table->nr > 0;
	*at++ = '\n';
	table_end(table, at);
}

void table__row(struct table *table, const void *row)
{
	switch (table->format) {
	case TABLE_TEXT: table_text_row(table, row); break;
	case TABLE_JSON: table_json_row(table, row); break;
	case TABLE_CSV: table_csv_row(table, row); break;
	}
	table->heading_due = false;
}

/* ---- made and unmade ---- */

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

static enum cell_kind table_way(const struct column *column)
{
	static const bool is_quick[CELL_KINDS] = { [CELL_TEXT] = true,
						   [CELL_COUNT] = true,
						   [CELL_DURATION] = true,
						   [CELL_BYTES] = true,
						   [CELL_TIME] = true };

	return !column->get && is_quick[column->kind] ? column->kind : CELL_NONE;
}

static bool table_add_column(struct table *table, const struct column *column)
{
	struct table_column *to = &table->columns[table->nr++];

	to->column = column;
	to->at = column->at;
	to->len_at = column->len_at;
	to->way = table_way(column);
	to->is_left = column->kind == CELL_TEXT;
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
		done = table_add_column(table, columns[i]);
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
	for (size_t i = 0; i < table->nr; i++)
		free(table->columns[i].key);
	free(table->columns);
	free(table->start);
	free(table);
}

/* Only for people: a second heading would be a broken row to who reads CSV. */
void table__heading_again(struct table *table)
{
	if (table->format == TABLE_TEXT)
		table->heading_due = true;
}
