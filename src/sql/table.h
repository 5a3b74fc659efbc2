/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.h: captures as tables: which there are, their columns, and how their rows come, one after
 * the other, straight from the files. A cell is worked out when it is asked for. Knows no SQLite:
 * module.c shows these tables to it.
 */
#ifndef IOSONAR_SQL_TABLE_H
#define IOSONAR_SQL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "capture/read.h"
#include "decode/column.h"

/* One capture. */
struct sql_file {
	const char *path;
	struct capture_reader *reader; /* for what it says of itself; records are read by others */
	const char *host;	       /* NULL: it does not say. Hostile, as all it says */
	uint64_t start_ns;	       /* of its run: where time_s is 0 */
	struct capture_damage damage;  /* the worst that a reading of it met */
};

struct sql_files {
	struct sql_file *files;
	size_t nr;
};

/* Says what went wrong. */
int sql_files__open(struct sql_files *files, const char *const *paths, size_t nr);
void sql_files__free(struct sql_files *files);
/* Another reading of that file has ended, or was given up. */
void sql_files__note(struct sql_files *files, size_t file, const struct capture_damage *damage);
uint64_t sql_files__bytes(const struct sql_files *files, size_t nr); /* of the first nr */
/* Warns of what is cut or damaged; true: something is. */
bool sql_files__tell(const struct sql_files *files);

/* A cell is worked out by `get`, or is an unsigned field of what the table says it is `of`. */
struct sql_column {
	const char *name;
	const char *type; /* "INTEGER", "REAL", "TEXT" */
	const char *help;
	struct cell (*get)(void *rows);
	uint16_t of, at, bytes;
	bool none_is_0; /* a field that is 0 says nothing: NULL */
};
#define SQL_FIELD(struct_of, type, field)                      \
	.of = (struct_of), .at = offsetof(struct type, field), \
	.bytes = sizeof(((struct type *)0)->field)
struct cell sql_column__field(const struct sql_column *column, const void *object);

/* What a query asks for at most. Rows beyond it may come, rows within it must. */
struct sql_bounds {
	uint64_t since_from_ns, since_to_ns; /* time_s, both ends included */
	uint64_t end_from_ns, end_to_ns;     /* end_ns, likewise */
	const char *file, *dev, *op;	     /* NULL: any */
};
extern const struct sql_bounds sql_bounds_none;

struct sql_table {
	const char *name, *brief;
	const struct sql_column *columns; /* the last has no name */
	double rows;			  /* about how many, for who plans a query */
	bool has_bounds;		  /* by time, device and operation, not by file alone */
	void *(*open)(struct sql_files *files); /* NULL: out of memory */
	void (*close)(void *rows);
	void (*begin)(void *rows, const struct sql_bounds *bounds); /* from the first row on */
	int (*next)(void *rows); /* 1: a row; 0: there are no more; -errno */
	/* Of that row. A text lasts until the next call of any. */
	struct cell (*cell)(void *rows, size_t column);
	uint64_t (*number)(void *rows); /* no other row has it, whatever the bounds */
	uint64_t (*position)(
		void *rows); /* bytes of all files that are read; NULL: too few to tell */
};

extern const struct sql_table sql_io, sql_device, sql_stack, sql_call, sql_ledger;
extern const struct sql_table *const sql_tables[]; /* NULL-terminated */

/* "CREATE TABLE io(file TEXT, …)"; with: each column on a line, with its help. Owned by the caller.
 */
char *sql_table__declare(const struct sql_table *table);
void sql_table__print(const struct sql_table *table, FILE *out);

/* Cells. */
static inline struct cell sql_none(void)
{
	return (struct cell){ .kind = CELL_NONE };
}

static inline struct cell sql_text(const char *text)
{
	return (struct cell){ .kind = text && *text ? CELL_TEXT : CELL_NONE, .text = text };
}

static inline struct cell sql_number(uint64_t n)
{
	return (struct cell){ CELL_COUNT, .n = n };
}

#endif
