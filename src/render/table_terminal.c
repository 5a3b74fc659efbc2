/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_terminal.c: which columns of a text fit in its terminal? Columns are left out in the order
 * of their `drop` until the rest fits. Nothing is cut: if the rest does not fit either, the
 * terminal wraps a last column of text, and that column no longer makes others go. A file or pipe
 * has all columns.
 */
#include <stdlib.h>
#include "base/log.h"
#include "base/terminal.h"
#include "render/table_inside.h"

enum {
	TERMINAL_WRAPPED =
		20, /* of a last column that is wrapped, this much is beside the others */
	TERMINAL_PATIENCE = 8, /* rows; doubled each time, so that headings do not alternate */
	TERMINAL_NAMES = 512,
};

static size_t terminal_least(const struct table_column *c)
{
	size_t header = text__width(c->column->header);

	return c->column->width > 0 && (size_t)c->column->width > header ? (size_t)c->column->width
									 : header;
}

static size_t terminal_most(const struct table_column *last)
{
	size_t least = terminal_least(last);

	return least > TERMINAL_WRAPPED ? least : TERMINAL_WRAPPED;
}

static size_t terminal_width(const struct table *table, bool wraps)
{
	const struct table_column *last = NULL, *c, *end = table->columns + table->nr_all;
	size_t width = 0;

	for (c = table->columns; c < end; c++) {
		if (c->is_hidden)
			continue;
		width += c->width + 1;
		if (!last || c->place > last->place)
			last = c;
	}
	if (wraps && last && last->is_left && last->width > terminal_most(last))
		width -= last->width - terminal_most(last);
	return width ? width - 1 : 0;
}

void table__keep_column(struct table *table, const char *name)
{
	for (size_t i = 0; i < table->nr_all; i++) {
		const struct column *column = table->columns[i].column;

		if (!strcmp(column->key, name) || !strcmp(column->header, name))
			table->columns[i].stays = true;
	}
}

void table__keep_columns(struct table *table)
{
	for (size_t i = 0; i < table->nr_all; i++)
		table->columns[i].stays = true;
}

/* NULL: all that are left stay. */
static struct table_column *terminal_next(const struct table *table)
{
	struct table_column *next = NULL, *c, *end = table->columns + table->nr_all;

	for (c = table->columns; c < end; c++)
		if (!c->is_hidden && !c->stays && c->column->drop &&
		    (!next || c->column->drop < next->column->drop))
			next = c;
	return next;
}

/* What was left out for a wider column comes back if there is room: the last one that went first.
 */
static void terminal_return(struct table *table, bool wraps)
{
	struct table_column *c, *end = table->columns + table->nr_all;
	unsigned int most = 0, rank;

	for (c = table->columns; c < end; c++)
		most = c->is_hidden && c->column->drop > most ? c->column->drop : most;
	for (rank = most; rank; rank--)
		for (c = table->columns; c < end; c++) {
			if (!c->is_hidden || c->column->drop != rank)
				continue;
			c->is_hidden = false;
			c->is_hidden = terminal_width(table, wraps) > table->limit;
		}
}

static bool terminal_fit(struct table *table, bool wraps)
{
	struct table_column *c;

	for (size_t i = 0; i < table->nr_all; i++)
		table->columns[i].is_hidden = false;
	while (table->limit && terminal_width(table, wraps) > table->limit) {
		c = terminal_next(table);
		if (!c)
			return false;
		c->is_hidden = true;
	}
	terminal_return(table, wraps);
	return true;
}

static void terminal_hide(struct table *table)
{
	if (!terminal_fit(table, false))
		terminal_fit(table, true);
}

bool table_terminal__is_outgrown(struct table *table)
{
	bool differs = false;

	terminal_hide(table);
	for (size_t i = 0; i < table->nr_all; i++)
		differs |= table->columns[i].is_hidden != (i >= table->nr);
	return differs;
}

/* Counts rows from here, for table_terminal__watch. */
static void terminal_begin_watch(struct table *table, size_t watched)
{
	table->watched = watched;
	for (size_t i = 0; i < table->nr_all; i++)
		table->columns[i].recent = 0;
}

