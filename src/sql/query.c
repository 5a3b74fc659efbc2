/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query.c: runs a text of statements and prints the results through the column printer. Column
 * names come from the query and cells may hold anything: both are escaped there. In text format the
 * first rows are held back, so that columns are as wide as needed.
 */
#ifdef HAVE_SQLITE

#define _GNU_SOURCE 1 /* asprintf */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"
#include "expr/expr.h"
#include "sql/engine.h"

enum {
	QUERY_HELD = 200,	    /* rows that wait */
	QUERY_HELD_BYTES = 4 << 20, /* and their texts */
	QUERY_STEPS = 1000,	    /* SQLite's VM steps between two checks of signals */
};

/* The result of one statement. */
struct result {
	struct progress *progress; /* cleared before printing */
	FILE *out;
	enum table_format format;
	sqlite3_stmt *statement;
	size_t nr; /* columns */
	struct column *columns;
	const struct column **picked;
	struct table *table;
	struct cell *cells; /* cells of all held rows, one after the other */
	size_t held, held_bytes;
};

/* ---- columns ---- */

static bool result_has(const struct result *r, size_t nr, const char *key)
{
	if (r->format == TABLE_JSON && !strcmp(key, "type"))
		return true;
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(r->columns[i].key, key))
			return true;
	return false;
}

/* As the query has it; the second "dev" is "dev_2": an object has each key once. */
static char *result_key(const struct result *r, size_t nr)
{
	const char *name = sqlite3_column_name(r->statement, (int)nr);
	char *key = name ? strdup(name) : NULL;

	for (unsigned int i = 2; key && result_has(r, nr, key); i++) {
		free(key);
		if (asprintf(&key, "%s_%u", name, i) < 0)
			key = NULL;
	}
	return key;
}

static int result_open(struct result *r)
{
	r->nr = (size_t)sqlite3_column_count(r->statement);
	r->columns = calloc(r->nr + 1, sizeof(*r->columns));
	r->picked = calloc(r->nr + 1, sizeof(*r->picked));
	r->cells = calloc(QUERY_HELD * r->nr + 1, sizeof(*r->cells));
	if (!r->columns || !r->picked || !r->cells)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr; i++) {
		char *key = result_key(r, i);

		r->columns[i] = (struct column){
			.key = key, .header = key, .kind = CELL_ANY, .at = i * sizeof(struct cell)
		};
		r->picked[i] = &r->columns[i];
		if (!key)
			return -ENOMEM;
	}
	r->table = table__new(r->out, r->format, "row", r->picked, r->nr);
	return r->table ? 0 : -ENOMEM;
}

/* ---- cells ---- */

/* X'00FF': a blob, or a text with a 0 in it, which would be cut there. */
static char *result_hex(const unsigned char *bytes, size_t nr)
{
	char *text = malloc(2 * nr + 4), *at = text;

	if (!text)
		return NULL;
	at += sprintf(at, "X'");
	for (size_t i = 0; i < nr; i++)
		at += sprintf(at, "%02X", bytes[i]);
	memcpy(at, "'", 2);
	return text;
}

static char *result_text(sqlite3_stmt *statement, int column)
{
	const unsigned char *bytes = sqlite3_column_type(statement, column) == SQLITE_BLOB
					     ? sqlite3_column_blob(statement, column)
					     : sqlite3_column_text(statement, column);
	size_t nr = (size_t)sqlite3_column_bytes(statement, column);

	if (sqlite3_column_type(statement, column) == SQLITE_BLOB || memchr(bytes, 0, nr))
		return result_hex(bytes, nr);
	return strdup((const char *)bytes);
}

/* The caller owns the text. */
static struct cell result_cell(sqlite3_stmt *statement, int column)
{
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_NULL: return (struct cell){ CELL_NONE };
	case SQLITE_INTEGER:
		return (struct cell){ CELL_SIGNED,
				      .n = (uint64_t)sqlite3_column_int64(statement, column) };
	case SQLITE_FLOAT:
		return (struct cell){ CELL_REAL, .real = sqlite3_column_double(statement, column) };
	default: return (struct cell){ CELL_TEXT, .text = result_text(statement, column) };
	}
}

/* ---- rows ---- */

static void result_free_row(struct result *r, struct cell *row)
{
	for (size_t i = 0; i < r->nr; i++) {
		if (row[i].kind == CELL_TEXT)
			free((char *)row[i].text);
		row[i].kind = CELL_NONE;
	}
}

static void result_let_go(struct result *r)
{
	progress__clear(r->progress);
	for (size_t i = 0; i < r->held; i++)
		table__fit(r->table, &r->cells[i * r->nr]);
	for (size_t i = 0; i < r->held; i++) {
		table__row(r->table, &r->cells[i * r->nr]);
		result_free_row(r, &r->cells[i * r->nr]);
	}
	r->held = r->held_bytes = 0;
}

static int result_take(struct result *r)
{
	struct cell *row = &r->cells[r->held * r->nr];

	for (size_t i = 0; i < r->nr; i++) {
		row[i] = result_cell(r->statement, (int)i);
		if (row[i].kind == CELL_TEXT && !row[i].text)
			return -ENOMEM;
		r->held_bytes += row[i].kind == CELL_TEXT ? strlen(row[i].text) : 0;
	}
	if (++r->held == QUERY_HELD || r->held_bytes > QUERY_HELD_BYTES || r->format != TABLE_TEXT)
		result_let_go(r);
	return ferror(r->out) ? -EPIPE : 0;
}

