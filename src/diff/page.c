/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/page.h"

#include <errno.h>
#include <stdlib.h>
#include "base/log.h"
#include "render/page.h"

/* Data for the page's script besides rows of `-o json`. */
struct page_run {
	const char *run, *path;
	uint64_t commands;
	double seconds;
};

struct page_point {
	const char *dev, *dev_b, *op;
	double percent;
	uint64_t a_ns, b_ns;
};

#define RUN(name)   offsetof(struct page_run, name)
#define POINT(name) offsetof(struct page_point, name)

static const struct column run_columns[] = {
	{ "run", "run", CELL_TEXT, 0, "A or B", .at = RUN(run) },
	{ "capture", "capture", CELL_TEXT, 0, "file of the run", .at = RUN(path) },
	{ "commands", "commands", CELL_COUNT, 0,
	  "number of commands compared; null: the run holds calls", .at = RUN(commands) },
	{ "seconds", "seconds", CELL_SECONDS, 0, "duration of the run", .at = RUN(seconds) },
	{ 0 },
};

static const struct column point_columns[] = {
	{ "dev", "dev", CELL_TEXT, 0, "device in A", .at = POINT(dev) },
	{ "dev_b", "dev_b", CELL_TEXT, 0, "device in B", .at = POINT(dev_b) },
	{ "op", "op", CELL_TEXT, 0, "operation", .at = POINT(op) },
	{ "percent", "percent", CELL_PERCENT, 0, "percentile, from 0 to 100",
	  .at = POINT(percent) },
	{ "a_ns", "A", CELL_DURATION, 0, "latency at this percentile in A", .at = POINT(a_ns) },
	{ "b_ns", "B", CELL_DURATION, 0, "latency at this percentile in B", .at = POINT(b_ns) },
	{ 0 },
};

static const struct object page_runs = { "run", { run_columns } };
static const struct object page_curves = { "curve", { point_columns } };

/* ---- files ---- */

static int put_runs(FILE *out, const struct page_run runs[2])
{
	struct table *table = table__of(out, TABLE_JSON, &page_runs, NULL, NULL);

	if (!table)
		return log_no_memory();
	table__row(table, &runs[0]);
	table__row(table, &runs[1]);
	table__free(table);
	return 0;
}

/* ---- curves ---- */

/* 0, 0.1, 0.5, 1 ... 99, 99.1 ... 99.9, 99.91 ... 99.99, 99.999, 100: in 1,000ths of a percent. */
static unsigned int curve_next(unsigned int at)
{
	if (at < 1000)
		return at == 0 ? 100 : at == 100 ? 500 : 1000;
	if (at < 99000)
		return at + 1000;
	if (at < 99900)
		return at + 100;
	return at < 99990 ? at + 10 : at == 99990 ? 99999 : 100000;
}

/* One side of a pair: its buckets, summed. */
struct curve {
	const struct sample *sample;
	double *sums;
};

static int curve_init(struct curve *curve, const struct sample *sample)
{
	curve->sample = sample;
	curve->sums = calloc(sample->lats.nr + 1, sizeof(*curve->sums));
	if (!curve->sums)
		return log_no_memory();
	profile__sum(&sample->lats, curve->sums);
	return 0;
}

static uint64_t curve_at(const struct curve *curve, unsigned int at)
{
	return (uint64_t)(sample__percentile(curve->sample, curve->sums, at / 100000.0) + 0.5);
}

/* Not finer than one command of the larger run. */
static bool curve_has(const struct curve *curves, unsigned int at)
{
	double a = sample__total(curves[0].sample, SAMPLE_COUNT);
	double b = sample__total(curves[1].sample, SAMPLE_COUNT);

	return at == 100000 || (100000 - at) / 100000.0 * (a > b ? a : b) >= 1;
}

static void put_points(struct table *table, const struct diff_pair *p, const struct curve *curves)
{
	for (unsigned int at = 0; at <= 100000; at = at < 100000 ? curve_next(at) : 100001) {
		const struct page_point point = {
			p->dev_a,
			p->dev_b,
			p->op,
			at / 1000.0,
			curve_at(&curves[0], at),
			curve_at(&curves[1], at),
		};

		if (curve_has(curves, at))
			table__row(table, &point);
	}
}

static int put_curve(struct table *table, const struct diff_pair *p)
{
	struct curve curves[2] = { 0 };
	int err = curve_init(&curves[0], &p->a->sample);

	err = err ?: curve_init(&curves[1], &p->b->sample);
	if (!err)
		put_points(table, p, curves);
	free(curves[0].sums);
	free(curves[1].sums);
	return err;
}

static int put_curves(FILE *out, const struct diff *d)
{
	struct table *table = table__of(out, TABLE_JSON, &page_curves, NULL, NULL);
	int err = table ? 0 : log_no_memory();

	for (size_t i = 0; !err && i < d->nr_pairs; i++)
		if (d->pairs[i].a && d->pairs[i].b)
			err = put_curve(table, &d->pairs[i]);
	table__free(table);
	return err;
}

/* ---- the page ---- */

static const struct page_parts page_parts = {
	.title = "iosonar diff",
	.styles = { &page_source_diff_css },
	.scripts = { &page_source_diff_js },
};

struct page_data {
	struct page_run runs[2];
	const struct diff *diff;	/* or */
	const struct call_pair *called; /* of calls */
};

static int put_data(FILE *out, const struct page_data *data)
{
	const struct diff_show show = { out, TABLE_JSON, true };
	int err = put_runs(out, data->runs);

	if (!err && data->called)
		return call_view__show(data->called, &show);
	err = err ?: diff_view__show(data->diff, &show);
	return err ?: put_curves(out, data->diff);
}

static int put_page(FILE *out, const struct page_data *data)
{
	struct page *page = page__begin(out, &page_parts);
	FILE *block = page ? page__open_data(page, "diff") : NULL;
	int err = block ? put_data(block, data) : log_no_memory();

	if (err) {
		page__abandon(page);
		return err;
	}
	page__close_data(page);
	page__end(page);
	return 0;
}

int diff_page__put(FILE *out, const struct diff *d)
{
	struct page_data data = { .diff = d };

	for (int i = 0; i < 2; i++) {
		const struct diff_side *side = &d->sides[i];
		double count = 0;

		for (size_t j = 0; j < side->nr_groups; j++)
			count += sample__total(&side->groups[j]->sample, SAMPLE_COUNT);
		data.runs[i] = (struct page_run){ i ? "B" : "A", side->path, (uint64_t)count,
						  side->seconds };
	}
	return put_page(out, &data);
}

int diff_page__put_calls(FILE *out, const struct call_pair *called, const struct diff_file files[2])
{
	const struct page_data data = {
		.runs = { { "A", files[0].path, CELL_NO_NUMBER, __builtin_nan("") },
			  { "B", files[1].path, CELL_NO_NUMBER, __builtin_nan("") } },
		.called = called,
	};

	return put_page(out, &data);
}
