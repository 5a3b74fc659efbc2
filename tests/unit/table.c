/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.c: do text, JSON and CSV say the same of a row? One row with every kind of cell, an empty
 * one and a hostile one through all three formats, compared byte by byte.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <unistd.h>
#include "decode/column.h"
#include "tap.h"

struct test_row {
	const char *name;
	uint64_t n;
	double real;
	bool empty;
};

#define TEST_GETTER(fn, cell_kind, member, from)                              \
	static struct cell fn(const void *row)                                \
	{                                                                     \
		const struct test_row *r = row;                               \
		if (r->empty)                                                 \
			return (struct cell){ .kind = CELL_NONE };            \
		return (struct cell){ .kind = cell_kind, .member = r->from }; \
	}

TEST_GETTER(get_name, CELL_TEXT, text, name)
TEST_GETTER(get_count, CELL_COUNT, n, n)
TEST_GETTER(get_duration, CELL_DURATION, n, n)
TEST_GETTER(get_bytes, CELL_BYTES, n, n)
TEST_GETTER(get_rate, CELL_RATE, real, real)
TEST_GETTER(get_mbps, CELL_MBPS, real, real)
TEST_GETTER(get_percent, CELL_PERCENT, real, real)
TEST_GETTER(get_seconds, CELL_SECONDS, real, real)

static const struct column columns[] = {
	{ "dev", "DEV", CELL_TEXT, 6, "the device", 0, get_name },
	{ "count", "COUNT", CELL_COUNT, 0, NULL, 0, get_count },
	{ "p99_ns", "P99", CELL_DURATION, 0, "99 of 100 are \"faster\"", 0, get_duration },
	{ "size_bytes", "SIZE", CELL_BYTES, 0, NULL, 0, get_bytes },
	{ "iops", "IOPS", CELL_RATE, 0, NULL, 0, get_rate },
	{ "mb_per_s", "MB/s", CELL_MBPS, 0, NULL, 0, get_mbps },
	{ "share_percent", "SHARE", CELL_PERCENT, 0, NULL, 0, get_percent },
	{ "time_s", "TIME", CELL_SECONDS, 0, NULL, 0, get_seconds },
	{ .key = NULL },
};

static const struct test_row plain = { "vda", 12345, 12.5, false };
static const struct test_row empty = { .empty = true };
static const struct test_row hostile = { "a,\"\033\xff", UINT64_MAX, 0, false };

struct test_run {
	enum table_format format;
	const struct test_row *const *rows; /* NULL: heading again; ends with &plain */
	size_t nr_rows, nr_columns;
	bool heads_growth;
};

static void check_table(const struct test_run *run, const char *want, const char *what)
{
	const struct column *chosen[] = { &columns[0], &columns[1], &columns[2], &columns[3],
					  &columns[4], &columns[5], &columns[6], &columns[7] };
	size_t size = 0, i;
	char *got = NULL;
	FILE *out = open_memstream(&got, &size);
	struct table *table = table__new(out, run->format, "latency", chosen, run->nr_columns);

	if (run->heads_growth)
		table__head_growth(table);
	for (i = 0; i < run->nr_rows; i++) {
		if (run->rows[i])
			table__row(table, run->rows[i]);
		else
			table__heading_again(table);
	}
	table__free(table);
	fclose(out);
	is_str(got, want, what);
	free(got);
}

static const struct test_row *const three[] = { &plain, &empty, &hostile };

