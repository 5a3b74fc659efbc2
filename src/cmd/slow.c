/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slow.c: which I/Os were the slowest, who sent them, where did they wait? The kernel sends only
 * candidates: a threshold rises with the slowest so far. Each with its sector, task, steps and the
 * stack that submitted it.
 */
#include <stdlib.h>
#include <string.h>
#include "analyse/steps.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "session/io_source.h"
#include "session/session.h"
#include "session/share.h"
#include "session/table.h"
#include "view/intervals.h"
#include "view/records.h"
#include "view/slow_rows.h"
#include "view/unwind_option.h"

enum { SLOW_TOP = 10, SLOW_TOP_MOST = 10000 };
enum slow_stack { SLOW_KERNEL, SLOW_USER, SLOW_BOTH, SLOW_NONE };

struct slow {
	/* options */
	struct option_number top, buffer;
	bool each_device, bio;
	int stack, unwind;
	struct record_filter filter;
	struct row_conditions rows;
	/* state */
	struct slowest slowest;
	struct below below;
	struct table *table;
	bool as_they_come; /* --min */
	uint32_t stages;   /* that were shown */
};

/* In the order of enum slow_stack. */
static const char *const stack_choices[] = { "kernel", "user", "both", "none", NULL };

static const struct option_def slow_options[] = {
	{ "top", 0, OPTION_NUMBER, offsetof(struct slow, top), "N",
	  "show the N slowest (default 10)", .min = 1, .max = SLOW_TOP_MOST },
	{ "each-device", 0, OPTION_FLAG, offsetof(struct slow, each_device), NULL,
	  "show the N slowest of each device, not of all devices together" },
	{ "bio", 0, OPTION_FLAG, offsetof(struct slow, bio), NULL,
	  "show bios, from submission to end, instead of commands of the driver" },
	{ "stack", 0, OPTION_CHOICE, offsetof(struct slow, stack), "WHICH",
	  "stack of the submission to show", .choices = stack_choices },
	UNWIND_OPTION(offsetof(struct slow, unwind), .not_with = "read"),
	RECORD_IF_OPTION(offsetof(struct slow, filter), .not_with = "bio"),
	ROW_FAIL_IF_OPTION(offsetof(struct slow, rows), "'whole > 1s'"),
	RECORDS_BUFFER_OPTION(offsetof(struct slow, buffer)),
	{ 0 },
};

static const struct option_group slow_group = { "What is shown", slow_options };

static int slow_run(void *state, const struct options *options, char **argv);
static const struct cmd_part slow_part;

const struct cmd cmd_slow = {
	.name = "slow",
	.group = "I/O",
	.brief = "the slowest I/O, with their steps and stacks",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = CMD_GROUPS(&filter_group, &run_group, OUTPUT_IN(OUTPUT_TABLES), &write_group,
			     &read_group, &alias_group),
	.own = &slow_group,
	.view_size = sizeof(struct slow),
	.objects = CMD_OBJECTS(&slow_rows, &session_ledger),
	.run = slow_run,
	.part = &slow_part,
	.needs = NEED_IO | NEED_RINGS | NEED_STAGES | NEED_FILES | NEED_STACKS,
};

/* ---- one I/O ---- */

static bool slow_wants_kernel(const struct slow *l)
{
	return l->stack == SLOW_KERNEL || l->stack == SLOW_BOTH;
}

static bool slow_wants_user(const struct slow *l)
{
	return l->stack == SLOW_USER || l->stack == SLOW_BOTH;
}

/* From submission to end, as far as known. A file may hold impossible times. */
static uint64_t slow_ns(const struct io_record *r)
{
	const struct io_stages *s = io_record__stages(r);
	uint64_t end_ns = s && s->done_ns > r->end_ns ? s->done_ns : r->end_ns;
	bool is_known = s && s->queued_ns && s->queued_ns <= end_ns;

	return end_ns - (is_known ? s->queued_ns : r->first_ns);
}

/* ---- the run ---- */

/* record: the record of io, with its stages. */
static void slow_take_stacks(const struct slow *l, const struct session *s,
			     const struct io_record *record, struct slow_io *io)
{
	if (slow_wants_kernel(l))
		io->kernel_stack = io_source__stack(s, record, false);
	if (slow_wants_user(l))
		io->user_stack = io_source__stack(s, record, true);
}

/* --min: shown at once and not kept. */
static int slow_log(struct slow *l, struct session *s, const struct io_record *record, int32_t nr)
{
	struct slowest one = { .most = 1 };
	int err;
	struct slow_io *io = slowest__add(&one, slow_ns(record), nr, record, &err);

	if (io) {
		slow_take_stacks(l, s, record, io);
		io->below = slow_rows__below(&l->below, s, record);
		l->stages |= slow_rows__put(l->table, s, io, CELL_NO_NUMBER, &l->rows);
	}
	slowest__free(&one);
	return err ? log_err(err, "out of memory") : 0;
}

