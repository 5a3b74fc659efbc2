/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sum.c: how much is it in all? A value of any event, added up in the kernel by key:
 * `iosonar sum block:block_rq_issue of bytes by rwbs`.
 */
#include "cmd/cmd.h"
#include "session/probe_source.h"
#include "view/tally.h"

static const struct option_def sum_options[] = { TALLY_OPTIONS, { 0 } };
static const struct option_group sum_group = { "What is shown", sum_options };

static const struct column sum_columns[] = {
	{ "sum", "sum", CELL_SIGNED, 8, "sum of the value; sum_ns if the value is a time",
	  .at = TALLY_AT(TALLY_SUM) },
	{ "sum_per_s", "per s", CELL_RATE, 7, "sum of the value per second",
	  .at = TALLY_AT(TALLY_SUM_PER_S), .drop = 1 },
	{ "count", "count", CELL_COUNT, 8, "hits", .at = TALLY_AT(TALLY_COUNT), .drop = 3 },
	{ "mean", "mean", CELL_SIGNED, 8, "mean of the value; mean_ns if the value is a time",
	  .at = TALLY_AT(TALLY_MEAN), .drop = 2 },
	{ 0 },
};
static const struct object sum_rows = { "sum", { tally_lead, sum_columns } };

static int sum_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_sum = {
	.name = "sum",
	.group = "any event",
	.brief = "the sum of a value of an event, by any key",
	.synopsis = "[options] EVENT... of VALUE [by KEYS] [if CONDITION] [-- COMMAND...]",
	.groups = CMD_GROUPS(&task_group, &run_group, OUTPUT_TIMED_IN(OUTPUT_TABLES)),
	.own = &sum_group,
	.view_size = sizeof(struct tally_view),
	.objects = CMD_OBJECTS(&sum_rows, &probe_ledger_object),
	.run = sum_run,
	.needs = NEED_PROGRAMS | NEED_TRACEPOINTS | NEED_ANY_FUNCTION,
};

static int sum_run(void *state, const struct options *options, char **argv)
{
	struct tally_view *v = state;

	v->object = &sum_rows;
	v->measure = TALLY_BY_SUM;
	return tally_view__run(v, LINE_SUM, options, argv);
}
