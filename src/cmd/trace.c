/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.c: what was every command? One line each when it ends, submit and completion joined, in
 * words. It cannot see the time before a command is built, nor bio-based devices.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/nearest.h"
#include "cmd/cmd.h"
#include "decode/column.h"
#include "decode/column_name.h"
#include "decode/row.h"
#include "session/condition.h"
#include "session/io_source.h"
#include "session/session.h"
#include "view/lines_share.h"
#include "view/records.h"

struct trace {
	/* options */
	bool split, attempts, cdw, admin, io;
	struct option_list columns;
	const char *only_if, *fail_if;
	struct option_number buffer;
	/* state */
	struct lines_share lines; /* in a copy of the run */
	struct table *table;
	char *const *op_names;
	const struct column *shown[COMMAND_COLUMNS];
	uint64_t printed;
	uint64_t retries_due, retries_seen;	    /* of ended commands; of failed attempts */
	struct command_row row;			    /* at hand */
	bool wall, fill_wall, fill_cdw, fill_place; /* shown or in a condition: they cost time */
	struct condition *condition, *fails;
};

static const struct object trace_rows = { "trace", { command_columns } };

/* Columns shown without --columns. In JSON and CSV: command_data_keys. */
static const char text_columns[] =
	" time_s dev qid cid op nsid command status attempts lat_ns pid comm ";

static const struct option_def trace_options[] = {
	{ "split", 0, OPTION_FLAG, offsetof(struct trace, split), NULL,
	  "also print a line when a command is built" },
	{ "attempts", 0, OPTION_FLAG, offsetof(struct trace, attempts), NULL,
	  "print a line for each attempt of a command, including failed attempts" },
	{ "columns", 0, OPTION_LIST, offsetof(struct trace, columns), "NAME,...",
	  "print these columns in this order; --columns help lists them" },
	{ "cdw", 0, OPTION_FLAG, offsetof(struct trace, cdw), NULL,
	  "also print command dwords 10 to 15" },
	{ "admin", 0, OPTION_FLAG, offsetof(struct trace, admin), NULL,
	  "only admin and fabrics commands", .not_with = "io" },
	{ "io", 0, OPTION_FLAG, offsetof(struct trace, io), NULL,
	  "leave out admin and fabrics commands" },
	{ "if", 0, OPTION_STRING, offsetof(struct trace, only_if), "EXPR",
	  "only lines for which this is true, e.g. 'lat > 1ms && op == read'" },
	{ "fail-if", 0, OPTION_STRING, offsetof(struct trace, fail_if), "EXPR",
	  "exit with 5 if this is true for a line, e.g. 'lat > 1s || status != ok'" },
	RECORDS_BUFFER_OPTION(offsetof(struct trace, buffer)),
	{ 0 },
};

static const struct option_group trace_group = { "What is shown", trace_options };
static int trace_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_trace = {
	.name = "trace",
	.group = "I/O",
	.brief = "every command, one line each, decoded",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = CMD_GROUPS(&filter_group, &run_group, OUTPUT_TIMED_IN(OUTPUT_TABLES),
			     &write_group, &read_group, &alias_group),
	.own = &trace_group,
	.view_size = sizeof(struct trace),
	.objects = CMD_OBJECTS(&trace_rows, &session_ledger),
	.run = trace_run,
	.needs = NEED_IO | NEED_RINGS,
};

/* ---- columns ---- */

static const struct column *const *trace_all(void)
{
	static const struct column *all[COMMAND_COLUMNS];

	for (size_t i = 0; i < COMMAND_COLUMNS; i++)
		all[i] = &command_columns[i];
	return all;
}

/* NULL: not known, or the heading of several. */
static const struct column *trace_column(const char *name)
{
	int found = columns__find(trace_all(), COMMAND_COLUMNS, name, strlen(name));

	return found < 0 ? NULL : &command_columns[found];
}

static int trace_list_columns(void)
{
	for (size_t i = 0; i < COMMAND_COLUMNS; i++)
		printf("%-12s %-10s %s\n", command_columns[i].key, command_columns[i].header,
		       command_columns[i].help);
	return EXIT_DONE;
}

