/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.c: what was every command? One line each when it ends, submit and completion joined, in
 * words. It cannot see the time before a command is built, nor bio-based devices.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cmd.h"
#include "decode/op.h"
#include "decode/record.h"
#include "log.h"
#include "render/column.h"
#include "session.h"

enum { TRACE_MOST_COLUMNS = 32 };

/*
 *        time dev     qid   cid op       nsid command            status try latency  pid comm
 * 0.004112873 nvme0n1   1 16402 read        1 lba=41280 len=4Ki  ok       1   163us 2211 fio
 */
struct trace_row {
	uint64_t time_ns;
	const char *wall, *event;
	uint64_t start_ns, last_ns, end_ns;
	const char *dev;
	uint64_t qid, cid;
	const char *op;
	uint64_t nsid, lba, bytes;
	const char *command, *cdw;
	const char *status;
	uint64_t status_code, result, attempts, lat_ns, pid;
	const char *comm;
	uint64_t cpu;
};

struct trace {
	/* options */
	bool split, wall, cdw, admin, io;
	struct option_list columns;
	struct option_number buffer;
	/* state */
	struct table *table;
	const struct column *shown[TRACE_MOST_COLUMNS];
	uint64_t printed;
	/* texts of the row at hand */
	char wall_text[48], op_text[16], command_text[512], cdw_text[64];
	char status_text[160], comm_text[17];
};

#define FIELD(name) offsetof(struct trace_row, name)

static const struct column trace_columns[] = {
	{ "time_s", "time", CELL_TIME, 11, "since the start", .at = FIELD(time_ns) },
	{ "wall", "wall clock", CELL_TEXT, 29, "wall clock of the event", .at = FIELD(wall) },
	{ "event", "event", CELL_TEXT, 6, "submit or end", .at = FIELD(event) },
	{ "start_ns", "start", CELL_COUNT, 0, "first issue, CLOCK_MONOTONIC",
	  .at = FIELD(start_ns) },
	{ "last_ns", "last issue", CELL_COUNT, 0, "issue of the attempt that ended it",
	  .at = FIELD(last_ns) },
	{ "end_ns", "end", CELL_COUNT, 0, "completion, CLOCK_MONOTONIC", .at = FIELD(end_ns) },
	{ "dev", "dev", CELL_TEXT, 7, "disk, or controller for admin commands", .at = FIELD(dev) },
	{ "qid", "qid", CELL_COUNT, 3, "NVMe queue id (0: admin), or hardware queue",
	  .at = FIELD(qid) },
	{ "cid", "cid", CELL_COUNT, 5, "NVMe command id", .at = FIELD(cid) },
	{ "op", "op", CELL_TEXT, 8, "operation", .at = FIELD(op) },
	{ "nsid", "nsid", CELL_COUNT, 4, "namespace id", .at = FIELD(nsid) },
	{ "lba", "lba", CELL_COUNT, 0, "first block, or 512-byte sector of other disks",
	  .at = FIELD(lba) },
	{ "bytes", "bytes", CELL_COUNT, 6, "bytes it moves or covers", .at = FIELD(bytes) },
	{ "command", "command", CELL_TEXT, 28, "its fields in words", .at = FIELD(command) },
	{ "cdw", "cdw10-15", CELL_TEXT, 53, "command dwords 10 to 15, raw", .at = FIELD(cdw) },
	{ "status", "status", CELL_TEXT, 6, "how it ended, in words", .at = FIELD(status) },
	{ "status_code", "code", CELL_COUNT, 4, "NVMe status field, or errno",
	  .at = FIELD(status_code) },
	{ "result", "result", CELL_COUNT, 6, "completion queue entry, dwords 0 and 1",
	  .at = FIELD(result) },
	{ "attempts", "try", CELL_COUNT, 3, "attempts it took", .at = FIELD(attempts) },
	{ "lat_ns", "latency", CELL_DURATION, 7, "first issue to end", .at = FIELD(lat_ns) },
	{ "pid", "pid", CELL_COUNT, 6, "process that built the command", .at = FIELD(pid) },
	{ "comm", "comm", CELL_TEXT, 4, "its task's name", .at = FIELD(comm) },
	{ "cpu", "cpu", CELL_COUNT, 3, "CPU on which it ended", .at = FIELD(cpu) },
	{ 0 },
};

