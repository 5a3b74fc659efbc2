/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latency.c: how long do my I/Os take? Percentiles every interval and histograms at the end, per
 * device and operation or whatever --by says, counted in the kernel by two short programs per I/O.
 * It cannot see the time before a command is built (queue, scheduler), nor bio-based devices.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/breakdown.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "render/chart.h"
#include "session/condition.h"
#include "session/host_source.h"
#include "session/io_source.h"
#include "session/session.h"
#include "session/table.h"
#include "view/intervals.h"
#include "view/latency_by.h"
#include "view/latency_order.h"
#include "view/latency_rows.h"

enum {
	LATENCY_RANGES = 24,  /* rows of a histogram in text */
	LATENCY_PICTURES = 4, /* with more rows, histograms at the end require --hist */
};

struct latency {
	/* options */
	struct option_list by;
	bool hist, no_hist, cumulative, heat;
	int sort; /* enum latency_sort */
	struct option_number top;
	struct option_number lat_min_us, lat_shift, budget;
	const char *only_if, *fail_if;
	/* state */
	const struct session *session;
	struct breakdown breakdown;
	struct cgroup_groups groups;
	struct hist scratch; /* the current distribution */
	struct hist_range ranges[HIST_CELLS];
	struct table *table, *buckets;
	const struct column *asked[OBJECT_COLUMNS]; /* by --fail-if */
	struct condition *only, *condition;
	struct chart_style style;
	unsigned int intervals;
	size_t shown_rows;
	bool is_idle; /* there was no I/O, even if there are rows */
	int err;
};

static const struct option_def latency_options[] = {
	{ "by", 0, OPTION_LIST, offsetof(struct latency, by), "KEY,...",
	  "one row per combination of these (default dev,op); tasks are those that submitted",
	  .choices = latency_by_words },
	{ "hist", 0, OPTION_FLAG, offsetof(struct latency, hist), NULL,
	  "print the histogram every interval, not only at the end", .not_with = "heat" },
	{ "no-hist", 0, OPTION_FLAG, offsetof(struct latency, no_hist), NULL,
	  "print no histograms (default: at the end, for up to 4 rows)", .not_with = "hist" },
	{ "sort", 0, OPTION_CHOICE, offsetof(struct latency, sort), "WHAT",
	  "sort rows by this, largest first; keys: by --by", .choices = latency_sort_words,
	  .also = latency_sort_also },
	{ "top", 0, OPTION_NUMBER, offsetof(struct latency, top), "N",
	  "show the first N rows of each interval and of the run; by count without --sort",
	  .min = 1, .max = 65536 },
	{ "cumulative", 0, OPTION_FLAG, offsetof(struct latency, cumulative), NULL,
	  "count from the start, not from the last interval" },
	{ "heat", 0, OPTION_FLAG, offsetof(struct latency, heat), NULL,
	  "show latency over time as a heat map, one row per interval",
	  .not_with = "lat-min-us,lat-shift,cumulative,wall" },
	{ "lat-min-us", 0, OPTION_NUMBER, offsetof(struct latency, lat_min_us), "US",
	  "zoom: start of the fine histogram buckets (default 0)", .max = 1000000000,
	  .alias = "lat_min_us" },
	{ "lat-shift", 0, OPTION_NUMBER, offsetof(struct latency, lat_shift), "N",
	  "zoom: width of the first bucket, 2^N us (default 0)", .max = 32, .alias = "lat_shift" },
	{ "budget", 0, OPTION_SHARE, offsetof(struct latency, budget), "SHARE",
	  "time only some commands, if our programs would take more of the CPUs' time, e.g. 0.5%",
	  .min = 1, .max = 1000000,
	  .not_with = "read,write,pid,comm,cgroup,nsid,qid,ctrl-id,min,failed" },
	{ "if", 0, OPTION_STRING, offsetof(struct latency, only_if), "EXPR",
	  "show only rows for which this is true, e.g. 'p99 > 1ms && count > 10'",
	  .not_with = "heat" },
	{ "fail-if", 0, OPTION_STRING, offsetof(struct latency, fail_if), "EXPR",
	  "exit with 5 if this is true for a row, e.g. 'p99 > 500us && op == read'" },
	{ 0 },
};

