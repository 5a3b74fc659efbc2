/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sql.h: SQL over captures: SQLite reads the tables of sql/table.h straight from the files; there
 * is no import and no database. A query can read these tables and nothing else: no file, no
 * extension, no setting. Optional: without SQLite these functions only say that it is not built in.
 */
#ifndef IOSONAR_SQL_SQL_H
#define IOSONAR_SQL_SQL_H

#include <stdbool.h>
#include "decode/column.h"
#include "sql/table.h"

bool sql__is_built_in(void);
bool sql__has_line_editing(void);

struct sql_run {
	struct sql_files *files;
	FILE *out;
	enum table_format format;
	const char *query;    /* NULL: from stdin; on a terminal with a prompt */
	uint64_t limit_bytes; /* maximum memory of queries */
	uint64_t limit_ns;    /* maximum time of a query; 0: unlimited */
};
/* 0, or a negative errno, said: -EINVAL is the query's fault. Not built in: -EOPNOTSUPP. */
int sql__run(const struct sql_run *run);

#endif
