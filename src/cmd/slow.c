/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slow.c: which were the slowest, who sent them, where did they wait? The kernel sends only those
 * that may be among them: a bar rises with the slowest so far. Each with its sector, its task, its
 * steps and the stack that submitted it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/ladder.h"
#include "analyse/slowest.h"
#include "cmd.h"
#include "decode/op.h"
#include "decode/record.h"
#include "decode/words.h"
#include "frames.h"
#include "log.h"
#include "render/column.h"
#include "session.h"

enum { SLOW_TOP = 10, SLOW_TOP_MOST = 10000 };
enum slow_stack { SLOW_KERNEL, SLOW_USER, SLOW_BOTH, SLOW_NONE };

/*
 *    #        time latency dev     op      sector  size depth try     pid comm            status
 *    1 0.004112873  12.3ms nvme0n1 read     41280 4.0Ki     7   1    2211 fio             ok
 *      Q2G 1.2us  G2S 800ns  S2D 1.1us  D2K 12.3ms  K2N 900ns  N2C 1.0us
 *      submit_bio_noacct_nocheck < submit_bio < ...
 */
struct slow_row {
	uint64_t rank, time_ns, lat_ns;
	const char *dev, *op;
	uint64_t sector, bytes, depth, attempts, pid, tid;
	const char *comm, *cgroup, *status, *steps, *kernel_stack, *user_stack;
	uint64_t start_ns, end_ns;
};

struct slow {
	/* options */
	struct option_number top, buffer;
	bool each_device, bio;
	int stack;
	/* state */
	struct slowest slowest;
	struct frames *frames;
	struct table *table;
	const struct column *shown[OBJECT_COLUMNS];
	bool as_they_come; /* --min */
	char op_text[16], status_text[160], comm_text[17], cgroup_text[256], steps_text[256];
};

/* In the order of enum slow_stack. */
static const char *const stack_choices[] = { "kernel", "user", "both", "none", NULL };

static const struct option_def slow_options[] = {
	{ "top", 0, OPTION_NUMBER, offsetof(struct slow, top), "N", "so many (default 10)",
	  .min = 1, .max = SLOW_TOP_MOST },
	{ "each-device", 0, OPTION_FLAG, offsetof(struct slow, each_device), NULL,
	  "so many of each device, not of all together" },
	{ "bio", 0, OPTION_FLAG, offsetof(struct slow, bio), NULL,
	  "bios, from submit to end, not commands of the driver" },
	{ "stack", 0, OPTION_CHOICE, offsetof(struct slow, stack), "WHICH",
	  "where it was submitted: in the kernel, in the process", .choices = stack_choices },
	{ "buffer", 0, OPTION_SIZE, offsetof(struct slow, buffer), "SIZE",
	  "each CPU's ring (default 4Mi); a full one loses records and says so", .min = 4096,
	  .max = 1 << 30, .not_with = "read" },
	{ 0 },
};

static const struct option_group slow_group = { "What is shown", slow_options };

#define FIELD(name) offsetof(struct slow_row, name)
static const struct column slow_columns[] = {
	{ "rank", "#", CELL_COUNT, 3, "1 is the slowest; none while they come: --min",
	  .at = FIELD(rank) },
	{ "time_s", "time", CELL_TIME, 11, "when it ended, since the start", .at = FIELD(time_ns) },
	{ "lat_ns", "latency", CELL_DURATION, 7, "how long it took", .at = FIELD(lat_ns) },
	{ "dev", "dev", CELL_TEXT, 7, "disk, or controller for admin commands", .at = FIELD(dev) },
	{ "op", "op", CELL_TEXT, 5, "operation", .at = FIELD(op) },
	{ "sector", "sector", CELL_COUNT, 9, "where it starts, in 512 bytes", .at = FIELD(sector) },
	{ "bytes", "size", CELL_BYTES, 5, "its length", .at = FIELD(bytes) },
	{ "depth", "depth", CELL_COUNT, 5, "commands in flight on the device, with it",
	  .at = FIELD(depth) },
	{ "attempts", "try", CELL_COUNT, 3, "how often it was tried", .at = FIELD(attempts) },
	{ "pid", "pid", CELL_COUNT, 7, "process that submitted it", .at = FIELD(pid) },
	{ "tid", "tid", CELL_COUNT, 7, "and its thread", .at = FIELD(tid) },
	{ "comm", "comm", CELL_TEXT, 15, "its task's name", .at = FIELD(comm) },
	{ "cgroup", "cgroup", CELL_TEXT, 10, "its cgroup", .at = FIELD(cgroup) },
	{ "status", "status", CELL_TEXT, 6, "how it ended", .at = FIELD(status) },
	{ "start_ns", "start", CELL_COUNT, 15, "when it began: CLOCK_MONOTONIC",
	  .at = FIELD(start_ns) },
	{ "end_ns", "end", CELL_COUNT, 15, "when it ended", .at = FIELD(end_ns) },
	{ "steps", "steps", CELL_TEXT, 20, "its way, each step in ns: Q2G=1200 G2S=800 ...",
	  .at = FIELD(steps) },
	{ "kernel_stack", "kernel", CELL_TEXT, 20, "functions, innermost first",
	  .at = FIELD(kernel_stack) },
	{ "user_stack", "user", CELL_TEXT, 20, "functions, innermost first",
	  .at = FIELD(user_stack) },
	{ 0 },
};