static const struct option_group latency_group = { "What is shown", latency_options };

static int latency_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_latency = {
	.name = "latency",
	.group = "I/O",
	.brief = "how long I/O takes: percentiles and histograms",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = CMD_GROUPS(&filter_group, &run_group, OUTPUT_TIMED_IN(OUTPUT_TABLES),
			     &write_group, &read_group, &alias_group),
	.own = &latency_group,
	.view_size = sizeof(struct latency),
	.objects = CMD_OBJECTS(&latency_rows, &latency_buckets, &session_ledger),
	.run = latency_run,
	.needs = NEED_IO | NEED_FILES,
};

/* With --budget, commands that are not timed are counted by device and operation alone. */
static const uint32_t latency_by_budget = 1u << BY_CTRL | 1u << BY_NS | 1u << BY_DEV | 1u << BY_OP;

/* ---- columns ---- */

static bool latency_zooms(const struct latency *l)
{
	return l->lat_min_us.given || l->lat_shift.given;
}

/* With the zoom there are no percentiles. */
static bool latency_shows(const void *view, const struct column *column)
{
	const struct latency *l = view;

	if (latency_column__is_sampling(column) && !l->budget.given)
		return false;
	return latency_column__is_asked(column, l->breakdown.mask) &&
	       !(latency_zooms(l) && latency_column__is_percentile(column));
}

static struct io_wants latency_wants(void *state, const struct options *options)
{
	struct latency *l = state;
	struct io_wants wants = latency_by__wants(l->breakdown.mask, &options->filter);

	/* Rows do not show how a command ended: records of commands in trouble do. */
	wants.records = wants.rows = wants.by_path;
	wants.only_troubled = wants.by_path && !options->file.write;
	wants.zoom = latency_zooms(l);
	wants.zoom_min_us = l->lat_min_us.value;
	wants.zoom_shift = (uint32_t)l->lat_shift.value;
	wants.own_cost = l->budget.given || log_verbosity() > 0;
	wants.budget = (double)l->budget.value / 1e6;
	return wants;
}

/* ---- one interval, or the whole run ---- */

static void latency_take_part(void *arg, const struct io_tags *tags, const struct hist *part)
{
	struct latency *l = arg;
	struct io_tags named = *tags;

	if (latency_by__tag(l->breakdown.mask, &l->groups, l->session, &named) ||
	    breakdown__add(&l->breakdown, &named, part))
		l->err = -ENOMEM;
}

static int latency_read(struct latency *l, struct session *s)
{
	l->session = s;
	breakdown__begin(&l->breakdown);
	io_source__read(s, latency_take_part, l);
	return l->err ? log_err(l->err, "out of memory") : 0;
}

/* A chart in text; in JSON one object per bucket, as it was counted. */
static void latency_show_hist(struct latency *l, struct session *s, struct latency_row *row)
{
	char title[512];
	int nr;

	if (latency_zooms(l))
		nr = hist__zoom_ranges(l->scratch.slots, l->lat_min_us.value,
				       (uint32_t)l->lat_shift.value, l->ranges);
	else
		nr = hist__ranges(&l->scratch, l->ranges,
				  s->format == TABLE_TEXT ? LATENCY_RANGES : HIST_CELLS);
	if (s->format == TABLE_TEXT) {
		fputc('\n', s->out);
		text__put_terminal(
			s->out, latency_row__title(row, l->breakdown.mask, title, sizeof(title)));
		fputc('\n', s->out);
		chart__histogram(s->out, l->style, l->ranges, nr);
	}
	for (int i = 0; i < nr && s->format == TABLE_JSON; i++) {
		if (!l->ranges[i].count)
			continue;
		row->from_ns = l->ranges[i].from_ns;
		row->to_ns = l->ranges[i].to_ns;
		row->count = l->ranges[i].count;
		row->cumulative_percent = l->ranges[i].cumulative_percent;
		table__row(l->buckets, row);
	}
}

/* Share of all commands of its disk in this span, and failovers of the path in the whole run. */
static void latency_measure_path(const struct latency *l, const struct session *s,
				 const struct breakdown_row *from, bool whole,
				 struct latency_row *row)
{
	uint64_t all = 0;

