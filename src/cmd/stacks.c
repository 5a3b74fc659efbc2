/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks.c: who causes the I/O? Sums by the stack that submitted it: the kernel's, the process's or
 * both, with the task's name; as text, folded lines or a flame graph. One record per I/O; each
 * stack is sent once. With an EVENT, sums of that event, counted in the kernel by tally_view.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/stacks.h"
#include "base/log.h"
#include "capture/read.h"
#include "cmd/cmd.h"
#include "decode/column.h"
#include "render/flame.h"
#include "session/host_source.h"
#include "session/io_source.h"
#include "session/probe_source.h"
#include "session/session.h"
#include "session/table.h"
#include "view/intervals.h"
#include "view/records.h"
#include "view/row_conditions.h"
#include "view/stacks.h"
#include "view/stacks_rows.h"
#include "view/tally.h"
#include "view/unwind_option.h"

enum { STACKS_TOP = 10, STACKS_MOST = 65536, STACKS_SHARED = 4096 };
enum stacks_which { STACKS_KERNEL, STACKS_USER, STACKS_BOTH };

struct stacks_view {
	struct tally_view tally; /* for an EVENT; first: its options are at its start */
	/* options */
	int which, sort;
	struct option_number buffer;
	struct record_filter filter;
	struct row_conditions rows;
	struct option_list by;
	bool hist, follow;
	/* state */
	bool tells_hosts;
	struct stacks stacks;
	struct table *table;
};

static const char *const which_choices[] = { "kernel", "user", "both", NULL };
static const char *const sort_words[] = { "count", "bytes", "time", NULL }; /* enum stack_measure */
static const char *const sort_also[] = { NULL, NULL, "total total_ns", NULL }; /* its column */

static const char *const by_words[] = { "host", NULL };

static const struct option_def stacks_options[] = {
	{ "words", 0, OPTION_OPERANDS, TALLY_OPTION(words), REQUEST_WORDS, REQUEST_WORDS_HELP,
	  .completes = "line", .opens = line__opens, .is_capture = capture__is_one },
	{ "stack", 0, OPTION_CHOICE, offsetof(struct stacks_view, which), "WHICH",
	  "stack of the submission to show", .choices = which_choices },
	UNWIND_OPTION(TALLY_OPTION(unwind), .not_with = "read"),
	{ "sort", 0, OPTION_CHOICE, offsetof(struct stacks_view, sort), "WHAT",
	  "add up and sort by", .choices = sort_words, .also = sort_also },
	{ "by", 0, OPTION_LIST, offsetof(struct stacks_view, by), NULL,
	  "tell machines apart, as is done for captures of several; after an EVENT: by KEYS",
	  .choices = by_words },
	{ "top", 0, OPTION_NUMBER, TALLY_OPTION(top), "N",
	  "show N stacks in text, JSON and CSV (default 10)", .min = 1, .max = STACKS_MOST },
	{ "hist", 0, OPTION_FLAG, offsetof(struct stacks_view, hist), NULL,
	  "print a latency histogram below each stack" },
	RECORD_IF_OPTION(offsetof(struct stacks_view, filter)),
	ROW_FAIL_IF_OPTION(offsetof(struct stacks_view, rows), "'max > 1s'"),
	{ "follow", 0, OPTION_FLAG, offsetof(struct stacks_view, follow), NULL,
	  "with EVENT: " OPTION_FOLLOW_HELP, .not_with = "pid" },
	RECORDS_BUFFER_OPTION(offsetof(struct stacks_view, buffer)),
	{ 0 },
};

static const struct option_group stacks_group = { "What is shown", stacks_options };

/* With an EVENT: its rows are keyed by the stacks and the keys of `by`. */
static const struct column event_columns[] = {
	{ "count", "count", CELL_COUNT, 8, "number of hits with this stack",
	  .at = TALLY_AT(TALLY_COUNT) },
	{ "per_s", "per s", CELL_RATE, 7, "hits per second", .at = TALLY_AT(TALLY_PER_S),
	  .drop = 1 },
	{ 0 },
};
/* Keys like those of `by`, but known in advance, for the schema. */
static const struct column event_stacks[] = {
	{ "kstack", "kstack", CELL_TEXT, 20, "functions of the kernel, innermost first",
	  .form = &form_list },
	{ "ustack", "ustack", CELL_TEXT, 20, "functions of the process, innermost first",
	  .form = &form_list },
	{ 0 },
};
static const struct object event_rows = { "event_stacks",
					  { tally_lead, event_columns, event_stacks } };

