/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report.c: what happened, at a glance? One page about a capture, for a browser: latency over time
 * and by percentile, where the time went, what kind of load it was, who caused it, the slowest,
 * what failed. Its parts are the views that a terminal shows, so the numbers are the same; sums
 * over millions of commands are built here, with bounded memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "cmd/cmd.h"
#include "decode/column.h"
#include "decode/row.h"
#include "render/load.h"
#include "render/page.h"
#include "session/condition.h"
#include "session/io_source.h"
#include "session/session.h"
#include "view/errors_rows.h"
#include "view/latency_rows.h"
#include "view/records.h"
#include "view/report_waits.h"
#include "view/report_whole.h"
#include "view/slow_rows.h"
#include "wire/io_stages.h"

enum { REPORT_TOP = 25, REPORT_TOP_MOST = 1000, NR_REPORT_PARTS = 5 };

extern const struct cmd cmd_why, cmd_layers, cmd_pattern, cmd_slow, cmd_errors;

/* Views whose JSON is part of the page's data. */
struct report_part {
	const struct cmd *command;
	const char *words[3]; /* its options; "N" is the number of --top */
	bool troubles;	      /* also takes records other than ends of commands */
	bool all;	      /* without a filter only: it compares commands with the others */
};

static const struct report_part report_parts[NR_REPORT_PARTS] = {
	{ &cmd_why, .troubles = true, .all = true },
	{ &cmd_layers },
	{ &cmd_pattern },
	{ &cmd_slow, { "--stack=both", "--top", "N" } },
	{ &cmd_errors, { "--top", "N" }, .troubles = true },
};

struct report {
	/* options */
	struct option_number top;
	const char *only_if;
	/* state */
	struct page *page;
	struct page_parts page_parts;
	char title[256];
	FILE *data;
	struct session inner;	       /* session of the parts: writes JSON to data */
	void *states[NR_REPORT_PARTS]; /* NULL: this report has no such part */
	bool has_calls;		       /* nothing is filtered: calls have no commands */
	struct report_latency latency;
	struct report_top tops;
	struct report_whole whole;
	struct condition *only;
	struct command_row command; /* current command, for --if */
};

static const struct option_def report_options[] = {
	{ "top", 0, OPTION_NUMBER, offsetof(struct report, top), "N",
	  "show the N slowest, and at most N processes, files and errors (default 25)", .min = 1,
	  .max = REPORT_TOP_MOST },
	{ "if", 0, OPTION_STRING, offsetof(struct report, only_if), "EXPR",
	  "only commands for which this is true, as in trace, e.g. 'bytes >= 64Ki'" },
	{ 0 },
};

static const struct option_group report_group = { "What is shown", report_options };

/* The objects of the parts are those of their commands. */
extern const struct object layers_rows, errors_sums, waits_rows, why_rows;
static const struct object *const report_objects[] = {
	&report_whole_object,
	&report_device_object,
	&latency_rows_by_op,
	&report_percentiles,
	&report_moments,
	&report_heat,
	&report_processes,
	&report_files,
	&why_rows,
	&layers_rows,
	&waits_rows,
	&load_rows,
	&load_parts[LOAD_OPS],
	&load_parts[LOAD_SIZES],
	&load_parts[LOAD_GAPS],
	&load_parts[LOAD_DEPTHS],
	&load_parts[LOAD_HEAT],
	&slow_rows,
	&errors_rows,
	&errors_sums,
	&session_ledger,
	NULL,
};

static int report_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_report = {
	.name = "report",
	.group = "captures",
	.brief = "a capture as a web page with charts and tables",
	.synopsis = "-r FILE [options]",
	.groups = CMD_GROUPS(&filter_group, &whole_group,
			     OUTPUT_FILE_IN(OUTPUT_BIT(OUTPUT_HTML) | OUTPUT_BIT(OUTPUT_JSON)),
			     &read_group, &alias_group),
	.own = &report_group,
	.view_size = sizeof(struct report),
	.objects = report_objects,
	.run = report_run,
};

/* ---- the parts ---- */

/* Of the devices, at least. */
static bool report_has_all(const struct report *r, const struct options *options)
{
	const struct filter_options *f = &options->filter;

	return !r->only_if && !f->ops.nr && !f->pid.given && !f->comm && !f->cgroup &&
	       !f->nsid.given && !f->qid.given && !f->ctrl_id.given && !f->min_ns.given &&
	       !f->failed;
}

static void report_tell_parts(const struct report *r, const char *file)
{
	for (size_t i = 0; i < NR_REPORT_PARTS; i++)
		if (!r->states[i])
			log_note("no causes in this report: they are found in all commands alone; "
				 "iosonar why -r %s finds them, also those of -p, --comm or "
				 "--cgroup",
				 file);
}

/* The state of a part, with the options that a report gives it. */
static int report_begin_part(struct report *r, size_t nr)
{
	const struct report_part *part = &report_parts[nr];
	const struct cmd *cmd = part->command;
	char number[16], *argv[5] = { (char *)cmd->name };
	struct option_result result;
	int argc = 1;

	r->states[nr] = calloc(1, cmd->view_size);
	if (!r->states[nr])
		return log_no_memory();
	snprintf(number, sizeof(number), "%u",
		 r->top.given ? (unsigned)r->top.value : (unsigned)REPORT_TOP);
	for (size_t i = 0; i < 3 && part->words[i]; i++)
		argv[argc++] = strcmp(part->words[i], "N") ? (char *)part->words[i] : number;
	if (option__parse(&(struct option_set){ cmd->own, r->states[nr] }, 1, argc, argv, &result))
		return -EINVAL;
	return cmd->part->begin ? cmd->part->begin(r->states[nr]) : 0;
}