	for (size_t i = 0; i < l->breakdown.nr; i++) {
		const struct breakdown_row *other = l->breakdown.rows[i];

		if (other->tags.device == from->tags.device)
			all += other->total.count - (whole ? 0 : other->before.count);
	}
	row->share = all ? 100.0 * (double)row->count / (double)all : 0;
	row->failovers = io_source__failovers(s, from->tags.path - 1);
}

/* What one pass over the rows shows: the last interval or the whole run, as lines or histograms. */
struct latency_pass {
	const char *span;
	bool whole, hist, quiet; /* quiet: only --fail-if reads it */
};

static void latency_show_row(struct latency *l, struct session *s, const struct breakdown_row *from,
			     const struct latency_pass *pass)
{
	struct latency_row row = { .span = pass->span, .time_s = s->elapsed_s };
	char title[512];

	if (pass->whole)
		l->scratch = from->total;
	else
		breakdown_row__interval(from, &l->scratch);
	if (!latency_zooms(l)) {
		hist__mend_max(&l->scratch);
		latency_row__measure_percentiles(&row, &l->scratch);
		if (l->budget.given)
			latency_row__measure_intervals(&row, &l->scratch);
	}
	latency_row__label(&row, s, &from->tags, l->breakdown.mask);
	latency_row__measure(&row, &l->scratch, pass->whole ? s->span_s : s->interval_s);
	if (l->breakdown.mask >> BY_PATH & 1)
		latency_measure_path(l, s, from, pass->whole, &row);
	if (l->only && !condition__is_true(l->only, &row))
		return;
	if (pass->hist) {
		latency_show_hist(l, s, &row);
		l->shown_rows++;
		return;
	}
	if (!pass->quiet)
		table__row(l->table, &row);
	if (l->condition && row.count && condition__is_true(l->condition, &row)) {
		latency_row__title(&row, l->breakdown.mask, title, sizeof(title));
		intervals__came_true(s, l->fail_if, title, row.span, row.time_s);
	}
	l->shown_rows += !pass->quiet;
}

static int latency_show(struct latency *l, struct session *s, const struct latency_pass *pass)
{
	enum latency_sort sort = l->sort ?: l->top.given ? LATENCY_SORT_COUNT : LATENCY_SORT_KEYS;
	struct latency_rank *ranks = malloc((l->breakdown.nr + 1) * sizeof(*ranks));
	struct latency_pass hidden = *pass;
	size_t most = l->top.given ? l->top.value : SIZE_MAX, nr, i;

	if (!ranks)
		return log_no_memory();
	nr = latency_ranks__make(&l->breakdown, pass->whole, sort, ranks);
	l->is_idle = !nr;
	l->shown_rows = 0;
	for (i = 0; i < nr && l->shown_rows < most; i++)
		latency_show_row(l, s, ranks[i].row, pass);
	if (i < nr && !l->only && !pass->hist && !pass->quiet && s->format == TABLE_TEXT)
		fprintf(s->out, "and %zu more rows; --top shows them\n", nr - i);
	for (hidden.quiet = true; i < nr && l->condition && !pass->hist; i++)
		latency_show_row(l, s, ranks[i].row, &hidden); /* --fail-if is about all rows */
	free(ranks);
	return 0;
}

static int latency_show_heat(struct latency *l, struct session *s)
{
	struct hist interval;

	memset(&l->scratch, 0, sizeof(l->scratch));
	for (size_t i = 0; i < l->breakdown.nr; i++) {
		breakdown_row__interval(l->breakdown.rows[i], &interval);
		hist__merge(&l->scratch, &interval);
	}
	if (l->intervals % INTERVALS_HEADING == 0)
		chart__heat_heading(s->out, l->style);
	chart__heat_row(s->out, l->style, s->elapsed_s, &l->scratch);
	return 0;
}

