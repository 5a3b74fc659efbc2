/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * layers.c: where does the time go? Each step of an I/O on its way from submit to end, per device
 * and operation, with its share of the whole and of the slowest. One short program per step in the
 * kernel, one record per command; the distributions are made here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/steps.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "decode/column.h"
#include "decode/op.h"
#include "session/io_source.h"
#include "session/session.h"
#include "session/table.h"
#include "view/intervals.h"
#include "view/records.h"
#include "view/row_conditions.h"
#include "view/steps_share.h"

/*
 *  time dev     op    step      what                      count    p50    p99    max share  tail
 *   1.0 nvme0n1 read  D2K       device                     5312  163us  280us 1.02ms  88.1  61.0
 */
struct layers_row {
	const char *span; /* "interval" or "total" */
	double time_s;
	const char *dev, *op, *step, *what;
	uint64_t count, bytes;
	uint64_t p50_ns, p99_ns, p999_ns, max_ns, sum_ns;
	double share, tail;
};

struct layers {
	/* options */
	int at;
	const char *tail;
	struct option_number buffer;
	struct record_filter filter;
	struct row_conditions rows;
	/* state */
	uint32_t tail_per_10000;
	struct steps interval, total;
	struct steps part; /* of another process */
	struct table *table;
	unsigned int intervals, shown_rows;
	char op_label[16], step_label[4];
};

/* In the order of enum steps_at. */
static const char *const at_choices[] = { "request", "command", "bio", NULL };

static const struct option_def layers_options[] = {
	{ "at", 0, OPTION_CHOICE, offsetof(struct layers, at), "LAYER",
	  "what counts as one I/O (a request from its first bio on, a command of the driver, each "
	  "bio)",
	  .choices = at_choices },
	{ "tail", 0, OPTION_STRING, offsetof(struct layers, tail), "PERCENT",
	  "percentile beyond which I/Os count for the column tail (default 99)" },
	RECORD_IF_OPTION(offsetof(struct layers, filter)),
	ROW_FAIL_IF_OPTION(offsetof(struct layers, rows), "'step == D2K && p99 > 5ms'"),
	RECORDS_BUFFER_OPTION(offsetof(struct layers, buffer)),
	{ 0 },
};

static const struct option_group layers_group = { "What is shown", layers_options };

#define FIELD(name) offsetof(struct layers_row, name)
static const struct column layers_columns[] = {
	{ "span", "span", CELL_TEXT, 0, "interval, or total for the whole run", .at = FIELD(span),
	  .not_in_text = true },
	{ "time_s", "time", CELL_SECONDS, 5, "time of the end of the span, since the start",
	  .at = FIELD(time_s) },
	{ "dev", "dev", CELL_TEXT, 7, "disk, or controller for admin commands", .at = FIELD(dev) },
	{ "op", "op", CELL_TEXT, 5, "operation", .at = FIELD(op) },
	{ "step", "step", CELL_TEXT, 9,
	  "stages where the step begins and ends, e.g. Q2G; or the wait before G: tag, wbt, "
	  "iocost, "
	  "iolatency, frozen",
	  .at = FIELD(step) },
	{ "what", "what", CELL_TEXT, 27, "description of the step", .at = FIELD(what), .drop = 1 },
	{ "count", "count", CELL_COUNT, 7, "number of I/Os that made this step",
	  .at = FIELD(count) },
	{ "bytes", "bytes", CELL_COUNT, 7, "bytes of these I/Os; only in the row total",
	  .at = FIELD(bytes), .not_in_text = true },
	{ "p50_ns", "p50", CELL_DURATION, 6, "median of the step", .at = FIELD(p50_ns), .drop = 5 },
	{ "p99_ns", "p99", CELL_DURATION, 6, "99th percentile of the step", .at = FIELD(p99_ns) },
	{ "p99_9_ns", "p99.9", CELL_DURATION, 6, "99.9th percentile of the step",
	  .at = FIELD(p999_ns), .drop = 2 },
	{ "max_ns", "max", CELL_DURATION, 6, "maximum of the step, exact", .at = FIELD(max_ns),
	  .drop = 4 },
	{ "sum_ns", "sum", CELL_DURATION, 6, "sum of the step over all I/Os, exact",
	  .at = FIELD(sum_ns), .not_in_text = true },
	{ "share_percent", "share", CELL_PERCENT, 6, "share of the time of all I/Os",
	  .at = FIELD(share) },
	{ "tail_percent", "tail", CELL_PERCENT, 6,
	  "share of the time of the slowest I/Os, those beyond --tail", .at = FIELD(tail),
	  .drop = 3 },
	{ 0 },
};

