/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.h: values that few records differ in, each stored once, numbered in order of arrival. A row
 * is four words, compared in registers: this is half of the cost of a record. Callers that know the
 * last row compare with that one first.
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

/* The start of a row; its user may append data, initially zeros. */
struct row {
	uint64_t words[4];
};

/* Finds rows in an array of CAPTURE_BLOCK_RECORDS, which the user owns. */
struct rows {
	uint32_t nr;
	uint32_t stride; /* bytes from row to row */
	void *rows;
	/* Row number + 1. Not base/index.h: 2 bytes a cell, cleared with each block, never growing.
	 */
	uint16_t index[ROWS_INDEX];
};

static inline struct row *rows__at(const struct rows *rows, uint32_t nr)
{
	return (struct row *)((char *)rows->rows + (size_t)nr * rows->stride);
}

static inline bool row__is(const struct row *a, const struct row *b)
{
	return !((a->words[0] ^ b->words[0]) | (a->words[1] ^ b->words[1]) |
		 (a->words[2] ^ b->words[2]) | (a->words[3] ^ b->words[3]));
}

/* Its number; a new row is appended. There can be as many rows as records. */
uint32_t rows__find(struct rows *rows, struct row row);

/* A column of a table: `bits` bits of a word of its rows. Ends with an id of 0. */
struct row_field {
	uint8_t id, word, shift, bits;
};

/* Appends a column for each field. `values` has room for CAPTURE_BLOCK_RECORDS. */
void rows__encode(const struct rows *rows, const struct row_field *fields, uint64_t *values,
		  struct byte_out *out);
/* nr rows of a payload's columns, which are opened. False: they are malformed. */
bool rows__decode(struct row *rows, uint32_t nr, const struct row_field *fields,
		  struct capture_columns *columns);
/* The row numbers of nr records, from an open column. False: a row does not exist. */
bool rows__places(struct capture_column *column, uint32_t nr, uint32_t nr_rows, uint16_t *places);

static inline uint64_t row_field__mask(const struct row_field *field)
{
	return ~0ULL >> (64 - field->bits);
}

static inline void rows__clear(struct rows *rows)
{
	memset(rows->rows, 0, (size_t)rows->nr * rows->stride);
	if (rows->nr)
		memset(rows->index, 0, sizeof(rows->index));
	rows->nr = 0;
}

#endif
