/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * errors.c: what went wrong? One line for each command that failed, was tried again, timed out or
 * was handed back, when it ends, with each attempt below it; and for what happens to controllers
 * and disks meanwhile. The kernel sends nothing of commands that were never in trouble. At the end
 * the sums.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/troubles.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "decode/column.h"
#include "decode/event.h"
#include "decode/nvme.h"
#include "decode/nvme_kernel.h"
#include "decode/op.h"
#include "decode/record.h"
#include "decode/words.h"
#include "session/io_source.h"
#include "session/session.h"

enum { ERRORS_SUMS = 1024, NVME_ABORT = 0x08 };

/*
 *        time dev     what      op     lba  size qid   cid status                    try latency
 * pid comm 0.004112873 nvme0n1 failed    read  2048 4.0Ki   1    12 unrecovered read error …
 * 6  3.21ms   2211 dd 1  812us  unrecovered read error (2/81)
 *       ...
 */
struct errors_row {
	uint64_t time_ns;
	const char *dev, *what, *op;
	uint64_t lba, bytes, qid, cid;
	const char *status;
	uint64_t status_code, attempts, lat_ns, pid;
	const char *comm, *tries;
	uint64_t start_ns, end_ns;
};

/* How often a device had this. */
struct errors_sum {
	const char *dev, *what, *status;
	uint64_t count, max_ns;
	char dev_text[32], status_text[256];
};

struct errors {
	/* options */
	struct option_number top, buffer;
	/* state */
	struct troubles troubles;
	struct table *table, *sums_table;
	const struct column *shown[OBJECT_COLUMNS], *sums_shown[OBJECT_COLUMNS];
	struct errors_sum sums[ERRORS_SUMS];
	size_t nr_sums;
	uint64_t nr_unsummed; /* kinds that found no room */
	uint64_t nr_shown, nr_left_out;
	bool kernel_lines;
	char op_text[16], status_text[256], comm_text[17], tries_text[512];
};

static const struct option_def errors_options[] = {
	{ "top", 0, OPTION_NUMBER, offsetof(struct errors, top), "N",
	  "lines of the first N only; the sums are of all", .min = 1 },
	{ "buffer", 0, OPTION_SIZE, offsetof(struct errors, buffer), "SIZE",
	  "each CPU's ring (default 4Mi); a full one loses records and says so", .min = 4096,
	  .max = 1 << 30, .not_with = "read" },
	{ 0 },
};

static const struct option_group errors_group = { "What is shown", errors_options };

#define FIELD(name) offsetof(struct errors_row, name)
static const struct column errors_columns[] = {
	{ "time_s", "time", CELL_TIME, 11, "when it ended or happened, since the start",
	  .at = FIELD(time_ns) },
	{ "dev", "dev", CELL_TEXT, 7, "disk, or controller", .at = FIELD(dev) },
	{ "what", "what", CELL_TEXT, 9,
	  "failed, recovered, timed-out, failed-over, held, abort, timeout; or what happened",
	  .at = FIELD(what) },
	{ "op", "op", CELL_TEXT, 5, "operation", .at = FIELD(op) },
	{ "lba", "lba", CELL_COUNT, 8, "first block, or 512-byte sector of other disks",
	  .at = FIELD(lba) },
	{ "bytes", "size", CELL_BYTES, 5, "its length", .at = FIELD(bytes) },
	{ "qid", "qid", CELL_COUNT, 3, "NVMe queue id (0: admin), or hardware queue",
	  .at = FIELD(qid) },
	{ "cid", "cid", CELL_COUNT, 5, "NVMe command id of the last attempt", .at = FIELD(cid) },
	{ "attempts", "try", CELL_COUNT, 3, "attempts it took", .at = FIELD(attempts) },
	{ "lat_ns", "latency", CELL_DURATION, 7, "first issue to end, all attempts included",
	  .at = FIELD(lat_ns) },
	{ "pid", "pid", CELL_COUNT, 6, "process that built the command", .at = FIELD(pid) },
	{ "comm", "comm", CELL_TEXT, 4, "its task's name", .at = FIELD(comm) },
	{ "status", "status", CELL_TEXT, 6, "how it ended, or what happened, in words",
	  .at = FIELD(status) },
	{ "status_code", "code", CELL_COUNT, 4, "NVMe status field, or errno",
	  .at = FIELD(status_code) },
	{ "tries", "tries", CELL_TEXT, 10,
	  "attempts that failed before the last, each its time in ns and status: 812345=0x281 ...",
	  .at = FIELD(tries) },
	{ "start_ns", "start", CELL_COUNT, 15, "first issue, CLOCK_MONOTONIC",
	  .at = FIELD(start_ns) },
	{ "end_ns", "end", CELL_COUNT, 15, "end, or when it happened", .at = FIELD(end_ns) },
	{ 0 },
};
#undef FIELD