static const struct object trace_rows = { "trace", { trace_columns } };
static const struct object *const trace_objects[] = { &trace_rows, &session_ledger, NULL };

/* What is shown if --columns does not say: to people, and to programs. */
static const char text_columns[] =
	" time_s dev qid cid op nsid command status attempts lat_ns pid comm ";
static const char data_columns[] =
	" start_ns last_ns end_ns dev qid cid op nsid lba bytes command status status_code result "
	"attempts lat_ns pid comm cpu ";

static const struct option_def trace_options[] = {
	{ "split", 0, OPTION_FLAG, offsetof(struct trace, split), NULL,
	  "also a line when a command is built" },
	{ "columns", 0, OPTION_LIST, offsetof(struct trace, columns), "NAME,...",
	  "these, in this order; --columns help lists them" },
	{ "wall", 0, OPTION_FLAG, offsetof(struct trace, wall), NULL,
	  "the wall clock of the event instead of the time since the start" },
	{ "cdw", 0, OPTION_FLAG, offsetof(struct trace, cdw), NULL,
	  "command dwords 10 to 15 beside the words" },
	{ "admin", 0, OPTION_FLAG, offsetof(struct trace, admin), NULL,
	  "only admin and fabrics commands", .not_with = "io" },
	{ "io", 0, OPTION_FLAG, offsetof(struct trace, io), NULL, "no admin or fabrics commands" },
	{ "buffer", 0, OPTION_SIZE, offsetof(struct trace, buffer), "SIZE",
	  "each CPU's ring (default 4Mi); a full one loses records and says so", .min = 4096,
	  .max = 1 << 30 },
	{ 0 },
};

static const struct option_group trace_group = { "What is shown", trace_options };
static int trace_run(void *state, const struct options *options, char **argv);

static const struct option_group *const trace_groups[] = { &filter_group, &run_group, &output_group,
							   NULL };
const struct cmd cmd_trace = {
	.name = "trace",
	.group = "I/O",
	.brief = "what was every command? One line each, submit and completion joined, in words",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = trace_groups,
	.own = &trace_group,
	.view_size = sizeof(struct trace),
	.objects = trace_objects,
	.run = trace_run,
};

/* ---- columns ---- */

static const struct column *trace_column(const char *key)
{
	for (size_t i = 0; trace_columns[i].key; i++)
		if (!strcmp(trace_columns[i].key, key))
			return &trace_columns[i];
	return NULL;
}

static int trace_unknown_column(const char *word)
{
	const char *keys[TRACE_MOST_COLUMNS], *near;
	size_t nr = 0;

	while (trace_columns[nr].key) {
		keys[nr] = trace_columns[nr].key;
		nr++;
	}
	if (!strcmp(word, "help")) {
		for (size_t i = 0; i < nr; i++)
			printf("%-12s %s\n", keys[i], trace_columns[i].help);
		return EXIT_DONE;
	}
	near = option__nearest(word, keys, nr);
	return log_err(-EINVAL, "--columns: there is no '%s'%s%s%s", word,
		       near ? "; did you mean '" : "; --columns help lists them", near ? near : "",
		       near ? "'?" : "");
}

/* Of the default set, what the options make of it. */
static bool trace_is_default(const struct trace *t, const char *key, bool text)
{
	char word[32];

	if (!strcmp(key, "wall"))
		return t->wall;
	if (!strcmp(key, "cdw"))
		return t->cdw;
	if (!strcmp(key, "event"))
		return t->split;
	if (!strcmp(key, "time_s") && t->wall)
		return false;
	snprintf(word, sizeof(word), " %s ", key);
	return strstr(text ? text_columns : data_columns, word);
}

static size_t trace_choose_columns(struct trace *t, bool text)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->columns.nr && nr < TRACE_MOST_COLUMNS; i++)
		t->shown[nr++] = trace_column(t->columns.words[i]);
	for (size_t i = 0; !t->columns.nr && trace_columns[i].key; i++)
		if (trace_is_default(t, trace_columns[i].key, text))
			t->shown[nr++] = &trace_columns[i];
	return nr;
}

/* ---- one line ---- */

/* 2026-11-15T07:08:09.123456789Z: UTC, so that lines of two machines can be laid side by side. */
static const char *trace_wall(char buf[48], uint64_t real_ns)
{
	time_t s = (time_t)(real_ns / 1000000000);
	struct tm tm;
	size_t at;

	if (!real_ns || !gmtime_r(&s, &tm))
		return NULL;
	at = strftime(buf, 24, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + at, 48 - at, ".%09luZ", (unsigned long)(real_ns % 1000000000));
	return buf;
}

