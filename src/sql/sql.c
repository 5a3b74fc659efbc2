/* SPDX-License-Identifier: BSD-2-Clause */
#include "sql/sql.h"

#include <errno.h>
#include "base/log.h"

/* The static program builds this file without SQLite, and none of the files behind it. */
#ifdef HAVE_SQLITE

#include "sql/engine.h"

bool sql__is_built_in(void)
{
	return true;
}

bool sql__has_line_editing(void)
{
	return sql_prompt__edits_lines();
}

/*
 * What SQLite sorts it writes in runs to a temporary file, or keeps as a list, which takes twice
 * the time and the memory: a jump through memory for each comparison. So it gets files that are
 * memory.
 */
static const char *sql_files_in_memory(void)
{
	return sqlite3_vfs_find("memdb") ? "memdb" : NULL;
}

/* An empty database in memory: it only has our tables. */
static int sql_open(struct sql *sql)
{
	int failed;

	sql->files = sql_files_in_memory();
	failed = sqlite3_open_v2(":memory:", &sql->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX,
				 sql->files);

	for (size_t i = 0; !failed && sql_tables[i]; i++)
		failed = sql_module__add(sql, sql_tables[i]);
	failed = failed ?: sql_function__add_all(sql);
	failed = failed ?: sql_guard__set(sql);
	if (failed)
		return log_err(-EIO, "SQLite: %s", sqlite3_errmsg(sql->db));
	return 0;
}

int sql__run(const struct sql_run *run)
{
	struct sql sql = { .run = run };
	int err;

	/* Before SQLite allocates anything; its own limit for such a file is 1 GiB. */
	sqlite3_config(SQLITE_CONFIG_MEMDB_MAXSIZE, (sqlite3_int64)1 << 40);
	sqlite3_hard_heap_limit64((sqlite3_int64)run->limit_bytes);
	err = sql_open(&sql);

	if (!err && !run->query)
		err = sql_prompt__run(&sql);
	else if (!err && *run->query == '.')
		err = sql_prompt__command(run->out, run->query);
	else if (!err)
		err = sql_query__run_to_end(&sql, run->query);
	sqlite3_close(sql.db);
	return err == -ECANCELED ? 0 : err;
}

#else

bool sql__is_built_in(void)
{
	return false;
}

bool sql__has_line_editing(void)
{
	return false;
}

int sql__run(const struct sql_run *run)
{
	(void)run;
	return log_err(-EOPNOTSUPP,
		       "sql: this iosonar was built without SQLite; build it where libsqlite3-dev "
		       "is installed");
}

#endif