static const struct object slow_rows = { "slow", { slow_columns } };
static const struct object *const slow_objects[] = { &slow_rows, &session_ledger, NULL };

static int slow_run(void *state, const struct options *options, char **argv);

static const struct option_group *const slow_groups[] = { &filter_group, &run_group,  &output_group,
							  &write_group,	 &read_group, NULL };
const struct cmd cmd_slow = {
	.name = "slow",
	.group = "I/O",
	.brief = "which were the slowest, who sent them, where did they wait? With their stacks",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = slow_groups,
	.own = &slow_group,
	.view_size = sizeof(struct slow),
	.objects = slow_objects,
	.run = slow_run,
};

/* ---- one of them ---- */

static uint64_t slow_ns(const struct slow *l, const struct io_record *r)
{
	const struct io_stages *stages = io_record__stages(r);

	if (!l->bio || !stages || !stages->queued_ns)
		return r->end_ns - r->first_ns;
	return (stages->done_ns > r->end_ns ? stages->done_ns : r->end_ns) - stages->queued_ns;
}

/* A bio has its sector where a command has its LBA. */
static uint64_t slow_sector(const struct session *s, const struct io_record *r,
			    const struct device *device)
{
	uint64_t start;

	if (r->what == RECORD_BIO)
		return (uint64_t)r->cdw10[1] << 32 | r->cdw10[0];
	if (!record__start(r, session__op_names(s), &start))
		return CELL_NO_NUMBER;
	return r->kind == IO_BLOCK ? start : start * ((device ? device->block_size : 512) / 512);
}

/* "Q2G=1200 G2S=800" for programs, "Q2G 1.2us  G2S 800ns" for people. */
static const char *slow_steps(struct slow *l, const struct io_record *r, bool text)
{
	enum ladder_at at = r->what == RECORD_BIO ? LADDER_BIO : LADDER_REQUEST;
	struct words w = words__on(l->steps_text, sizeof(l->steps_text));
	struct moment m[NR_RUNGS];
	size_t nr = ladder__moments(r, at, m);
	char name[4], time[16];

	for (size_t i = 1; i < nr; i++) {
		uint64_t ns = m[i].ns - m[i - 1].ns;

		words__str(&w, i > 1 ? text ? "  " : " " : "");
		words__str(&w, step__name(m[i - 1].rung, m[i].rung, name));
		words__str(&w, text ? " " : "=");
		if (text)
			words__str(&w, text__duration(time, sizeof(time), ns));
		else
			words__u64(&w, ns);
	}
	return words__done(&w);
}

static void slow_fill(struct slow *l, struct session *s, const struct slow_io *io,
		      struct slow_row *row)
{
	const struct device_list *list = session__devices(s);
	const struct io_record *r = &io->record;
	const struct device *device = io->device >= 0 && (size_t)io->device < list->nr
					      ? &list->devices[io->device]
					      : NULL;
	struct words status = words__on(l->status_text, sizeof(l->status_text));

	row->time_ns = io_record__time_ns(r) - s->start_ns;
	row->lat_ns = io->ns;
	row->dev = device ? device->name : "?";
	row->op = op__word(r->kind, r->op, session__op_names(s), l->op_text, sizeof(l->op_text));
	row->sector = slow_sector(s, r, device);
	row->bytes = r->bytes;
	row->depth = io->stages.depth ? io->stages.depth : CELL_NO_NUMBER;
	row->attempts = r->attempts ? r->attempts : CELL_NO_NUMBER;
	row->pid = r->pid;
	row->tid = io->stages.tid ? io->stages.tid : CELL_NO_NUMBER;
	memcpy(l->comm_text, r->comm, sizeof(r->comm));
	row->comm = l->comm_text;
	row->cgroup = io->stages.cgroup ? session__cgroup_path(s, io->stages.cgroup, l->cgroup_text,
							       sizeof(l->cgroup_text))
					: NULL;
	record__status(&status, r);
	row->status = words__done(&status);
	row->start_ns = r->first_ns;
	row->end_ns = r->end_ns;
	row->steps = slow_steps(l, r, s->format == TABLE_TEXT);
	row->kernel_stack = io->kernel_stack;
	row->user_stack = io->user_stack;
}

/* ---- text: steps and stacks stand below their line ---- */

static void slow_put_stack(FILE *out, const char *what, const char *stack)
{
	char name[512];

	if (!stack)
		return;
	fprintf(out, "      %s", what);
	while (*stack) {
		size_t len = strcspn(stack, ";");

		snprintf(name, sizeof(name), "%.*s", (int)len, stack);
		fputs("\n        ", out);
		text__put_terminal(out, name);
		stack += len + (stack[len] == ';');
	}
	fputc('\n', out);
}

