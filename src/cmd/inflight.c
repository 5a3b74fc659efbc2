/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inflight.c: what is stuck now? Commands that were sent and have not completed, oldest first,
 * including those sent before we started. It cannot see I/O that waits to be sent for the first
 * time, nor which task sent the commands from before the start.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "cmd/cmd.h"
#include "collect/inflight.h"
#include "decode/column.h"
#include "session/io_source.h"
#include "session/session.h"
#include "session/table.h"
#include "view/row_conditions.h"

static const uint64_t inflight_watch_ns = 1000000000; /* wait before a single look */
static const uint64_t inflight_at_once_ns = 1000000;

struct inflight_view {
	/* options */
	struct option_number older_ns;
	struct row_conditions rows;
	const char *read; /* refused */
	/* state */
	struct options options; /* as passed to the session */
	struct inflight *inflight;
	struct inflight_list list;
	struct table *table, *looks;
	uint64_t min_ns, nr_looks;
	bool repeats;
	bool listed;  /* the last look listed commands */
	bool at_once; /* no command sent while we watch will be shown */
};

static const struct option_def inflight_options[] = {
	{ "older", 0, OPTION_DURATION, offsetof(struct inflight_view, older_ns), "DURATION",
	  "only commands at least this old, e.g. 5s; exit with 6 if there are any, for watchdogs",
	  .min = 1 },
	ROW_IF_OPTION(offsetof(struct inflight_view, rows), "'op == write && age > 1s'"),
	ROW_FAIL_IF_OPTION(offsetof(struct inflight_view, rows), "'age > 30s'"),
	{ "read", 'r', OPTION_STRING, offsetof(struct inflight_view, read), "FILE",
	  .refuses = "a capture contains only commands that have ended; iosonar slow -r shows the "
		     "slowest" },
	{ 0 },
};

static const struct option_group inflight_group = { "What is shown", inflight_options };

static const struct object inflight_rows = { "inflight", { inflight_columns } };
static const struct object inflight_looks = { "look", { inflight_look_columns } };

static int inflight_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_inflight = {
	.name = "inflight",
	.group = "I/O",
	.brief = "commands that have not completed, oldest first",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = CMD_GROUPS(&filter_group, &run_group, OUTPUT_IN(OUTPUT_TABLES)),
	.own = &inflight_group,
	.view_size = sizeof(struct inflight_view),
	.objects = CMD_OBJECTS(&inflight_rows, &inflight_looks),
	.run = inflight_run,
	.needs = NEED_IO | NEED_RINGS,
};

/* ---- a look ---- */

/* "3.000 s: 2 in flight, the oldest for 1.20s" */
static void inflight_say(const struct inflight_view *v, const struct session *s)
{
	char text[160];
	struct words w = words__on(text, sizeof(text));

	inflight_list__describe(&w, &v->list, v->min_ns);
	if (v->repeats)
		fprintf(s->out, "%s%.3f s: ", v->listed ? "\n" : "", s->elapsed_s);
	fprintf(s->out, "%s\n", words__done(&w));
}

static void inflight_show_commands(struct inflight_view *v, struct session *s)
{
	struct inflight_row row;

	v->listed = false;
	table__heading_again(v->table);
	for (size_t i = 0; i < v->list.nr; i++) {
		const struct inflight_command *command = &v->list.commands[i];

		if (!inflight_command__is_older(command, v->min_ns))
			continue;
		inflight_row__fill(&row, command, s->elapsed_s, io_source__op_names(s));
		if (!row_conditions__admit(&v->rows, s, &row))
			continue;
		table__row(v->table, &row);
		v->listed = true;
	}
}

