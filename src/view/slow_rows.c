/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/slow_rows.h"

#include <string.h>
#include "analyse/steps.h"
#include "decode/op.h"
#include "decode/record.h"
#include "decode/words.h"
#include "session/io_source.h"
#include "symbol/frames.h"
#include "view/records.h"

enum { SLOW_BELOW_MOST = 16 };

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
	const char *user_truncated; /* "yes", "no"; NULL: no user stack */
	uint64_t start_ns, end_ns;
	/* Buffers for some texts of this row. */
	char op_text[16], status_text[160], comm_text[17], cgroup_text[256];
	char steps_text[NR_STAGES * 32]; /* not cut: JSON takes it apart */
};

static const struct form slow_steps_form = { FORM_NUMBERS, .separator = " " };
static const struct form slow_below_form = {
	FORM_OBJECTS,
	.separator = " ",
	.parts = { { "dev", ':', true }, { "sector", '+' }, { "bytes", '=' }, { "whole_ns" } },
};

#define FIELD(name) offsetof(struct slow_row, name)
static const struct column slow_columns[] = {
	{ "rank", "#", CELL_COUNT, 3, "rank, 1 is the slowest; null with --min", .at = FIELD(rank),
	  .drop = 3 },
	{ "time_s", "time", CELL_TIME, 11, "when it ended, since the start", .at = FIELD(time_ns) },
	{ "whole_ns", "whole", CELL_DURATION, 7, "time from submission to end; the rank is by this",
	  .at = FIELD(whole_ns) },
	{ "lat_ns", "latency", CELL_DURATION, 7,
	  "latency of the command; with --bio, the same as whole_ns", .at = FIELD(lat_ns) },
	{ "dev", "dev", CELL_TEXT, 7, "disk, or controller for admin commands", .at = FIELD(dev) },
	{ "op", "op", CELL_TEXT, 5, "operation", .at = FIELD(op) },
	{ "sector", "sector", CELL_COUNT, 9, "first sector, in units of 512 bytes",
	  .at = FIELD(sector), .drop = 5 },
	{ "bytes", "size", CELL_BYTES, 5, "length in bytes", .at = FIELD(bytes), .drop = 7 },
	{ "depth", "depth", CELL_COUNT, 5, "commands in flight on the device, including this one",
	  .at = FIELD(depth), .drop = 2 },
	{ "attempts", "try", CELL_COUNT, 3, "number of attempts", .at = FIELD(attempts),
	  .drop = 1 },
	{ "pid", "pid", CELL_COUNT, 7, "process that submitted it", .at = FIELD(pid), .drop = 4 },
	{ "tid", "tid", CELL_COUNT, 7, "thread that submitted it", .at = FIELD(tid),
	  .not_in_text = true },
	{ "comm", "comm", CELL_TEXT, 15, "name of the task that submitted it", .at = FIELD(comm),
	  .drop = 6 },
	{ "cgroup", "cgroup", CELL_TEXT, 10, "cgroup of the task that submitted it",
	  .at = FIELD(cgroup), .not_in_text = true },
	{ "file", "file", CELL_TEXT, 10, "path of the file, or what it is instead, e.g. [device]",
	  .at = FIELD(file), .not_in_text = true },
	{ "status", "status", CELL_TEXT, 6, "how it ended", .at = FIELD(status), .drop = 8 },
	{ "start_ns", "start", CELL_COUNT, 15, "start, CLOCK_MONOTONIC", .at = FIELD(start_ns),
	  .not_in_text = true },
	{ "end_ns", "end", CELL_COUNT, 15, "end, CLOCK_MONOTONIC", .at = FIELD(end_ns),
	  .not_in_text = true },
	{ "steps", "steps", CELL_TEXT, 20, "time of each step in ns, e.g. of Q2G",
	  .at = FIELD(steps), .not_in_text = true, .form = &slow_steps_form },
	{ "kernel_stack", "kernel", CELL_TEXT, 20,
	  "kernel functions that submitted it, innermost first", .at = FIELD(kernel_stack),
	  .not_in_text = true, .form = &form_list },
	{ "user_stack", "user", CELL_TEXT, 20, "user functions that submitted it, innermost first",
	  .at = FIELD(user_stack), .not_in_text = true, .form = &form_list },
	{ "user_truncated", "truncated", CELL_TEXT, 9,
	  "true: frames of user_stack are missing, or may be", .at = FIELD(user_truncated),
	  .not_in_text = true, .form = &form_truth },
	{ "below", "below", CELL_TEXT, 20,
	  "bios that a volume made of it, up to 16; null at the end: there are more",
	  .at = FIELD(below), .not_in_text = true, .form = &slow_below_form },
	{ 0 },
};

