/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/rows.h"

static uint32_t row_mix(const struct row *row)
{
	uint64_t hash = (row->words[0] + 3 * row->words[1]) * 0x9e3779b97f4a7c15ULL;

	hash = (hash ^ (hash >> 29) ^ row->words[2]) * 0xbf58476d1ce4e5b9ULL;
	hash = (hash ^ (hash >> 32) ^ row->words[3]) * 0x94d049bb133111ebULL;
	return (uint32_t)(hash >> 40) % ROWS_INDEX;
}

uint32_t rows__find(struct rows *rows, struct row row)
{
	uint32_t cell = row_mix(&row);
	uint16_t nr;

	while ((nr = rows->index[cell])) {
		if (row__is(rows__at(rows, nr - 1u), &row))
			return nr - 1u;
		cell = (cell + 1) % ROWS_INDEX;
	}
	*rows__at(rows, rows->nr++) = row;
	rows->index[cell] = (uint16_t)rows->nr;
	return rows->nr - 1;
}

/* Without zstd, as there are few rows. */
void rows__encode(const struct rows *rows, const struct row_field *fields, uint64_t *values,
		  struct byte_out *out)
{
	for (const struct row_field *f = fields; f->id; f++) {
		uint64_t mask = row_field__mask(f);

		for (uint32_t i = 0; i < rows->nr; i++)
			values[i] = rows__at(rows, i)->words[f->word] >> f->shift & mask;
		capture_column__encode(out, NULL, f->id, values, rows->nr);
	}
}

static void rows_decode_field(struct row *rows, uint32_t nr, const struct row_field *f,
			      struct capture_column *column)
{
	uint64_t values[CAPTURE_RUN], mask = row_field__mask(f);

	for (uint32_t from = 0; from < nr; from += CAPTURE_RUN) {
		uint32_t left = nr - from, run = left < CAPTURE_RUN ? left : CAPTURE_RUN;

		capture_column__read(column, values, run);
		for (uint32_t i = 0; i < run; i++)
			rows[from + i].words[f->word] |= (values[i] & mask) << f->shift;
	}
}

bool rows__decode(struct row *rows, uint32_t nr, const struct row_field *fields,
		  struct capture_columns *columns)
{
	memset(rows, 0, nr * sizeof(*rows));
	for (const struct row_field *f = fields; f->id; f++) {
		if (!capture_columns__open(columns, f->id, f->id + 1, nr))
			return false;
		rows_decode_field(rows, nr, f, &columns->columns[f->id]);
	}
	return true;
}

bool rows__places(struct capture_column *column, uint32_t nr, uint32_t nr_rows, uint16_t *places)
{
	uint64_t values[CAPTURE_RUN], last = 0;

	for (uint32_t from = 0; from < nr; from += CAPTURE_RUN) {
		uint32_t left = nr - from, run = left < CAPTURE_RUN ? left : CAPTURE_RUN;

		capture_column__read(column, values, run);
		for (uint32_t i = 0; i < run; i++) {
			last = values[i] > last ? values[i] : last;
			places[from + i] = (uint16_t)values[i];
		}
	}
	return last < nr_rows;
}
