/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.c: how does a row look as text, JSON and CSV? One walk over the columns per row; cells are
 * asked for once, memory is one cell and one width a column. It never flushes: who owns the stream
 * knows when a reader waits. CSV lines end in LF, which cut and awk expect, not in RFC 4180's CRLF.
 */
#include <stdlib.h>
#include <string.h>
#include "render/column.h"

enum { TABLE_NUMBER_SIZE = 352 }; /* "%.1f" of the largest double has 311 characters */

struct table {
	FILE *out;
	enum table_format format;
	const char *type;
	const struct column *const *columns;
	size_t nr;
	bool heading_due;
	struct cell *cells; /* of the row at hand */
	size_t *widths;
};

struct table *table__new(FILE *out, enum table_format format, const char *type,
			 const struct column *const *columns, size_t nr)
{
	struct table *table = calloc(1, sizeof(*table));
	size_t i;

	if (!table)
		return NULL;
	*table = (struct table){ out, format, type, columns, nr, .heading_due = true };
	table->cells = calloc(nr + 1, sizeof(*table->cells));
	table->widths = calloc(nr + 1, sizeof(*table->widths));
	if (!table->cells || !table->widths) {
		table__free(table);
		return NULL;
	}
	for (i = 0; i < nr; i++) {
		table->widths[i] = text__width(columns[i]->header);
		if (columns[i]->width > 0 && (size_t)columns[i]->width > table->widths[i])
			table->widths[i] = (size_t)columns[i]->width;
	}
	return table;
}

void table__free(struct table *table)
{
	if (!table)
		return;
	free(table->cells);
	free(table->widths);
	free(table);
}

/* Only for people: a second heading would be a broken row to who reads CSV. */
void table__heading_again(struct table *table)
{
	if (table->format == TABLE_TEXT)
		table->heading_due = true;
}

static bool cell_is_real(enum cell_kind kind)
{
	return kind == CELL_RATE || kind == CELL_MBPS || kind == CELL_PERCENT ||
	       kind == CELL_SECONDS;
}

static struct cell cell_at(const struct column *column, const void *row)
{
	const void *field = (const char *)row + column->at;
	struct cell cell = { .kind = column->kind };

	if (column->kind == CELL_TEXT)
		cell.text = *(const char *const *)field;
	else if (cell_is_real(column->kind))
		cell.real = *(const double *)field;
	else
		cell.n = *(const uint64_t *)field;
	if (cell.kind != CELL_TEXT && cell.n == CELL_NO_NUMBER)
		cell.kind = CELL_NONE; /* as a real it is not a number either */
	return cell;
}

/* What cannot be shown is nothing in every format. */
struct cell column__cell(const struct column *column, const void *row)
{
	struct cell cell = column->get ? column->get(row) : cell_at(column, row);

	if ((cell.kind == CELL_TEXT && !cell.text) ||
	    (cell_is_real(cell.kind) && !__builtin_isfinite(cell.real)))
		cell.kind = CELL_NONE;
	return cell;
}

/* Every kind but text. */
static const char *cell_words(const struct cell *cell, char *buf, size_t size)
{
	switch (cell->kind) {
	case CELL_COUNT: snprintf(buf, size, "%llu", (unsigned long long)cell->n); break;
	case CELL_DURATION: return text__duration(buf, size, cell->n);
	case CELL_BYTES: return text__bytes(buf, size, cell->n);
	case CELL_RATE: return text__rate(buf, size, cell->real);
	case CELL_MBPS: snprintf(buf, size, "%.1f", cell->real); break;
	case CELL_PERCENT: snprintf(buf, size, "%.1f%%", cell->real); break;
	case CELL_SECONDS: snprintf(buf, size, "%.3f", cell->real); break;
	default: return "-";
	}
	return buf;
}

static void table_put_spaces(FILE *out, size_t nr)
{
	for (; nr; nr--)
		fputc(' ', out);
}

