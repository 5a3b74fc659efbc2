/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks.c: who causes the I/O? Sums by the stack that submitted it: the kernel's, the process's or
 * both, with the task's name; as text, folded lines or a flame graph. One record per I/O; stacks
 * come once each.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/stacks.h"
#include "cmd.h"
#include "frames.h"
#include "log.h"
#include "render/chart.h"
#include "render/column.h"
#include "render/flame.h"
#include "session.h"

enum { STACKS_TOP = 10, STACKS_MOST = 65536, STACKS_RANGES = 24 };
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
};

struct stacks_view {
	/* options */
	int which, by;
	struct option_number top, buffer;
	bool hist;
	/* state */
	struct stacks stacks;
	struct frames *frames;
	struct table *table;
	const struct column *shown[OBJECT_COLUMNS];
	struct hist_range ranges[HIST_CELLS];
	size_t named; /* rows whose frames were named when they came */
};

static const char *const which_choices[] = { "kernel", "user", "both", NULL };
static const char *const by_choices[] = { "count", "bytes", "time", NULL }; /* enum stack_measure */

static const struct option_def stacks_options[] = {
	{ "stack", 0, OPTION_CHOICE, offsetof(struct stacks_view, which), "WHICH",
	  "where it was submitted: in the kernel, in the process", .choices = which_choices },
	{ "by", 0, OPTION_CHOICE, offsetof(struct stacks_view, by), "WHAT",
	  "what is added up and sorted by", .choices = by_choices },
	{ "top", 0, OPTION_NUMBER, offsetof(struct stacks_view, top), "N",
	  "so many stacks in text, JSON and CSV (default 10)", .min = 1, .max = STACKS_MOST },
	{ "hist", 0, OPTION_FLAG, offsetof(struct stacks_view, hist), NULL,
	  "a latency histogram below each stack" },
	{ "buffer", 0, OPTION_SIZE, offsetof(struct stacks_view, buffer), "SIZE",
	  "each CPU's ring (default 4Mi); a full one loses records and says so", .min = 4096,
	  .max = 1 << 30 },
	{ 0 },
};

static const struct option_group stacks_group = { "What is shown", stacks_options };

#define FIELD(name) offsetof(struct stacks_row, name)
static const struct column stacks_columns[] = {
	{ "rank", "#", CELL_COUNT, 3, "1 is the largest", .at = FIELD(rank) },
	{ "count", "count", CELL_COUNT, 7, "I/Os that came this way", .at = FIELD(count) },
	{ "bytes", "bytes", CELL_BYTES, 7, "that they moved", .at = FIELD(bytes) },
	{ "total_ns", "total", CELL_DURATION, 7, "the time that they took, added up",
	  .at = FIELD(total_ns) },
	{ "mean_ns", "mean", CELL_DURATION, 7, "of one", .at = FIELD(mean_ns) },
	{ "max_ns", "max", CELL_DURATION, 7, "the longest", .at = FIELD(max_ns) },
	{ "share_percent", "share", CELL_PERCENT, 6, "of what it is sorted by",
	  .at = FIELD(share) },
	{ "pid", "pid", CELL_COUNT, 7, "process, where its stack is wanted", .at = FIELD(pid) },
	{ "comm", "comm", CELL_TEXT, 15, "the task's name", .at = FIELD(comm) },
	{ "kernel_stack", "kernel", CELL_TEXT, 20, "functions, innermost first",
	  .at = FIELD(kernel_stack) },
	{ "user_stack", "user", CELL_TEXT, 20, "functions, innermost first",
	  .at = FIELD(user_stack) },
	{ 0 },
};

static const struct object stacks_rows = { "stacks", { stacks_columns } };
static const struct object *const stacks_objects[] = { &stacks_rows, &session_ledger, NULL };

static int stacks_run(void *state, const struct options *options, char **argv);

static const struct option_group *const stacks_groups[] = { &filter_group, &run_group,
							    &picture_group, NULL };