/* In their order, those left out behind the others. */
static int terminal_compare(const void *left, const void *right)
{
	const struct table_column *a = left, *b = right;

	if (a->is_hidden != b->is_hidden)
		return a->is_hidden ? 1 : -1;
	return a->place < b->place ? -1 : 1;
}

static void terminal_arrange(struct table *table)
{
	if (table->nr == table->nr_all)
		for (size_t i = 0; i < table->nr; i++)
			table->columns[i].place = i;
	if (table_terminal__is_outgrown(table))
		terminal_begin_watch(table, 0);
	qsort(table->columns, table->nr_all, sizeof(*table->columns), terminal_compare);
	table->nr = 0;
	for (size_t i = 0; i < table->nr_all; i++) {
		table->columns[i].is_last = false;
		table->nr += !table->columns[i].is_hidden;
	}
	if (table->nr)
		table->columns[table->nr - 1].is_last = true;
}

/* The next one to name, in the order in which they go. */
static struct table_column *terminal_unnamed(const struct table *table)
{
	struct table_column *next = NULL, *c, *end = table->columns + table->nr_all;

	for (c = table->columns + table->nr; c < end; c++)
		if (!c->is_named && (!next || c->column->drop < next->column->drop))
			next = c;
	return next;
}

/* Each column once. */
static void terminal_name_hidden(struct table *table)
{
	char names[TERMINAL_NAMES] = "";
	struct table_column *c;
	const char *name;
	size_t len = 0;

	while ((c = terminal_unnamed(table))) {
		c->is_named = true;
		name = c->column->header + strspn(c->column->header, " ");
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "",
					name);
		if (len >= sizeof(names))
			break;
	}
	if (!len)
		return;
	fflush(table->out); /* the note must not stand inside a line */
	log_note_once("hidden because the terminal has %zu columns: %s (| less -S shows all)",
		      table->limit, names);
}

void table_terminal__choose(struct table *table)
{
	table->limit = terminal__columns(fileno(table->out));
	table->patience = table->patience ?: TERMINAL_PATIENCE;
	if (!table->limit && table->nr == table->nr_all)
		return;
	terminal_arrange(table);
	terminal_name_hidden(table);
}

/* ---- columns that come back ---- */

/* The last of those left out: it is the one to get back. */
static unsigned int terminal_dearest(const struct table *table)
{
	unsigned int dearest = 0;

	for (size_t i = 0; i < table->nr_all; i++)
		if (table->columns[i].is_hidden && table->columns[i].column->drop > dearest)
			dearest = table->columns[i].column->drop;
	return dearest;
}

/* Takes the widths of the last rows if they leave room for a dearer column. */
static bool terminal_narrow(struct table *table)
{
	unsigned int dearest = terminal_dearest(table);
	struct table_column *c, *end = table->columns + table->nr_all;

	for (c = table->columns; c < end; c++) {
		size_t width = c->width, least = terminal_least(c);

		c->width = c->recent > least ? c->recent : least;
		c->recent = width;
	}
	terminal_hide(table);
	if (terminal_dearest(table) < dearest)
		return true;
	for (c = table->columns; c < end; c++)
		c->width = c->recent;
	terminal_hide(table);
	return false;
}

/* The first row is the one that the last heading was made for. */
void table_terminal__watch(struct table *table, const void *row)
{
	struct table_column *c, *end = table->columns + table->nr_all;
	char buf[NUMBER_ROOM];

	if (table->is_fitted || !table->heads_growth || !table->watched++)
		return;
	for (c = table->columns; c < end; c++) {
		size_t width = text__width(cell__words(table__cell(table, c, row), buf));

		c->recent = width > c->recent ? width : c->recent;
	}
	if (table->watched <= table->patience)
		return;
	if (terminal_narrow(table)) {
		table->heading_due = true;
		table->patience *= 2;
	}
	terminal_begin_watch(table, 1);
}