/* Words of a known width into their column; nothing is padded at the end of a line. */
static void table_put_aligned(const struct table *table, size_t i, const char *words)
{
	bool is_text = table->columns[i]->kind == CELL_TEXT, is_last = i + 1 == table->nr;
	size_t width = text__width(words);
	size_t pad = width < table->widths[i] ? table->widths[i] - width : 0;

	if (!is_text)
		table_put_spaces(table->out, pad);
	text__put_terminal(table->out, words);
	if (is_text && !is_last)
		table_put_spaces(table->out, pad);
	fputs(is_last ? "\n" : " ", table->out);
}

static const char *table_words(const struct table *table, size_t i, char *buf, size_t size)
{
	const struct cell *cell = &table->cells[i];

	return cell->kind == CELL_TEXT ? cell->text : cell_words(cell, buf, size);
}

static void table_widen(struct table *table)
{
	char buf[TABLE_NUMBER_SIZE];
	size_t i, width;

	for (i = 0; i < table->nr; i++) {
		width = text__width(table_words(table, i, buf, sizeof(buf)));
		if (width > table->widths[i])
			table->widths[i] = width;
	}
}

static void table_text_row(struct table *table)
{
	char buf[TABLE_NUMBER_SIZE];
	size_t i;

	/* Before the heading, which then stands over its first row. */
	table_widen(table);
	for (i = 0; table->heading_due && i < table->nr; i++)
		table_put_aligned(table, i, table->columns[i]->header);
	for (i = 0; i < table->nr; i++)
		table_put_aligned(table, i, table_words(table, i, buf, sizeof(buf)));
}

/* Up to three decimals, no zeros at the end, no "-0". */
static void table_put_real(FILE *out, double real)
{
	char buf[64], *end;

	if (real >= 1e15 || real <= -1e15) {
		fprintf(out, "%.17g", real);
		return;
	}
	snprintf(buf, sizeof(buf), "%.3f", real);
	end = buf + strlen(buf);
	while (end[-1] == '0')
		end--;
	if (end[-1] == '.')
		end--;
	*end = '\0';
	fputs(strcmp(buf, "-0") ? buf : "0", out);
}

/* The plain number, the same in JSON and CSV. */
static void table_put_number(FILE *out, const struct cell *cell)
{
	if (cell_is_real(cell->kind))
		table_put_real(out, cell->real);
	else
		fprintf(out, "%llu", (unsigned long long)cell->n);
}

static void table_json_row(struct table *table)
{
	const struct cell *cell;
	size_t i;

	fputs("{\"type\":", table->out);
	text__put_json(table->out, table->type);
	for (i = 0; i < table->nr; i++) {
		cell = &table->cells[i];
		fputc(',', table->out);
		text__put_json(table->out, table->columns[i]->key);
		fputc(':', table->out);
		if (cell->kind == CELL_NONE)
			fputs("null", table->out);
		else if (cell->kind == CELL_TEXT)
			text__put_json(table->out, cell->text);
		else
			table_put_number(table->out, cell);
	}
	fputs("}\n", table->out);
}

static void table_csv_heading(const struct table *table)
{
	size_t i;

	for (i = 0; i < table->nr; i++) {
		if (i)
			fputc(',', table->out);
		text__put_csv(table->out, table->columns[i]->key);
	}
	fputc('\n', table->out);
}

static void table_csv_row(struct table *table)
{
	const struct cell *cell;
	size_t i;

	if (table->heading_due)
		table_csv_heading(table);
	for (i = 0; i < table->nr; i++) {
		cell = &table->cells[i];
		if (i)
			fputc(',', table->out);
		if (cell->kind == CELL_TEXT)
			text__put_csv(table->out, cell->text);
		else if (cell->kind != CELL_NONE)
			table_put_number(table->out, cell);
	}
	fputc('\n', table->out);
}

void table__row(struct table *table, const void *row)
{
	size_t i;

	for (i = 0; i < table->nr; i++)
		table->cells[i] = column__cell(table->columns[i], row);
	switch (table->format) {
	case TABLE_TEXT: table_text_row(table); break;
	case TABLE_JSON: table_json_row(table); break;
	case TABLE_CSV: table_csv_row(table); break;
	}
	table->heading_due = false;
}