#define FIELD(name) offsetof(struct errors_sum, name)
static const struct column sum_columns[] = {
	{ "dev", "dev", CELL_TEXT, 7, "disk, or controller", .at = FIELD(dev) },
	{ "what", "what", CELL_TEXT, 9, "as in a row", .at = FIELD(what) },
	{ "count", "count", CELL_COUNT, 7, "how often", .at = FIELD(count) },
	{ "max_ns", "longest", CELL_DURATION, 7, "of them, from first issue to end",
	  .at = FIELD(max_ns) },
	{ "status", "status", CELL_TEXT, 6, "how they ended", .at = FIELD(status) },
	{ 0 },
};
#undef FIELD

const struct object errors_rows = { "errors", { errors_columns } };
const struct object errors_sums = { "errors_sum", { sum_columns } };
static const struct object *const errors_objects[] = { &errors_rows, &errors_sums, &session_ledger,
						       NULL };

static int errors_run(void *state, const struct options *options, char **argv);
static const struct cmd_part errors_part;

static const struct option_group *const errors_groups[] = {
	&filter_group, &run_group, &line_group, &write_group, &read_group, &alias_group, NULL
};
const struct cmd cmd_errors = {
	.name = "errors",
	.group = "I/O",
	.brief = "what went wrong? Failed, repeated and timed-out commands; resets, events, "
		 "hot-plug",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = errors_groups,
	.own = &errors_group,
	.view_size = sizeof(struct errors),
	.objects = errors_objects,
	.run = errors_run,
	.part = &errors_part,
	.needs = NEED_IO | NEED_RINGS | NEED_CONTROLLERS,
};

/* ---- sums ---- */

/* Which command an abort meant does not make it another kind. */
static size_t sum_status_len(const struct errors_row *row)
{
	const char *target = strstr(row->status, " qid=");

	return target ? (size_t)(target - row->status) : strlen(row->status);
}

static bool sum_is(const struct errors_sum *sum, const struct errors_row *row)
{
	size_t len = sum_status_len(row);

	return !strcmp(sum->what, row->what) && !strcmp(sum->dev, row->dev) &&
	       !strncmp(sum->status, row->status, len) && !sum->status[len];
}

static struct errors_sum *errors_sum_of(struct errors *e, const struct errors_row *row)
{
	struct errors_sum *sum;

	for (size_t i = 0; i < e->nr_sums; i++)
		if (sum_is(&e->sums[i], row))
			return &e->sums[i];
	if (e->nr_sums == ERRORS_SUMS)
		return NULL;
	sum = &e->sums[e->nr_sums++];
	snprintf(sum->dev_text, sizeof(sum->dev_text), "%s", row->dev);
	snprintf(sum->status_text, sizeof(sum->status_text), "%.*s", (int)sum_status_len(row),
		 row->status);
	sum->dev = sum->dev_text;
	sum->status = sum->status_text;
	sum->what = row->what;
	sum->max_ns = CELL_NO_NUMBER;
	return sum;
}

static void errors_count(struct errors *e, const struct errors_row *row)
{
	struct errors_sum *sum = errors_sum_of(e, row);

	if (!sum) {
		e->nr_unsummed++;
		return;
	}
	sum->count++;
	if (row->lat_ns != CELL_NO_NUMBER &&
	    (sum->max_ns == CELL_NO_NUMBER || row->lat_ns > sum->max_ns))
		sum->max_ns = row->lat_ns;
}

/* ---- one line ---- */

static bool errors_is_abort(const struct io_record *r)
{
	return r->kind == IO_ADMIN && r->op == NVME_ABORT;
}

/* A path's own status: the block layer sends the bio down another one. */
static bool errors_is_failover(const struct io_record *r, const struct device *device)
{
	return nvme_status__is_path(r->kind, r->status) && device && device__is_leg(device);
}

/* NULL: nothing was wrong with it. */
static const char *errors_what(const struct io_record *r, const struct trouble *t,
			       const struct device *device)
{
	if (errors_is_abort(r))
		return "abort";
	if (errors_is_failover(r, device))
		return "failed-over";
	if (t->timed_out)
		return "timed-out";
	if (r->status)
		return "failed";
	if (r->attempts > 1)
		return "recovered";
	return r->flags & RECORD_TROUBLED ? "held" : NULL;
}