static void result_close(struct result *r)
{
	for (size_t i = 0; i < r->held; i++)
		result_free_row(r, &r->cells[i * r->nr]);
	for (size_t i = 0; r->columns && i < r->nr; i++)
		free((char *)r->columns[i].key);
	table__free(r->table);
	free(r->columns);
	free(r->picked);
	free(r->cells);
}

/* ---- errors ---- */

static int query_place(sqlite3 *db)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	return sqlite3_error_offset(db);
#else
	(void)db;
	return -1;
#endif
}

/* The line of the text with the mistake, and a caret below it. */
static void query_point(const char *text, size_t at, char *lines, size_t size)
{
	struct expr_error error = { 0 };
	const char *from = text + at;
	char *line;

	while (from > text && from[-1] != '\n')
		from--;
	line = strndup(from, strcspn(from, "\n"));
	error.at = at - (size_t)(from - text);
	expr__point_at(line ? line : "", &error, lines, size);
	free(line);
}

static int query_is_large(const struct sql *sql)
{
	char limit[16];

	text__bytes(limit, sizeof(limit), sql->run->limit_bytes);
	return log_err(-EIO,
		       "sql: the query exceeds the memory limit of %s: narrow the query, or raise "
		       "--limit-memory",
		       limit);
}

/* SQLite's own memory, or that of a file of what it sorts. */
static bool query_has_no_memory(const struct sql *sql, int failed)
{
	return failed == SQLITE_NOMEM || sqlite3_extended_errcode(sql->db) == SQLITE_IOERR_NOMEM;
}

static int query_refuse(struct sql *sql, const char *text, int failed)
{
	const char *message =
		sql->refused[0] && failed == SQLITE_AUTH ? sql->refused : sqlite3_errmsg(sql->db);
	int at = query_place(sql->db);
	char lines[512];

	if (query_has_no_memory(sql, failed))
		return query_is_large(sql);
	if (sql->err) /* a file's fault, not the query's */
		return sql->err == -EOPNOTSUPP ? sql->err : log_err(-EIO, "%s", message);
	if (at < 0 || (size_t)at > strlen(text))
		return log_err(-EINVAL, "sql: %s", message);
	query_point(text, (size_t)at, lines, sizeof(lines));
	return log_err_lines(-EINVAL, lines, "sql: %s", message);
}

/* ---- statements ---- */

bool sql_query__is_late(const struct sql *sql)
{
	return sql->until_ns && clock__mono_ns() >= sql->until_ns;
}

static int query_interrupted(const struct sql *sql)
{
	char limit[16];
	double percent = sql->all ? 100.0 * (double)sql->at / (double)sql->all : 0;

	if (sql_query__is_late(sql))
		return log_err(sql->loop ? -EINTR : -EIO,
			       "sql: the query exceeded the limit of %s (--limit-time): the output "
			       "is incomplete",
			       text__duration(limit, sizeof(limit), sql->run->limit_ns));
	if (!sql->loop) /* the prompt goes on */
		return log_err(-EINVAL, "interrupted");
	return log_err(-EINTR, "interrupted after %.0f %% of the capture: the output is incomplete",
		       percent > 99 ? 99 : percent);
}

static int query_rows(struct sql *sql, struct result *r, const char *text)
{
	int err = result_open(r), step = SQLITE_DONE;

	while (!err && (step = sqlite3_step(r->statement)) == SQLITE_ROW)
		err = result_take(r);
	progress__clear(r->progress);
	if (err == -ENOMEM)
		return log_err(err, "out of memory");
	if (!err && r->held)
		result_let_go(r);
	if (err || step == SQLITE_DONE)
		return err;
	if (step == SQLITE_INTERRUPT)
		return query_interrupted(sql);
	return query_refuse(sql, text, step);
}

static int query_statement(struct sql *sql, const char *text, const char **rest)
{
	struct result r = { &sql->progress, sql->run->out, sql->run->format };
	int failed, err;

	progress__begin(&sql->progress);

	sql->refused[0] = 0;
	sql->err = 0;
	sql->until_ns = sql->run->limit_ns ? clock__mono_ns() + sql->run->limit_ns : 0;
	sql->at = 0;
	failed = sqlite3_prepare_v2(sql->db, text, -1, &r.statement, rest);
	if (failed)
		return query_refuse(sql, text, failed);
	if (!r.statement) /* a comment, or nothing at all */
		return 0;
	err = query_rows(sql, &r, text);
	result_close(&r);
	sqlite3_finalize(r.statement);
	fflush(r.out); /* a reader may wait for it */
	return err;
}

int sql_query__run(struct sql *sql, const char *text)
{
	int err = 0;

	while (!err && *text)
		err = query_statement(sql, text, &text);
	return err;
}

static int query_look(void *arg)
{
	struct sql *sql = arg;

	return loop__is_interrupted(sql->loop) || sql_query__is_late(sql);
}

int sql_query__run_to_end(struct sql *sql, const char *text)
{
	int err;

	sql->loop = loop__new();
	if (!sql->loop)
		return log_err(-errno, "cannot make an event loop");
	sqlite3_progress_handler(sql->db, QUERY_STEPS, query_look, sql);
	err = sql_query__run(sql, text);
	sqlite3_progress_handler(sql->db, 0, NULL, NULL);
	loop__free(sql->loop);
	sql->loop = NULL;
	return err;
}

#endif
