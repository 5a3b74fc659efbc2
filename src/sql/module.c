/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * module.c: our tables as virtual tables of SQLite: they exist without CREATE. Bounds in WHERE on
 * time, device, operation and file are passed down to the rows, so that a time range is a seek;
 * SQLite checks each row again, so a bound may let too much through, never too little.
 */
#ifdef HAVE_SQLITE

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "sql/engine.h"

enum { MODULE_LOOK = 4096 }; /* rows between two checks of the clock */

struct module {
	struct sql *sql;
	const struct sql_table *table;
};

struct module_table {
	sqlite3_vtab base;
	struct module module;
};

struct module_cursor {
	sqlite3_vtab_cursor base;
	struct sql_rows *rows;
	bool is_over;
	char *texts[3]; /* the requested file, dev and op; NULL: any */
};

static const struct module *module_of(const sqlite3_vtab_cursor *cursor)
{
	return &((const struct module_table *)cursor->pVtab)->module;
}

/* ---- the table ---- */

static int module_connect(sqlite3 *db, void *arg, int argc, const char *const *argv,
			  sqlite3_vtab **to, char **message)
{
	const struct module *module = arg;
	struct module_table *table = sqlite3_malloc(sizeof(*table));
	char *declaration = sql_table__declare(module->table);
	int failed = SQLITE_NOMEM;

	(void)argc, (void)argv, (void)message;
	module->sql->is_declaring = true;
	if (table && declaration)
		failed = sqlite3_declare_vtab(db, declaration);
	module->sql->is_declaring = false;
	free(declaration);
	if (failed) {
		sqlite3_free(table);
		return failed;
	}
	*table = (struct module_table){ .module = *module };
	*to = &table->base;
	return SQLITE_OK;
}

static int module_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

/* ---- which constraints help ---- */

/* The letters of bounds; xBestIndex passes them to xFilter as a text. */
static const struct module_bound {
	const char *column;
	char letter;
	bool is_text;
} module_bounds[] = {
	{ "capture", 'f', true }, { "dev", 'd', true },	    { "op", 'o', true },
	{ "time_s", 't', false }, { "end_ns", 'e', false },
};

static const struct module_bound *module_bound(const struct sql_table *table, int column)
{
	if (column < 0) /* the rowid */
		return NULL;
	for (size_t i = 0; i < sizeof(module_bounds) / sizeof(module_bounds[0]); i++)
		if (!strcmp(table->columns[column].name, module_bounds[i].column))
			return i && !table->has_bounds ? NULL : &module_bounds[i];
	return NULL;
}

/* IN would read the file once per value. */
static bool module_is_in(sqlite3_index_info *info, int i)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	return sqlite3_vtab_in(info, i, -1);
#else
	(void)info, (void)i;
	return false;
#endif
}

/* The letter of its column, and the operator: '=', '<' or '>'; 0: not usable. */
static char module_how(sqlite3_index_info *info, int i, const struct module_bound *bound)
{
	unsigned char op = info->aConstraint[i].op;

	if (op == SQLITE_INDEX_CONSTRAINT_EQ) /* another collation has more equal values */
		return module_is_in(info, i) ||
				       (bound->is_text &&
					sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY"))
			       ? 0
			       : '=';
	if (bound->is_text)
		return 0;
	if (op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE)
		return '>';
	if (op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE)
		return '<';
	return 0;
}

static int module_best(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct sql_table *table = ((struct module_table *)base)->module.table;
	char *letters = sqlite3_malloc(2 * info->nConstraint + 1);
	int nr = 0;

	if (!letters)
		return SQLITE_NOMEM;
	info->estimatedCost = table->rows;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct module_bound *bound =
			module_bound(table, info->aConstraint[i].iColumn);
		char how = bound && info->aConstraint[i].usable ? module_how(info, i, bound) : 0;

		if (!how)
			continue;
		letters[nr] = bound->letter;
		letters[nr + 1] = how;
		info->aConstraintUsage[i].argvIndex = nr / 2 + 1;
		info->aConstraintUsage[i].omit = 0;
		info->estimatedCost /= letters[nr] == 't' || letters[nr] == 'e' ? 8 : 4;
		nr += 2;
	}
	letters[nr] = 0;
	info->idxStr = letters;
	info->needToFreeIdxStr = 1;
	info->estimatedRows = (sqlite3_int64)info->estimatedCost + 1;
	return SQLITE_OK;
}

/* ---- bounds ---- */

/* Rounded outwards by more than the error of a double of that size. */
static uint64_t module_whole_ns(double ns, bool is_upper)
{
	double slack = 1000 + fabs(ns) * 1e-12;

	ns += is_upper ? slack : -slack;
	if (ns <= 0)
		return 0;
	return ns < 18446744073709549568.0 ? (uint64_t)ns : UINT64_MAX;
}

static void module_bound_time(struct sql_bounds *b, const char letters[2], sqlite3_value *value)
{
	const bool is_since = letters[0] == 't';
	const int type = sqlite3_value_type(value);
	const double ns = sqlite3_value_double(value) * (is_since ? 1e9 : 1);
	const uint64_t least_ns = module_whole_ns(ns, false), most_ns = module_whole_ns(ns, true);
	uint64_t *from_ns = is_since ? &b->since_from_ns : &b->end_from_ns;
	uint64_t *to_ns = is_since ? &b->since_to_ns : &b->end_to_ns;

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return; /* left to SQLite */
	if (letters[1] != '<' && least_ns > *from_ns)
		*from_ns = least_ns;
	if (letters[1] != '>' && most_ns < *to_ns)
		*to_ns = most_ns;
}

