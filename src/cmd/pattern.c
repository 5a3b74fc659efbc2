/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pattern.c: what kind of load is it? Mix, sizes, sequential share per stream, alignment, gaps,
 * depth and location on the device; a line per interval, a summary at the end, or a fio job that
 * makes such a load. One record per command, with the submission time of its bio; it cannot see I/O
 * that the page cache answered, nor anything above the block layer.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "cmd/cmd.h"
#include "decode/op.h"
#include "decode/record.h"
#include "decode/row.h"
#include "session/condition.h"
#include "session/host_source.h"
#include "session/io_source.h"
#include "session/session.h"
#include "session/table.h"
#include "view/intervals.h"
#include "view/pattern_rows.h"
#include "view/records.h"

enum { PATTERN_DATA_CELLS = 64 }; /* cells of the heat map in JSON */
struct pattern_view {
	/* options */
	struct option_list by;
	const char *only_if, *fail_if;
	struct option_number buffer;
	/* state */
	struct pattern_rows rows;
	uint8_t kinds[4][256];	    /* 1 + enum pattern_kind of each operation seen */
	uint64_t stageless;	    /* commands ordered by issue, without stages */
	struct command_row command; /* current command, for --if */
	struct condition *only, *fails;
	const struct column *fail_asked[OBJECT_COLUMNS];
	struct table *table;
	unsigned int intervals, shown_rows;
};

static const struct option_def pattern_options[] = {
	{ "by", 0, OPTION_LIST, offsetof(struct pattern_view, by), NULL,
	  "one row per device and combination of these, of the task that submitted",
	  .choices = pattern_by_words },
	{ "if", 0, OPTION_STRING, offsetof(struct pattern_view, only_if), "EXPR",
	  "only commands for which this is true, as in trace, e.g. 'bytes >= 64Ki'" },
	{ "fail-if", 0, OPTION_STRING, offsetof(struct pattern_view, fail_if), "EXPR",
	  "exit with 5 if this is true for a row, e.g. 'seq_percent < 50 && depth_max > 32'" },
	RECORDS_BUFFER_OPTION(offsetof(struct pattern_view, buffer)),
	{ 0 },
};

static const struct option_group pattern_group = { "What is shown", pattern_options };

static const struct object *const pattern_objects[] = {
	&load_rows,
	&load_parts[LOAD_OPS],
	&load_parts[LOAD_SIZES],
	&load_parts[LOAD_GAPS],
	&load_parts[LOAD_DEPTHS],
	&load_parts[LOAD_HEAT],
	&session_ledger,
	NULL,
};

static int pattern_run(void *state, const struct options *options, char **argv);
static const struct cmd_part pattern_part;

const struct cmd cmd_pattern = {
	.name = "pattern",
	.group = "I/O",
	.brief = "the kind of load: mix, sizes, randomness, depth; a job for fio",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = CMD_GROUPS(&filter_group, &run_group,
			     OUTPUT_TIMED_IN(OUTPUT_TABLES | OUTPUT_BIT(OUTPUT_FIO)), &write_group,
			     &read_group, &alias_group),
	.own = &pattern_group,
	.view_size = sizeof(struct pattern_view),
	.objects = pattern_objects,
	.run = pattern_run,
	.part = &pattern_part,
	.needs = NEED_IO | NEED_RINGS,
};

/* ---- one command ---- */

static enum pattern_kind pattern_kind_of(const struct io_record *r, char *const *op_names)
{
	static const struct {
		const char *word;
		enum pattern_kind kind;
	} words[] = {
		{ "read", PATTERN_READ },
		{ "write", PATTERN_WRITE },
		{ "discard", PATTERN_DISCARD },
		{ "dsm", PATTERN_DISCARD },
		{ "secure-erase", PATTERN_DISCARD },
		{ "flush", PATTERN_FLUSH },
	};
	char buf[16];
	const char *word = op__word(r->kind, r->op, op_names, buf, sizeof(buf));

	if (r->kind != IO_NVME && r->kind != IO_BLOCK)
		return PATTERN_OTHER;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i].word))
			return words[i].kind;
	return PATTERN_OTHER;
}

/* The word is looked up once for each operation. */
static enum pattern_kind pattern_kind(struct pattern_view *v, const struct session *s,
				      const struct io_record *r)
{
	uint8_t *known = &v->kinds[r->kind & 3][r->op];

	if (!*known)
		*known = (uint8_t)(1 + pattern_kind_of(r, io_source__op_names(s)));
	return *known - 1;
}