static void check_text(void)
{
	static const struct test_row *const again[] = { &plain, NULL, &plain };
	static const struct test_row *const grows[] = { &plain, &hostile, &plain };

	check_table(&(struct test_run){ TABLE_TEXT, three, 2, 8 },
		    "DEV    COUNT    P99   SIZE IOPS MB/s SHARE   TIME\n"
		    "vda    12345 12.3us 12.1Ki 12.5 12.5 12.5% 12.500\n"
		    "-          -      -      -    -    -     -      -\n",
		    "text of every kind of cell");
	check_table(&(struct test_run){ TABLE_TEXT, again, 3, 2 },
		    "DEV    COUNT\nvda    12345\nDEV    COUNT\nvda    12345\n", "heading again");
	check_table(&(struct test_run){ TABLE_TEXT, grows, 3, 2 },
		    "DEV    COUNT\nvda    12345\n"
		    "a,\"\\x1b\\xff 18446744073709551615\n"
		    "vda                        12345\n",
		    "a column grows to the widest cell and stays");
	check_table(&(struct test_run){ TABLE_TEXT, grows, 3, 2, true },
		    "DEV    COUNT\nvda    12345\n"
		    "DEV                        COUNT\n"
		    "a,\"\\x1b\\xff 18446744073709551615\n"
		    "vda                        12345\n",
		    "rows that come one after the other have the heading again where one grows");
	check_table(&(struct test_run){ TABLE_TEXT, three, 1, 1 }, "DEV\nvda\n",
		    "nothing is padded at the end of a line");
	check_table(&(struct test_run){ TABLE_TEXT, three, 0, 8 }, "", "no rows, no heading");
}

static void check_json(void)
{
	check_table(&(struct test_run){ TABLE_JSON, three, 3, 8 },
		    "{\"type\":\"latency\",\"dev\":\"vda\",\"count\":12345,\"p99_ns\":12345,"
		    "\"size_bytes\":12345,\"iops\":12.5,\"mb_per_s\":12.5,\"share_percent\":12.5,"
		    "\"time_s\":12.5}\n"
		    "{\"type\":\"latency\",\"dev\":null,\"count\":null,\"p99_ns\":null,"
		    "\"size_bytes\":null,\"iops\":null,\"mb_per_s\":null,\"share_percent\":null,"
		    "\"time_s\":null}\n"
		    "{\"type\":\"latency\",\"dev\":\"a,\\\"\\\\x1b\\\\xff\","
		    "\"count\":18446744073709551615,\"p99_ns\":18446744073709551615,"
		    "\"size_bytes\":18446744073709551615,\"iops\":0,\"mb_per_s\":0,"
		    "\"share_percent\":0,\"time_s\":0}\n",
		    "JSON of every kind of cell");
}

static void check_csv(void)
{
	static const struct test_row *const rows[] = { &plain, &empty, NULL, &hostile };

	check_table(&(struct test_run){ TABLE_CSV, rows, 4, 8 },
		    "dev,count,p99_ns,size_bytes,iops,mb_per_s,share_percent,time_s\n"
		    "vda,12345,12345,12345,12.5,12.5,12.5,12.5\n"
		    ",,,,,,,\n"
		    "\"a,\"\"\\x1b\\xff\",18446744073709551615,18446744073709551615,"
		    "18446744073709551615,0,0,0,0\n",
		    "CSV of every kind of cell, one heading");
}

static void check_real(double real, const char *want, const char *what)
{
	static const struct column rate = { "x", "X", CELL_RATE, 0, NULL, 0, get_rate };
	const struct column *chosen[] = { &rate };
	struct test_row row = { .real = real };
	char *got = NULL, line[64];
	size_t size = 0;
	FILE *out = open_memstream(&got, &size);
	struct table *table = table__new(out, TABLE_JSON, "t", chosen, 1);

	table__row(table, &row);
	table__free(table);
	fclose(out);
	snprintf(line, sizeof(line), "{\"type\":\"t\",\"x\":%s}\n", want);
	is_str(got, line, what);
	free(got);
}

static void check_reals(void)
{
	check_real(0.0004, "0", "too small to see");
	check_real(-0.0004, "0", "no negative nothing");
	check_real(0.0006, "0.001", "three decimals");
	check_real(100, "100", "zeros before the point stay");
	check_real(1.25, "1.25", "zeros at the end go");
	check_real(-2.5, "-2.5", "negative");
	check_real(1e300, "1.0000000000000001e+300", "large");
	check_real(__builtin_nan(""), "null", "not a number");
	check_real(__builtin_inf(), "null", "infinite");
}