const struct cmd cmd_stacks = {
	.name = "stacks",
	.group = "I/O",
	.brief = "who causes it? Stacks by count, bytes or time; folded lines, flame graph",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = stacks_groups,
	.own = &stacks_group,
	.view_size = sizeof(struct stacks_view),
	.objects = stacks_objects,
	.run = stacks_run,
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

static enum stack_half stacks_half(const struct io_stack *stack, bool wanted, uint32_t number)
{
	if (!wanted)
		return STACK_NOT_WANTED;
	return stack ? STACK_TAKEN : number ? STACK_NO_ROOM : STACK_NONE;
}

/* From the bio's submission to its end, where that was seen. */
static uint64_t stacks_ns(const struct io_record *r, const struct io_stages *s)
{
	uint64_t end_ns = s->done_ns > r->end_ns ? s->done_ns : r->end_ns;

	return end_ns - (s->queued_ns ? s->queued_ns : r->first_ns);
}

/* While its process lives: at the end the names are known. */
static void stacks_name_now(struct stacks_view *v, uint32_t pid, const struct io_stack *user)
{
	struct frame named[STACK_FRAMES];

	frames__name(v->frames, user, pid, named);
}

static int stacks_on_record(void *state, struct session *s, const struct io_record *r)
{
	struct stacks_view *v = state;
	const struct io_stages *stages = io_record__stages(r);
	const struct io_stack *kernel, *user;
	struct stack stack = { 0 };

	if (r->what != RECORD_END || !stages)
		return 0;
	kernel = stacks_wants_kernel(v) ? session__stack(s, stages->kernel_stack) : NULL;
	user = stacks_wants_user(v) ? session__stack(s, stages->user_stack) : NULL;
	stack.kernel = kernel ? (const uint64_t *)kernel->frames : NULL;
	stack.nr_kernel = kernel ? kernel->nr : 0;
	stack.user = user ? (const uint64_t *)user->frames : NULL;
	stack.nr_user = user ? user->nr : 0;
	stack.kernel_half = stacks_half(kernel, stacks_wants_kernel(v), stages->kernel_stack);
	stack.user_half = stacks_half(user, stacks_wants_user(v), stages->user_stack);
	stack.pid = user ? r->pid : 0;
	snprintf(stack.comm, sizeof(stack.comm), "%.15s", r->comm);
	if (stacks__add(&v->stacks, &stack, stacks_ns(r, stages), r->bytes))
		return log_err(-ENOMEM, "out of memory");
	if (user && v->stacks.nr > v->named)
		stacks_name_now(v, r->pid, user);
	v->named = v->stacks.nr;
	return 0;
}

/* ---- names ---- */

static size_t stacks_names(struct stacks_view *v, const struct stack *from, bool user,
			   struct frame named[STACK_FRAMES])
{
	struct io_stack stack = { .user = user };

	stack.nr = (uint16_t)(user ? from->nr_user : from->nr_kernel);
	if (stack.nr)
		memcpy(stack.frames, user ? from->user : from->kernel,
		       stack.nr * sizeof(stack.frames[0]));
	return frames__name(v->frames, &stack, from->pid, named);
}

static char *stacks_text(const struct frame *named, size_t nr)
{
	char *text = NULL;
	size_t len;
	FILE *out = nr ? open_memstream(&text, &len) : NULL;

	for (size_t i = 0; out && i < nr; i++)
		fprintf(out, "%s%s", i ? ";" : "", named[i].name);
	if (out)
		fclose(out);
	return text;
}

/* ---- text, JSON, CSV ---- */

static void stacks_put_frames(FILE *out, const struct frame *named, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		fputs("      ", out);
		text__put_terminal(out, named[i].name);
		fputc('\n', out);
	}
}

static void stacks_put_hist(struct stacks_view *v, const struct session *s, const struct hist *h)
{
	struct chart_style style = chart__style_of(s->out, s->options->output.color);

	chart__histogram(s->out, style, v->ranges, hist__ranges(h, v->ranges, STACKS_RANGES));
}

static void stacks_show_row(struct stacks_view *v, struct session *s, const struct stack_row *from,
			    uint64_t rank)
{
	struct frame kernel[STACK_FRAMES], user[STACK_FRAMES];
	size_t nr_kernel = stacks_names(v, &from->stack, false, kernel);
	size_t nr_user = stacks_names(v, &from->stack, true, user);
	uint64_t all = stack_sum__value(&v->stacks.total, (enum stack_measure)v->by);
	char *kernel_text = stacks_text(kernel, nr_kernel), *user_text = stacks_text(user, nr_user);
	struct stacks_row row = {
		.rank = rank,
		.count = from->sum.count,
		.bytes = from->sum.bytes,
		.total_ns = from->sum.total_ns,
		.mean_ns = from->sum.count ? from->sum.total_ns / from->sum.count : 0,
		.max_ns = from->sum.max_ns,
		.pid = from->stack.pid ? from->stack.pid : CELL_NO_NUMBER,
		.comm = from->stack.comm,
		.kernel_stack = kernel_text,
		.user_stack = user_text,
	};

	if (all)
		row.share = 100.0 *
			    (double)stack_sum__value(&from->sum, (enum stack_measure)v->by) /
			    (double)all;
	table__row(v->table, &row);
	free(kernel_text);
	free(user_text);
	if (s->format != TABLE_TEXT)
		return;
	stacks_put_frames(s->out, kernel, nr_kernel);
	stacks_put_frames(s->out, user, nr_user);
	if (v->hist && from->hist)
		stacks_put_hist(v, s, from->hist);
	fputc('\n', s->out);
}

static void stacks_show(struct stacks_view *v, struct session *s)
{
	size_t top = v->top.given ? v->top.value : STACKS_TOP;

	for (size_t i = 0; i < v->stacks.nr && i < top; i++)
		stacks_show_row(v, s, v->stacks.sorted[i], i + 1);
	if (v->stacks.other.sum.count)
		stacks_show_row(v, s, &v->stacks.other, v->stacks.nr + 1);
	if (s->format == TABLE_TEXT && v->stacks.nr > top)
		fprintf(s->out, "%zu more stacks: --top %zu shows them\n", v->stacks.nr - top,
			v->stacks.nr);
}