static uint64_t pattern_from_byte(const struct session *s, const struct io_record *r,
				  const struct device *device)
{
	uint64_t start, block = r->kind != IO_BLOCK && device ? device->block_size : 512;

	if (!record__start(r, io_source__op_names(s), &start) || !block ||
	    start > (UINT64_MAX - 1) / block)
		return PATTERN_NOWHERE;
	return start * block;
}

static void pattern_tag(const struct pattern_view *v, const struct io_record *r,
			struct pattern_tags *tags)
{
	const struct io_stages *stages = io_record__stages(r);

	if (v->rows.tells[PATTERN_BY_PID])
		tags->pid = r->pid;
	if (v->rows.tells[PATTERN_BY_COMM])
		memcpy(tags->comm, r->comm, sizeof(tags->comm));
	if (v->rows.tells[PATTERN_BY_CGROUP] && stages)
		tags->cgroup = stages->cgroup;
}

static int pattern_on_record(void *state, struct session *s, const struct io_record *r)
{
	struct pattern_view *v = state;
	const struct device *device = io_source__device(s, r);
	const struct io_stages *stages = io_record__stages(r);
	struct pattern_tags tags = { .device = -1 };
	struct pattern_disk disk = { 0 };
	struct pattern_io io = {
		.end_ns = r->end_ns, .bytes = r->bytes, .io_kind = r->kind, .op = r->op
	};

	if (r->what != RECORD_END || !io_source__is_met(s, v->only, r, &v->command))
		return 0;
	if (device) {
		tags.device = (int32_t)(device - io_source__devices(s)->devices);
		disk = (struct pattern_disk){ device->size_bytes, device->block_size,
					      device->unit_bytes };
	}
	pattern_tag(v, r, &tags);
	io.kind = pattern_kind(v, s, r);
	/* Submission time of its bio; issue time if there was no bio or it was not seen. */
	io.submit_ns = stages && stages->queued_ns ? stages->queued_ns : r->first_ns;
	v->stageless +=
		io.kind < PATTERN_MOVES && !(r->flags & (RECORD_STAGES | RECORD_PASSTHROUGH));
	io.from_byte = io.kind < PATTERN_MOVES ? pattern_from_byte(s, r, device) : PATTERN_NOWHERE;
	return pattern__add(&v->rows.pattern, &tags, &disk, &io) ? log_no_memory() : 0;
}

/* ---- lines: an interval, or the whole ---- */

static bool pattern_writes_job(const struct session *s)
{
	return s->options->output.format == OUTPUT_FIO;
}

static void pattern_show_line(struct pattern_view *v, struct session *s,
			      const struct pattern_row *row, bool whole)
{
	const struct pattern_sum *sum = whole ? &row->total : &row->interval;
	struct load_row line = { .span = whole ? "total" : "interval", .time_s = s->elapsed_s };
	char title[512];

	if (!sum->count)
		return;
	pattern_rows__label(&v->rows, s, row, &line);
	load_row__fill(&line, row, sum, whole ? s->span_s : s->interval_s);
	if (!pattern_writes_job(s))
		table__row(v->table, &line);
	if (v->fails && condition__is_true(v->fails, &line)) {
		pattern_rows__title(&v->rows, &line, title, sizeof(title));
		intervals__came_true(s, v->fail_if, title, line.span, line.time_s);
	}
	v->shown_rows++;
}

/* ---- the run ---- */

static int pattern_on_tick(void *state, struct session *s)
{
	struct pattern_view *v = state;
	int err = pattern_rows__sort(&v->rows);

	if (v->intervals++ % INTERVALS_HEADING == 0)
		table__heading_again(v->table);
	v->shown_rows = 0;
	for (size_t i = 0; !err && i < v->rows.pattern.nr; i++) {
		pattern_show_line(v, s, v->rows.sorted[i], false);
		pattern_row__end_interval(v->rows.sorted[i]);
	}
	if (!v->shown_rows)
		intervals__say_idle(s);
	return err;
}