/* A value is only valid during the call, so its text is copied. */
static int module_bound_text(struct module_cursor *cursor, char letter, sqlite3_value *value)
{
	char **to = &cursor->texts[letter == 'f' ? 0 : letter == 'd' ? 1 : 2];

	if (sqlite3_value_type(value) != SQLITE_TEXT)
		return SQLITE_OK;
	free(*to); /* if two differ no row matches both; SQLite checks that */
	*to = strdup((const char *)sqlite3_value_text(value));
	return *to ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- the cursor ---- */

static int module_open(sqlite3_vtab *base, sqlite3_vtab_cursor **to)
{
	const struct module *module = &((struct module_table *)base)->module;
	struct module_cursor *cursor = calloc(1, sizeof(*cursor));

	if (cursor)
		cursor->rows = calloc(1, module->table->rows_size);
	if (!cursor || !cursor->rows) {
		free(cursor);
		return SQLITE_NOMEM;
	}
	cursor->rows->files = module->sql->run->files;
	*to = &cursor->base;
	return SQLITE_OK;
}

static void module_forget(struct module_cursor *cursor)
{
	for (size_t i = 0; i < sizeof(cursor->texts) / sizeof(cursor->texts[0]); i++) {
		free(cursor->texts[i]);
		cursor->texts[i] = NULL;
	}
}

static int module_close(sqlite3_vtab_cursor *base)
{
	struct module_cursor *cursor = (void *)base;

	if (module_of(base)->table->close)
		module_of(base)->table->close(cursor->rows);
	free(cursor->rows);
	module_forget(cursor);
	free(cursor);
	return SQLITE_OK;
}

static void module_progress(const struct module *module, void *rows)
{
	const struct sql_files *files = module->sql->run->files;
	struct sql *sql = module->sql;

	if (++sql->nr_rows % MODULE_LOOK || !module->table->position)
		return;
	sql->at = module->table->position(rows);
	sql->all = sql_files__bytes(files, files->nr);
	progress__show(&sql->progress, sql->at, sql->all);
}

static int module_next(sqlite3_vtab_cursor *base)
{
	struct module_cursor *cursor = (void *)base;
	const struct module *module = module_of(base);
	int more = module->table->next(cursor->rows);

	cursor->is_over = more <= 0;
	if (more > 0)
		module_progress(module, cursor->rows);
	if (more >= 0)
		return SQLITE_OK;
	module->sql->err = more;
	base->pVtab->zErrMsg = sqlite3_mprintf("cannot read the capture: %s", strerror(-more));
	return more == -ENOMEM ? SQLITE_NOMEM : SQLITE_IOERR;
}

static int module_filter(sqlite3_vtab_cursor *base, int unused, const char *letters, int nr,
			 sqlite3_value **values)
{
	struct module_cursor *cursor = (void *)base;
	const struct sql_table *table = module_of(base)->table;
	struct sql_bounds bounds = sql_bounds_none;
	int failed = SQLITE_OK;

	(void)unused;
	module_forget(cursor);
	for (int i = 0; i < nr && !failed; i++, letters += 2)
		if (*letters == 't' || *letters == 'e')
			module_bound_time(&bounds, letters, values[i]);
		else
			failed = module_bound_text(cursor, *letters, values[i]);
	bounds.file = cursor->texts[0];
	bounds.dev = cursor->texts[1];
	bounds.op = cursor->texts[2];
	if (table->begin)
		table->begin(cursor->rows);
	cursor->rows->bounds = bounds;
	cursor->rows->file = SIZE_MAX; /* before the first */
	return failed ?: module_next(base);
}

static int module_eof(sqlite3_vtab_cursor *base)
{
	return ((struct module_cursor *)base)->is_over;
}

/* SQLite's integers end at 2^63: larger ones become real, in the same order. */
static void module_result_number(sqlite3_context *context, uint64_t n)
{
	if (n > INT64_MAX)
		sqlite3_result_double(context, (double)n);
	else
		sqlite3_result_int64(context, (sqlite3_int64)n);
}

static int module_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct module_cursor *cursor = (void *)base;
	struct cell cell = sql_table__cell(module_of(base)->table, cursor->rows, (size_t)column);

	switch (cell.kind) {
	case CELL_NONE: sqlite3_result_null(context); break;
	case CELL_TEXT: sqlite3_result_text(context, cell.text, -1, SQLITE_TRANSIENT); break;
	case CELL_REAL: sqlite3_result_double(context, cell.real); break;
	default: module_result_number(context, cell.n); break;
	}
	return SQLITE_OK;
}

static int module_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *number)
{
	const struct sql_rows *rows = ((struct module_cursor *)base)->rows;

	*number = (sqlite3_int64)((uint64_t)rows->file << 40 | rows->place);
	return SQLITE_OK;
}

/* Without xCreate a table exists without CREATE, and cannot be created again. */
static const sqlite3_module module_functions = {
	.iVersion = 1,
	.xConnect = module_connect,
	.xBestIndex = module_best,
	.xDisconnect = module_disconnect,
	.xOpen = module_open,
	.xClose = module_close,
	.xFilter = module_filter,
	.xNext = module_next,
	.xEof = module_eof,
	.xColumn = module_column,
	.xRowid = module_rowid,
};

const struct sql_table *const sql_tables[] = { &sql_io,	  &sql_device, &sql_stack,
					       &sql_call, &sql_ledger, NULL };

int sql_module__add(struct sql *sql, const struct sql_table *table)
{
	struct module *module = malloc(sizeof(*module));

	if (!module)
		return SQLITE_NOMEM;
	*module = (struct module){ sql, table };
	return sqlite3_create_module_v2(sql->db, table->name, &module_functions, module, free);
}

#endif