static const char *trace_cdw(char buf[64], const struct io_record *r)
{
	int at = 0;

	if (r->kind == IO_BLOCK)
		return NULL;
	for (int i = 0; i < 6; i++)
		at += snprintf(buf + at, (size_t)(64 - at), "%s%08x", i ? " " : "", r->cdw10[i]);
	return buf;
}

static const char *trace_command(struct trace *t, struct session *s, const struct io_record *r,
				 const struct device *device)
{
	struct words w = words__on(t->command_text, sizeof(t->command_text));

	record__describe(&w, r, device ? device->block_size : 0, session__op_names(s));
	return words__done(&w);
}

static const char *trace_status(struct trace *t, const struct io_record *r)
{
	struct words w = words__on(t->status_text, sizeof(t->status_text));

	record__status(&w, r);
	return words__done(&w);
}

static int trace_on_record(void *state, struct session *s, const struct io_record *r)
{
	struct trace *t = state;
	const struct option_number *count = &s->options->run.count;
	const struct device *device = session__device(s, r);
	const bool nvme = r->kind != IO_BLOCK, end = r->what == RECORD_END;
	uint64_t at_ns = io_record__time_ns(r), lba;

	memcpy(t->comm_text, r->comm, sizeof(r->comm));
	if (!record__start(r, session__op_names(s), &lba))
		lba = CELL_NO_NUMBER;
	table__row(t->table,
		   &(struct trace_row){
			   .time_ns = at_ns - s->start_ns,
			   .wall = t->wall ? trace_wall(t->wall_text, session__wall_ns(s, at_ns))
					   : NULL,
			   .event = end ? "end" : "submit",
			   .start_ns = r->first_ns,
			   .last_ns = r->last_ns,
			   .end_ns = end ? r->end_ns : CELL_NO_NUMBER,
			   .dev = device ? device->name : "?",
			   .qid = r->qid,
			   .cid = nvme ? r->cid : CELL_NO_NUMBER,
			   .op = op__word(r->kind, r->op, session__op_names(s), t->op_text,
					  sizeof(t->op_text)),
			   .nsid = nvme ? r->nsid : CELL_NO_NUMBER,
			   .lba = lba,
			   .bytes = r->bytes,
			   .command = trace_command(t, s, r, device),
			   .cdw = t->cdw ? trace_cdw(t->cdw_text, r) : NULL,
			   .status = trace_status(t, r),
			   .status_code = end ? r->status : CELL_NO_NUMBER,
			   .result = end && nvme ? r->result : CELL_NO_NUMBER,
			   .attempts = r->attempts,
			   .lat_ns = end ? r->end_ns - r->first_ns : CELL_NO_NUMBER,
			   .pid = r->pid,
			   .comm = t->comm_text,
			   .cpu = r->cpu,
		   });
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
		.kinds = t->admin ? 1 << IO_ADMIN | 1 << IO_FABRICS
			 : t->io  ? 1 << IO_NVME | 1 << IO_BLOCK
				  : 0,
		.buffer_bytes = t->buffer.given ? t->buffer.value : 0,
	};
}

static int trace_on_start(void *state, struct session *s)
{
	struct trace *t = state;
	size_t nr = trace_choose_columns(t, s->format == TABLE_TEXT);

	t->table = table__new(s->out, s->format, "trace", t->shown, nr);
	return t->table ? 0 : log_err(-ENOMEM, "out of memory");
}

static int trace_on_end(void *state, struct session *s)
{
	(void)state;
	(void)s;
	return 0;
}

static const struct session_view trace_view = {
	.wants = trace_wants,
	.on_start = trace_on_start,
	.on_record = trace_on_record,
	.on_end = trace_on_end,
};

static int trace_run(void *state, const struct options *options, char **argv)
{
	struct trace *t = state;
	int err;

	for (size_t i = 0; i < t->columns.nr; i++) {
		const struct column *column = trace_column(t->columns.words[i]);

		if (!column)
			return trace_unknown_column(t->columns.words[i]);
		t->wall |= !strcmp(column->key, "wall");
		t->cdw |= !strcmp(column->key, "cdw");
	}
	err = session__run(&trace_view, t, options, argv);
	table__free(t->table);
	return err;
}