static void pattern_tell(const struct pattern_view *v)
{
	uint64_t late = 0;

	for (size_t i = 0; i < v->rows.pattern.nr; i++)
		late += v->rows.pattern.rows[i]->total.late;
	if (late)
		log_warn("%" PRIu64 " commands ended too late to be put in order with the others: "
			 "they are counted, but not as sequential, nor in depth and gap",
			 late);
	if (v->stageless)
		log_note("%" PRIu64 " reads and writes have no time of submission: they are "
			 "ordered by issue; record --stages keeps both",
			 v->stageless);
	if (v->rows.pattern.rest)
		log_warn("%" PRIu64 " commands are in the row 'other': there are more than %d rows",
			 v->rows.pattern.rest, PATTERN_ROWS - 1);
}

static int pattern_on_end(void *state, struct session *s)
{
	struct pattern_view *v = state;
	int err = pattern__finish(&v->rows.pattern) ? log_no_memory() : 0;

	err = err ?: pattern_rows__sort(&v->rows);
	if (err)
		return err;
	pattern_tell(v);
	if (v->rows.pattern.nr && !pattern_writes_job(s))
		intervals__say_whole(s);
	table__heading_again(v->table);
	for (size_t i = 0; i < v->rows.pattern.nr; i++)
		pattern_show_line(v, s, v->rows.sorted[i], true);
	if (pattern_writes_job(s))
		return pattern_rows__write_job(&v->rows, s);
	for (size_t i = 0; !err && i < v->rows.pattern.nr; i++)
		err = pattern_rows__show_whole(&v->rows, s, v->rows.sorted[i]);
	return err;
}

static struct io_wants pattern_wants(void *state, const struct options *options)
{
	const struct pattern_view *v = state;

	return (struct io_wants){
		.filter = &options->filter,
		/* From records, not from the kernel's rows, which would only fill up. */
		.by_cgroup = v->rows.tells[PATTERN_BY_CGROUP] && options->file.read.nr,
		.owners = v->by.nr,
		.records = true,
		.stages = true,
		.details = true, /* otherwise its location on the device is missing */
		.buffer_bytes = v->buffer.given ? v->buffer.value : 0,
	};
}

static int pattern_on_start(void *state, struct session *s)
{
	struct pattern_view *v = state;
	const struct column *shown[OBJECT_COLUMNS];
	size_t nr = object__pick(&load_rows, s->format, pattern_rows__shows, &v->rows, shown);
	size_t kept = 0;
	uint32_t cells = PATTERN_DATA_CELLS;

	for (size_t i = 0; i < nr; i++)
		if (s->format != TABLE_TEXT || load_column__is_for_text(shown[i]))
			shown[kept++] = shown[i];
	v->rows.style = chart__style_of(s->out, s->options->output.color);
	if (s->format == TABLE_TEXT)
		cells = load__nr_cells(v->rows.style);
	v->table = session__table_new(s, load_rows.type, shown, kept);
	return v->table && !pattern__init(&v->rows.pattern, cells) ? 0 : log_no_memory();
}

static const struct session_view pattern_session = {
	.wants = pattern_wants,
	.on_start = pattern_on_start,
	.on_tick = pattern_on_tick,
	.on_record = pattern_on_record,
	.on_end = pattern_on_end,
};

static int pattern_begin(void *state)
{
	struct pattern_view *v = state;
	size_t nr;
	int err;

	for (size_t i = 0; i < v->by.nr; i++)
		for (int by = 0; by < NR_PATTERN_BY; by++)
			v->rows.tells[by] |= !strcmp(v->by.words[i], pattern_by_words[by]);
	nr = object__pick(&load_rows, TABLE_JSON, pattern_rows__shows, &v->rows, v->fail_asked);
	err = records__parse_condition("--if", v->only_if, &v->only);
	return err ?: condition__parse("--fail-if", v->fail_if, v->fail_asked, nr, &v->fails);
}

static void pattern_end(void *state)
{
	struct pattern_view *v = state;

	pattern__free(&v->rows.pattern);
	table__free(v->table);
	condition__free(v->only);
	condition__free(v->fails);
	free(v->rows.sorted);
}

static const struct cmd_part pattern_part = { &pattern_session, pattern_begin, pattern_end };

static int pattern_run(void *state, const struct options *options, char **argv)
{
	struct pattern_view *v = state;
	int err = pattern_begin(state);

	err = err ?: host_source__check(options, v->rows.tells[PATTERN_BY_HOST]);
	err = err ?: session__run(&pattern_session, state, options, argv);
	pattern_end(state);
	return err;
}