static int stacks_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_stacks = {
	.name = "stacks",
	.group = "I/O",
	.brief = "which code causes I/O or any event; flame graphs",
	.synopsis = "[options] [EVENT... [by KEYS] [if CONDITION]] [-- COMMAND...]",
	.groups = CMD_GROUPS(&filter_group, &run_group, OUTPUT_IN(OUTPUT_FLAMES), &write_group,
			     &read_group, &alias_group),
	.own = &stacks_group,
	.view_size = sizeof(struct stacks_view),
	.objects = CMD_OBJECTS(&stacks_rows, &event_rows, &session_ledger, &probe_ledger_object),
	.run = stacks_run,
	.needs = NEED_IO | NEED_RINGS | NEED_STAGES | NEED_STACKS,
};

/* ---- one I/O ---- */

static bool stacks_wants_user(const struct stacks_view *v)
{
	return v->which != STACKS_KERNEL;
}

static bool stacks_wants_kernel(const struct stacks_view *v)
{
	return v->which != STACKS_USER;
}

static int stacks_on_record(void *state, struct session *s, const struct io_record *r)
{
	struct stacks_view *v = state;

	if (!record_filter__admits(&v->filter, s, r))
		return 0;
	return view_stacks__add(&v->stacks, s, r,
				(stacks_wants_kernel(v) ? STACK_KERNEL : 0) |
					(stacks_wants_user(v) ? STACK_USER : 0) |
					(v->by.nr ? STACK_HOST : 0));
}

/* ---- folded lines and the flame graph ---- */

static int stacks_write_svg(struct stacks_view *v, struct session *s, struct flame *flame)
{
	static const enum cell_kind values[] = { CELL_COUNT, CELL_BYTES, CELL_DURATION };
	char note[96];
	struct flame_style style = { .title = "I/O by the stack that submitted it",
				     .note = note,
				     .value = values[v->sort],
				     .unit = "I/Os" };
	struct flame_drawn drawn;
	int err;

	snprintf(note, sizeof(note), "%" PRIu64 " I/Os in %.1f s, by %s", v->stacks.total.count,
		 s->span_s, sort_words[v->sort]);
	err = flame__write_svg(flame, &style, s->out, &drawn);
	if (!err && drawn.left_out)
		log_note("%" PRIu64 " frames are too narrow to be seen and were left out",
			 drawn.left_out);
	return err;
}

static int stacks_write_flame(struct stacks_view *v, struct session *s)
{
	struct flame *flame = flame__new();
	int err = flame ? view_stacks__flame(&v->stacks, (enum stack_measure)v->sort, flame)
			: -ENOMEM;

	if (!err)
		err = s->options->output.format == OUTPUT_SVG ? stacks_write_svg(v, s, flame)
							      : flame__write_folded(flame, s->out);
	flame__free(flame);
	return err ? log_err(err, "cannot draw the stacks: %s", strerror(-err)) : 0;
}

/* ---- the run ---- */

static int stacks_on_end(void *state, struct session *s)
{
	struct stacks_view *v = state;
	int err = stacks__sort(&v->stacks, (enum stack_measure)v->sort);

	if (err)
		return log_err(err, "out of memory");
	stacks_rows__tell_missing(s, &v->stacks);
	if (s->options->output.format > OUTPUT_CSV)
		return stacks_write_flame(v, s);
	stacks_rows__put(s, &(struct stacks_list){
				    .stacks = &v->stacks,
				    .table = v->table,
				    .by = (enum stack_measure)v->sort,
				    .top = v->tally.options.top.given ? v->tally.options.top.value
								      : STACKS_TOP,
				    .conditions = &v->rows,
			    });
	return 0;
}

static struct io_wants stacks_wants(void *state, const struct options *options)
{
	struct stacks_view *v = state;

	return (struct io_wants){
		.filter = &options->filter,
		.records = true,
		.stages = true,
		.details = true,
		/* A capture has all of an I/O, and --if may ask for any step. */
		.whole = !options->file.write && !v->filter.only_if,
		.kernel_stacks = stacks_wants_kernel(v),
		.user_stacks = stacks_wants_user(v) && v->tally.options.unwind != UNWIND_HOW_NONE,
		.unwind = (enum unwind_how)v->tally.options.unwind,
		.buffer_bytes = v->buffer.given ? v->buffer.value : 0,
	};
}

