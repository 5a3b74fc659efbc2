/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/interval.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "session/io_source.h"
#include "view/latency_rows.h"
#include "view/report_whole.h"

/* ---- rows ---- */

/* How the interval went, on all devices. */
struct interval_row {
	const char *run;
	uint64_t number;
	double time_s, interval_s, keep_s;
	uint64_t begin_ns, end_ns, in_flight, oldest_ns, failed, retries, lost;
};

#define FIELD(name) offsetof(struct interval_row, name)
static const struct column interval_columns[] = {
	{ "run", "run", CELL_TEXT, 0, "the run: another one after a restart", .at = FIELD(run) },
	{ "number", "number", CELL_NUMBER, 0, "of the interval", .at = FIELD(number) },
	{ "time_s", "time", CELL_SECONDS, 0, "end of the interval, since the start",
	  .at = FIELD(time_s) },
	{ "interval_s", "seconds", CELL_SECONDS, 0, "its length", .at = FIELD(interval_s) },
	{ "begin_ns", "begin", CELL_NUMBER, 0, "its begin, since the start",
	  .at = FIELD(begin_ns) },
	{ "end_ns", "end", CELL_NUMBER, 0, "its end, since the start", .at = FIELD(end_ns) },
	{ "keep_s", "keep", CELL_SECONDS, 0, "--keep; 0: there is no recorder",
	  .at = FIELD(keep_s) },
	{ "in_flight", "in flight", CELL_NUMBER, 0, "commands in flight at its end",
	  .at = FIELD(in_flight) },
	{ "oldest_ns", "oldest", CELL_DURATION, 0, "age of the oldest of these",
	  .at = FIELD(oldest_ns) },
	{ "failed", "failed", CELL_NUMBER, 0, "commands that failed in it", .at = FIELD(failed) },
	{ "retries", "retries", CELL_NUMBER, 0, "attempts after the first one, in it",
	  .at = FIELD(retries) },
	{ "lost", "lost", CELL_NUMBER, 0, "losses of the run so far", .at = FIELD(lost) },
	{ 0 },
};
#undef FIELD

/* A device, or all of them: as a row of `latency`, with its cells. */
struct interval_device_row {
	struct latency_row row;
	const char *cells;
	uint64_t untimed;
};

static const struct column interval_dev_columns[] = {
	{ "dev", "dev", CELL_TEXT, 0, "device; null: all of them",
	  .at = offsetof(struct interval_device_row, row.dev) },
	{ 0 },
};
static const struct form interval_cells = { .kind = FORM_NUMBERS, .separator = " " };
static const struct column interval_cell_columns[] = {
	{ "cells", "cells", CELL_TEXT, 0, "commands by the lowest latency of their cell, in ns",
	  .at = offsetof(struct interval_device_row, cells), .form = &interval_cells },
	{ "untimed", "untimed", CELL_NUMBER, 0, "commands that were only counted; see --budget",
	  .at = offsetof(struct interval_device_row, untimed) },
	{ 0 },
};

const struct object interval_object = { "interval", { interval_columns } };
const struct object interval_device = { "device",
					{ latency_span_columns, interval_dev_columns,
					  latency_measured_columns, interval_cell_columns } };

static double interval_seconds(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0;
}

static void interval_measure(struct latency_row *row, struct hist *hist, double seconds)
{
	hist__mend_max(hist);
	latency_row__measure(row, hist, seconds);
	latency_row__measure_percentiles(row, hist);
}

/* "1024=5 1280=1": by the first ns of each cell; the lowest one begins at 0. */
static void interval_fill_cells(struct interval *v, const struct hist *hist)
{
	struct openmetrics_histogram counts = { .sum = 0 };
	size_t len = 0;

	edges__count(&v->edges, hist, &counts);
	v->cells[0] = 0;
	for (size_t i = 0; i <= v->edges.bounds.nr && len < sizeof(v->cells); i++)
		if (counts.buckets[i])
			len += (size_t)snprintf(v->cells + len, sizeof(v->cells) - len,
						"%s%" PRIu64 "=%" PRIu64, len ? " " : "",
						i ? v->edges.least[i - 1] + 1 : 0,
						counts.buckets[i]);
}

/* ---- the interval ---- */

void interval__init(struct interval *v)
{
	edges__init(&v->edges, EDGES_PER_OCTAVE);
}

void interval__start(struct interval *v, uint64_t now_ns, uint64_t wall_ns)
{
	snprintf(v->run, sizeof(v->run), "%" PRIx64, wall_ns);
	v->start_ns = v->last_ns = now_ns;
}

static int interval_put_whole(struct interval *v, const struct reading *r, uint64_t now_ns,
			      FILE *out)
{
	const struct interval_row row = {
		.run = v->run,
		.number = v->number,
		.time_s = interval_seconds(v->start_ns, now_ns),
		.interval_s = interval_seconds(v->last_ns, now_ns),
		.keep_s = (double)v->kept_ns / 1e9,
		.begin_ns = v->last_ns - v->start_ns,
		.end_ns = now_ns - v->start_ns,
		.in_flight = r->shown.in_flight,
		.oldest_ns = r->shown.oldest_ns,
		.failed = r->shown.failed - v->before.failed,
		.retries = r->shown.retries - v->before.retries,
		.lost = ledger__lost(&r->shown),
	};

	return object__put(&interval_object, out, TABLE_JSON, &row);
}