const struct object slow_rows = { "slow", { slow_columns } };

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
static const char *slow_steps(struct slow_row *row, const struct io_record *r, bool text)
{
	enum steps_at at = r->what == RECORD_BIO ? STEPS_OF_BIO : STEPS_OF_REQUEST;
	struct words w = words__on(row->steps_text, sizeof(row->steps_text));
	struct moment m[NR_STAGES];
	size_t nr = stage__moments(r, at, m);
	char name[4], time[16];

	for (size_t i = 1; i < nr; i++) {
		uint64_t ns = m[i].ns - m[i - 1].ns;

		words__str(&w, i > 1 ? text ? "  " : " " : "");
		words__str(&w, step__name(m[i - 1].stage, m[i].stage, name));
		words__str(&w, text ? " " : "=");
		if (text)
			words__str(&w, text__duration(time, sizeof(time), ns));
		else
			words__u64(&w, ns);
	}
	return words__done(&w);
}

static void slow_fill(struct slow_row *row, const struct session *s, const struct slow_io *io)
{
	const struct device_list *list = io_source__devices(s);
	const struct io_record *r = &io->record;
	const struct device *device = io->device >= 0 && (size_t)io->device < list->nr
					      ? &list->devices[io->device]
					      : NULL;
	struct words status = words__on(row->status_text, sizeof(row->status_text));

	row->time_ns = io_record__time_ns(r) - s->start_ns;
	row->whole_ns = io->ns;
	row->lat_ns = r->what == RECORD_BIO ? io->ns : r->end_ns - r->first_ns;
	row->dev = device ? device__shown(device) : "?";
	row->op = op__word(r->kind, r->op, io_source__op_names(s), row->op_text,
			   sizeof(row->op_text));
	row->sector = slow_sector(s, r, device);
	row->bytes = r->bytes;
	row->depth = io->stages.depth ? io->stages.depth : CELL_NO_NUMBER;
	row->attempts = r->attempts ? r->attempts : CELL_NO_NUMBER;
	row->pid = r->pid;
	row->tid = io->stages.tid ? io->stages.tid : CELL_NO_NUMBER;
	memcpy(row->comm_text, r->comm, sizeof(r->comm));
	row->comm = row->comm_text;
	row->cgroup = io->stages.cgroup
			      ? session__cgroup_path(s, io->stages.cgroup, row->cgroup_text,
						     sizeof(row->cgroup_text))
			      : NULL;
	row->file = io_source__file(s, &io->stages);
	record__status(&status, r);
	row->status = words__done(&status);
	row->start_ns = r->first_ns;
	row->end_ns = r->end_ns;
	row->steps = slow_steps(row, r, s->format == TABLE_TEXT);
	row->below = io->below;
	row->kernel_stack = io->kernel_stack;
	row->user_stack = io->user_stack;
	row->user_truncated = !io->user_stack			     ? NULL
			      : frames__is_truncated(io->user_stack) ? "yes"
								     : "no";
}

/* ---- text: steps and stacks are below their line ---- */

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

static uint32_t slow_stages(const struct io_record *r)
{
	struct moment m[NR_STAGES];
	size_t nr = stage__moments(r, r->what == RECORD_BIO ? STEPS_OF_BIO : STEPS_OF_REQUEST, m);
	uint32_t stages = 0;

	for (size_t i = 1; i < nr; i++)
		stages |= stage__bits(m[i - 1].stage, m[i].stage);
	return stages;
}

uint32_t slow_rows__put(struct table *table, struct session *s, const struct slow_io *io,
			uint64_t rank, const struct row_conditions *conditions)
{
	struct slow_row row = { .rank = rank };

	slow_fill(&row, s, io);
	if (!row_conditions__admit(conditions, s, &row))
		return 0;
	table__row(table, &row);
	if (s->format != TABLE_TEXT)
		return 0;
	slow_put_text(s->out, "cgroup", row.cgroup);
	slow_put_text(s->out, "file", row.file);
	fprintf(s->out, "      %s\n", row.steps);
	slow_put_text(s->out, "below", row.below);
	slow_put_stack(s->out, "submitted by", row.kernel_stack);
	slow_put_stack(s->out, "in the process", row.user_stack);
	return slow_stages(&io->record);
}

/* "nvme1n1:2048+4096=1200" for programs, "nvme1n1 2048 4.0Ki 1.2us" for people. */
static void slow_add_below(struct words *w, const struct session *s, const struct below_bio *bio)
{
	bool text = s->format == TABLE_TEXT;
	char buf[16], name[64];

	snprintf(name, sizeof(name), "%s", records__device_name(s, bio->device));
	words__str(w, text ? name : text__replace(name, ' ', '_')); /* a space ends the bio */
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

/* Finds one more than are shown, to tell whether there are more. */
char *slow_rows__below(const struct below *below, const struct session *s,
		       const struct io_record *record)
{
	const struct below_bio *bios[SLOW_BELOW_MOST + 1];
	size_t nr = below__find(below, record, bios, SLOW_BELOW_MOST + 1);
	char buf[(SLOW_BELOW_MOST + 1) * 128]; /* not cut: JSON takes it apart */
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