const struct object layers_rows = { "layers", { layers_columns } };

static int layers_run(void *state, const struct options *options, char **argv);
static const struct cmd_part layers_part;

const struct cmd cmd_layers = {
	.name = "layers",
	.group = "I/O",
	.brief = "where the time goes: queue, scheduler, driver, device",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = CMD_GROUPS(&filter_group, &run_group, OUTPUT_TIMED_IN(OUTPUT_TABLES),
			     &write_group, &read_group, &alias_group),
	.own = &layers_group,
	.view_size = sizeof(struct layers),
	.objects = CMD_OBJECTS(&layers_rows, &session_ledger),
	.run = layers_run,
	.part = &layers_part,
	.needs = NEED_IO | NEED_RINGS | NEED_STAGES | NEED_WAITS,
};

/* ---- rows ---- */

static void layers_measure(const struct hist *h, struct layers_row *row)
{
	row->count = h->count;
	row->p50_ns = hist__percentile(h, 5000);
	row->p99_ns = hist__percentile(h, 9900);
	row->p999_ns = hist__percentile(h, 9990);
	row->max_ns = h->max_ns;
	row->sum_ns = h->sum_ns;
}

static void layers_put(struct layers *l, struct session *s, const struct layers_row *row)
{
	if (row_conditions__admit(&l->rows, s, row))
		table__row(l->table, row);
}

static void layers_show_group(struct layers *l, struct session *s, const struct steps_group *g,
			      const char *span)
{
	struct layers_row row = { .span = span, .time_s = s->elapsed_s };

	if (!g->total.count)
		return;
	row.dev = records__device_name(s, g->device);
	row.op = op__word(g->kind, g->op, io_source__op_names(s), l->op_label, sizeof(l->op_label));
	row.bytes = CELL_NO_NUMBER;
	for (size_t i = 0; i < g->nr_steps; i++) {
		enum io_wait wait = g->steps[i].wait;

		row.step = wait ? wait__name(wait)
				: step__name(g->steps[i].from, g->steps[i].to, l->step_label);
		row.what = wait ? wait__words(wait) : step__words(g->steps[i].from, g->steps[i].to);
		layers_measure(&g->steps[i].hist, &row);
		row.share = steps_group__share(g, i);
		row.tail = steps_group__tail_share(g, i, l->tail_per_10000);
		layers_put(l, s, &row);
	}
	row.step = step__name(g->from, g->to, l->step_label);
	row.what = "total";
	row.bytes = g->total.bytes;
	row.share = row.tail = 100;
	layers_measure(&g->total, &row);
	layers_put(l, s, &row);
	l->shown_rows++;
}

static void layers_show(struct layers *l, struct session *s, struct steps *steps, const char *span)
{
	steps__sort(steps);
	for (size_t i = 0; i < steps->nr; i++)
		layers_show_group(l, s, steps->groups[i], span);
}

/* ---- the run ---- */

static int layers_on_record(void *state, struct session *s, const struct io_record *record)
{
	struct layers *l = state;

	if (!record_filter__admits(&l->filter, s, record))
		return 0;
	return steps__add(&l->interval, records__device(s, record), record, (enum steps_at)l->at)
		       ? log_no_memory()
		       : 0;
}

static int layers_end_interval(struct layers *l)
{
	int err = steps__merge(&l->total, &l->interval);

	steps__clear(&l->interval);
	return err ? log_err(err, "out of memory") : 0;
}