static void slow_show(struct slow *l, struct session *s, const struct slow_io *io, uint64_t rank)
{
	struct slow_row row = { .rank = rank };

	slow_fill(l, s, io, &row);
	table__row(l->table, &row);
	if (s->format != TABLE_TEXT)
		return;
	if (row.cgroup) {
		fputs("      cgroup ", s->out);
		text__put_terminal(s->out, row.cgroup);
		fputc('\n', s->out);
	}
	fprintf(s->out, "      %s\n", row.steps);
	slow_put_stack(s->out, "submitted by", row.kernel_stack);
	slow_put_stack(s->out, "in the process", row.user_stack);
}

/* ---- the run ---- */

static void slow_take_stacks(struct slow *l, struct session *s, struct slow_io *io)
{
	if (!l->frames)
		return;
	io->kernel_stack = frames__text(l->frames, session__stack(s, io->stages.kernel_stack), 0);
	io->user_stack =
		frames__text(l->frames, session__stack(s, io->stages.user_stack), io->record.pid);
}

/* --min: shown at once, and forgotten. */
static int slow_log(struct slow *l, struct session *s, const struct io_record *record, int32_t nr)
{
	struct slowest one = { .most = 1 };
	int err;
	struct slow_io *io = slowest__add(&one, slow_ns(l, record), nr, record, &err);

	if (io) {
		slow_take_stacks(l, s, io);
		slow_show(l, s, io, CELL_NO_NUMBER);
	}
	slowest__free(&one);
	return err ? log_err(err, "out of memory") : 0;
}

static int slow_on_record(void *state, struct session *s, const struct io_record *record)
{
	struct slow *l = state;
	const struct device *device = session__device(s, record);
	int32_t nr = device ? (int32_t)(device - session__devices(s)->devices) : -1;
	struct slow_io *io;
	int err;

	if (record->what != (l->bio ? RECORD_BIO : RECORD_END))
		return 0;
	if (l->as_they_come)
		return slow_log(l, s, record, nr);
	io = slowest__add(&l->slowest, slow_ns(l, record), nr, record, &err);
	if (io)
		slow_take_stacks(l, s, io);
	return err ? log_err(err, "out of memory") : 0;
}

/* -n counts intervals; there is nothing to show before the end. */
static int slow_on_tick(void *state, struct session *s)
{
	(void)state, (void)s;
	return 0;
}

static int slow_on_end(void *state, struct session *s)
{
	struct slow *l = state;

	if (l->as_they_come)
		return 0;
	for (size_t i = 0; i < l->slowest.nr; i++)
		slow_show(l, s, &l->slowest.ios[i], i + 1);
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
		.kernel_stacks = l->stack == SLOW_KERNEL || l->stack == SLOW_BOTH,
		.user_stacks = l->stack == SLOW_USER || l->stack == SLOW_BOTH,
		/* Another device's slowest would raise the bar; what is logged is wanted whole. */
		.slowest = l->each_device || l->as_they_come || options->file.write
				   ? 0
				   : (uint32_t)l->slowest.most,
		.buffer_bytes = l->buffer.given ? l->buffer.value : 0,
	};
}

static bool slow_has(const struct column *column, enum table_format format)
{
	static const size_t beside[] = { FIELD(tid),	   FIELD(cgroup), FIELD(steps),
					 FIELD(start_ns),  FIELD(end_ns), FIELD(kernel_stack),
					 FIELD(user_stack) };

	for (size_t i = 0; format == TABLE_TEXT && i < sizeof(beside) / sizeof(beside[0]); i++)
		if (column->at == beside[i])
			return false;
	return true;
}

static int slow_on_start(void *state, struct session *s)
{
	struct slow *l = state;
	size_t nr = 0;

	for (size_t i = 0; slow_columns[i].key; i++)
		if (slow_has(&slow_columns[i], s->format))
			l->shown[nr++] = &slow_columns[i];
	l->table = table__new(s->out, s->format, slow_rows.type, l->shown, nr);
	if (l->frames)
		frames__prepare(l->frames);
	return l->table ? 0 : log_err(-ENOMEM, "out of memory");
}

static const struct session_view slow_view = {
	.wants = slow_wants,
	.on_start = slow_on_start,
	.on_tick = slow_on_tick,
	.on_record = slow_on_record,
	.on_end = slow_on_end,
};

static int slow_run(void *state, const struct options *options, char **argv)
{
	struct slow *l = state;
	int err = 0;

	l->as_they_come = options->filter.min_ns.given;
	l->slowest.most = l->top.given ? l->top.value : SLOW_TOP;
	l->slowest.each_device = l->each_device;
	if (l->stack != SLOW_NONE && !options->file.read.nr) {
		l->frames = frames__new(l->stack == SLOW_USER || l->stack == SLOW_BOTH);
		err = l->frames ? 0 : log_err(-ENOMEM, "out of memory");
	}
	err = err ?: session__run(&slow_view, l, options, argv);
	slowest__free(&l->slowest);
	frames__free(l->frames);
	table__free(l->table);
	return err;
}