/* ---- folded lines and the flame graph ---- */

/* From the bottom: the task, its outermost frame, … the kernel's innermost. */
static int stacks_add_flame(struct stacks_view *v, struct flame *flame, const struct stack_row *row)
{
	struct flame_frame frames[2 * STACK_FRAMES + 1];
	struct frame named[STACK_FRAMES];
	size_t nr = 0, nr_named;

	frames[nr++] = (struct flame_frame){ row->stack.comm, FLAME_COMM };
	for (int user = 1; user >= 0; user--) {
		nr_named = stacks_names(v, &row->stack, user, named);
		while (nr_named--)
			frames[nr++] = (struct flame_frame){ named[nr_named].name,
							     user ? FLAME_USER : FLAME_KERNEL };
	}
	return flame__add(flame, frames, nr,
			  stack_sum__value(&row->sum, (enum stack_measure)v->by));
}

static int stacks_write_svg(struct stacks_view *v, struct session *s, struct flame *flame)
{
	static const enum cell_kind values[] = { CELL_COUNT, CELL_BYTES, CELL_DURATION };
	char note[96];
	struct flame_style style = { .title = "I/O by the stack that submitted it",
				     .note = note,
				     .value = values[v->by],
				     .unit = "I/Os" };
	struct flame_drawn drawn;
	int err;

	snprintf(note, sizeof(note), "%" PRIu64 " I/Os in %.1f s, by %s", v->stacks.total.count,
		 s->span_s, by_choices[v->by]);
	err = flame__write_svg(flame, &style, s->out, &drawn);
	if (!err && drawn.left_out)
		log_note("%" PRIu64 " frames are too narrow to be seen and were left out",
			 drawn.left_out);
	return err;
}

static int stacks_write_flame(struct stacks_view *v, struct session *s)
{
	struct flame *flame = flame__new();
	int err = flame ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < v->stacks.nr; i++)
		err = stacks_add_flame(v, flame, v->stacks.rows[i]);
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

	session__stack_losses(s, &taken, &failed);
	if (taken)
		log_note("%" PRIu64 " stacks were not taken: %s", taken,
			 stack_half__words(STACK_COLLIDED));
	if (failed)
		log_note("%" PRIu64 " stacks were not taken: %s", failed,
			 stack_half__words(STACK_FAILED));

	for (int user = 0; user < 2; user++) {
		const uint64_t *halves = user ? v->stacks.user_halves : v->stacks.kernel_halves;

		for (int half = STACK_NONE; half < NR_STACK_HALF; half++)
			if (halves[half])
				log_note("%" PRIu64 " I/Os without a %s stack: %s", halves[half],
					 half_words[user],
					 stack_half__words((enum stack_half)half));
	}
}

/* -n counts intervals; there is nothing to show before the end. */
static int stacks_on_tick(void *state, struct session *s)
{
	(void)state, (void)s;
	return 0;
}

static int stacks_on_end(void *state, struct session *s)
{
	struct stacks_view *v = state;
	int err = stacks__sort(&v->stacks, (enum stack_measure)v->by);

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
		.kernel_stacks = stacks_wants_kernel(v),
		.user_stacks = stacks_wants_user(v),
		.buffer_bytes = v->buffer.given ? v->buffer.value : 0,
	};
}

static bool stacks_has(const struct stacks_view *v, const struct column *column,
		       enum table_format format)
{
	if (column->at == FIELD(pid))
		return stacks_wants_user(v);
	return format != TABLE_TEXT ||
	       (column->at != FIELD(kernel_stack) && column->at != FIELD(user_stack));
}

static int stacks_on_start(void *state, struct session *s)
{
	struct stacks_view *v = state;
	size_t nr = 0;

	for (size_t i = 0; stacks_columns[i].key; i++)
		if (stacks_has(v, &stacks_columns[i], s->format))
			v->shown[nr++] = &stacks_columns[i];
	v->table = table__new(s->out, s->format, stacks_rows.type, v->shown, nr);
	if (v->frames)
		frames__prepare(v->frames);
	return v->table ? 0 : log_err(-ENOMEM, "out of memory");
}

static const struct session_view stacks_session = {
	.wants = stacks_wants,
	.on_start = stacks_on_start,
	.on_tick = stacks_on_tick,
	.on_record = stacks_on_record,
	.on_end = stacks_on_end,
};

static int stacks_run(void *state, const struct options *options, char **argv)
{
	struct stacks_view *v = state;
	int err = 0;

	if (v->hist && options->output.format != OUTPUT_TEXT)
		return log_err(-EINVAL, "--hist is a picture below each stack: it needs -o text");
	if (v->hist)
		stacks__init_with_hist(&v->stacks, STACKS_MOST);
	else
		stacks__init(&v->stacks, STACKS_MOST);
	v->frames = frames__new(stacks_wants_user(v));
	err = v->frames ? 0 : log_err(-ENOMEM, "out of memory");
	err = err ?: session__run(&stacks_session, v, options, argv);
	stacks__free(&v->stacks);
	frames__free(v->frames);
	table__free(v->table);
	return err;
}