/* A column without a getter reads the row itself. */
static void check_offsets(void)
{
	static const struct column name = { .key = "dev",
					    .header = "DEV",
					    .kind = CELL_TEXT,
					    .at = offsetof(struct test_row, name) };
	static const struct column n = {
		.key = "n", .header = "N", .kind = CELL_BYTES, .at = offsetof(struct test_row, n)
	};
	static const struct column real = {
		.key = "r", .header = "R", .kind = CELL_RATE, .at = offsetof(struct test_row, real)
	};
	struct test_row nameless = { .real = __builtin_nan("") };

	is_str(column__cell(&name, &plain).text, "vda", "a text by its offset");
	is_u64(column__cell(&n, &plain).n, 12345, "a number by its offset");
	ok(column__cell(&real, &plain).real == 12.5, "a real by its offset");
	ok(column__cell(&n, &plain).kind == CELL_BYTES, "of the column's kind");
	ok(column__cell(&name, &nameless).kind == CELL_NONE, "a text that is NULL is nothing");
	ok(column__cell(&real, &nameless).kind == CELL_NONE, "nor is what is not a number");
}

/* A reader of the other end of a pipe must see nothing before the owner flushes. */
static void check_no_flush(void)
{
	const struct column *chosen[] = { &columns[0] };
	FILE *out = tmpfile();
	struct table *table = table__new(out, TABLE_TEXT, "t", chosen, 1);

	table__row(table, &plain);
	is_u64((uint64_t)lseek(fileno(out), 0, SEEK_END), 0, "a row is not flushed");
	table__free(table);
	is_u64((uint64_t)lseek(fileno(out), 0, SEEK_END), 0, "nor by the end of the table");
	fclose(out);
	table__free(NULL);
}

/* ---- what does not fit the line that a table puts together ---- */

struct long_row {
	const char *name;
	uint64_t n, time_ns;
};

static const struct column long_columns[] = {
	{ "name", "NAME", CELL_TEXT, 0, NULL, offsetof(struct long_row, name), NULL },
	{ "n", "N", CELL_COUNT, 0, NULL, offsetof(struct long_row, n), NULL },
	{ "time_s", "TIME", CELL_TIME, 0, NULL, offsetof(struct long_row, time_ns), NULL },
};

/* The lines of these rows; the caller frees them. */
static char *long_lines(enum table_format format, const struct long_row *rows, size_t nr)
{
	const struct column *chosen[64];
	size_t size = 0, i;
	char *got = NULL;
	FILE *out = open_memstream(&got, &size);
	struct table *table;

	for (i = 0; i < 63; i++)
		chosen[i] = &long_columns[i % 3];
	table = table__new(out, format, "t", chosen, 63);
	for (i = 0; i < nr; i++)
		table__row(table, &rows[i]);
	table__free(table);
	fclose(out);
	return got;
}

/* What printf makes of such a row. */
static char *long_wanted(const struct long_row *row, int width)
{
	char *want = calloc(1, 1 << 20), *at = want;

	for (int i = 0; i < 21; i++)
		at += sprintf(at, "%-*s %4" PRIu64 " %12.9f%c", width, row->name, row->n,
			      (double)row->time_ns / 1e9, i < 20 ? ' ' : '\n');
	return want;
}

static void check_lengths(void)
{
	static const size_t lengths[] = { 0,  1,  2,  3,   4,	5,   6,	  7,	8,    9,
					  15, 16, 17, 255, 256, 257, 300, 4095, 4096, 9000 };
	char *name = calloc(1, 10000), *got, *want;
	bool good = true;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		const struct long_row rows[] = { { name, 1234, 12000000034 },
						 { name, 5678, 34500000000 } };
		int width = lengths[i] > 4 ? (int)lengths[i] : 4;

		memset(name, 'x', lengths[i]);
		got = long_lines(TABLE_TEXT, rows, 2);
		want = long_wanted(&rows[1], width);
		good = good && strlen(got) > strlen(want) &&
		       !strcmp(got + strlen(got) - strlen(want), want);
		free(want);
		want = long_wanted(&rows[0], width);
		good = good && strstr(got, want) == strchr(got, '\n') + 1;
		free(want);
		free(got);
	}
	ok(good, "texts of every length, lines longer than a table's own");
	free(name);
}

