/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cell.c: which value does a column have in a row, and how is a number written, for people and for
 * programs? Tables write texts themselves, which need escaping.
 */
#define _GNU_SOURCE 1 /* mempcpy */
#include <string.h>
#include "decode/number.h"
#include "render/table_inside.h"

static bool cell_is_real(enum cell_kind kind)
{
	return kind == CELL_RATE || kind == CELL_MBPS || kind == CELL_PERCENT ||
	       kind == CELL_SECONDS || kind == CELL_REAL;
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

/* A value that cannot be shown is absent in every format. */
struct cell column__cell(const struct column *column, const void *row)
{
	const void *field = (const char *)row + column->at;
	uint64_t number;

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
	number = *(const uint64_t *)field;
	return (struct cell){ number == CELL_NO_NUMBER ? CELL_NONE : column->kind, .n = number };
}

static char *cell_put_signed(char *at, uint64_t n)
{
	if (n >> 63)
		*at++ = '-';
	return number__count(at, 0, n >> 63 ? -n : n);
}

char *cell__put(char *at, struct cell cell)
{
	switch (cell.kind) {
	case CELL_COUNT:
	case CELL_NUMBER: return number__count(at, 0, cell.n);
	case CELL_NSID:
		return cell.n == CELL_ALL_NAMESPACES ? mempcpy(at, "all", 3)
						     : number__count(at, 0, cell.n);
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

const char *cell__words(struct cell cell, char buf[NUMBER_ROOM])
{
	if (cell.kind == CELL_TEXT)
		return cell.text;
	*cell__put(buf, cell) = '\0';
	return buf;
}

char *cell__put_plain(char *at, struct cell cell)
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
