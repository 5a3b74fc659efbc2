/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * engine.h: shared by the files in src/sql that use SQLite: the connection and its parts. Only for
 * them; others include sql.h.
 */
#ifndef IOSONAR_SQL_ENGINE_H
#define IOSONAR_SQL_ENGINE_H

#include <sqlite3.h>
#include "base/progress.h"
#include "sql/sql.h"

struct sql {
	const struct sql_run *run;
	sqlite3 *db;
	const char *files; /* SQLite's name of files that are memory; NULL: it has none */
	struct progress progress;
	uint64_t nr_rows;    /* rows that SQLite read */
	uint64_t at, all;    /* bytes of the files: read for the last table, in all */
	uint64_t until_ns;   /* deadline of the current query; 0: none */
	uint64_t kept_bytes; /* memory that p() holds: SQLite does not count it */
	struct loop *loop;   /* handles signals; NULL: the prompt does */
	bool is_declaring;   /* our own table: not a query */
	int err;	     /* why a file could not be read; 0: no error */
	char refused[160];   /* what the guard refused; "": nothing */
};

/* module.c: the tables. */
int sql_module__add(struct sql *sql, const struct sql_table *table);
/* function.c: p() and hist(). */
int sql_function__add_all(struct sql *sql);
/* guard.c: from now on queries only read. */
int sql_guard__set(struct sql *sql);
/* query.c: runs every statement of a text and prints the results. 0 or a negative errno, said. */
int sql_query__run(struct sql *sql, const char *text);
bool sql_query__is_late(const struct sql *sql); /* --limit-time is over */
/* Like sql_query__run, but a signal ends it: -EINTR, said. */
int sql_query__run_to_end(struct sql *sql, const char *text);
/* prompt.c: queries from stdin, to its end; on a terminal it goes on after mistakes. */
int sql_prompt__run(struct sql *sql);
/* ".schema" and the like. -EINVAL, said: unknown command; -ECANCELED: .quit. */
int sql_prompt__command(FILE *out, const char *line);
bool sql_prompt__edits_lines(void);

#endif