static int trace_unknown_column(const char *word)
{
	const char *names[2 * COMMAND_COLUMNS], *near;
	char keys[256];

	if (!strcmp(word, "help"))
		return trace_list_columns();
	columns__keys_of(trace_all(), COMMAND_COLUMNS, word, strlen(word), keys, sizeof(keys));
	if (*keys)
		return log_err(-EINVAL, "--columns: '%s' is the heading of several columns: %s",
			       word, keys);
	for (size_t i = 0; i < COMMAND_COLUMNS; i++) {
		names[i] = command_columns[i].key;
		names[COMMAND_COLUMNS + i] = command_columns[i].header;
	}
	near = nearest__word(word, names, 2 * COMMAND_COLUMNS);
	return log_err(-EINVAL, "unknown column '%s'%s%s%s", word,
		       near ? "; did you mean '" : "; --columns help lists the columns",
		       near ? near : "", near ? "'?" : "");
}

/* Is this column in the default set, given the options? */
static bool trace_is_default(const struct trace *t, const char *key, bool text)
{
	char word[32];

	if (!strcmp(key, "wall"))
		return t->wall || !text;
	if (!strcmp(key, "cdw"))
		return t->cdw;
	if (!strcmp(key, "event"))
		return t->split || t->attempts;
	if (!strcmp(key, "attempt_ns"))
		return t->attempts;
	if (!strcmp(key, "time_s") && t->wall)
		return false;
	snprintf(word, sizeof(word), " %s ", key);
	return strstr(text ? text_columns : command_data_keys, word);
}

static size_t trace_choose_columns(struct trace *t, bool text)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->columns.nr && nr < COMMAND_COLUMNS; i++)
		t->shown[nr++] = trace_column(t->columns.words[i]);
	for (size_t i = 0; !t->columns.nr && command_columns[i].key; i++)
		if (trace_is_default(t, command_columns[i].key, text))
			t->shown[nr++] = &command_columns[i];
	return nr;
}

/* ---- one line ---- */

static void trace_fill(struct trace *t, struct session *s, const struct io_record *r)
{
	const struct device *device = io_source__device(s, r);
	const struct command_context context = {
		.dev = device ? device__shown(device) : NULL,
		.block_size = device ? device->block_size : 0,
		.op_names = t->op_names,
		.start_ns = s->start_ns,
		.wall_ns = t->fill_wall ? session__wall_ns(s, io_record__time_ns(r)) : 0,
		.cdw = t->fill_cdw,
		.without_place = !t->fill_place,
	};

	command_row__fill(&t->row, r, &context);
}

/* Bios and controller events are for other views; so are attempts, unless requested. */
static bool trace_has_line(const struct trace *t, const struct io_record *r)
{
	switch (r->what) {
	case RECORD_END: return true;
	case RECORD_ATTEMPT: return t->attempts;
	case RECORD_SUBMIT:
		return t->attempts || (r->attempts < 2 && !(r->flags & RECORD_TROUBLED));
	default: return false;
	}
}

static int trace_on_record(void *state, struct session *s, const struct io_record *r)
{
	struct trace *t = state;
	const struct option_number *count = &s->options->run.count;

	if (!trace_has_line(t, r))
		return 0;
	t->retries_seen += r->what == RECORD_ATTEMPT;
	t->retries_due += r->what == RECORD_END && r->attempts ? r->attempts - 1u : 0;
	trace_fill(t, s, r);
	if (t->fails && !s->came_true && condition__is_true(t->fails, &t->row)) {
		log_warn("--fail-if '%s' is true: %s %s, at %.9f s", t->fail_if, t->row.dev,
			 t->row.op, (double)t->row.time_ns / 1e9);
		s->came_true = true;
	}
	if (t->condition && !condition__is_true(t->condition, &t->row))
		return 0;
	table__row(t->table, &t->row);
	if (count->given && ++t->printed >= count->value)
		session__stop(s);
	return 0;
}

/* ---- the run ---- */

static struct io_wants trace_wants(void *state, const struct options *options)
{
	struct trace *t = state;

	return (struct io_wants){
		.filter = &options->filter,
		.records = true,
		.split = t->split,
		.troubles = t->attempts,
		.kinds = t->admin ? 1 << IO_ADMIN | 1 << IO_FABRICS
			 : t->io  ? 1 << IO_NVME | 1 << IO_BLOCK
				  : 0,
		.buffer_bytes = t->buffer.given ? t->buffer.value : 0,
	};
}

