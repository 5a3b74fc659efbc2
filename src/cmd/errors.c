/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * errors.c: what went wrong? One line for each command that failed, was retried, timed out or was
 * handed back, when it ends, with each attempt below it; and one for each event of controllers and
 * disks. The kernel sends no records of commands without trouble. Sums at the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "cmd/cmd.h"
#include "session/io_source.h"
#include "session/session.h"
#include "session/table.h"
#include "view/errors_rows.h"
#include "view/intervals.h"
#include "view/records.h"
#include "view/row_conditions.h"

enum { ERRORS_SUMS = 1024 };

/* How often this happened on a device. */
struct errors_sum {
	const char *dev, *what, *status;
	uint64_t count, max_ns;
	char dev_text[320], status_text[256];
};

struct errors {
	/* options */
	struct option_number top, buffer;
	struct row_conditions rows;
	/* state */
	struct troubles troubles;
	struct table *table, *sums_table;
	struct errors_sum sums[ERRORS_SUMS];
	size_t nr_sums;
	uint64_t nr_unsummed; /* lines of kinds that did not fit into sums */
	uint64_t nr_shown, nr_left_out;
	bool kernel_lines;
};

static const struct option_def errors_options[] = {
	{ "top", 0, OPTION_NUMBER, offsetof(struct errors, top), "N",
	  "print only the first N lines; the sums include all", .min = 1 },
	ROW_IF_OPTION(offsetof(struct errors, rows), "'what == failed && op == write'"),
	ROW_FAIL_IF_OPTION(offsetof(struct errors, rows), "'what == failed'"),
	RECORDS_BUFFER_OPTION(offsetof(struct errors, buffer)),
	{ 0 },
};

static const struct option_group errors_group = { "What is shown", errors_options };

#define FIELD(name) offsetof(struct errors_sum, name)
static const struct column sum_columns[] = {
	{ "dev", "dev", CELL_TEXT, 7, "disk, or controller", .at = FIELD(dev) },
	{ "what", "what", CELL_TEXT, 9, "what happened, as in the rows", .at = FIELD(what) },
	{ "count", "count", CELL_COUNT, 7, "number of times that it happened", .at = FIELD(count) },
	{ "max_ns", "longest", CELL_DURATION, 7, "longest time from first issue to end",
	  .at = FIELD(max_ns) },
	{ "status", "status", CELL_TEXT, 6, "how the commands ended, or what happened, in words",
	  .at = FIELD(status) },
	{ 0 },
};
#undef FIELD

const struct object errors_sums = { "errors_sum", { sum_columns } };

static int errors_run(void *state, const struct options *options, char **argv);
static const struct cmd_part errors_part;

const struct cmd cmd_errors = {
	.name = "errors",
	.group = "I/O",
	.brief = "failed, retried and timed-out commands, resets, hot-plug",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = CMD_GROUPS(&filter_group, &run_group,
			     OUTPUT_IN(OUTPUT_TABLES | OUTPUT_BIT(OUTPUT_KERNEL)), &write_group,
			     &read_group, &alias_group),
	.own = &errors_group,
	.view_size = sizeof(struct errors),
	.objects = CMD_OBJECTS(&errors_rows, &errors_sums, &session_ledger),
	.run = errors_run,
	.part = &errors_part,
	.needs = NEED_IO | NEED_RINGS | NEED_CONTROLLERS,
};

/* ---- sums ---- */

static struct errors_sum *errors_sum_of(struct errors *e, const struct errors_row *row)
{
	/* Which command an abort meant does not make it another kind. */
	const char *target = strstr(row->status, " qid=");
	size_t len = target ? (size_t)(target - row->status) : strlen(row->status);
	struct errors_sum *sum;

