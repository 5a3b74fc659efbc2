/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_inside.h: shared by the files of a table: its columns, and the line being built. Inline,
 * because each cell of each row passes through it. Other files use decode/column.h.
 */
#ifndef IOSONAR_RENDER_TABLE_INSIDE_H
#define IOSONAR_RENDER_TABLE_INSIDE_H

#include <string.h>
#include "decode/column.h"
#include "decode/number.h"

enum {
	TABLE_SHORT = 256, /* longer texts and wider columns bypass the buffer */
	TABLE_CELL = 3 * TABLE_SHORT + NUMBER_ROOM,
	TABLE_HELD = 16384,		/* maximum bytes of buffered lines */
	TABLE_LINE = TABLE_HELD + 4096, /* followed by room for one more cell */
	TABLE_STORE = 16,		/* bytes of a key that are copied at once */
};

struct table_column {
	const struct column *column;
	size_t at, len_at; /* as in column */
	enum cell_kind
		way; /* the column's kind; CELL_NONE (getter, real or wide): the general way */
	bool is_last;
	bool is_hidden; /* left out: the terminal is too narrow */
	bool stays;	/* the user chose it */
	bool is_named;	/* in a note about columns that are left out */
	size_t place;	/* in the order of the columns */
	bool is_left;	/* in text; CELL_ANY: as its first row is */
	size_t width;	/* in text: the widest so far */
	size_t headed;	/* that it had under the last heading */
	size_t recent;	/* on a terminal: the widest of the last rows */
	size_t from;	/* in a line of text in which every cell fits: its position, */
	uint64_t below; /* and the first number that does not fit */
	char *key;	/* in JSON: ",\"p99_ns\":" */
	size_t key_len;
};

struct table {
	FILE *out;
	enum table_format format;
	size_t nr;		  /* of the columns that are shown; */
	size_t nr_all;		  /* those left out come behind them */
	size_t limit;		  /* columns of the terminal; 0: no limit */
	bool is_fitted;		  /* the widest cell is known: columns that are left out stay out */
	size_t watched, patience; /* rows since columns were left out; rows to watch */
	bool heading_due;
	bool heads_growth;
	bool is_quick; /* every column can be written at its position */
	bool holds;
	size_t held; /* bytes of complete buffered lines, before the current line */
	struct table_column *columns;
	const struct column *time; /* that the clock makes wall clock of; NULL: no clock */
	struct table_clock clock;
	struct number_wall wall;
	table_growth_fn on_growth; /* instead of a heading; NULL: headings */
	void *on_growth_arg;
	char *start; /* of a JSON line: "{\"type\":\"latency\"" */
	size_t start_len;
	char line[TABLE_LINE + TABLE_CELL];
};

/* Errors stay in the stream until it is flushed. Nothing else uses the stream meanwhile. */
static inline char *table_hand_over(struct table *table, const char *at)
{
	fwrite_unlocked(table->line, 1, (size_t)(at - table->line), table->out);
	table->held = 0;
	return table->line;
}

static inline char *table_begin(struct table *table)
{
	return table->line + table->held;
}

/* The line is complete. */
static inline void table_end(struct table *table, const char *at)
{
	table->held = (size_t)(at - table->line);
	if (!table->holds || table->held > TABLE_HELD)
		table_hand_over(table, at);
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

/* The text must not be NULL. */
static inline size_t table_text_len(const struct table_column *c, const void *row, const char *text)
{
	return c->len_at ? *(const size_t *)((const char *)row + c->len_at) : strlen(text);
}

static inline uint64_t table_number_at(const struct table_column *c, const void *row)
{
	return *(const uint64_t *)((const char *)row + c->at);
}

static inline void table_widen(struct table_column *c, size_t width)
{
	if (width > c->width)
		c->width = width;
	if (c->width > TABLE_SHORT)
		c->way = CELL_NONE;
}

/* table.c: column__cell, with the table's clock. */
struct cell table__cell(struct table *table, const struct table_column *c, const void *row);
/* Writes any kind except text, in text form; returns the end. */
char *cell__put(char *at, struct cell cell);
/* Any kind as text: the text itself, or buf. */
const char *cell__words(struct cell cell, char buf[NUMBER_ROOM]);
/* The plain number, the same in JSON and CSV. */
char *cell__put_plain(char *at, struct cell cell);
/* table_terminal.c: asks for the width of the terminal, chooses columns, names those left out. */
void table_terminal__choose(struct table *table);
/* Would the columns, which may have grown, be chosen differently? */
bool table_terminal__is_outgrown(struct table *table);
/* The row is shown without some columns: if the last rows had room for more, the next row has a new
 * heading with them. */
void table_terminal__watch(struct table *table, const void *row);
/* table.c */
void table_csv__heading(const struct table *table);
/* table_text.c: the row as a line, with the heading before it if that is due. */
void table_text__row(struct table *table, const void *row);
/* Of columns whose widths are right. */
bool table_text__outgrew_heading(const struct table *table);
void table_text__put_heading(struct table *table);
void table_text__lay_out(struct table *table);

#endif
