/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks_rows.c: see stacks_rows.h.
 */
#include "view/stacks_rows.h"

#include <inttypes.h>

#include "base/log.h"
#include "decode/column.h"
#include "render/chart.h"
#include "session/io_source.h"
#include "symbol/frames.h"

enum { STACKS_RANGES = 24 };

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
	const char *host, *comm, *kernel_stack, *user_stack;
	const char *user_truncated; /* "yes", "no"; NULL: no user stack */
};

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
	{ "host", "host", CELL_TEXT, 5, "machine, of captures", .at = FIELD(host) },
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

const struct object stacks_rows = { "stacks", { stacks_columns } };

bool stacks_rows__is_of_process(const struct column *column)
{
	return column->at == FIELD(pid);
}

bool stacks_rows__is_of_host(const struct column *column)
{
	return column->at == FIELD(host);
}

static void stacks_hist_put(struct session *s, const struct hist *hist)
{
	struct hist_range ranges[HIST_CELLS];

	chart__histogram(s->out, chart__style_of(s->out, s->options->output.color), ranges,
			 hist__ranges(hist, ranges, STACKS_RANGES));
}

/* --fail-if judges every row, also one that --top hides. */
static void stacks_row_put(struct session *s, const struct stacks_list *list,
			   const struct stack_row *from, uint64_t rank)
{
	uint64_t all = stack_sum__value(&list->stacks->total, list->by);
	struct stacks_row row = {
		.rank = rank,
		.count = from->sum.count,
		.bytes = from->sum.bytes,
		.total_ns = from->sum.total_ns,
		.mean_ns = from->sum.count ? from->sum.total_ns / from->sum.count : 0,
		.max_ns = from->sum.max_ns,
		.pid = from->stack.pid ? from->stack.pid : CELL_NO_NUMBER,
		.host = from->stack.host,
		.comm = from->stack.comm,
		.kernel_stack = from->stack.kernel,
		.user_stack = from->stack.user,
		.user_truncated = !from->stack.user			     ? NULL
				  : from->stack.user_half == STACK_TRUNCATED ? "yes"
									     : "no",
	};

	if (all)
		row.share = 100.0 * (double)stack_sum__value(&from->sum, list->by) / (double)all;
	row_conditions__admit(list->conditions, s, &row); /* only --fail-if reads it */
	if (rank > list->top && from != &list->stacks->other)
		return;
	table__row(list->table, &row);
	if (s->format != TABLE_TEXT)
		return;
	frames__put(s->out, from->stack.kernel);
	frames__put(s->out, from->stack.user);
	if (from->hist)
		stacks_hist_put(s, from->hist);
	fputc('\n', s->out);
}

void stacks_rows__put(struct session *s, const struct stacks_list *list)
{
	const struct stacks *stacks = list->stacks;

	for (size_t i = 0; i < stacks->nr; i++)
		stacks_row_put(s, list, stacks->sorted[i], i + 1);
	if (stacks->other.sum.count)
		stacks_row_put(s, list, &stacks->other, stacks->nr + 1);
	if (s->format == TABLE_TEXT && stacks->nr > list->top)
		fprintf(s->out, "%zu more stacks: --top %zu shows them\n", stacks->nr - list->top,
			stacks->nr);
}

void stacks_rows__tell_missing(const struct session *s, const struct stacks *stacks)
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
		const uint64_t *halves = user ? stacks->user_halves : stacks->kernel_halves;

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
