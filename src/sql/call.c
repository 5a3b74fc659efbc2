/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call.c: the table `call`: a row for each function call that class -w or calls -w recorded. Calls
 * are nested while the file is read, and a tree is complete when its root returns: rows of a chunk
 * wait in memory until they are read. Every scan reads the whole file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "calls/calls_view.h"
#include "calls/capture.h"
#include "sql/table.h"

/* A row, copied: the call no longer exists when the row is read. */
struct call_row {
	uint64_t start_ns, end_ns, duration_ns;
	uint64_t cpu, pid, tid, depth;
	char *comm, *function, *arguments, *ret, *object, *data;
};

/* One capture that is being read. */
struct call_reading {
	struct capture_reader *reader;
	struct call_trace trace;
	struct call_trace_reader parts;
	struct calls_view view;
	struct session session; /* the view only reads what is set at its start */
	uint64_t damaged;
	bool is_over;
};

struct call_rows {
	struct sql_rows base;
	struct call_reading *reading; /* NULL: none */
	struct call_row *rows;	      /* that wait */
	size_t nr, room, at;
};

/* ---- waiting rows ---- */

static void call_forget(struct call_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++) {
		struct call_row *row = &rows->rows[i];

		free(row->comm);
		free(row->function);
		free(row->arguments);
		free(row->ret);
		free(row->object);
		free(row->data);
	}
	rows->nr = rows->at = 0;
}

/* No text is not an error. */
static char *row_copy(const char *text, int *err)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		*err = -ENOMEM;
	return copy;
}

static int call_keep(void *arg, const struct call *call, const union value_slot *slots)
{
	struct call_rows *rows = arg;
	int err = GROW(rows->rows, rows->room, rows->nr + 1);

	if (err)
		return err;
	rows->rows[rows->nr++] = (struct call_row){
		.start_ns = call->start_ns,
		.end_ns = call->end_ns ? call->end_ns : CELL_NO_NUMBER,
		.duration_ns = slots[CALL_DURATION].n,
		.cpu = call->cpu,
		.pid = call->pid,
		.tid = call->tid,
		.depth = call->depth,
		.comm = row_copy(call->comm, &err),
		.function = row_copy(slots[CALL_FUNCTION].text, &err),
		.arguments = row_copy(slots[CALL_ARGUMENTS].text, &err),
		.ret = row_copy(slots[CALL_RET].text, &err),
		.object = row_copy(slots[CALL_OBJECT].text, &err),
		.data = row_copy(slots[CALL_DATA].text, &err),
	};
	return err;
}

/* ---- a capture ---- */

static int call_on_tree(void *arg, const struct call *root)
{
	struct call_rows *rows = arg;

	return calls_view__tree(&rows->reading->view, root);
}

static int call_on_known(void *arg)
{
	struct call_rows *rows = arg;
	struct call_reading *r = rows->reading;
	int err = call_trace__start(&r->trace, NULL);

	r->view.on_row = call_keep;
	r->view.arg = rows;
	return err ?: calls_view__start(&r->view, &r->session, &r->trace);
}

static void call_shut(struct call_rows *rows)
{
	struct call_reading *r = rows->reading;
	struct capture_damage damage;

	rows->reading = NULL;
	if (!r)
		return;
	if (r->reader) {
		damage = *capture_reader__damage(r->reader);
		damage.blocks_corrupt += r->damaged;
		sql_files__note(rows->base.files, rows->base.file, &damage);
	}
	if (r->view.trace)
		calls_view__free(&r->view);
	call_trace_reader__free(&r->parts);
	call_trace__free(&r->trace);
	capture_reader__free(r->reader);
	free(r);
}

static int call_read_file(struct call_rows *rows)
{
	static const struct options none;
	struct call_reading *r = calloc(1, sizeof(*r));

	rows->reading = r;
	if (!r)
		return -ENOMEM;
	r->session = (struct session){ .options = &none,
				       .format = TABLE_JSON,
				       .start_ns = sql_rows__file(rows)->start_ns };
	r->parts = (struct call_trace_reader){
		.trace = &r->trace, .on_known = call_on_known, .arg = rows, .to_ns = UINT64_MAX
	};
	r->trace.on_tree = call_on_tree;
	r->trace.arg = rows;
	return capture_reader__open_part(sql_rows__file(rows)->path, sql_rows__file(rows)->part,
					 &r->reader);
}

