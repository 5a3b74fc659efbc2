/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * column_name.c: a word means a column by its key, its key without the unit, or its heading, in
 * this order; a heading of two columns means neither.
 */
#include <errno.h>
#include "decode/column_name.h"
#include "tap.h"

static const struct column columns[] = {
	{ "lat_ns", "latency", CELL_DURATION },
	{ "size", "bytes", CELL_COUNT },
	{ "bytes", "size", CELL_BYTES },
	{ "readahead", "ahead", CELL_COUNT },
	{ "readahead_bytes", "ahead", CELL_BYTES },
	{ "p99_9_ns", "p99.9", CELL_DURATION },
	{ "wall", "wall clock", CELL_WALL },
	{ "time_s", "time", CELL_TIME },
	{ "max_ns", "lat", CELL_DURATION },
};
enum { NR = sizeof(columns) / sizeof(columns[0]) };

static const struct column *list[NR];

static void means(const char *word, int want)
{
	ok(columns__find(list, NR, word, strlen(word)) == want, "%s", word);
}

int main(void)
{
	char keys[64], name[COLUMN_NAME];

	for (size_t i = 0; i < NR; i++)
		list[i] = &columns[i];
	means("lat_ns", 0);
	means("lat", 0); /* without its unit, before the heading of another */
	means("latency", 0);
	means("size", 1); /* a key, before the heading of another */
	means("bytes", 2);
	means("readahead", 3);
	means("ahead", -EEXIST);
	means("p99.9", 5);
	means("p99_9_ns", 5);
	means("wall clock", 6);
	means("time", 7);
	means("max", 8);
	means("nonesuch", -ENOENT);
	means("", -ENOENT);
	ok(columns__find(list, NR, "latency > 1ms", 7) == 0, "a word ends where it says");
	is_str(columns__keys_of(list, NR, "ahead", 5, keys, sizeof(keys)),
	       "readahead and readahead_bytes", "a message names the keys");
	is_str(columns__keys_of(list, NR, "x", 1, keys, sizeof(keys)), "", "of none, none");
	column__name(&columns[5], name);
	is_str(name, "p99.9", "an expression has the percentile of the heading");
	return done_testing();
}