static const char *errors_status(struct errors *e, const struct io_record *r)
{
	struct words w = words__on(e->status_text, sizeof(e->status_text));

	if (r->what == RECORD_EVENT)
		event__describe(&w, r);
	else if (r->what == RECORD_TIMEOUT)
		words__item(&w, "no answer yet: the driver waits no longer");
	else
		record__status(&w, r);
	if (r->what == RECORD_END && errors_is_abort(r) && !r->status) {
		words__str(&w, r->result & 1 ? ": not aborted" : ": aborted");
		words__key(&w, "qid");
		words__u64(&w, (uint16_t)r->cdw10[0]);
		words__key(&w, "cid");
		words__u64(&w, r->cdw10[0] >> 16);
	}
	return words__done(&w);
}

static const char *errors_tries(struct errors *e, const struct trouble *t)
{
	struct words w = words__on(e->tries_text, sizeof(e->tries_text));

	for (uint32_t i = 0; i < t->nr_tries && i < TROUBLE_TRIES; i++) {
		words__space(&w);
		words__u64(&w, t->tries[i].end_ns - t->tries[i].start_ns);
		words__char(&w, '=');
		words__hex(&w, t->tries[i].status, 1);
	}
	return t->nr_tries ? words__done(&w) : NULL;
}

static void errors_fill(struct errors *e, struct session *s, const struct io_record *r,
			const struct device *device, struct errors_row *row)
{
	bool ended = r->what == RECORD_END;

	row->time_ns = io_record__time_ns(r) - s->start_ns;
	row->dev = device ? device->name : "?";
	row->op = op__word(r->kind, r->op, io_source__op_names(s), e->op_text, sizeof(e->op_text));
	if (!record__start(r, io_source__op_names(s), &row->lba))
		row->lba = CELL_NO_NUMBER;
	row->bytes = r->bytes ? r->bytes : CELL_NO_NUMBER;
	row->qid = r->qid;
	row->cid = r->kind == IO_BLOCK ? CELL_NO_NUMBER : r->cid;
	row->status = errors_status(e, r);
	row->status_code = ended ? r->status : CELL_NO_NUMBER;
	row->attempts = r->attempts;
	row->lat_ns = r->end_ns - r->first_ns;
	row->pid = r->pid;
	memcpy(e->comm_text, r->comm, sizeof(r->comm));
	row->comm = e->comm_text;
	row->start_ns = r->first_ns;
	row->end_ns = r->end_ns;
}

static void errors_fill_event(struct errors *e, const struct session *s, const struct io_record *r,
			      const struct device *device, struct errors_row *row)
{
	*row = (struct errors_row){
		.time_ns = r->end_ns - s->start_ns,
		.dev = device ? device->name : "?",
		.what = event__word(r->op),
		.lba = CELL_NO_NUMBER,
		.bytes = CELL_NO_NUMBER,
		.qid = CELL_NO_NUMBER,
		.cid = CELL_NO_NUMBER,
		.status = errors_status(e, r),
		.status_code = CELL_NO_NUMBER,
		.attempts = CELL_NO_NUMBER,
		.lat_ns = CELL_NO_NUMBER,
		.pid = CELL_NO_NUMBER,
		.start_ns = CELL_NO_NUMBER,
		.end_ns = r->end_ns,
	};
}

static void errors_put_try(const struct session *s, const struct io_record *r,
			   const struct trouble_try *try, uint32_t nr)
{
	struct io_record attempt = *r;
	char text[160], took[16];
	struct words w = words__on(text, sizeof(text));

	attempt.status = try->status;
	if (attempt.status || nr == r->attempts)
		record__status(&w, &attempt);
	else
		words__item(&w, "tried again");
	fprintf(s->out, "      %u  %7s  %s\n", nr,
		text__duration(took, sizeof(took), try->end_ns - try->start_ns), words__done(&w));
}

/* Below its line: how long each attempt took and how it ended. */
static void errors_put_tries(const struct session *s, const struct io_record *r,
			     const struct trouble *t)
{
	for (uint32_t i = 0; i < t->nr_tries && i < TROUBLE_TRIES; i++)
		errors_put_try(s, r, &t->tries[i], i + 1);
	if (t->nr_tries)
		errors_put_try(s, r, &(struct trouble_try){ r->last_ns, r->end_ns, r->status },
			       t->nr_tries + 1);
}

static void errors_put_kernel_line(const struct session *s, const struct io_record *r,
				   const struct device *device)
{
	char text[256];
	struct words w = words__on(text, sizeof(text));

	if (r->what != RECORD_END || !r->status || r->kind == IO_BLOCK)
		return;
	nvme_kernel__line(&w, r, device ? device->name : "?", device ? device->block_size : 0);
	text__put_terminal(s->out, words__done(&w));
	fputc('\n', s->out);
}

