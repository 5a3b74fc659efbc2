/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * export.c: how do other programs get the data of a capture? As rows for databases, a log that fio
 * replays, input for blkparse and btt, timelines, histograms, metrics, pictures. Filters are those
 * of the other commands; attaches nothing and needs no root.
 */
#include <errno.h>
#include <unistd.h>
#include "base/log.h"
#include "calls/calls_view.h"
#include "calls/replay.h"
#include "cmd/cmd.h"
#include "decode/row.h"
#include "export/exporter.h"
#include "session/condition.h"
#include "session/io_source.h"
#include "session/probe_source.h"
#include "session/session.h"
#include "view/records.h"

struct export
{
	/* options */
	int format;
	const char *only_if;
	/* state */
	const struct exporter *exporter;
	void *state; /* the exporter's */
	struct condition *condition;
	struct command_row row; /* current command, for --if */
	uint64_t nr;
};

/* By enum output_format. */
static const struct exporter *const exporters[] = {
	[OUTPUT_JSON] = &export_json,	      [OUTPUT_CSV] = &export_csv,
	[OUTPUT_FOLDED] = &export_folded,     [OUTPUT_DOT] = &export_dot,
	[OUTPUT_CHROME] = &export_chrome,     [OUTPUT_FIO] = &export_fio,
	[OUTPUT_BLKTRACE] = &export_blktrace, [OUTPUT_OPENMETRICS] = &export_openmetrics,
	[OUTPUT_HDR] = &export_hdr,	      [OUTPUT_PERFETTO] = &export_perfetto,
};
enum {
	EXPORT_OF_CALLS = OUTPUT_BIT(OUTPUT_JSON) | OUTPUT_BIT(OUTPUT_CSV) |
			  OUTPUT_BIT(OUTPUT_FOLDED) | OUTPUT_BIT(OUTPUT_DOT) |
			  OUTPUT_BIT(OUTPUT_CHROME),
	EXPORT_FORMATS = EXPORT_OF_CALLS | OUTPUT_BIT(OUTPUT_FIO) | OUTPUT_BIT(OUTPUT_BLKTRACE) |
			 OUTPUT_BIT(OUTPUT_OPENMETRICS) | OUTPUT_BIT(OUTPUT_HDR) |
			 OUTPUT_BIT(OUTPUT_PERFETTO),
};

static const struct option_def export_options[] = {
	{ "format", 'o', OPTION_CHOICE, offsetof(struct export, format), "FORMAT",
	  "output format (default json)", .choices = output_words, .choice_helps = output_helps,
	  .offered = EXPORT_FORMATS },
	{ "if", 0, OPTION_STRING, offsetof(struct export, only_if), "EXPR",
	  "only commands for which this is true, e.g. 'lat > 1ms && op == read'" },
	{ 0 },
};

static const struct option_group export_group = { "What is written", export_options };

static int export_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_export = {
	.name = "export",
	.group = "captures",
	.brief = "a capture for databases, fio, blktrace, Perfetto, Prometheus",
	.synopsis = "-r FILE [options]",
	.groups = CMD_GROUPS(&read_group, &alias_group, &filter_group, &run_group,
			     OUTPUT_GROUP(OUTPUT_FILE)),
	.own = &export_group,
	.view_size = sizeof(struct export),
	.objects = CMD_OBJECTS(&export_rows_object, &calls_view_object, &probe_ledger_object),
	.run = export_run,
};

/* ---- the run ---- */

static struct io_wants export_wants(void *state, const struct options *options)
{
	(void)state;
	return (struct io_wants){ .filter = &options->filter, .records = true };
}

static int export_on_start(void *state, struct session *s)
{
	struct export *e = state;

	if (e->exporter->is_binary && isatty(fileno(s->out)))
		return log_err(-EINVAL,
			       "-o %s is binary and not for a terminal; write it with --out FILE",
			       output_words[e->format]);
	return e->exporter->start(&e->state, s);
}

static int export_on_record(void *state, struct session *s, const struct io_record *r)
{
	const struct option_number *count = &s->options->run.count;
	struct export *e = state;

	if (!io_source__is_met(s, e->condition, r, &e->row))
		return 0;
	if (count->given && ++e->nr >= count->value)
		session__stop(s);
	return e->exporter->put(e->state, s, r);
}