	for (size_t i = 0; i < e->nr_sums; i++) {
		sum = &e->sums[i];
		if (!strcmp(sum->what, row->what) && !strcmp(sum->dev, row->dev) &&
		    !strncmp(sum->status, row->status, len) && !sum->status[len])
			return sum;
	}
	if (e->nr_sums == ERRORS_SUMS)
		return NULL;
	sum = &e->sums[e->nr_sums++];
	snprintf(sum->dev_text, sizeof(sum->dev_text), "%s", row->dev);
	snprintf(sum->status_text, sizeof(sum->status_text), "%.*s", (int)len, row->status);
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

static void errors_show(struct errors *e, struct session *s, const struct io_record *r,
			const struct device *device, struct errors_row *row,
			const struct trouble *t)
{
	if (!row_conditions__admit(&e->rows, s, row))
		return;
	errors_count(e, row);
	if (e->top.given && e->nr_shown >= e->top.value) {
		e->nr_left_out++;
		return;
	}
	e->nr_shown++;
	session__status(s, ""); /* clears the progress of reading a capture */
	if (e->kernel_lines) {
		errors_row__put_kernel_line(s, r, device);
		return;
	}
	table__row(e->table, row);
	if (s->format == TABLE_TEXT && t)
		errors_row__put_tries(s, r, t);
}

static void errors_on_end_of(struct errors *e, struct session *s, const struct io_record *r,
			     const struct device *device)
{
	int ctrl = device ? device->ctrl : -1;
	struct trouble t = troubles__end(&e->troubles, r, ctrl);
	struct errors_row row = { .what = errors_row__what(r, &t, device) };

	if (errors_row__is_abort(r))
		troubles__abort(&e->troubles, r, ctrl);
	if (!row.what)
		return;
	errors_row__fill(&row, s, r, device);
	row.tries = errors_row__tries(&row, &t);
	errors_show(e, s, r, device, &row, &t);
}

static void errors_on_event(struct errors *e, struct session *s, const struct io_record *r,
			    const struct device *device)
{
	struct errors_row row = { .what = "timeout" };

	if (r->what == RECORD_EVENT)
		errors_row__fill_event(&row, s, r, device);
	else
		errors_row__fill(&row, s, r, device);
	errors_show(e, s, r, device, &row, NULL);
}

static int errors_on_record(void *state, struct session *s, const struct io_record *r)
{
	struct errors *e = state;

	switch (r->what) {
	case RECORD_END:
		if (!errors_row__is_plain(r, &e->troubles))
			errors_on_end_of(e, s, r, io_source__device(s, r));
		break;
	case RECORD_EVENT: errors_on_event(e, s, r, io_source__device(s, r)); break;
	case RECORD_TIMEOUT:
		troubles__add(&e->troubles, r);
		errors_on_event(e, s, r, io_source__device(s, r));
		break;
	default: troubles__add(&e->troubles, r); break;
	}
	return 0;
}

/* ---- the run ---- */

static int errors_on_end(void *state, struct session *s)
{
	struct errors *e = state;

	if (e->nr_sums && !e->kernel_lines)
		intervals__say_whole(s);
	for (size_t i = 0; i < e->nr_sums && !e->kernel_lines && s->format != TABLE_CSV; i++)
		table__row(e->sums_table, &e->sums[i]);
	if (e->nr_left_out)
		log_note("%" PRIu64 " more lines are left out because of --top", e->nr_left_out);
	if (e->nr_unsummed)
		log_note("%" PRIu64 " lines are missing from the sums: too many different kinds",
			 e->nr_unsummed);
	if (!e->nr_sums && s->ledger_known && !e->rows.only)
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

static int errors_on_start(void *state, struct session *s)
{
	struct errors *e = state;

	e->table = session__table(s, &errors_rows, NULL, NULL);
	e->sums_table = session__table(s, &errors_sums, NULL, NULL);
	return e->table && e->sums_table ? 0 : log_no_memory();
}

/* Most stretches of a capture have no trouble: other processes find out, and have no more to say.
 */
static int errors_add(void *state, struct session *s, const struct io_record *r)
{
	const struct errors *e = state;

	(void)s;
	return r->what == RECORD_END && errors_row__is_plain(r, &e->troubles) ? 0 : -EAGAIN;
}

static int errors_give(void *state, struct session *s, struct byte_out *out)
{
	(void)state, (void)s, (void)out;
	return 0;
}

/* A command in trouble may end anywhere: its end has to be seen. */
static int errors_take(void *state, struct session *s, struct byte_in *in)
{
	const struct errors *e = state;

	(void)s, (void)in;
	return e->troubles.nr || e->troubles.nr_aborts ? -EAGAIN : 0;
}

static const struct session_sharing errors_sharing = {
	.add = errors_add,
	.give = errors_give,
	.take = errors_take,
};

static const struct session_view errors_view = {
	.wants = errors_wants,
	.on_start = errors_on_start,
	.on_tick = intervals__pass, /* lines come as things happen */
	.on_record = errors_on_record,
	.sharing = &errors_sharing,
	.on_end = errors_on_end,
};

static void errors_end(void *state)
{
	struct errors *e = state;

	table__free(e->table);
	table__free(e->sums_table);
	row_conditions__free(&e->rows);
}

static const struct cmd_part errors_part = { &errors_view, NULL, errors_end };

static int errors_run(void *state, const struct options *options, char **argv)
{
	struct errors *e = state;
	int err;

	e->kernel_lines = options->output.format == OUTPUT_KERNEL;
	err = row_conditions__parse(&e->rows, &errors_rows, NULL, NULL);
	err = err ?: session__run(&errors_view, e, options, argv);
	errors_end(e);
	return err;
}