/* Sets the session of the parts: the run's data and the output. */
static void report_enter(struct report *r, const struct session *s)
{
	r->inner = *s;
	r->inner.out = r->data;
	r->inner.format = TABLE_JSON;
}

/* ---- the page ---- */

static int report_open(struct report *r, const struct session *s)
{
	const struct option_list *files = &s->options->file.read;
	const char *name = strrchr(files->words[0], '/');

	r->data = s->out;
	if (s->options->output.format == OUTPUT_JSON)
		return 0;
	snprintf(r->title, sizeof(r->title), "iosonar report: %.200s",
		 name ? name + 1 : files->words[0]);
	r->page_parts = (struct page_parts){
		.title = r->title,
		.styles = { &page_source_report_css },
		.scripts = { &page_source_chart_js, &page_source_report_js },
	};
	r->page = page__begin(s->out, &r->page_parts);
	r->data = r->page ? page__open_data(r->page, "report") : NULL;
	return r->data ? 0 : log_no_memory();
}

/* In JSON the session writes the ledger last. */
static int report_close(struct report *r, const struct session *s)
{
	int err = 0;

	if (!r->page)
		return 0;
	if (s->ledger_known && object__put(&session_ledger, r->data, TABLE_JSON, &s->ledger))
		err = log_no_memory();
	page__close_data(r->page);
	page__end(r->page);
	r->page = NULL;
	return err;
}

/* ---- the run ---- */

static struct io_wants report_wants(void *state, const struct options *options)
{
	(void)state;
	return (struct io_wants){
		.filter = &options->filter,
		.records = true,
		.stages = true,
		.details = true,
		.troubles = true,
	};
}

static int report_on_start(void *state, struct session *s)
{
	struct report *r = state;
	uint64_t from_ns = s->start_ns + s->options->file.from_ns.value;
	int err = report_open(r, s);

	r->whole.latency = &r->latency;
	r->whole.tops = &r->tops;
	r->whole.nr_seen = io_source__devices(s)->nr;
	r->whole.seen = calloc(r->whole.nr_seen + 1, sizeof(*r->whole.seen));
	if (!err &&
	    (!r->whole.seen || report_latency__init(&r->latency, io_source__devices(s), from_ns) ||
	     report_top__init(&r->tops)))
		err = log_no_memory();
	report_enter(r, s);
	for (size_t i = 0; i < NR_REPORT_PARTS && !err; i++)
		if (r->states[i])
			err = report_parts[i].command->part->view->on_start(r->states[i],
									    &r->inner);
	return err;
}

static int report_on_record(void *state, struct session *s, const struct io_record *record)
{
	struct report *r = state;
	int32_t nr = records__device(s, record);
	bool ended = record->what == RECORD_END;
	int err = 0;

	/* --if works as in trace; an event of a controller is not a command. */
	if ((r->only && record->what == RECORD_EVENT) ||
	    !io_source__is_met(s, r->only, record, &r->command))
		return 0;
	if (ended) {
		if (nr >= 0)
			r->whole.seen[nr] = true;
		r->whole.staged += !!(record->flags & RECORD_STAGES);
		report_top__add(&r->tops, s, record);
		if (report_latency__add(&r->latency, record, nr))
			err = log_no_memory();
	}
	for (size_t i = 0; i < NR_REPORT_PARTS && !err; i++)
		if (r->states[i] && (ended || report_parts[i].troubles))
			err = report_parts[i].command->part->view->on_record(r->states[i],
									     &r->inner, record);
	return err;
}

static int report_on_end(void *state, struct session *s)
{
	struct report *r = state;
	size_t most = r->top.given ? r->top.value : REPORT_TOP;
	int err = 0;

	report_enter(r, s);
	for (size_t i = 0; i < NR_REPORT_PARTS && !err; i++)
		if (r->states[i])
			err = report_parts[i].command->part->view->on_end(r->states[i], &r->inner);
	if (!err && r->has_calls)
		err = report_waits__put(&r->inner);
	if (!err && (report_whole__put(&r->whole, s, r->data) ||
		     report_whole__put_devices(&r->whole, s, r->data) ||
		     report_latency__put(&r->latency, s, r->data) ||
		     report_top__put(&r->tops, s, most, r->data)))
		err = log_no_memory();
	return err ?: report_close(r, s);
}

static const struct session_view report_view = {
	.wants = report_wants,
	.on_start = report_on_start,
	.on_record = report_on_record,
	.on_end = report_on_end,
};

static int report_run(void *state, const struct options *options, char **argv)
{
	struct report *r = state;
	int err;

	if (!options->file.read.nr)
		return log_err(-EINVAL, "report requires -r FILE; iosonar record makes a capture");
	if (options->output.format != OUTPUT_JSON && !options->output.path && isatty(STDOUT_FILENO))
		return log_err(-EINVAL, "report makes an HTML page; write it with --out FILE");
	err = records__parse_condition("--if", r->only_if, &r->only);
	for (size_t i = 0; i < NR_REPORT_PARTS && !err; i++)
		if (!report_parts[i].all || report_has_all(r, options))
			err = report_begin_part(r, i);
	if (!err)
		report_tell_parts(r, options->file.read.words[0]);
	r->has_calls = report_has_all(r, options) && !options->filter.devices.nr;
	err = err ?: session__run(&report_view, r, options, argv);
	page__abandon(r->page);
	for (size_t i = 0; i < NR_REPORT_PARTS; i++) {
		if (r->states[i])
			report_parts[i].command->part->end(r->states[i]);
		free(r->states[i]);
	}
	report_latency__free(&r->latency);
	report_top__free(&r->tops);
	condition__free(r->only);
	free(r->whole.seen);
	return err;
}