static int export_on_tick(void *state, struct session *s)
{
	struct export *e = state;

	return e->exporter->tick(e->state, s);
}

static int export_on_end(void *state, struct session *s)
{
	struct export *e = state;

	return e->exporter->finish(e->state, s);
}

static void export_on_flush(void *state)
{
	struct export *e = state;

	if (e->exporter->flush)
		e->exporter->flush(e->state);
}

static bool export_can_share(const void *state, const struct session *s)
{
	const struct export *e = state;

	return e->exporter->give && !s->options->run.count.given;
}

static int export_share_begin(void *state, struct session *s)
{
	struct export *e = state;

	(void)s;
	return e->exporter->share_begin(e->state);
}

static int export_give(void *state, struct session *s, struct byte_out *out)
{
	struct export *e = state;

	(void)s;
	return e->exporter->give(e->state, out);
}

static int export_take(void *state, struct session *s, struct byte_in *in)
{
	struct export *e = state;

	(void)s;
	return e->exporter->take(e->state, in);
}

static const struct session_sharing export_sharing = {
	.can = export_can_share,
	.blocks = 1,
	.begin = export_share_begin,
	.give = export_give,
	.take = export_take,
};

static const struct session_view export_view = {
	.wants = export_wants,
	.on_start = export_on_start,
	.on_record = export_on_record,
	.sharing = &export_sharing,
	.on_end = export_on_end,
	.on_flush = export_on_flush,
	.counts_records = true,
};

static const struct session_view export_interval_view = {
	.wants = export_wants,
	.on_start = export_on_start,
	.on_tick = export_on_tick,
	.on_record = export_on_record,
	.on_end = export_on_end,
	.on_flush = export_on_flush,
	.counts_records = true,
};

/* ---- of calls ---- */

/* Options that apply only to commands. */
static const char *export_alien(const struct export *e, const struct options *options)
{
	const struct option_given aliens[] = {
		{ options->filter.pid.given, "-p" },
		{ options->filter.cgroup, "--cgroup" },
		{ e->only_if, "--if" },
		{ options->run.interval_ns.given, "-i" },
		{ options->run.duration_ns.given, "-t" },
	};

	return options__io_filter(options)
		       ?: options__first_given(aliens, sizeof(aliens) / sizeof(aliens[0]));
}

static int export_run_calls(const struct export *e, const struct options *options)
{
	const char *alien = export_alien(e, options), *path = options->file.read.words[0];
	struct options of_calls = *options;

	if (!(EXPORT_OF_CALLS & OUTPUT_BIT(e->format)))
		return log_err(-EINVAL,
			       "-o %s: %s contains calls; use json, csv, chrome, folded or dot",
			       output_words[e->format], path);
	if (alien)
		return log_err(-EINVAL, "%s applies to commands; %s contains calls", alien, path);
	of_calls.output.format = e->format;
	return calls_replay__run(&(struct tree_view){ 0 }, &of_calls, NULL);
}

/* ---- formats ---- */

static int export_run_commands(struct export *e, const struct options *options, char **argv)
{
	int err;

	e->exporter = exporters[e->format];
	if (options->run.interval_ns.given && !e->exporter->tick)
		return log_err(-EINVAL, "-i is not supported with -o %s", output_words[e->format]);
	err = records__parse_condition("--if", e->only_if, &e->condition);
	err = err
		      ?: session__run(e->exporter->tick ? &export_interval_view : &export_view, e,
				      options, argv);
	e->exporter->free(e->state);
	condition__free(e->condition);
	return err;
}

static int export_run(void *state, const struct options *options, char **argv)
{
	struct export *e = state;
	bool has_calls = false;
	int err;

	e->format = e->format ?: OUTPUT_JSON;
	if (!options->file.read.nr)
		return log_err(-EINVAL, "export requires -r FILE");
	err = calls_replay__ask(options->file.read.words[0], &has_calls);
	if (err)
		return err;
	return has_calls ? export_run_calls(e, options) : export_run_commands(e, options, argv);
}
