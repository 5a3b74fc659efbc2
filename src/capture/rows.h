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

/* What a row begins with; its user may remember more behind it, which is zeros at first. */
struct row {
	uint64_t words[4];
};

/* Finds the rows of an array of CAPTURE_BLOCK_RECORDS; it is the user's. */
struct rows {
	uint32_t nr;
	uint32_t stride; /* from one to the next */
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

/* Its number; a new one is appended. As many as records fit. */
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
/* Whose they are: the rows of nr records from an open column. False: there is no such row. */
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
