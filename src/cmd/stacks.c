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
#include "render/chart.h"
#include "render/flame.h"
#include "session/io_source.h"
#include "session/probe_source.h"
#include "session/session.h"
#include "session/table.h"
#include "view/intervals.h"
#include "view/records.h"
#include "view/row_conditions.h"
#include "symbol/frames.h"
#include "view/stacks.h"
#include "view/tally.h"
#include "view/unwind_option.h"

enum { STACKS_TOP = 10, STACKS_MOST = 65536, STACKS_SHARED = 4096, STACKS_RANGES = 24 };
enum stacks_which { STACKS_KERNEL, STACKS_USER, STACKS_BOTH };

/*
 *   #   count  bytes   total    mean     max comm
 *   1    5312 20.8Mi  1.21s   227us  4.10ms fio
 *       submit_bio_noacct_nocheck
 *       ...
 */
struct stacks_row {
	uint64_t rank, count, bytes, total_ns, mean_ns, max_ns;
	double share;
	uint64_t pid;
	const char *comm, *kernel_stack, *user_stack;
	const char *user_truncated; /* "yes", "no"; NULL: no user stack */
};

struct stacks_view {
	struct tally_view tally; /* for an EVENT; first: its options are at its start */
	/* options */
	int which, sort;
	struct option_number buffer;
	struct record_filter filter;
	struct row_conditions rows;
	bool hist, follow;
	/* state */
	struct stacks stacks;
	struct table *table;
	struct hist_range ranges[HIST_CELLS];
};

static const char *const which_choices[] = { "kernel", "user", "both", NULL };
static const char *const sort_words[] = { "count", "bytes", "time", NULL }; /* enum stack_measure */
static const char *const sort_also[] = { NULL, NULL, "total total_ns", NULL }; /* its column */

static const struct option_def stacks_options[] = {
	{ "words", 0, OPTION_OPERANDS, TALLY_OPTION(words), REQUEST_WORDS, REQUEST_WORDS_HELP,
	  .completes = "line", .opens = line__opens, .is_capture = capture__is_one },
	{ "stack", 0, OPTION_CHOICE, offsetof(struct stacks_view, which), "WHICH",
	  "stack of the submission to show", .choices = which_choices },
	UNWIND_OPTION(TALLY_OPTION(unwind), .not_with = "read"),
	{ "sort", 0, OPTION_CHOICE, offsetof(struct stacks_view, sort), "WHAT",
	  "add up and sort by", .choices = sort_words, .also = sort_also },
	{ "by", 0, OPTION_STRING, 0, "WHAT",
	  .refuses = "--sort count|bytes|time sorts; after an EVENT, by KEYS makes rows" },
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

#define FIELD(name) offsetof(struct stacks_row, name)
static const struct column stacks_columns[] = {
	{ "rank", "#", CELL_COUNT, 3, "rank of the stack; 1 is the largest", .at = FIELD(rank),
	  .drop = 4 },
	{ "count", "count", CELL_COUNT, 7, "number of I/Os with this stack", .at = FIELD(count) },
	{ "bytes", "bytes", CELL_BYTES, 7, "bytes that these I/Os moved", .at = FIELD(bytes),
	  .drop = 3 },
	{ "total_ns", "total", CELL_DURATION, 7, "sum of the times of these I/Os",
	  .at = FIELD(total_ns) },
	{ "mean_ns", "mean", CELL_DURATION, 7, "mean time of these I/Os", .at = FIELD(mean_ns),
	  .drop = 1 },
	{ "max_ns", "max", CELL_DURATION, 7, "maximum time of these I/Os", .at = FIELD(max_ns),
	  .drop = 2 },
	{ "share_percent", "share", CELL_PERCENT, 6, "share of the quantity that --sort names",
	  .at = FIELD(share) },
	{ "pid", "pid", CELL_COUNT, 7, "process that submitted, with --stack user or both",
	  .at = FIELD(pid) },
	{ "comm", "comm", CELL_TEXT, 15, "name of the task", .at = FIELD(comm) },
	{ "kernel_stack", "kernel", CELL_TEXT, 20, "functions of the kernel, innermost first",
	  .at = FIELD(kernel_stack), .not_in_text = true, .form = &form_list },
	{ "user_stack", "user", CELL_TEXT, 20, "functions of the process, innermost first",
	  .at = FIELD(user_stack), .not_in_text = true, .form = &form_list },
	{ "user_truncated", "truncated", CELL_TEXT, 9,
	  "true: frames of user_stack are missing, or may be", .at = FIELD(user_truncated),
	  .not_in_text = true, .form = &form_truth },
	{ 0 },
};

static const struct object stacks_rows = { "stacks", { stacks_columns } };

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
					(stacks_wants_user(v) ? STACK_USER : 0));
}

