/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * heat.c: is every command once in the grid, in the column of its time and the row of its latency,
 * however wide columns had to become? A grid that grew is compared with one that was counted anew.
 */
#include <stdlib.h>
#include "analyse/heat.h"
#include "tap.h"

static struct heat *grid(uint64_t start_ns)
{
	struct heat *h = malloc(sizeof(*h));

	if (!h)
		printf("Bail out! no memory\n");
	else
		heat__init(h, start_ns);
	return h;
}

static uint64_t cells(const struct heat *h)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < HEAT_COLUMNS; i++)
		for (uint32_t row = 0; row < HEAT_ROWS; row++)
			nr += h->columns[i].rows[row];
	return nr;
}

/* The column and row of the only command. */
static void at(const struct heat *h, uint32_t *column, uint32_t *row)
{
	for (uint32_t i = 0; i < HEAT_COLUMNS; i++)
		for (uint32_t j = 0; j < HEAT_ROWS; j++)
			if (h->columns[i].rows[j])
				*column = i, *row = j;
}

static void test_rows(void)
{
	const uint64_t values[] = {
		0, 1, 7, 8, 31, 32, 63, 64, 65, 1000, 123456, 1ULL << 30, (1ULL << 37) - 1
	};
	bool inside = true;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct heat *h = grid(0);
		uint32_t column = 0, row = 0;

		heat__add(h, 0, values[i], 0);
		at(h, &column, &row);
		inside &= heat__row_from_ns(row) <= values[i] && values[i] < heat__row_to_ns(row);
		free(h);
	}
	ok(inside, "a latency lies in its row");
	is_u64(heat__row_to_ns(HEAT_ROWS - 1), 0, "the last row has no end");
	is_u64(heat__row_from_ns(HEAT_ROWS - 1), 1ULL << HIST_TOP_BIT, "and begins at the top");
	is_u64(heat__row_from_ns(4 * 20 + 4) / heat__row_from_ns(4 * 20), 2, "four rows double it");
}

static void test_folding(void)
{
	struct heat *grown = grid(1000), *anew = grid(1000);
	uint64_t bytes = 0, max_ns = 0, longest_ns = 0;

	for (uint64_t i = 0; i < 5000; i++) {
		uint64_t lat_ns = 100 + i * 977 % 100000;

		heat__add(grown, 1000 + i * i * 40, lat_ns, i);
		longest_ns = lat_ns > longest_ns ? lat_ns : longest_ns;
	}
	is_u64(cells(grown), 5000, "every command is in one cell");
	ok(grown->nr > HEAT_COLUMNS / 2 && grown->nr <= HEAT_COLUMNS, "the columns are used");
	anew->width_ns = grown->width_ns;
	for (uint64_t i = 0; i < 5000; i++)
		heat__add(anew, 1000 + i * i * 40, 100 + i * 977 % 100000, i);
	ok(!memcmp(grown, anew, sizeof(*grown)),
	   "columns that grew are as if they had been so wide");
	for (uint32_t i = 0; i < grown->nr; i++) {
		bytes += grown->columns[i].bytes;
		max_ns = grown->columns[i].max_ns > max_ns ? grown->columns[i].max_ns : max_ns;
	}
	is_u64(bytes, 5000 * 4999 / 2, "no byte is lost");
	is_u64(max_ns, longest_ns, "nor the longest");
	free(grown);
	free(anew);
}

static void test_widen(void)
{
	struct heat *h = grid(0);

	heat__add(h, 3 * HEAT_LEAST_NS, 5, 1);
	heat__add(h, 4 * HEAT_LEAST_NS, 5, 1);
	heat__widen(h, 4 * HEAT_LEAST_NS);
	is_u64(h->width_ns, 4 * HEAT_LEAST_NS, "as wide as another");
	is_u64(h->columns[0].count, 1, "what ended before");
	is_u64(h->columns[1].count, 1, "and after");
	free(h);
}

static void test_odd_times(void)
{
	struct heat *h = grid(1000000);

	heat__add(h, 5, 1, 1);
	is_u64(h->columns[0].count, 1, "before the start: the first column");
	heat__add(h, UINT64_MAX, UINT64_MAX, 1);
	is_u64(cells(h), 2, "the end of time is a time");
	is_u64(h->columns[h->nr - 1].rows[HEAT_ROWS - 1], 1, "in the last column and row");
	free(h);
}

int main(void)
{
	test_rows();
	test_folding();
	test_widen();
	test_odd_times();
	return done_testing();
}
