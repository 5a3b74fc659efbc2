/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine.h: what the files of this room that know SQLite share: the connection and its parts. Only
 * for them; others include sql.h.
 */
#ifndef IOSONAR_SQL_ENGINE_H
#define IOSONAR_SQL_ENGINE_H

#include <sqlite3.h>
#include "base/progress.h"
#include "sql/sql.h"

struct sql {
	const struct sql_run *run;
	sqlite3 *db;
	struct progress progress;
	uint64_t nr_rows;    /* that SQLite asked for */
	uint64_t at, all;    /* bytes of the files that the last table was read to */
	uint64_t until_ns;   /* when the query at hand has to end; 0: any time */
	uint64_t kept_bytes; /* of memory that p() holds: SQLite does not count it */
	struct loop *loop;   /* that sees signals; NULL: the prompt does */
	bool is_declaring;   /* a table of ours: that is no query */
	int err;	     /* why a file could not be read; 0: they could */
	char refused[160];   /* what the guard said no to; "": nothing */
};

/* module.c: the tables. */
int sql_module__add(struct sql *sql, const struct sql_table *table);
/* function.c: p() and hist(). */
int sql_function__add_all(struct sql *sql);
/* guard.c: from now on queries only read. */
int sql_guard__set(struct sql *sql);
/* query.c: every statement of a text, with what it gives. 0 or a negative errno, said. */
int sql_query__run(struct sql *sql, const char *text);
bool sql_query__is_late(const struct sql *sql); /* --limit-time is over */
/* The same, and a signal ends it: -EINTR, said. */
int sql_query__run_to_end(struct sql *sql, const char *text);
/* prompt.c: queries from stdin, to its end; on a terminal mistakes are told and forgiven. */
int sql_prompt__run(struct sql *sql);
/* ".schema" and the like. -EINVAL, said: there is no such command; -ECANCELED: it was .quit. */
int sql_prompt__command(FILE *out, const char *line);
bool sql_prompt__edits_lines(void);

#endif
