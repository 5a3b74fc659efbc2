/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.c: how many lines a second does a column table print? The row is that of one plain NVMe
 * read as a trace shows it; numbers and texts change from line to line. Without words it measures
 * text, JSON and CSV; `table FORMAT LINES` prints lines only, for a profiler to count.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "decode/column.h"

struct bench_row {
	uint64_t time_ns;
	const char *dev;
	uint64_t qid, cid;
	const char *op;
	uint64_t nsid;
	const char *command;
	uint64_t bytes;
	const char *status;
	uint64_t attempts, lat_ns, pid;
	const char *comm;
};

#define FIELD(name) .at = offsetof(struct bench_row, name)

static const struct column bench_columns[] = {
	{ "time_s", "time", CELL_TIME, 12, NULL, FIELD(time_ns) },
	{ "dev", "dev", CELL_TEXT, 7, NULL, FIELD(dev) },
	{ "qid", "qid", CELL_COUNT, 3, NULL, FIELD(qid) },
	{ "cid", "cid", CELL_COUNT, 5, NULL, FIELD(cid) },
	{ "op", "op", CELL_TEXT, 8, NULL, FIELD(op) },
	{ "nsid", "nsid", CELL_COUNT, 4, NULL, FIELD(nsid) },
	{ "command", "command", CELL_TEXT, 28, NULL, FIELD(command) },
	{ "bytes", "bytes", CELL_BYTES, 6, NULL, FIELD(bytes) },
	{ "status", "status", CELL_TEXT, 2, NULL, FIELD(status) },
	{ "attempts", "try", CELL_COUNT, 3, NULL, FIELD(attempts) },
	{ "lat_ns", "latency", CELL_DURATION, 7, NULL, FIELD(lat_ns) },
	{ "pid", "pid", CELL_COUNT, 6, NULL, FIELD(pid) },
	{ "comm", "comm", CELL_TEXT, 4, NULL, FIELD(comm) },
};
enum { BENCH_COLUMNS = sizeof(bench_columns) / sizeof(bench_columns[0]) };

static const char *const bench_formats[] = { "text", "json", "csv" };

/* The next line: a little later, another place, another latency. */
static void bench_step(struct bench_row *row, uint64_t i)
{
	static const char *const commands[] = { "lba=2048 nlb=8 len=4Ki",
						"lba=1234567890 nlb=32 len=16Ki",
						"lba=987654 nlb=1 len=512",
						"lba=73400320 nlb=256 len=128Ki" };
	static const char *const comms[] = { "fio", "kworker/3:1H", "postgres", "dd" };

	row->time_ns += 183 + (i & 63);
	row->cid = (i * 7919) & 0xffff;
	row->qid = 1 + (i & 7);
	row->command = commands[i & 3];
	row->bytes = 512ULL << (i % 9);
	row->lat_ns = 8000 + i * 2654435761 % 400000;
	row->pid = 4711 + (i & 1023);
	row->comm = comms[i >> 2 & 3];
}

static void bench_print(FILE *out, enum table_format format, uint64_t nr_lines)
{
	const struct column *columns[BENCH_COLUMNS];
	struct bench_row row = {
		.dev = "nvme0n1", .op = "read", .nsid = 1, .status = "ok", .attempts = 1
	};
	struct table *table;

	for (size_t i = 0; i < BENCH_COLUMNS; i++)
		columns[i] = &bench_columns[i];
	table = table__new(out, format, "trace", columns, BENCH_COLUMNS);
	for (uint64_t i = 0; table && i < nr_lines; i++) {
		bench_step(&row, i);
		table__row(table, &row);
	}
	table__free(table);
}

static double bench_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The best of five: what others do on this machine only makes it slower. */
static void bench_measure(FILE *out, enum table_format format)
{
	enum { LINES = 1000000 };
	double best = 1e9, start, took;

	for (int i = 0; i < 5; i++) {
		start = bench_now_s();
		bench_print(out, format, LINES);
		fflush(out);
		took = bench_now_s() - start;
		best = took < best ? took : best;
	}
	printf("%-4s %6.2f million lines/s, %5.0f ns a line\n", bench_formats[format],
	       LINES / best / 1e6, best / LINES * 1e9);
}

int main(int argc, char **argv)
{
	static char buffer[1 << 16]; /* as much as a session gives its output */
	FILE *out = argc > 2 ? stdout : fopen("/dev/null", "w");

	if (!out)
		return 1;
	setvbuf(out, buffer, _IOFBF, sizeof(buffer));
	for (int format = 0; format < 3; format++) {
		if (argc <= 2)
			bench_measure(out, (enum table_format)format);
		else if (!strcmp(argv[1], bench_formats[format]))
			bench_print(out, (enum table_format)format, strtoull(argv[2], NULL, 10));
	}
	return fclose(out) ? 1 : 0;
}