static int latency_show_interval(struct latency *l, struct session *s)
{
	struct latency_pass pass = { .span = l->cumulative ? "cumulative" : "interval",
				     .whole = l->cumulative,
				     .quiet = l->heat };
	int err;

	if (l->heat) {
		err = latency_show(l, s, &pass);
		return err ?: latency_show_heat(l, s);
	}
	if (l->intervals % INTERVALS_HEADING == 0)
		table__heading_again(l->table);
	err = latency_show(l, s, &pass);
	if (l->is_idle)
		intervals__say_idle(s);
	pass.hist = true;
	return err ?: l->hist ? latency_show(l, s, &pass) : 0;
}

static int latency_on_tick(void *state, struct session *s)
{
	struct latency *l = state;
	int err = latency_read(l, s);

	err = err ?: latency_show_interval(l, s);
	l->intervals++;
	breakdown__mark(&l->breakdown);
	return err;
}

static int latency_on_end(void *state, struct session *s)
{
	struct latency *l = state;
	const struct latency_pass total = { .span = "total", .whole = true };
	const struct latency_pass hist = { .span = "total", .whole = true, .hist = true };
	int err = latency_read(l, s);
	uint64_t counted = 0; /* by the rows: a second count of the same commands */

	for (size_t i = 0; i < l->breakdown.nr; i++)
		counted += l->breakdown.rows[i]->total.count;
	io_source__take_ledger(s, counted);
	if (l->breakdown.nr)
		intervals__say_whole(s);
	table__heading_again(l->table);
	err = err ?: latency_show(l, s, &total);
	if (err || l->no_hist)
		return err;
	if (l->hist || s->format != TABLE_TEXT || l->shown_rows <= LATENCY_PICTURES)
		return latency_show(l, s, &hist);
	fprintf(s->out, "\n%zu rows: --hist prints their histograms\n", l->shown_rows);
	return 0;
}

static int latency_on_start(void *state, struct session *s)
{
	struct latency *l = state;

	l->breakdown.mask = latency_by__with_host(l->breakdown.mask, s);
	l->style = chart__style_of(s->out, s->options->output.color);
	if (io_source__sees_nvme(s))
		log_note("NVMe commands: from nvme_setup_cmd to nvme_complete_rq%s",
			 io_source__sees_block(s) ? "; other disks: from block_rq_issue to "
						    "block_rq_complete"
						  : "");
	else
		log_note("requests: from block_rq_issue to block_rq_complete");
	l->table = session__table(s, l->budget.given ? &latency_rows_of_some : &latency_rows,
				  latency_shows, l);
	l->buckets = session__table(s, &latency_buckets, latency_shows, l);
	if (l->table)
		table__keep_column(l->table, latency_sort_words[l->sort]);
	return l->table && l->buckets ? 0 : log_no_memory();
}

static const struct session_view latency_view = {
	.wants = latency_wants,
	.on_start = latency_on_start,
	.on_tick = latency_on_tick,
	.on_end = latency_on_end,
};

static int latency_run(void *state, const struct options *options, char **argv)
{
	struct latency *l = state;
	size_t nr;
	int err;

	breakdown__init(&l->breakdown, latency_by__mask(&l->by));
	/* Only columns that are printed: a comparison with an absent column would be wrong. */
	nr = object__pick(&latency_rows, TABLE_TEXT, latency_shows, l, l->asked);
	err = condition__parse("--fail-if", l->fail_if, l->asked, nr, &l->condition);
	err = err ?: condition__parse("--if", l->only_if, l->asked, nr, &l->only);
	if (!err && l->heat && options->output.format != OUTPUT_TEXT)
		err = log_err(-EINVAL, "--heat requires -o text");
	if (!err && l->hist && options->output.format == OUTPUT_CSV)
		err = log_err(-EINVAL, "--hist requires -o text or json");
	if (!err && l->budget.given && l->breakdown.mask & ~latency_by_budget)
		err = log_err(-EINVAL, "--budget allows only --by ctrl, ns, dev and op");
	err = err ?: host_source__check(options, l->breakdown.mask >> BY_HOST & 1);
	err = err ?: session__run(&latency_view, l, options, argv);
	breakdown__free(&l->breakdown);
	cgroup_groups__free(&l->groups);
	table__free(l->table);
	table__free(l->buckets);
	condition__free(l->condition);
	condition__free(l->only);
	return err;
}
