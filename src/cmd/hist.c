/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hist.c: how is a value distributed? Of any event, counted in the kernel in buckets by key:
 * `iosonar hist syscalls:sys_exit_read of ret if 'ret >= 0' by comm`.
 */
#include "cmd/cmd.h"
#include "session/probe_source.h"
#include "view/tally.h"

static const struct option_def hist_options[] = { TALLY_OPTIONS, TALLY_BUCKET_OPTIONS, { 0 } };
static const struct option_group hist_group = { "What is shown", hist_options };

static const struct column hist_columns[] = {
	{ "count", "count", CELL_COUNT, 8, "hits", .at = TALLY_AT(TALLY_COUNT) },
	{ "per_s", "per s", CELL_RATE, 7, "hits per second", .at = TALLY_AT(TALLY_PER_S),
	  .drop = 1 },
	{ "mean", "mean", CELL_SIGNED, 7,
	  "mean of the value, exact; mean_ns if the value is a time, and so on for the other "
	  "columns",
	  .at = TALLY_AT(TALLY_MEAN), .drop = 4 },
	{ "p50", "p50", CELL_SIGNED, 7, "median", .at = TALLY_AT(TALLY_P50), .drop = 5 },
	{ "p90", "p90", CELL_SIGNED, 7, "90th percentile of the value", .at = TALLY_AT(TALLY_P90),
	  .drop = 2 },
	{ "p99", "p99", CELL_SIGNED, 7, "99th percentile of the value", .at = TALLY_AT(TALLY_P99) },
	{ "p99_9", "p99.9", CELL_SIGNED, 7, "99.9th percentile of the value",
	  .at = TALLY_AT(TALLY_P999), .drop = 3 },
	{ "max", "max", CELL_SIGNED, 7, "maximum of the value, exact", .at = TALLY_AT(TALLY_MAX) },
	{ 0 },
};
static const struct object hist_rows = { "hist", { tally_lead, hist_columns } };

static const struct column bucket_columns[] = {
	{ "from", "from", CELL_SIGNED, 7,
	  "smallest value of the bucket; from_ns if the value is a time",
	  .at = TALLY_AT(TALLY_FROM) },
	{ "to", "to", CELL_SIGNED, 7, "largest value of the bucket; to_ns if the value is a time",
	  .at = TALLY_AT(TALLY_TO) },
	{ "count", "count", CELL_COUNT, 8, "hits", .at = TALLY_AT(TALLY_COUNT) },
	{ "cumulative_percent", "cumulative", CELL_PERCENT, 6,
	  "percentage of hits up to the end of the bucket", .at = TALLY_AT(TALLY_CUMULATIVE) },
	{ 0 },
};
static const struct object hist_buckets = { "bucket", { tally_lead, bucket_columns } };

static int hist_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_hist = {
	.name = "hist",
	.group = "any event",
	.brief = "the distribution of a value of an event, by any key",
	.synopsis = "[options] EVENT... of VALUE [by KEYS] [if CONDITION] [-- COMMAND...]",
	.groups = CMD_GROUPS(&task_group, &run_group, OUTPUT_TIMED_IN(OUTPUT_TABLES)),
	.own = &hist_group,
	.view_size = sizeof(struct tally_view),
	.objects = CMD_OBJECTS(&hist_rows, &hist_buckets, &probe_ledger_object),
	.run = hist_run,
	.needs = NEED_PROGRAMS | NEED_TRACEPOINTS | NEED_ANY_FUNCTION,
};

static int hist_run(void *state, const struct options *options, char **argv)
{
	struct tally_view *v = state;

	v->object = &hist_rows;
	v->buckets = &hist_buckets;
	return tally_view__run(v, LINE_HIST, options, argv);
}
