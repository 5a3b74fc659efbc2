/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/matrix.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "base/grow.h"
#include "base/text.h"

enum { MATRIX_WIDEST = 20, MATRIX_LEAST = 6 }; /* 100.0% */

struct matrix_name {
	char *name, *shown;
	size_t width;
	enum matrix_place place;
	double weight;
};

struct matrix_cell {
	bool is_there;
	double percent;
};

struct matrix_row {
	struct matrix_name name;
	struct matrix_cell *cells; /* by column; the first is the sum */
	size_t room;
};

struct matrix {
	char *corner;
	struct matrix_row *rows;
	struct matrix_name *columns; /* the first is the sum */
	size_t nr_rows, nr_columns;
};

/* ---- names ---- */

/* Its end tells more: it has the operation, and a cgroup its own name. */
static void matrix_cut(struct matrix_name *name)
{
	char *from = name->shown;

	while (text__width(from) > MATRIX_WIDEST)
		for (from++; (*from & 0xc0) == 0x80;)
			from++;
	if (from != name->shown) {
		memmove(name->shown, from, strlen(from) + 1);
		*name->shown = '~';
	}
	name->width = text__width(name->shown);
	name->width = name->width > MATRIX_LEAST ? name->width : MATRIX_LEAST;
}

static int matrix_name_init(struct matrix_name *name, const char *text, enum matrix_place place)
{
	*name = (struct matrix_name){ strdup(text), text__plain(text), .place = place };
	if (!name->name || !name->shown)
		return -ENOMEM;
	name->width = text__width(name->shown);
	return 0;
}

static void matrix_name_free(struct matrix_name *name)
{
	free(name->name);
	free(name->shown);
}

/* ---- cells ---- */

/* Victims come with all their cells, one after the other. */
static struct matrix_row *matrix_row_of(struct matrix *m, const char *name)
{
	struct matrix_row *row;

	for (size_t i = m->nr_rows; i--;)
		if (!strcmp(m->rows[i].name.name, name))
			return &m->rows[i];
	if (GROW_BY_ONE(m->rows, m->nr_rows))
		return NULL;
	row = &m->rows[m->nr_rows];
	*row = (struct matrix_row){ 0 };
	m->nr_rows++;
	return matrix_name_init(&row->name, name, MATRIX_BY_WEIGHT) ? NULL : row;
}

static struct matrix_name *matrix_column_of(struct matrix *m, const char *name,
					    enum matrix_place place)
{
	struct matrix_name *column;

	if (place == MATRIX_OTHER)
		return m->columns;
	for (size_t i = 1; i < m->nr_columns; i++)
		if (m->columns[i].place == place && !strcmp(m->columns[i].name, name))
			return &m->columns[i];
	if (GROW_BY_ONE(m->columns, m->nr_columns))
		return NULL;
	column = &m->columns[m->nr_columns++];
	if (matrix_name_init(column, name, place))
		return NULL;
	matrix_cut(column);
	return column;
}

static int matrix_make_room(struct matrix_row *row, size_t wanted)
{
	const size_t had = row->room;

	if (GROW(row->cells, row->room, wanted))
		return -ENOMEM;
	memset(row->cells + had, 0, (row->room - had) * sizeof(*row->cells));
	return 0;
}

static void matrix_cell_add(struct matrix_cell *cell, double percent)
{
	cell->is_there = true;
	cell->percent += percent;
}

int matrix__add(struct matrix *m, const char *row_name, const char *column_name,
		enum matrix_place place, double percent, double weight)
{
	struct matrix_name *column = matrix_column_of(m, column_name, place);
	struct matrix_row *row = column ? matrix_row_of(m, row_name) : NULL;
	size_t nr;

	if (!row)
		return -ENOMEM;
	nr = (size_t)(column - m->columns);
	if (matrix_make_room(row, nr + 1))
		return -ENOMEM;
	column->weight += weight;
	matrix_cell_add(&row->cells[nr], percent);
	return 0;
}

struct matrix *matrix__new(const char *corner, const char *other)
{
	struct matrix *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->corner = text__plain(corner);
	if (!m->corner || !matrix_column_of(m, other, MATRIX_BY_WEIGHT)) {
		matrix__free(m);
		return NULL;
	}
	m->columns->place = MATRIX_OTHER;
	return m;
}

