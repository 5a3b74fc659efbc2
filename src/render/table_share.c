/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_share.c: lines that another process wrote for this table (-j). Lines of JSON and CSV are
 * printed as they come. Those of text stand in columns as wide as the other process needed so far:
 * wider columns are made by spaces between, where the first line that needed them has the heading.
 */
#define _GNU_SOURCE 1 /* mempcpy */
#include "base/terminal.h"
#include "render/table_inside.h"

void table__continue_in(struct table *table, FILE *out)
{
	table->out = out;
	table->heading_due = false;
}

void table__put_lines(struct table *table, const void *lines, size_t bytes)
{
	if (!bytes)
		return;
	table__hand_over(table);
	if (table->heading_due && table->format == TABLE_CSV)
		table_csv__heading(table);
	table->heading_due = false;
	fwrite_unlocked(lines, 1, bytes, table->out);
}

/* ---- text ---- */

bool table__can_share(const struct table *table)
{
	if (table->format != TABLE_TEXT)
		return true;
	for (size_t i = 0; i < table->nr; i++)
		if (table->columns[i].column->kind == CELL_ANY)
			return false;
	return table->heads_growth && table->nr <= TABLE_SHARED &&
	       !terminal__columns(fileno(table->out));
}

void table__tell_growth(struct table *table, table_growth_fn fn, void *arg)
{
	table->on_growth = fn;
	table->on_growth_arg = arg;
}

size_t table__widths(const struct table *table, uint32_t *widths)
{
	size_t nr = table->format == TABLE_TEXT ? table->nr : 0;

	for (size_t i = 0; i < nr; i++)
		widths[i] = (uint32_t)table->columns[i].width;
	return nr;
}

/* A number of bytes of a line, and spaces behind them. */
struct share_piece {
	size_t len, pad;
};

/* What makes a line of these widths one of ours; what is left of it stands behind. */
static size_t share_cut(const struct table *table, const uint32_t *widths,
			struct share_piece *pieces)
{
	size_t nr = 0, len = 0;

	for (size_t i = 0; i < table->nr; i++) {
		const struct table_column *c = &table->columns[i];
		size_t pad = c->width - widths[i];

		if (c->is_left)
			len += widths[i];
		if (pad && !(c->is_left && c->is_last)) {
			pieces[nr++] = (struct share_piece){ len, pad };
			len = 0;
		}
		len += (c->is_left ? 0 : widths[i]) + 1;
	}
	return nr;
}

static char *share_copy(struct table *table, char *at, const char *bytes, size_t len)
{
	at = table_make_room(table, at);
	if (len <= TABLE_SHORT)
		return mempcpy(at, bytes, len);
	at = table_hand_over(table, at);
	fwrite_unlocked(bytes, 1, len, table->out);
	return at;
}

static void share_put_line(struct table *table, const struct share_piece *pieces, size_t nr,
			   const char *line, const char *end)
{
	char *at = table_begin(table);

	for (size_t i = 0; i < nr; i++) {
		at = share_copy(table, at, line, pieces[i].len);
		line += pieces[i].len;
		for (size_t pad = pieces[i].pad; pad; pad--) {
			at = table_make_room(table, at);
			*at++ = ' ';
		}
	}
	table_end(table, share_copy(table, at, line, (size_t)(end - line)));
}

static void share_widen(struct table *table, const uint32_t *widths)
{
	for (size_t i = 0; i < table->nr; i++)
		table_widen(&table->columns[i], widths[i]);
	if (table->heading_due || table_text__outgrew_heading(table))
		table_text__put_heading(table);
	table->heading_due = false;
	table_text__lay_out(table);
}

void table__put_text_lines(struct table *table, const uint32_t *widths, const char *lines,
			   size_t bytes)
{
	struct share_piece pieces[TABLE_SHARED];
	const char *end = lines + bytes, *newline;
	size_t nr;

	if (!bytes)
		return;
	table__hand_over(table);
	share_widen(table, widths);
	nr = share_cut(table, widths, pieces);
	if (!nr) {
		fwrite_unlocked(lines, 1, bytes, table->out);
		return;
	}
	for (; lines < end && (newline = memchr(lines, '\n', (size_t)(end - lines)));
	     lines = newline + 1)
		share_put_line(table, pieces, nr, lines, newline + 1);
}