static int layers_on_tick(void *state, struct session *s)
{
	struct layers *l = state;

	if (l->intervals++ % INTERVALS_HEADING == 0)
		table__heading_again(l->table);
	l->shown_rows = 0;
	layers_show(l, s, &l->interval, "interval");
	if (!l->shown_rows)
		intervals__say_idle(s);
	return layers_end_interval(l);
}

/* Once, below what is for people. */
static void layers_explain(const struct layers *l, const struct session *s)
{
	char legend[STAGE_LEGEND];
	uint32_t stages = 0;

	for (size_t i = 0; i < l->total.nr; i++)
		for (size_t step = 0; step < l->total.groups[i]->nr_steps; step++)
			stages |= stage__bits(l->total.groups[i]->steps[step].from,
					      l->total.groups[i]->steps[step].to);
	if (stages && s->format == TABLE_TEXT)
		log_note("steps: %s", stage__legend(stages, legend));
}

static int layers_on_end(void *state, struct session *s)
{
	struct layers *l = state;
	int err = layers_end_interval(l);

	if (l->total.nr)
		intervals__say_whole(s);
	table__heading_again(l->table);
	if (!err)
		layers_show(l, s, &l->total, "total");
	layers_explain(l, s);
	return err;
}

static struct io_wants layers_wants(void *state, const struct options *options)
{
	struct layers *l = state;

	return (struct io_wants){
		.filter = &options->filter,
		.records = true,
		.stages = true,
		.waits = l->at != STEPS_OF_COMMAND || options->file.write,
		.details = options->file.write || l->filter.only,
		.bios = l->at == STEPS_OF_BIO,
		.buffer_bytes = l->buffer.given ? l->buffer.value : 0,
	};
}

static int layers_on_start(void *state, struct session *s)
{
	struct layers *l = state;

	l->table = session__table(s, &layers_rows, NULL, NULL);
	return l->table ? 0 : log_no_memory();
}

static int layers_give(void *state, struct session *s, struct byte_out *out)
{
	struct layers *l = state;

	(void)s;
	return steps_share__give(&l->interval, out);
}

static int layers_take(void *state, struct session *s, struct byte_in *in)
{
	struct layers *l = state;
	int err = steps_share__take(&l->interval, &l->part, in);

	(void)s;
	return err == -ENOMEM ? log_no_memory() : err;
}

static const struct session_sharing layers_sharing = { .give = layers_give, .take = layers_take };

static const struct session_view layers_view = {
	.wants = layers_wants,
	.on_start = layers_on_start,
	.on_tick = layers_on_tick,
	.on_record = layers_on_record,
	.sharing = &layers_sharing,
	.on_end = layers_on_end,
};

/* "99", "99.9": a percentile, in hundredths of a percent. */
static int layers_begin(void *state)
{
	struct layers *l = state;
	double percent = 99;
	char *end;
	int err;

	if (l->tail) {
		percent = strtod(l->tail, &end);
		if (end == l->tail || *end || !(percent >= 0 && percent <= 99.99))
			return log_err(-EINVAL,
				       "--tail '%s': expected a percentile from 0 to 99.99",
				       l->tail);
	}
	l->tail_per_10000 = (uint32_t)(percent * 100 + 0.5);
	if (l->filter.only_if && l->at == STEPS_OF_BIO)
		return log_err(-EINVAL,
			       "--if selects commands: it cannot be combined with --at bio");
	err = record_filter__parse(&l->filter);
	return err ?: row_conditions__parse(&l->rows, &layers_rows, NULL, NULL);
}

static void layers_end(void *state)
{
	struct layers *l = state;

	steps__free(&l->interval);
	steps__free(&l->total);
	steps__free(&l->part);
	table__free(l->table);
	record_filter__free(&l->filter);
	row_conditions__free(&l->rows);
}

static const struct cmd_part layers_part = { &layers_view, layers_begin, layers_end };

static int layers_run(void *state, const struct options *options, char **argv)
{
	int err = layers_begin(state);

	err = err ?: session__run(&layers_view, state, options, argv);
	layers_end(state);
	return err;
}