static int slow_on_record(void *state, struct session *s, const struct io_record *record)
{
	struct slow *l = state;
	int32_t nr = records__device(s, record);
	struct slow_io *io;
	int err;

	if (record->what != (l->bio ? RECORD_BIO : RECORD_END) ||
	    !record_filter__admits(&l->filter, s, record))
		return 0;
	if (below__add(&l->below, record, nr, slow_ns(record)))
		return log_no_memory();
	if (l->as_they_come)
		return slow_log(l, s, record, nr);
	io = slowest__add(&l->slowest, slow_ns(record), nr, record, &err);
	if (io) {
		slow_take_stacks(l, s, record, io);
		io->below = slow_rows__below(&l->below, s, record);
	}
	return err ? log_err(err, "out of memory") : 0;
}

static int slow_on_end(void *state, struct session *s)
{
	struct slow *l = state;

	char legend[STAGE_LEGEND];

	for (size_t i = 0; i < l->slowest.nr && !l->as_they_come; i++)
		l->stages |= slow_rows__put(l->table, s, &l->slowest.ios[i], i + 1, &l->rows);
	if (l->stages)
		log_note("steps: %s", stage__legend(l->stages, legend));
	return 0;
}

static struct io_wants slow_wants(void *state, const struct options *options)
{
	struct slow *l = state;

	return (struct io_wants){
		.filter = &options->filter,
		.records = true,
		.stages = true,
		.details = true,
		.bios = l->bio,
		.depths = true,
		.files = true,
		.kernel_stacks = slow_wants_kernel(l),
		.user_stacks = slow_wants_user(l) && l->unwind != UNWIND_HOW_NONE,
		.unwind = (enum unwind_how)l->unwind,
		/* Another device's slowest would raise the threshold; -w needs every record. */
		.slowest =
			l->each_device || l->as_they_come || l->filter.only || options->file.write
				? 0
				: (uint32_t)l->slowest.most,
		.buffer_bytes = l->buffer.given ? l->buffer.value : 0,
	};
}

static int slow_on_start(void *state, struct session *s)
{
	struct slow *l = state;

	l->table = session__table(s, &slow_rows, NULL, NULL);
	return l->table ? 0 : log_no_memory();
}

/* A line for each, or what bios became below, depends on the records around. */
static bool slow_can_share(const void *state, const struct session *s)
{
	const struct slow *l = state;

	(void)s;
	return !l->as_they_come && !l->bio;
}

static int slow_give(void *state, struct session *s, struct byte_out *out)
{
	struct slow *l = state;
	struct slowest *slowest = &l->slowest;

	(void)s;
	for (size_t i = 0; i < slowest->nr; i++) {
		struct record_with_stages io = { slowest->ios[i].record, slowest->ios[i].stages };

		byte_out__put(out, &io, sizeof(io));
	}
	slowest__clear(slowest);
	return 0;
}

/* Slowest first, ties as they came: so the order of all stays. */
static int slow_take(void *state, struct session *s, struct byte_in *in)
{
	struct record_with_stages io;
	int err = 0;

	while (!err && byte_in__left(in)) {
		share__get(in, &io, sizeof(io));
		err = slow_on_record(state, s, &io.record);
	}
	return err;
}

static const struct session_sharing slow_sharing = {
	.can = slow_can_share,
	.give = slow_give,
	.take = slow_take,
};

static const struct session_view slow_view = {
	.wants = slow_wants,
	.on_start = slow_on_start,
	.on_tick = intervals__pass, /* there is nothing to show before the end */
	.on_record = slow_on_record,
	.sharing = &slow_sharing,
	.on_end = slow_on_end,
};

static int slow_begin(void *state)
{
	struct slow *l = state;
	int err;

	l->slowest.most = l->top.given ? l->top.value : SLOW_TOP;
	l->slowest.each_device = l->each_device;
	err = record_filter__parse(&l->filter);
	return err ?: row_conditions__parse(&l->rows, &slow_rows, NULL, NULL);
}

static void slow_end(void *state)
{
	struct slow *l = state;

	slowest__free(&l->slowest);
	below__free(&l->below);
	table__free(l->table);
	record_filter__free(&l->filter);
	row_conditions__free(&l->rows);
}

static const struct cmd_part slow_part = { &slow_view, slow_begin, slow_end };

static int slow_run(void *state, const struct options *options, char **argv)
{
	struct slow *l = state;
	int err = slow_begin(l);

	l->as_they_come = options->filter.min_ns.given;
	err = err ?: session__run(&slow_view, l, options, argv);
	slow_end(l);
	return err;
}