/* ---- text, JSON, CSV ---- */

static size_t stacks_top(const struct stacks_view *v)
{
	return v->tally.options.top.given ? v->tally.options.top.value : STACKS_TOP;
}

/* --fail-if judges every row, also one that --top hides. */
static void stacks_show_row(struct stacks_view *v, struct session *s, const struct stack_row *from,
			    uint64_t rank)
{
	uint64_t all = stack_sum__value(&v->stacks.total, (enum stack_measure)v->sort);
	struct stacks_row row = {
		.rank = rank,
		.count = from->sum.count,
		.bytes = from->sum.bytes,
		.total_ns = from->sum.total_ns,
		.mean_ns = from->sum.count ? from->sum.total_ns / from->sum.count : 0,
		.max_ns = from->sum.max_ns,
		.pid = from->stack.pid ? from->stack.pid : CELL_NO_NUMBER,
		.comm = from->stack.comm,
		.kernel_stack = from->stack.kernel,
		.user_stack = from->stack.user,
		.user_truncated = !from->stack.user			     ? NULL
				  : from->stack.user_half == STACK_TRUNCATED ? "yes"
									     : "no",
	};

	if (all)
		row.share = 100.0 *
			    (double)stack_sum__value(&from->sum, (enum stack_measure)v->sort) /
			    (double)all;
	row_conditions__admit(&v->rows, s, &row); /* only --fail-if reads it */
	if (rank > stacks_top(v) && from != &v->stacks.other)
		return;
	table__row(v->table, &row);
	if (s->format != TABLE_TEXT)
		return;
	frames__put(s->out, from->stack.kernel);
	frames__put(s->out, from->stack.user);
	if (v->hist && from->hist)
		chart__histogram(s->out, chart__style_of(s->out, s->options->output.color),
				 v->ranges, hist__ranges(from->hist, v->ranges, STACKS_RANGES));
	fputc('\n', s->out);
}

static void stacks_show(struct stacks_view *v, struct session *s)
{
	size_t top = stacks_top(v);

	for (size_t i = 0; i < v->stacks.nr; i++)
		stacks_show_row(v, s, v->stacks.sorted[i], i + 1);
	if (v->stacks.other.sum.count)
		stacks_show_row(v, s, &v->stacks.other, v->stacks.nr + 1);
	if (s->format == TABLE_TEXT && v->stacks.nr > top)
		fprintf(s->out, "%zu more stacks: --top %zu shows them\n", v->stacks.nr - top,
			v->stacks.nr);
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

/* Stacks that could not be taken, by reason: their I/Os are counted, without frames. */
static void stacks_tell_missing(const struct stacks_view *v, const struct session *s)
{
	static const char *const half_words[] = { "kernel", "user" };
	uint64_t taken, failed;

	io_source__stack_losses(s, &taken, &failed);
	if (taken)
		log_note("%" PRIu64 " stacks are missing: %s", taken,
			 stack_half__words(STACK_COLLIDED));
	if (failed)
		log_note("%" PRIu64 " stacks are missing: %s", failed,
			 stack_half__words(STACK_FAILED));

	for (int user = 0; user < 2; user++) {
		const uint64_t *halves = user ? v->stacks.user_halves : v->stacks.kernel_halves;

		for (int half = STACK_NONE; half < NR_STACK_HALF; half++)
			if (half == STACK_TRUNCATED && halves[half])
				log_note("%" PRIu64 " I/Os with a truncated %s stack", halves[half],
					 half_words[user]);
			else if (halves[half])
				log_note("%" PRIu64 " I/Os without a %s stack: %s", halves[half],
					 half_words[user],
					 stack_half__words((enum stack_half)half));
	}
}

static int stacks_on_end(void *state, struct session *s)
{
	struct stacks_view *v = state;
	int err = stacks__sort(&v->stacks, (enum stack_measure)v->sort);

	if (err)
		return log_err(err, "out of memory");
	stacks_tell_missing(v, s);
	if (s->options->output.format > OUTPUT_CSV)
		return stacks_write_flame(v, s);
	stacks_show(v, s);
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
	return column->at != FIELD(pid) || stacks_wants_user(view);
}

static int stacks_on_start(void *state, struct session *s)
{
	struct stacks_view *v = state;

	if (!session__knows(s, GLOSSARY_STACKS))
		return log_err(-EINVAL, "this capture has no stacks: record it with --stacks");
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
	err = record_filter__parse(&v->filter);
	err = err ?: row_conditions__parse(&v->rows, &stacks_rows, NULL, NULL);
	err = err ?: session__run(&stacks_session, v, options, argv);
	record_filter__free(&v->filter);
	row_conditions__free(&v->rows);
	stacks__free(&v->stacks);
	table__free(v->table);
	return err;
}