/* Another chunk, or the end, hands over some rows, or none. */
static int call_read_on(struct call_rows *rows)
{
	struct call_reading *r = rows->reading;
	struct capture_part part;
	int more = capture_reader__next_part(r->reader, &part), err;

	if (more < 0)
		return more;
	if (!more) {
		r->is_over = true;
		return r->parts.is_known ? call_trace__finish(&r->trace) : 0;
	}
	err = call_trace_reader__take(&r->parts, &part);
	r->damaged += err == -EBADMSG;
	return err == -EBADMSG ? 0 : err;
}

/* ---- rows ---- */

static void call_begin(void *state)
{
	struct call_rows *rows = state;

	call_shut(rows);
	call_forget(rows);
}

static void call_close(void *state)
{
	struct call_rows *rows = state;

	call_begin(rows);
	free(rows->rows);
}

/* 1: another file is open; 0: no more files; -errno. */
static int call_next_file(struct call_rows *rows)
{
	call_shut(rows);
	while (sql_rows__next_file(&rows->base))
		if (capture_reader__has_calls(sql_rows__file(rows)->reader)) {
			rows->base.place = 0;
			return call_read_file(rows) ?: 1;
		}
	return 0;
}

static int call_next(void *state)
{
	struct call_rows *rows = state;
	int more = 1, err = 0;

	rows->base.place++;
	if (rows->nr && ++rows->at < rows->nr)
		return 1;
	call_forget(rows);
	while (!rows->nr) {
		if (!rows->reading || rows->reading->is_over)
			more = call_next_file(rows);
		if (more <= 0)
			return more;
		err = call_read_on(rows);
		if (err)
			return err;
	}
	return 1;
}

/* ---- cells ---- */

static const void *call_object(const void *state, uint16_t of)
{
	const struct call_rows *rows = state;

	(void)of;
	return &rows->rows[rows->at];
}

static struct cell call_get_time(void *state)
{
	const struct call_rows *rows = state;
	int64_t since_ns =
		(int64_t)(rows->rows[rows->at].start_ns - sql_rows__file(rows)->start_ns);

	return (struct cell){ CELL_REAL, .real = (double)since_ns / 1e9 };
}

#define NUMBER(field) SQL_FIELD(SQL_NUMBER, 0, call_row, field), .none_is_max = true
#define TEXT(field)   SQL_FIELD(SQL_POINTER, 0, call_row, field)

static const struct sql_column call_columns[] = {
	SQL_FILE_COLUMNS,
	{ "time_s", "REAL", "when it was entered, since the start of the run", call_get_time },
	{ "start_ns", "INTEGER", "when it was entered, CLOCK_MONOTONIC", NUMBER(start_ns) },
	{ "end_ns", "INTEGER", "when it returned; NULL: no return seen", NUMBER(end_ns) },
	{ "duration_ns", "INTEGER", "time from entry to return", NUMBER(duration_ns) },
	{ "function", "TEXT", "name of the function", TEXT(function) },
	{ "depth", "INTEGER", "number of traced calls around it", NUMBER(depth) },
	{ "arguments", "TEXT", "arguments, by name", TEXT(arguments) },
	{ "ret", "TEXT", "return value", TEXT(ret) },
	{ "object", "TEXT", "address of the object", TEXT(object) },
	{ "data", "TEXT", "members of the object, and what the call changed", TEXT(data) },
	{ "pid", "INTEGER", "process", NUMBER(pid) },
	{ "tid", "INTEGER", "thread id of the task", NUMBER(tid) },
	{ "comm", "TEXT", "name of the task; in an interrupt, of the interrupted task",
	  TEXT(comm) },
	{ "cpu", "INTEGER", "CPU that it was entered on", NUMBER(cpu) },
	{ 0 },
};

const struct sql_table sql_call = {
	.name = "call",
	.brief = "a row for each call that class -w or calls -w recorded",
	.columns = call_columns,
	.rows = 1e5,
	.rows_size = sizeof(struct call_rows),
	.close = call_close,
	.begin = call_begin,
	.next = call_next,
	.object = call_object,
};