static bool stacks_shows(const void *view, const struct column *column)
{
	if (stacks_rows__is_of_host(column))
		return ((const struct stacks_view *)view)->tells_hosts;
	return !stacks_rows__is_of_process(column) || stacks_wants_user(view);
}

static int stacks_on_start(void *state, struct session *s)
{
	struct stacks_view *v = state;

	if (!session__knows(s, GLOSSARY_STACKS))
		return log_err(-EINVAL, "this capture has no stacks: record it with --stacks");
	v->tells_hosts = v->by.nr || host_source__are_several(s);
	v->table = session__table(s, &stacks_rows, stacks_shows, v);
	if (v->table)
		table__keep_column(v->table, sort_words[v->sort]);
	return v->table ? 0 : log_no_memory();
}

/* A histogram takes 9 KB: a part with more stacks is left to the run. */
static int stacks_share_begin(void *state, struct session *s)
{
	struct stacks *stacks = &((struct stacks_view *)state)->stacks;

	(void)s;
	stacks->most_rows = stacks->with_hist ? STACKS_SHARED : stacks->most_rows;
	return 0;
}

static int stacks_give(void *state, struct session *s, struct byte_out *out)
{
	(void)s;
	return view_stacks__give(&((struct stacks_view *)state)->stacks, out);
}

static int stacks_take(void *state, struct session *s, struct byte_in *in)
{
	(void)s;
	return view_stacks__take(&((struct stacks_view *)state)->stacks, in);
}

static const struct session_sharing stacks_sharing = {
	.begin = stacks_share_begin,
	.give = stacks_give,
	.take = stacks_take,
};

static const struct session_view stacks_session = {
	.wants = stacks_wants,
	.on_start = stacks_on_start,
	.on_tick = intervals__pass, /* there is nothing to show before the end */
	.on_record = stacks_on_record,
	.sharing = &stacks_sharing,
	.on_end = stacks_on_end,
};

/* ---- of any event ---- */

/* Options that apply only to I/O. */
static const char *stacks_alien(const struct stacks_view *v, const struct options *options)
{
	const struct option_given aliens[] = {
		{ v->by.nr, "--by" },
		{ v->sort, "--sort" },
		{ v->hist, "--hist" },
		{ options->file.write, "-w" },
		{ options->file.read.nr, "-r" },
		{ v->buffer.given, "--buffer" },
		{ v->filter.only_if, "--if" },
		{ v->rows.fail_if, "--fail-if" },
	};

	return options__io_filter(options)
		       ?: options__first_given(aliens, sizeof(aliens) / sizeof(aliens[0]));
}

static int stacks_run_event(struct stacks_view *v, const struct options *options, char **argv)
{
	const char *alien = stacks_alien(v, options);
	struct options with = *options;

	if (alien)
		return log_err(-EINVAL,
			       "%s applies to I/O and cannot be combined with EVENT; for events "
			       "use 'by' and 'if', as in: by comm if 'bytes > 4096'",
			       alien);
	v->tally.object = &event_rows;
	v->tally.request.line.kernel_stack = stacks_wants_kernel(v);
	v->tally.request.line.user_stack = stacks_wants_user(v);
	with.filter.follow = v->follow;
	return tally_view__run(&v->tally, LINE_STACKS, &with, argv);
}

static int stacks_run(void *state, const struct options *options, char **argv)
{
	struct stacks_view *v = state;
	int err;

	if (v->tally.options.words.nr)
		return stacks_run_event(v, options, argv);
	if (v->follow)
		return log_err(-EINVAL, "--follow requires an EVENT; for I/O use -p or --comm");
	if (v->hist && options->output.format != OUTPUT_TEXT)
		return log_err(-EINVAL, "--hist requires -o text");
	if (v->rows.fail_if && options->output.format > OUTPUT_CSV)
		return log_err(-EINVAL, "--fail-if requires -o text, json or csv");
	if (v->hist)
		stacks__init_with_hist(&v->stacks, STACKS_MOST);
	else
		stacks__init(&v->stacks, STACKS_MOST);
	err = host_source__check(options, v->by.nr) ?: record_filter__parse(&v->filter);
	err = err ?: row_conditions__parse(&v->rows, &stacks_rows, NULL, NULL);
	err = err ?: session__run(&stacks_session, v, options, argv);
	record_filter__free(&v->filter);
	row_conditions__free(&v->rows);
	stacks__free(&v->stacks);
	table__free(v->table);
	return err;
}