static void errors_show(struct errors *e, struct session *s, const struct io_record *r,
			const struct device *device, struct errors_row *row,
			const struct trouble *t)
{
	errors_count(e, row);
	if (e->top.given && e->nr_shown >= e->top.value) {
		e->nr_left_out++;
		return;
	}
	e->nr_shown++;
	session__status(s, ""); /* how far a capture is read may stand there */
	if (e->kernel_lines) {
		errors_put_kernel_line(s, r, device);
		return;
	}
	table__row(e->table, row);
	if (s->format == TABLE_TEXT && t)
		errors_put_tries(s, r, t);
}

static void errors_on_end_of(struct errors *e, struct session *s, const struct io_record *r,
			     const struct device *device)
{
	int ctrl = device ? device->ctrl : -1;
	struct trouble t = troubles__end(&e->troubles, r, ctrl);
	struct errors_row row = { .what = errors_what(r, &t, device) };

	if (errors_is_abort(r))
		troubles__abort(&e->troubles, r, ctrl);
	if (!row.what)
		return;
	errors_fill(e, s, r, device, &row);
	row.tries = errors_tries(e, &t);
	errors_show(e, s, r, device, &row, &t);
}

static int errors_on_record(void *state, struct session *s, const struct io_record *r)
{
	struct errors *e = state;
	const struct device *device = io_source__device(s, r);
	struct errors_row row = { .what = "timeout" };

	switch (r->what) {
	case RECORD_END: errors_on_end_of(e, s, r, device); break;
	case RECORD_EVENT:
		errors_fill_event(e, s, r, device, &row);
		errors_show(e, s, r, device, &row, NULL);
		break;
	case RECORD_TIMEOUT:
		troubles__add(&e->troubles, r);
		errors_fill(e, s, r, device, &row);
		errors_show(e, s, r, device, &row, NULL);
		break;
	default: troubles__add(&e->troubles, r); break;
	}
	return 0;
}

/* ---- the run ---- */

/* -n counts intervals; lines come as things happen. */
static int errors_on_tick(void *state, struct session *s)
{
	(void)state, (void)s;
	return 0;
}

static int errors_on_end(void *state, struct session *s)
{
	struct errors *e = state;

	if (e->nr_sums && s->format == TABLE_TEXT && !e->kernel_lines)
		fprintf(s->out, "\nthe whole run, %.1f s:\n", s->span_s);
	for (size_t i = 0; i < e->nr_sums && !e->kernel_lines && s->format != TABLE_CSV; i++)
		table__row(e->sums_table, &e->sums[i]);
	if (e->nr_left_out)
		log_note("%" PRIu64 " more lines are left out: --top", e->nr_left_out);
	if (e->nr_unsummed)
		log_note("%" PRIu64 " lines are of kinds that the sums had no room for",
			 e->nr_unsummed);
	if (!e->nr_sums && s->ledger_known)
		log_note("nothing went wrong in %" PRIu64 " commands", s->ledger.completed);
	return 0;
}

static struct io_wants errors_wants(void *state, const struct options *options)
{
	const struct errors *e = state;

	return (struct io_wants){
		.filter = &options->filter,
		.records = true,
		.troubles = true,
		.only_troubled = true,
		.buffer_bytes = e->buffer.given ? e->buffer.value : 0,
	};
}

/* To people the last three say what stands below the line, or nothing. */
static bool errors_has(const struct column *column, enum table_format format)
{
	static const char *const beside[] = { "status_code", "tries", "start_ns", "end_ns" };

	for (size_t i = 0; format == TABLE_TEXT && i < sizeof(beside) / sizeof(beside[0]); i++)
		if (!strcmp(column->key, beside[i]))
			return false;
	return true;
}

static int errors_on_start(void *state, struct session *s)
{
	struct errors *e = state;
	size_t nr = 0;

	for (size_t i = 0; errors_columns[i].key; i++)
		if (errors_has(&errors_columns[i], s->format))
			e->shown[nr++] = &errors_columns[i];
	e->table = table__new(s->out, s->format, errors_rows.type, e->shown, nr);
	nr = object__columns(&errors_sums, e->sums_shown);
	e->sums_table = table__new(s->out, s->format, errors_sums.type, e->sums_shown, nr);
	return e->table && e->sums_table ? 0 : log_err(-ENOMEM, "out of memory");
}

static const struct session_view errors_view = {
	.wants = errors_wants,
	.on_start = errors_on_start,
	.on_tick = errors_on_tick,
	.on_record = errors_on_record,
	.on_end = errors_on_end,
};

static void errors_end(void *state)
{
	struct errors *e = state;

	table__free(e->table);
	table__free(e->sums_table);
}

static const struct cmd_part errors_part = { &errors_view, NULL, errors_end };

static int errors_run(void *state, const struct options *options, char **argv)
{
	struct errors *e = state;
	int err;

	e->kernel_lines = options->output.format == OUTPUT_KERNEL;
	err = session__run(&errors_view, e, options, argv);
	errors_end(e);
	return err;
}