static int interval_put_device(struct interval *v, const struct reading *r,
			       const struct io_tags *tags, struct hist *hist, uint64_t now_ns,
			       FILE *out)
{
	struct interval_device_row row = {
		.row = { .span = "interval", .time_s = interval_seconds(v->start_ns, now_ns) },
		.cells = v->cells,
		.untimed = hist->untimed,
	};

	interval_measure(&row.row, hist, interval_seconds(v->last_ns, now_ns));
	interval_fill_cells(v, hist);
	if (tags)
		latency_row__label(&row.row, r->session, tags, 1u << BY_DEV);
	return object__put(&interval_device, out, TABLE_JSON, &row);
}

/* Rows are sorted: the operations of a device lie side by side. All devices come last. */
static int interval_put_devices(struct interval *v, const struct reading *r,
				struct breakdown_row *const *rows, size_t nr, uint64_t now_ns,
				FILE *out)
{
	static const struct hist nothing;
	struct hist *all = calloc(1, sizeof(*all));
	int err = all ? 0 : -ENOMEM;

	v->sum = nothing;
	for (size_t i = 0; i < nr && !err; i++) {
		breakdown_row__interval(rows[i], &v->hist);
		hist__merge(&v->sum, &v->hist);
		hist__merge(all, &v->hist);
		if (i + 1 < nr && rows[i + 1]->tags.device == rows[i]->tags.device)
			continue;
		if (v->sum.count)
			err = interval_put_device(v, r, &rows[i]->tags, &v->sum, now_ns, out);
		v->sum = nothing;
	}
	err = err ?: interval_put_device(v, r, NULL, all, now_ns, out);
	free(all);
	return err;
}

/* ---- rows by device and operation ---- */

/* A sorted copy of the rows; NULL: out of memory. */
static struct breakdown_row **interval_sort(const struct breakdown *b)
{
	struct breakdown_row **rows = malloc((b->nr + 1) * sizeof(struct breakdown_row *));

	if (!rows)
		return NULL;
	if (b->nr)
		memcpy(rows, b->rows, b->nr * sizeof(struct breakdown_row *));
	qsort(rows, b->nr, sizeof(struct breakdown_row *), breakdown_row__compare);
	return rows;
}

struct interval_span {
	const char *name;
	bool is_whole;
	double time_s, seconds;
};

static int interval_put_ops(struct interval *v, const struct reading *r,
			    struct breakdown_row *const *rows, size_t nr,
			    const struct interval_span *span, FILE *out)
{
	struct table *table =
		table__of(out, TABLE_JSON,
			  r->is_sampled ? &latency_some_by_op : &latency_rows_by_op, NULL, NULL);

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct latency_row row = { .span = span->name, .time_s = span->time_s };

		if (span->is_whole)
			v->hist = rows[i]->total;
		else
			breakdown_row__interval(rows[i], &v->hist);
		if (!v->hist.count)
			continue;
		interval_measure(&row, &v->hist, span->seconds);
		if (r->is_sampled)
			latency_row__measure_intervals(&row, &v->hist);
		latency_row__label(&row, r->session, &rows[i]->tags, 1u << BY_DEV | 1u << BY_OP);
		table__row(table, &row);
	}
	table__free(table);
	return 0;
}

int interval__put_ledger(const struct reading *r, FILE *out)
{
	return object__put(&session_ledger, out, TABLE_JSON, &r->now);
}

int interval__end(struct interval *v, struct reading *r, uint64_t now_ns, FILE *out)
{
	struct breakdown_row **rows = interval_sort(&r->rows);
	const struct interval_span span = { "interval", false,
					    interval_seconds(v->start_ns, now_ns),
					    interval_seconds(v->last_ns, now_ns) };
	int err = rows ? 0 : -ENOMEM;

	v->number++;
	err = err ?: interval_put_whole(v, r, now_ns, out);
	err = err ?: interval_put_devices(v, r, rows, r->rows.nr, now_ns, out);
	err = err ?: interval_put_ops(v, r, rows, r->rows.nr, &span, out);
	err = err ?: failures__put(&r->failures, out);
	if (v->who)
		err = err ?: who__end(v->who, span.seconds, out);
	err = err ?: interval__put_ledger(r, out);
	free(rows);
	breakdown__mark(&r->rows);
	v->before = r->shown;
	v->last_ns = now_ns;
	return err;
}

/* ---- since the start ---- */

int interval__put_latency(struct interval *v, const struct reading *r, uint64_t now_ns, FILE *out)
{
	const double seconds = interval_seconds(v->start_ns, now_ns);
	const struct interval_span span = { "total", true, seconds, seconds };
	struct breakdown_row **rows = interval_sort(&r->rows);
	int err = rows ? interval_put_ops(v, r, rows, r->rows.nr, &span, out) : -ENOMEM;

	free(rows);
	return err;
}

int interval__put_devices(const struct reading *r, FILE *out)
{
	const struct device_list *list = io_source__devices(r->session);
	struct report_whole devices = { .seen = calloc(list->nr + 1, sizeof(bool)),
					.nr_seen = list->nr };
	int err = devices.seen ? 0 : -ENOMEM;

	for (size_t i = 0; i < list->nr && !err; i++)
		devices.seen[i] = io__measures(io_source__collector(r->session), &list->devices[i]);
	err = err ?: report_whole__put_devices(&devices, r->session, out);
	free(devices.seen);
	return err;
}