/* One odd byte at every place of a text of every length, in every format. */
static bool is_escaped(size_t len, size_t place, char odd)
{
	char name[40] = "", want[512], *lines, *stream = NULL;
	const struct long_row row = { name, 1, 1 };
	size_t size = 0;
	bool good = true;
	FILE *out;

	memset(name, 'x', len);
	name[place] = odd;
	for (int format = TABLE_TEXT; format <= TABLE_CSV; format++) {
		out = open_memstream(&stream, &size);
		if (format == TABLE_JSON)
			text__put_json_escaped(out, name, strlen(name));
		else if (format == TABLE_CSV)
			text__put_csv(out, name);
		else
			text__put_terminal(out, name);
		fclose(out);
		snprintf(want, sizeof(want), format == TABLE_JSON ? "\"name\":%s,\"n\":1" : "\n%s",
			 stream);
		lines = long_lines((enum table_format)format, &row, 1);
		good = good && strstr(lines, want) != NULL;
		free(lines);
		free(stream);
	}
	return good;
}

static void check_places(void)
{
	static const char odd[] = "\"\\,\n\x1f \x7e\x7f\x80\xff";
	bool good = true;

	for (size_t i = 0; i + 1 < sizeof(odd); i++)
		for (size_t len = 1; len < 36; len++)
			for (size_t place = 0; place < len; place++)
				good = good && is_escaped(len, place, odd[i]);
	ok(good, "an odd byte is found wherever it is");
}

/* ---- rows that are written by their places, against those that are worked out cell by cell ----
 */

struct twin_row {
	uint64_t time_ns;
	const char *name, *long_name;
	uint64_t count, ns, bytes;
	const char *last;
	size_t long_len;
};

#define TWIN(field) offsetof(struct twin_row, field)
#define TWIN_GETTER(fn, cell_kind, member, from)                                       \
	static struct cell fn(const void *row)                                         \
	{                                                                              \
		struct cell cell = { .kind = cell_kind,                                \
				     .member = ((const struct twin_row *)row)->from }; \
		if (cell_kind != CELL_TEXT && cell.n == CELL_NO_NUMBER)                \
			cell.kind = CELL_NONE;                                         \
		return cell;                                                           \
	}

TWIN_GETTER(twin_time, CELL_TIME, n, time_ns)
TWIN_GETTER(twin_name, CELL_TEXT, text, name)
TWIN_GETTER(twin_long_name, CELL_TEXT, text, long_name)
TWIN_GETTER(twin_count, CELL_COUNT, n, count)
TWIN_GETTER(twin_ns, CELL_DURATION, n, ns)
TWIN_GETTER(twin_bytes, CELL_BYTES, n, bytes)
TWIN_GETTER(twin_last, CELL_TEXT, text, last)

enum { TWIN_COLUMNS = 7 };
static const struct column quick_twins[] = {
	{ "time_s", "time", CELL_TIME, 12, NULL, TWIN(time_ns) },
	{ "name", "name", CELL_TEXT, 4, NULL, TWIN(name) },
	{ "long", "long", CELL_TEXT, 20, NULL, TWIN(long_name), .len_at = TWIN(long_len) },
	{ "count", "n", CELL_COUNT, 2, NULL, TWIN(count) },
	{ "lat_ns", "took", CELL_DURATION, 6, NULL, TWIN(ns) },
	{ "bytes", "bytes", CELL_BYTES, 5, NULL, TWIN(bytes) },
	{ "last", "last", CELL_TEXT, 0, NULL, TWIN(last) },
};
static const struct column slow_twins[] = {
	{ "time_s", "time", CELL_TIME, 12, NULL, 0, twin_time },
	{ "name", "name", CELL_TEXT, 4, NULL, 0, twin_name },
	{ "long", "long", CELL_TEXT, 20, NULL, 0, twin_long_name },
	{ "count", "n", CELL_COUNT, 2, NULL, 0, twin_count },
	{ "lat_ns", "took", CELL_DURATION, 6, NULL, 0, twin_ns },
	{ "bytes", "bytes", CELL_BYTES, 5, NULL, 0, twin_bytes },
	{ "last", "last", CELL_TEXT, 0, NULL, 0, twin_last },
};

