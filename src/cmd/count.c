/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * count.c: how often does it happen? Any tracepoint, kernel function, user probe or timer, counted
 * in the kernel by key: `iosonar count block:block_rq_issue by rwbs`.
 */
#include "cmd/cmd.h"
#include "session/probe_source.h"
#include "view/tally.h"

static const struct option_def count_options[] = { TALLY_OPTIONS, { 0 } };
static const struct option_group count_group = { "What is shown", count_options };

static const struct column count_columns[] = {
	{ "count", "count", CELL_COUNT, 8, "hits", .at = TALLY_AT(TALLY_COUNT) },
	{ "per_s", "per s", CELL_RATE, 7, "hits per second", .at = TALLY_AT(TALLY_PER_S),
	  .drop = 1 },
	{ 0 },
};
static const struct object count_rows = { "count", { tally_lead, count_columns } };

static int count_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_count = {
	.name = "count",
	.group = "any event",
	.brief = "how often an event happens, by any key",
	.synopsis = "[options] EVENT... [by KEYS] [if CONDITION] [-- COMMAND...]",
	.groups = CMD_GROUPS(&task_group, &run_group, OUTPUT_TIMED_IN(OUTPUT_TABLES)),
	.own = &count_group,
	.view_size = sizeof(struct tally_view),
	.objects = CMD_OBJECTS(&count_rows, &probe_ledger_object),
	.run = count_run,
	.needs = NEED_PROGRAMS | NEED_TRACEPOINTS | NEED_ANY_FUNCTION,
};

static int count_run(void *state, const struct options *options, char **argv)
{
	struct tally_view *v = state;

	v->object = &count_rows;
	return tally_view__run(v, LINE_COUNT, options, argv);
}