static int trace_on_start(void *state, struct session *s)
{
	struct trace *t = state;
	size_t nr;

	t->wall = s->options->output.wall;
	nr = trace_choose_columns(t, s->format == TABLE_TEXT);
	t->op_names = io_source__op_names(s);
	t->fill_place = t->condition || t->fails;
	for (size_t i = 0; i < nr; i++) {
		t->fill_wall |= !strcmp(t->shown[i]->key, "wall");
		t->fill_place |=
			!strcmp(t->shown[i]->key, "lba") || !strcmp(t->shown[i]->key, "sector");
	}
	t->table = table__new(s->out, s->format, "trace", t->shown, nr);
	if (!t->table)
		return log_no_memory();
	table__head_growth(t->table);
	if (t->columns.nr)
		table__keep_columns(t->table);
	table__hold(t->table);
	return 0;
}

/* Lines are buffered: a write to the stream costs as much as a column. */
static void trace_on_flush(void *state)
{
	struct trace *t = state;

	if (t->table)
		table__hand_over(t->table);
}

/* For a live run the ledger reports losses. */
static int trace_on_end(void *state, struct session *s)
{
	const struct trace *t = state;

	trace_on_flush(state); /* the ledger follows */
	if (t->attempts && s->options->file.read.nr && t->retries_seen < t->retries_due)
		log_warn("--attempts: %" PRIu64 " failed attempts are not in the part of the "
			 "capture that was read; record and trace --attempts -w keep them",
			 t->retries_due - t->retries_seen);
	return 0;
}

/* -n and --fail-if are about the order of lines. */
static bool trace_can_share(const void *state, const struct session *s)
{
	const struct trace *t = state;

	return table__can_share(t->table) && !s->options->run.count.given && !t->fails;
}

static int trace_share_begin(void *state, struct session *s)
{
	struct trace *t = state;

	(void)s;
	return lines_share__begin(&t->lines, t->table);
}

static int trace_give(void *state, struct session *s, struct byte_out *out)
{
	struct trace *t = state;
	int err = lines_share__give(&t->lines, t->table, out);

	(void)s;
	byte_out__u64(out, t->retries_seen);
	byte_out__u64(out, t->retries_due);
	t->retries_seen = t->retries_due = 0;
	return err;
}

static int trace_take(void *state, struct session *s, struct byte_in *in)
{
	struct trace *t = state;
	struct byte_in lines = { in->at, in->end - 2 * sizeof(uint64_t), false };

	(void)s;
	lines_share__take(t->table, &lines);
	in->at = lines.end;
	t->retries_seen += byte_in__u64(in);
	t->retries_due += byte_in__u64(in);
	return 0;
}

static const struct session_sharing trace_sharing = {
	.can = trace_can_share,
	.blocks = 1,
	.begin = trace_share_begin,
	.give = trace_give,
	.take = trace_take,
};

static const struct session_view trace_view = {
	.wants = trace_wants,
	.on_start = trace_on_start,
	.on_record = trace_on_record,
	.sharing = &trace_sharing,
	.counts_records = true,
	.on_end = trace_on_end,
	.on_flush = trace_on_flush,
};

static int trace_run(void *state, const struct options *options, char **argv)
{
	struct trace *t = state;
	int err;

	for (size_t i = 0; i < t->columns.nr; i++) {
		const struct column *column = trace_column(t->columns.words[i]);

		if (!column)
			return trace_unknown_column(t->columns.words[i]);
		t->fill_cdw |= !strcmp(column->key, "cdw");
	}
	t->fill_wall |= (t->only_if && strstr(t->only_if, "wall")) ||
			(t->fail_if && strstr(t->fail_if, "wall"));
	t->fill_cdw |= t->cdw || (t->only_if && strstr(t->only_if, "cdw")) ||
		       (t->fail_if && strstr(t->fail_if, "cdw"));
	err = records__parse_condition("--if", t->only_if, &t->condition);
	err = err ?: records__parse_condition("--fail-if", t->fail_if, &t->fails);
	err = err ?: session__run(&trace_view, t, options, argv);
	table__free(t->table);
	condition__free(t->condition);
	condition__free(t->fails);
	return err;
}