static void inflight_show(struct inflight_view *v, struct session *s)
{
	const struct inflight_list *list = &v->list;
	uint64_t older = inflight_list__older(list, v->older_ns.value);
	const struct inflight_look look = {
		.time_s = s->elapsed_s,
		.in_flight = list->nr,
		.older = v->older_ns.given ? older : CELL_NO_NUMBER,
		.oldest_ns = list->nr ? list->commands[0].age_ns : CELL_NO_NUMBER,
	};

	s->found = v->older_ns.given && older;
	if (s->format == TABLE_TEXT)
		inflight_say(v, s);
	inflight_show_commands(v, s);
	if (v->looks)
		table__row(v->looks, &look);
}

static int inflight_look(void *state, struct session *s)
{
	struct inflight_view *v = state;
	int err = inflight__look(v->inflight, &v->list);

	if (err)
		return err;
	s->incomplete |= v->list.incomplete;
	inflight_show(v, s);
	v->nr_looks++;
	return 0;
}

/* ---- the run ---- */

/* Ended commands do not matter: the kernel sends no records of them. */
static struct io_wants inflight_wants(void *state, const struct options *options)
{
	const struct inflight_view *v = state;

	return (struct io_wants){
		.filter = &options->filter,
		.records = !v->at_once,
		.owners = !v->at_once,
	};
}

static int inflight_on_start(void *state, struct session *s)
{
	struct inflight_view *v = state;
	const struct column *shown[OBJECT_COLUMNS];
	size_t nr = inflight__columns(s->format, shown);

	v->table = session__table_new(s, inflight_rows.type, shown, nr);
	if (v->table && s->format == TABLE_JSON)
		v->looks = session__table(s, &inflight_looks, NULL, NULL);
	if (!v->table || (s->format == TABLE_JSON && !v->looks))
		return log_no_memory();
	return inflight__open(&v->inflight, io_source__collector(s));
}

/* An interrupt before the first look still gets a look. */
static int inflight_on_end(void *state, struct session *s)
{
	struct inflight_view *v = state;

	return v->nr_looks ? 0 : inflight_look(v, s);
}

static const struct session_view inflight_view = {
	.wants = inflight_wants,
	.on_start = inflight_on_start,
	.on_tick = inflight_look,
	.on_end = inflight_on_end,
	.runs_programs = true,
	.keeps_no_ledger =
		true, /* the list comes from the kernel's tags; senders are added to it */
};

/*
 * One look, unless it is repeated or a COMMAND runs: after a wait that shows which task sends what;
 * at once if no command sent meanwhile would be old enough to show.
 */
static void inflight_plan(struct inflight_view *v, bool command)
{
	struct run_options *run = &v->options.run;

	v->repeats = run->interval_ns.given || run->count.given || command;
	if (v->repeats)
		return;
	v->at_once = !run->duration_ns.given && v->min_ns >= inflight_watch_ns;
	run->count = (struct option_number){ 1, true };
	run->interval_ns = run->duration_ns;
	if (!run->interval_ns.given)
		run->interval_ns.value = v->at_once ? inflight_at_once_ns : inflight_watch_ns;
	run->interval_ns.given = true;
	run->duration_ns.given = false;
}

static int inflight_run(void *state, const struct options *options, char **argv)
{
	struct inflight_view *v = state;
	const struct option_number *min = &options->filter.min_ns;
	int err;

	if (options->filter.failed)
		return log_err(-EINVAL, "--failed does not apply to commands in flight; use "
					"iosonar trace --failed");
	v->options = *options;
	v->min_ns = min->given ? min->value : 0;
	if (v->older_ns.given && v->older_ns.value > v->min_ns)
		v->min_ns = v->older_ns.value;
	v->options.filter.min_ns = (struct option_number){ UINT64_MAX, true };
	inflight_plan(v, argv && argv[0]);
	err = row_conditions__parse(&v->rows, &inflight_rows, NULL, NULL);
	err = err ?: session__run(&inflight_view, v, &v->options, argv);
	row_conditions__free(&v->rows);
	inflight__free(v->inflight);
	inflight_list__free(&v->list);
	table__free(v->table);
	table__free(v->looks);
	return err;
}