static uint64_t twin_noise = 0x9e3779b97f4a7c15ULL;

static uint64_t twin_draw(uint64_t most)
{
	twin_noise ^= twin_noise << 13;
	twin_noise ^= twin_noise >> 7;
	twin_noise ^= twin_noise << 17;
	return (twin_noise >> 11) % most;
}

/* Calm for a while, so that rows are quick; now and then of any size, none, or odd. */
static uint64_t twin_number(uint64_t most)
{
	switch (twin_draw(300)) {
	case 0: return CELL_NO_NUMBER;
	case 1: return CELL_NO_NUMBER - 1;
	case 2: return twin_noise >> twin_draw(64);
	default: return twin_draw(most);
	}
}

static const char *twin_text(void)
{
	static const char *const odd[] = {
		NULL,
		"",
		"caf\xc3\xa9",
		"\x1b[2J",
		"a,\"b\"",
		"\xff",
		"a text that is longer than any before it in its column"
	};
	static const char *const calm[] = { "fio",  "dd",	    "nvme0n1",
					    "read", "kworker/3:1H", "lba=2048 nlb=8 len=4Ki" };

	return twin_draw(200) ? calm[twin_draw(6)] : odd[twin_draw(7)];
}

static struct twin_row twin_next(uint64_t now_ns)
{
	struct twin_row row = { .time_ns = twin_draw(500) ? now_ns : twin_number(1 << 30),
				.name = twin_text(),
				.long_name = twin_text(),
				.count = twin_number(100),
				.ns = twin_number(1 << 20),
				.bytes = twin_number(1 << 20),
				.last = twin_text() };

	row.long_len = row.long_name ? strlen(row.long_name) : 0;
	return row;
}

static void check_twins(enum table_format format, const char *what)
{
	const struct column *quick[TWIN_COLUMNS], *slow[TWIN_COLUMNS];
	char *got[2] = { NULL, NULL };
	size_t size[2];
	FILE *out[2] = { open_memstream(&got[0], &size[0]), open_memstream(&got[1], &size[1]) };
	struct table *table[2];

	for (int i = 0; i < TWIN_COLUMNS; i++) {
		quick[i] = &quick_twins[i];
		slow[i] = &slow_twins[i];
	}
	table[0] = table__new(out[0], format, "twin", quick, TWIN_COLUMNS);
	table[1] = table__new(out[1], format, "twin", slow, TWIN_COLUMNS);
	table__hold(table[0]);
	for (uint64_t i = 0; i < 40000; i++) {
		struct twin_row row = twin_next(i * 1000003);

		table__row(table[0], &row);
		table__row(table[1], &row);
		if (i % 777 == 776) {
			table__hand_over(table[0]);
			fprintf(out[0], "between %u\n", (unsigned int)i);
			fprintf(out[1], "between %u\n", (unsigned int)i);
			table__heading_again(table[0]);
			table__heading_again(table[1]);
		}
	}
	table__hand_over(table[0]);
	for (int i = 0; i < 2; i++) {
		table__free(table[i]);
		fclose(out[i]);
	}
	ok(size[0] == size[1] && !memcmp(got[0], got[1], size[0]), "%s", what);
	free(got[0]);
	free(got[1]);
}