void matrix__free(struct matrix *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nr_rows; i++) {
		matrix_name_free(&m->rows[i].name);
		free(m->rows[i].cells);
	}
	for (size_t i = 0; i < m->nr_columns; i++)
		matrix_name_free(&m->columns[i]);
	free(m->rows);
	free(m->columns);
	free(m->corner);
	free(m);
}

/* ---- the picture ---- */

struct matrix_order {
	size_t column;
	enum matrix_place place;
	double weight;
};

static int matrix_compare(const void *a, const void *b)
{
	const struct matrix_order *x = a, *y = b;
	int order = COMPARE(x->place, y->place);

	if (!order && x->place == MATRIX_BY_WEIGHT)
		order = COMPARE(y->weight, x->weight);
	return order ?: COMPARE(x->column, y->column);
}

static bool matrix_has_sum(const struct matrix *m)
{
	for (size_t i = 0; i < m->nr_rows; i++)
		if (m->rows[i].room && m->rows[i].cells->is_there)
			return true;
	return false;
}

static size_t matrix_row_width(const struct matrix *m)
{
	size_t width = text__width(m->corner);

	for (size_t i = 0; i < m->nr_rows; i++)
		width = m->rows[i].name.width > width ? m->rows[i].name.width : width;
	return width;
}

/* How many of the heaviest columns have room; at least one. */
static size_t matrix_fitting(const struct matrix *m, const struct matrix_order *order, size_t limit)
{
	size_t width = matrix_row_width(m), nr = 0;
	bool sum = matrix_has_sum(m);

	for (size_t i = 0; i < m->nr_columns; i++) {
		nr += order[i].place == MATRIX_BY_WEIGHT;
		if (order[i].column)
			width += 1 + m->columns[order[i].column].width;
	}
	width += sum ? 1 + m->columns->width : 0;
	while (limit && width > limit && nr > 1) {
		width -= 1 + m->columns[order[--nr].column].width;
		width += sum ? 0 : 1 + m->columns->width;
		sum = true;
	}
	return nr;
}

static void matrix_sum_up(struct matrix *m, const struct matrix_order *order, size_t from)
{
	for (size_t i = 0; i < m->nr_rows; i++) {
		struct matrix_row *row = &m->rows[i];

		for (size_t j = from; j < m->nr_columns; j++)
			if (order[j].place == MATRIX_BY_WEIGHT && order[j].column < row->room &&
			    row->cells[order[j].column].is_there)
				matrix_cell_add(row->cells, row->cells[order[j].column].percent);
	}
}

static void matrix_put_row(const struct matrix *m, const struct matrix_row *row,
			   const struct matrix_order *order, size_t fitting, FILE *out)
{
	const bool sum = matrix_has_sum(m);

	for (size_t i = 0; i < m->nr_columns; i++) {
		const size_t column = order[i].column;
		const struct matrix_name *name = &m->columns[column];

		if (column ? order[i].place == MATRIX_BY_WEIGHT && i >= fitting : !sum)
			continue;
		if (!row)
			fprintf(out, " %*s%s", (int)(name->width - text__width(name->shown)), "",
				name->shown);
		else if (column < row->room && row->cells[column].is_there)
			fprintf(out, " %*.1f%%", (int)name->width - 1, row->cells[column].percent);
		else
			fprintf(out, " %*s", (int)name->width, "-");
	}
	fputc('\n', out);
}

static void matrix_put_name(const char *name, size_t width, FILE *out)
{
	fprintf(out, "%s%*s", name, (int)(width - text__width(name)), "");
}

int matrix__print(struct matrix *m, FILE *out, size_t limit)
{
	struct matrix_order *order = calloc(m->nr_columns, sizeof(*order));
	const size_t width = matrix_row_width(m);
	size_t fitting;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < m->nr_columns; i++)
		order[i] = (struct matrix_order){ i, m->columns[i].place, m->columns[i].weight };
	qsort(order, m->nr_columns, sizeof(*order), matrix_compare);
	fitting = matrix_fitting(m, order, limit);
	matrix_sum_up(m, order, fitting);
	matrix_put_name(m->corner, width, out);
	matrix_put_row(m, NULL, order, fitting, out);
	for (size_t i = 0; i < m->nr_rows; i++) {
		matrix_put_name(m->rows[i].name.shown, width, out);
		matrix_put_row(m, &m->rows[i], order, fitting, out);
	}
	free(order);
	return 0;
}
