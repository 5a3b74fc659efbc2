/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slow.c: which were the slowest, who sent them, where did they wait? The kernel sends only those
 * that may be among them: a bar rises with the slowest so far. Each with its sector, its task, its
 * steps and the stack that submitted it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/below.h"
#include "analyse/ladder.h"
#include "analyse/slowest.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "decode/column.h"
#include "decode/op.h"
#include "decode/record.h"
#include "decode/words.h"
#include "session/io_source.h"
#include "session/session.h"
#include "symbol/frames.h"

enum { SLOW_TOP = 10, SLOW_TOP_MOST = 10000, SLOW_BELOW_MOST = 16 };
enum slow_stack { SLOW_KERNEL, SLOW_USER, SLOW_BOTH, SLOW_NONE };

/*
 *    #        time   whole latency dev     op      sector  size depth try     pid comm status 1
 * 0.004112873  12.4ms  12.3ms nvme0n1 read     41280 4.0Ki     7   1    2211 fio             ok
 *      Q2G 1.2us  G2S 800ns  S2D 1.1us  D2K 12.3ms  K2N 900ns  N2C 1.0us
 *      below nvme1n1 2048 4.0Ki 11.9ms
 *      submit_bio_noacct_nocheck < submit_bio < ...
 */
struct slow_row {
	uint64_t rank, time_ns, whole_ns, lat_ns;
	const char *dev, *op;
	uint64_t sector, bytes, depth, attempts, pid, tid;
	const char *comm, *cgroup, *file, *status, *steps, *below;
	const char *kernel_stack, *user_stack;
	uint64_t start_ns, end_ns;
};

struct slow {
	/* options */
	struct option_number top, buffer;
	bool each_device, bio;
	int stack;
	/* state */
	struct slowest slowest;
	struct below below;
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
	{ "whole_ns", "whole", CELL_DURATION, 7, "from its submission to its end: what ranks it",
	  .at = FIELD(whole_ns) },
	{ "lat_ns", "latency", CELL_DURATION, 7,
	  "how long the command itself took; --bio: the whole", .at = FIELD(lat_ns) },
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
	{ "file", "file", CELL_TEXT, 10, "path, or what it is if it is no file",
	  .at = FIELD(file) },
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
	{ "below", "below", CELL_TEXT, 20,
	  "the bios that a volume made of it: DEV:SECTOR+BYTES=NS ...", .at = FIELD(below) },
	{ 0 },
};

const struct object slow_rows = { "slow", { slow_columns } };
static const struct object *const slow_objects[] = { &slow_rows, &session_ledger, NULL };

static int slow_run(void *state, const struct options *options, char **argv);
static const struct cmd_part slow_part;

static const struct option_group *const slow_groups[] = { &filter_group, &run_group,  &output_group,
							  &write_group,	 &read_group, &alias_group,
							  NULL };
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
	.part = &slow_part,
	.needs = NEED_IO | NEED_RINGS | NEED_STAGES | NEED_FILES | NEED_STACKS,
};

/* ---- one of them ---- */

static bool slow_wants_kernel(const struct slow *l)
{
	return l->stack == SLOW_KERNEL || l->stack == SLOW_BOTH;
}

static bool slow_wants_user(const struct slow *l)
{
	return l->stack == SLOW_USER || l->stack == SLOW_BOTH;
}

/* From submission to end, as far as they are known. A file may hold times that cannot be. */
static uint64_t slow_ns(const struct io_record *r)
{
	const struct io_stages *s = io_record__stages(r);
	uint64_t end_ns = s && s->done_ns > r->end_ns ? s->done_ns : r->end_ns;
	bool is_known = s && s->queued_ns && s->queued_ns <= end_ns;

	return end_ns - (is_known ? s->queued_ns : r->first_ns);
}

/* A bio has its sector where a command has its LBA. */
static uint64_t slow_sector(const struct session *s, const struct io_record *r,
			    const struct device *device)
{
	uint64_t start;

	if (r->what == RECORD_BIO)
		return (uint64_t)r->cdw10[1] << 32 | r->cdw10[0];
	if (!record__start(r, io_source__op_names(s), &start))
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
	const struct device_list *list = io_source__devices(s);
	const struct io_record *r = &io->record;
	const struct device *device = io->device >= 0 && (size_t)io->device < list->nr
					      ? &list->devices[io->device]
					      : NULL;
	struct words status = words__on(l->status_text, sizeof(l->status_text));

	row->time_ns = io_record__time_ns(r) - s->start_ns;
	row->whole_ns = io->ns;
	row->lat_ns = l->bio ? io->ns : r->end_ns - r->first_ns;
	row->dev = device ? device->name : "?";
	row->op = op__word(r->kind, r->op, io_source__op_names(s), l->op_text, sizeof(l->op_text));
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
	row->file = io_source__file(s, &io->stages);
	record__status(&status, r);
	row->status = words__done(&status);
	row->start_ns = r->first_ns;
	row->end_ns = r->end_ns;
	row->steps = slow_steps(l, r, s->format == TABLE_TEXT);
	row->below = io->below;
	row->kernel_stack = io->kernel_stack;
	row->user_stack = io->user_stack;
}

/* ---- text: steps and stacks stand below their line ---- */

static void slow_put_text(FILE *out, const char *what, const char *text)
{
	if (!text)
		return;
	fprintf(out, "      %s ", what);
	text__put_terminal(out, text);
	fputc('\n', out);
}

