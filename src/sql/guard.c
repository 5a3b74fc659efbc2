/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guard.c: what may a query do? Only read: its author may be a stranger. Everything that is not
 * known to be reading is refused when the query is prepared, before any of it runs; SQLite's own
 * settings enforce it a second time. The guard cannot limit how long a query runs.
 */
#ifdef HAVE_SQLITE

#include <string.h>
#include "sql/engine.h"

enum { GUARD_VALUE_BYTES = 64 << 20 }; /* maximum bytes of a text or blob */

/* Functions that reach outside of the connection. Our build enables none; later versions may add
 * some. */
static bool guard_is_bad_function(const char *name)
{
	static const char *const bad[] = { "load_extension", "fts3_tokenizer", "readfile",
					   "writefile", "edit" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!sqlite3_stricmp(name, bad[i]))
			return true;
	return false;
}

/* Only pragmas that list the columns of a table. */
static bool guard_is_bad_pragma(const char *name, const char *value)
{
	return !value ||
	       (sqlite3_stricmp(name, "table_info") && sqlite3_stricmp(name, "table_xinfo"));
}

static const char *guard_word(int action, const char *name)
{
	if (name && !strncmp(name, "sqlite_", 7))
		return "changing the schema";
	switch (action) {
	case SQLITE_ATTACH: return "ATTACH";
	case SQLITE_DETACH: return "DETACH";
	case SQLITE_PRAGMA: return "PRAGMA";
	case SQLITE_FUNCTION: return "this function";
	case SQLITE_INSERT: return "INSERT";
	case SQLITE_UPDATE: return "UPDATE";
	case SQLITE_DELETE: return "DELETE";
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT: return "a transaction";
	default: return "changing the schema";
	}
}

static int guard_refuse(struct sql *sql, int action, const char *name)
{
	sqlite3_snprintf(sizeof(sql->refused), sql->refused, "%s is refused: a query only reads",
			 guard_word(action, name));
	return SQLITE_DENY;
}

static int guard_decide(void *arg, int action, const char *first, const char *second,
			const char *database, const char *trigger)
{
	struct sql *sql = arg;

	(void)database, (void)trigger;
	if (sql->is_declaring)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE: return SQLITE_OK;
	case SQLITE_FUNCTION:
		return second && guard_is_bad_function(second) ? guard_refuse(sql, action, second)
							       : SQLITE_OK;
	case SQLITE_PRAGMA:
		return guard_is_bad_pragma(first, second) ? guard_refuse(sql, action, first)
							  : SQLITE_OK;
	default: return guard_refuse(sql, action, first);
	}
}

/* Sorting stays in memory: a query writes nothing to a disk, and the files of sql->files are none.
 */
int sql_guard__set(struct sql *sql)
{
	int failed = sqlite3_exec(sql->db,
				  sql->files ? "PRAGMA temp_store = FILE; PRAGMA query_only = 1"
					     : "PRAGMA temp_store = MEMORY; PRAGMA query_only = 1",
				  NULL, NULL, NULL);

	/* SQLite declares its JSON tables at their first use, which looks like a change of the
	 * schema: so do it before the guard is set. Some builds have no JSON. */
	sqlite3_exec(sql->db, "SELECT 0 FROM json_each('[]'), json_tree('[]')", NULL, NULL, NULL);
	failed = failed ?: sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	failed = failed ?: sqlite3_db_config(sql->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	if (!failed)
		failed = sqlite3_db_config(sql->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(sql->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(sql->db, SQLITE_LIMIT_LENGTH, GUARD_VALUE_BYTES);
	return failed ?: sqlite3_set_authorizer(sql->db, guard_decide, sql);
}

#endif
