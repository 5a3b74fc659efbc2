/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * print.c: which values does an event have? A line for each hit of any event, ordered by time:
 * when, on which CPU, in which task, and the values of `show` or all fields.
 */
#include <errno.h>
#include "base/log.h"
#include "cmd/cmd.h"
#include "probe/lang/line.h"
#include "session/probe_source.h"
#include "view/hits.h"
#include "view/unwind_option.h"

struct print_view {
	/* options */
	struct option_list words;
	struct option_number buffer;
	bool emit;
	int unwind; /* enum unwind_how */
	/* state */
	struct request request;
	struct hit_view hits;
	uint64_t printed;
};

static const struct option_def print_options[] = {
	{ "words", 0, OPTION_OPERANDS, offsetof(struct print_view, words), REQUEST_WORDS,
	  REQUEST_WORDS_HELP, .completes = "line", .opens = line__opens },
	{ "buffer", 0, OPTION_SIZE, offsetof(struct print_view, buffer), "SIZE",
	  "size of each CPU's ring (default 1Mi); a full ring drops lines and counts them",
	  .min = 4096, .max = 1 << 30 },
	UNWIND_OPTION(offsetof(struct print_view, unwind)),
	{ "emit", 0, OPTION_FLAG, offsetof(struct print_view, emit), NULL,
	  "print the BPF instructions generated from the line" },
	{ 0 },
};
static const struct option_group print_group = { "What is shown", print_options };

static const struct column print_columns[] = {
	{ "time_s", "time", CELL_TIME, 12, "time of the hit, since the start of the run",
	  .at = HIT_AT(HIT_TIME) },
	{ "cpu", "cpu", CELL_COUNT, 3, "CPU where the event happened", .at = HIT_AT(HIT_CPU),
	  .drop = 1 },
	{ "comm", "comm", CELL_TEXT, 15, "name of the task that was running",
	  .at = HIT_AT(HIT_COMM), .drop = 3 },
	{ "pid", "pid", CELL_COUNT, 7, "process that was running", .at = HIT_AT(HIT_PID),
	  .drop = 2 },
	{ "tid", "tid", CELL_COUNT, 7, "id of the task that was running; not in text",
	  .at = HIT_AT(HIT_TID) },
	{ "probe", "probe", CELL_TEXT, 10, "name of the event", .at = HIT_AT(HIT_PROBE) },
	{ "values", "values", CELL_TEXT, 10,
	  "fields of the event as text, where events of several kinds share a table",
	  .at = HIT_AT(HIT_VALUES) },
	{ 0 },
};
static const struct object print_lines = { "print", { print_columns } };

static int print_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_print = {
	.name = "print",
	.group = "any event",
	.brief = "one line per event, with its fields",
	.synopsis = "[options] EVENT... [show VALUES] [if CONDITION] [-- COMMAND...]",
	.groups = CMD_GROUPS(&task_group, &run_group, OUTPUT_IN(OUTPUT_TABLES)),
	.own = &print_group,
	.view_size = sizeof(struct print_view),
	.objects = CMD_OBJECTS(&print_lines, &probe_ledger_object),
	.run = print_run,
	.needs = NEED_PROGRAMS | NEED_RINGS | NEED_TRACEPOINTS | NEED_ANY_FUNCTION,
};

static int print_on_start(void *state, struct session *s)
{
	return hit_view__start(&((struct print_view *)state)->hits, s);
}

static int print_on_hit(void *state, struct session *s, const struct probe_record *r,
			const void *values)
{
	struct print_view *v = state;
	const struct option_number *count = &s->options->run.count;

	hit_view__line(&v->hits, s, r, values);
	if (count->given && ++v->printed >= count->value)
		session__stop(s);
	return 0;
}

static int print_on_end(void *state, struct session *s)
{
	(void)state, (void)s;
	return 0;
}

static struct request *print_asks(void *state)
{
	return &((struct print_view *)state)->request;
}

static const struct session_view print_session = {
	.asks = print_asks,
	.on_start = print_on_start,
	.on_hit = print_on_hit,
	.on_end = print_on_end,
	.counts_records = true,
};

static int print_run(void *state, const struct options *options, char **argv)
{
	struct print_view *v = state;
	int err;

	v->request.wants.emit = v->emit;
	v->request.wants.unwind = (enum unwind_how)v->unwind;
	v->request.wants.ring_bytes = v->buffer.value;
	err = request__understand(&v->request, LINE_PRINT, &v->words, options);
	if (!err) {
		v->hits = (struct hit_view){ .object = &print_lines,
					     .request = &v->request,
					     .values = values__new(&v->request) };
		err = v->hits.values ? session__run(&print_session, v, options, argv)
				     : log_no_memory();
		hit_view__free(&v->hits);
	}
	request__free(&v->request);
	return err;
}