static void slow_put_stack(FILE *out, const char *what, const char *stack)
{
	char name[FRAME_NAME];

	if (!stack)
		return;
	fprintf(out, "      %s", what);
	while (stack) {
		stack = frames__next(stack, name);
		fputs("\n        ", out);
		text__put_terminal(out, name);
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
	slow_put_text(s->out, "cgroup", row.cgroup);
	slow_put_text(s->out, "file", row.file);
	fprintf(s->out, "      %s\n", row.steps);
	slow_put_text(s->out, "below", row.below);
	slow_put_stack(s->out, "submitted by", row.kernel_stack);
	slow_put_stack(s->out, "in the process", row.user_stack);
}

/* ---- the run ---- */

/* record: with its stages, as io has it. */
static void slow_take_stacks(const struct slow *l, const struct session *s,
			     const struct io_record *record, struct slow_io *io)
{
	if (slow_wants_kernel(l))
		io->kernel_stack = io_source__stack(s, record, false);
	if (slow_wants_user(l))
		io->user_stack = io_source__stack(s, record, true);
}

/* "nvme1n1:2048+4096=1200" for programs, "nvme1n1 2048 4.0Ki 1.2us" for people. */
static void slow_add_below(struct words *w, const struct session *s, const struct below_bio *bio)
{
	const struct device_list *list = io_source__devices(s);
	bool text = s->format == TABLE_TEXT;
	char buf[16];

	words__str(w, bio->device >= 0 && (size_t)bio->device < list->nr
			      ? list->devices[bio->device].name
			      : "?");
	words__str(w, text ? " " : ":");
	words__u64(w, bio->sector);
	words__str(w, text ? " " : "+");
	if (text)
		words__str(w, text__bytes(buf, sizeof(buf), bio->bytes));
	else
		words__u64(w, bio->bytes);
	words__str(w, text ? " " : "=");
	if (text)
		words__str(w, text__duration(buf, sizeof(buf), bio->ns));
	else
		words__u64(w, bio->ns);
}

/* NULL: no volume made bios of it, or there is no memory. One more than are told: there are more.
 */
static char *slow_below(const struct slow *l, const struct session *s,
			const struct io_record *record)
{
	const struct below_bio *bios[SLOW_BELOW_MOST + 1];
	size_t nr = below__find(&l->below, record, bios, SLOW_BELOW_MOST + 1);
	char buf[1024];
	struct words w = words__on(buf, sizeof(buf));

	for (size_t i = 0; i < nr; i++) {
		words__str(&w, !i ? "" : s->format == TABLE_TEXT ? ", " : " ");
		if (i < SLOW_BELOW_MOST)
			slow_add_below(&w, s, bios[i]);
		else
			words__str(&w, "...");
	}
	return nr ? strdup(words__done(&w)) : NULL;
}

/* --min: shown at once, and forgotten. */
static int slow_log(struct slow *l, struct session *s, const struct io_record *record, int32_t nr)
{
	struct slowest one = { .most = 1 };
	int err;
	struct slow_io *io = slowest__add(&one, slow_ns(record), nr, record, &err);

	if (io) {
		slow_take_stacks(l, s, record, io);
		io->below = slow_below(l, s, record);
		slow_show(l, s, io, CELL_NO_NUMBER);
	}
	slowest__free(&one);
	return err ? log_err(err, "out of memory") : 0;
}

static int slow_on_record(void *state, struct session *s, const struct io_record *record)
{
	struct slow *l = state;
	const struct device *device = io_source__device(s, record);
	int32_t nr = device ? (int32_t)(device - io_source__devices(s)->devices) : -1;
	struct slow_io *io;
	int err;

	if (record->what != (l->bio ? RECORD_BIO : RECORD_END))
		return 0;
	if (below__add(&l->below, record, nr, slow_ns(record)))
		return log_err(-ENOMEM, "out of memory");
	if (l->as_they_come)
		return slow_log(l, s, record, nr);
	io = slowest__add(&l->slowest, slow_ns(record), nr, record, &err);
	if (io) {
		slow_take_stacks(l, s, record, io);
		io->below = slow_below(l, s, record);
	}
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
		.files = true,
		.kernel_stacks = slow_wants_kernel(l),
		.user_stacks = slow_wants_user(l),
		/* Another device's slowest would raise the bar; what is logged is wanted whole. */
		.slowest = l->each_device || l->as_they_come || options->file.write
				   ? 0
				   : (uint32_t)l->slowest.most,
		.buffer_bytes = l->buffer.given ? l->buffer.value : 0,
	};
}

static bool slow_has(const struct column *column, enum table_format format)
{
	static const size_t beside[] = { FIELD(tid),	      FIELD(cgroup),	 FIELD(file),
					 FIELD(steps),	      FIELD(start_ns),	 FIELD(end_ns),
					 FIELD(kernel_stack), FIELD(user_stack), FIELD(below) };

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
	return l->table ? 0 : log_err(-ENOMEM, "out of memory");
}

static const struct session_view slow_view = {
	.wants = slow_wants,
	.on_start = slow_on_start,
	.on_tick = slow_on_tick,
	.on_record = slow_on_record,
	.on_end = slow_on_end,
};

static int slow_begin(void *state)
{
	struct slow *l = state;

	l->slowest.most = l->top.given ? l->top.value : SLOW_TOP;
	l->slowest.each_device = l->each_device;
	return 0;
}

static void slow_end(void *state)
{
	struct slow *l = state;

	slowest__free(&l->slowest);
	below__free(&l->below);
	table__free(l->table);
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