/* Everyone who writes to the stream comes in turn. */
static void check_order(void)
{
	const struct column *chosen[] = { &columns[1] };
	size_t size = 0;
	char *got = NULL;
	FILE *out = open_memstream(&got, &size);
	struct table *one = table__new(out, TABLE_CSV, "one", chosen, 1);
	struct table *two = table__new(out, TABLE_JSON, "two", chosen, 1);

	fputs("a\n", out);
	table__row(one, &plain);
	table__row(two, &plain);
	fputs("b\n", out);
	table__row(one, &plain);
	table__free(one);
	table__free(two);
	fclose(out);
	is_str(got, "a\ncount\n12345\n{\"type\":\"two\",\"count\":12345}\nb\n12345\n",
	       "rows and other words keep their order");
	free(got);
}

/* ---- namespaces ---- */

struct named_row {
	uint64_t nsid, n;
	const char *text;
};

static void check_namespaces(enum table_format format, const char *want, const char *what)
{
	static const struct column of_row[] = {
		{ "nsid", "nsid", CELL_NSID, 4, NULL, offsetof(struct named_row, nsid) },
		{ "n", "n", CELL_COUNT, 0, NULL, offsetof(struct named_row, n) },
		{ "text", "text", CELL_TEXT, 4, NULL, offsetof(struct named_row, text) },
	};
	const struct named_row rows[] = {
		{ 1, 1, "a" },
		{ UINT32_MAX, 2, "longer than its heading" },
		{ 12345, 3, "b" },
		{ UINT32_MAX, 4, "c" },
		{ UINT32_MAX - 1, 5, "d" },
		{ UINT32_MAX, 6, "e" },
		{ CELL_NO_NUMBER, 7, "f" },
	};
	const struct column *chosen[] = { &of_row[0], &of_row[1], &of_row[2] };
	size_t size = 0;
	char *got = NULL;
	FILE *out = open_memstream(&got, &size);
	struct table *table = table__new(out, format, "t", chosen, 3);

	table__head_growth(table);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		table__row(table, &rows[i]);
	table__free(table);
	fclose(out);
	is_str(got, want, what);
	free(got);
}

static void check_nsids(void)
{
	check_namespaces(
		TABLE_TEXT,
		"nsid n text\n   1 1 a\n all 2 longer than its heading\n"
		" nsid n text\n12345 3 b\n  all 4 c\n"
		"      nsid n text\n4294967294 5 d\n       all 6 e\n         - 7 f\n",
		"text: the id of all namespaces is a word; the last column needs no heading");
	check_namespaces(TABLE_CSV,
			 "nsid,n,text\n1,1,a\n4294967295,2,longer than its heading\n12345,3,b\n"
			 "4294967295,4,c\n4294967294,5,d\n4294967295,6,e\n,7,f\n",
			 "CSV: it is a number");
}

/* ---- a clock ---- */

struct timed_row {
	double time_s;
	uint64_t end_ns, n;
};

static const struct column timed_columns[] = {
	{ "time_s", "time", CELL_SECONDS, 5, NULL, offsetof(struct timed_row, time_s) },
	{ "time_s", "time", CELL_TIME, 5, NULL, offsetof(struct timed_row, end_ns) },
	{ "n", "n", CELL_COUNT, 0, NULL, offsetof(struct timed_row, n) },
	{ "wall", "own", CELL_COUNT, 0, NULL, offsetof(struct timed_row, n) },
};

static uint64_t wall_of(const void *start, uint64_t time_ns)
{
	const uint64_t *start_ns = start;

	return *start_ns ? *start_ns + time_ns : 0;
}

struct timed_run {
	enum table_format format;
	bool in_text;
	uint64_t start_ns;
	int first, last; /* columns */
};

static void check_clock(const struct timed_run *run, const char *want, const char *what)
{
	const struct timed_row rows[] = { { 1.5, 1000000002, 7 }, { NAN, CELL_NO_NUMBER, 8 } };
	const struct table_clock clock = { wall_of, &run->start_ns, run->in_text };
	const struct column *chosen[] = { &timed_columns[run->first], &timed_columns[run->last] };
	size_t size = 0;
	char *got = NULL;
	FILE *out = open_memstream(&got, &size);
	struct table *table = table__new(out, run->format, "t", chosen, 2);

	ok(!table__set_clock(table, &clock), "%s: a clock", what);
	table__row(table, &rows[0]);
	table__row(table, &rows[1]);
	table__free(table);
	fclose(out);
	is_str(got, want, what);
	free(got);
}

