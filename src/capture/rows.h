/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.h: what few records differ in, each once, numbered in the order in which it came. A row is
 * four words, compared in registers: this is half of the cost of a record. Who knows which row it
 * was the last time asks about that one first.
 */
#ifndef IOSONAR_CAPTURE_ROWS_H
#define IOSONAR_CAPTURE_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "capture/bytes.h"
#include "capture/chunk.h"
#include "capture/column.h"

enum { ROWS_INDEX = 2 * CAPTURE_BLOCK_RECORDS }; /* cells: half of them stay empty */

struct row {
	uint64_t words[4];
};

struct rows {
	uint32_t nr;
	uint16_t index[ROWS_INDEX]; /* row number + 1 */
	struct row rows[CAPTURE_BLOCK_RECORDS];
};

static inline bool row__is(const struct row *a, const struct row *b)
{
	return !((a->words[0] ^ b->words[0]) | (a->words[1] ^ b->words[1]) |
		 (a->words[2] ^ b->words[2]) | (a->words[3] ^ b->words[3]));
}

static inline uint32_t row_mix(const struct row *row)
{
	uint64_t hash = (row->words[0] + 3 * row->words[1]) * 0x9e3779b97f4a7c15ULL;

	hash = (hash ^ (hash >> 29) ^ row->words[2]) * 0xbf58476d1ce4e5b9ULL;
	hash = (hash ^ (hash >> 32) ^ row->words[3]) * 0x94d049bb133111ebULL;
	return (uint32_t)(hash >> 40) % ROWS_INDEX;
}

/* Its number; a new one is appended. As many as records fit. */
static inline uint32_t rows__find(struct rows *rows, const struct row *row)
{
	uint32_t cell = row_mix(row);
	uint16_t nr;

	while ((nr = rows->index[cell])) {
		if (row__is(&rows->rows[nr - 1], row))
			return nr - 1u;
		cell = (cell + 1) % ROWS_INDEX;
	}
	rows->rows[rows->nr++] = *row;
	rows->index[cell] = (uint16_t)rows->nr;
	return rows->nr - 1;
}

/* The same, of a row that may be number `guess`. */
static inline uint32_t rows__find_from(struct rows *rows, const struct row *row, uint32_t guess)
{
	if (guess < rows->nr && row__is(&rows->rows[guess], row))
		return guess;
	return rows__find(rows, row);
}

/* A column of a table: so many bits of one of its rows' words. Ends with an id of 0. */
struct row_field {
	uint8_t id, word, shift, bits;
};

/* Appends a column for each field. `values` has room for CAPTURE_BLOCK_RECORDS. */
void rows__encode(const struct rows *rows, const struct row_field *fields, uint64_t *values,
		  struct byte_out *out);
/* nr rows of a payload's columns, which are opened. False: they are malformed. */
bool rows__decode(struct row *rows, uint32_t nr, const struct row_field *fields,
		  struct capture_columns *columns);
/* Whose they are: the rows of nr records from an open column. False: there is no such row. */
bool rows__places(struct capture_column *column, uint32_t nr, uint32_t nr_rows, uint16_t *places);

static inline uint64_t row_field__mask(const struct row_field *field)
{
	return ~0ULL >> (64 - field->bits);
}

static inline void rows__clear(struct rows *rows)
{
	if (rows->nr)
		memset(rows->index, 0, sizeof(rows->index));
	rows->nr = 0;
}

#endif