static void check_clocks(void)
{
	const uint64_t start = 1700000000250000000; /* 2023-11-14T22:13:20.25Z */

	check_clock(
		&(struct timed_run){ TABLE_JSON, false, start, 0, 2 },
		"{\"type\":\"t\",\"time_s\":1.5,\"wall\":\"2023-11-14T22:13:21.750Z\",\"n\":7}\n"
		"{\"type\":\"t\",\"time_s\":null,\"wall\":null,\"n\":8}\n",
		"JSON: seconds have their wall clock in milliseconds");
	check_clock(&(struct timed_run){ TABLE_CSV, true, start, 1, 2 },
		    "time_s,wall,n\n1.000000002,2023-11-14T22:13:21.250000002Z,7\n,,8\n",
		    "CSV: nanoseconds have all digits");
	check_clock(&(struct timed_run){ TABLE_CSV, false, start, 2, 1 },
		    "n,time_s,wall\n7,1.000000002,2023-11-14T22:13:21.250000002Z\n8,,\n",
		    "CSV: the time may be the last column");
	check_clock(&(struct timed_run){ TABLE_JSON, false, 0, 0, 2 },
		    "{\"type\":\"t\",\"time_s\":1.5,\"wall\":null,\"n\":7}\n"
		    "{\"type\":\"t\",\"time_s\":null,\"wall\":null,\"n\":8}\n",
		    "JSON: a clock that is not known is null");
	check_clock(&(struct timed_run){ TABLE_TEXT, false, start, 0, 2 },
		    " time n\n1.500 7\n    - 8\n", "text: the time since the start");
	check_clock(&(struct timed_run){ TABLE_TEXT, true, start, 0, 2 },
		    "wall clock               n\n2023-11-14T22:13:21.750Z 7\n-                     "
		    "   8\n",
		    "text: the wall clock instead of it");
	check_clock(&(struct timed_run){ TABLE_JSON, true, start, 0, 3 },
		    "{\"type\":\"t\",\"time_s\":1.5,\"wall\":7}\n"
		    "{\"type\":\"t\",\"time_s\":null,\"wall\":8}\n",
		    "a table with a wall of its own keeps it");
}

/* A write that fails is the stream's error, and its reason is still there when it is flushed. */
static void check_failure(FILE *out, int want, const char *what)
{
	const struct column *chosen[] = { &columns[0], &columns[1] };
	struct table *table = table__new(out, TABLE_TEXT, "t", chosen, 2);

	for (int i = 0; i < 10000; i++)
		table__row(table, &plain);
	errno = 0;
	ok((fflush(out) || ferror(out)) && errno == want, "%s", what);
	table__free(table);
	__fpurge(out);
	fclose(out);
}

static void check_failures(void)
{
	FILE *full = fopen("/dev/full", "w");
	int fds[2];

	if (full)
		check_failure(full, ENOSPC, "a full disk");
	else
		ok(true, "a full disk # SKIP there is no /dev/full");
	signal(SIGPIPE, SIG_IGN);
	ok(!pipe(fds), "a pipe");
	close(fds[0]);
	check_failure(fdopen(fds[1], "w"), EPIPE, "a reader that has gone");
}

int main(void)
{
	check_text();
	check_json();
	check_csv();
	check_reals();
	check_offsets();
	check_no_flush();
	check_lengths();
	check_places();
	check_order();
	check_clocks();
	check_nsids();
	check_twins(TABLE_TEXT, "text: by places and cell by cell, held and at once, are the same");
	check_twins(TABLE_JSON, "JSON: held and at once are the same");
	check_twins(TABLE_CSV, "CSV: held and at once are the same");
	check_failures();
	return done_testing();
}
