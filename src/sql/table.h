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

enum sql_field { SQL_NUMBER, SQL_CHARS, SQL_POINTER }; /* unsigned; char[]; char * */

/* A cell is worked out by `get`, or is a field of what the table says it is `of`. */
struct sql_column {
	const char *name;
	const char *type; /* "INTEGER", "REAL", "TEXT" */
	const char *help;
	struct cell (*get)(void *rows);
	enum sql_field field;
	uint16_t of, at, bytes;
	bool none_is_0;	  /* a field that is 0 says nothing: NULL */
	bool none_is_max; /* likewise CELL_NO_NUMBER */
};
#define SQL_FIELD(kind, struct_of, type, member)                                 \
	.field = (kind), .of = (struct_of), .at = offsetof(struct type, member), \
	.bytes = sizeof(((struct type *)0)->member)

/* What a query asks for at most. Rows beyond it may come, rows within it must. */
struct sql_bounds {
	uint64_t since_from_ns, since_to_ns; /* time_s, both ends included */
	uint64_t end_from_ns, end_to_ns;     /* end_ns, likewise */
	const char *file, *dev, *op;	     /* NULL: any */
};
extern const struct sql_bounds sql_bounds_none;

/* What the rows of every table begin with. */
struct sql_rows {
	struct sql_files *files;
	struct sql_bounds bounds;
	size_t file;	/* at hand */
	uint64_t place; /* of the row: no other of the file has it, whatever the bounds */
};
const struct sql_file *sql_rows__file(const void *rows);
bool sql_rows__next_file(struct sql_rows *rows); /* that is asked for; false: there is none */
struct cell sql_rows__get_path(void *rows), sql_rows__get_host(void *rows);
#define SQL_FILE_COLUMNS                                                                   \
	{ "capture", "TEXT", "name of the capture", sql_rows__get_path },                  \
	{                                                                                  \
		"host", "TEXT", "host that recorded it; NULL: unknown", sql_rows__get_host \
	}

struct sql_table {
	const char *name, *brief;
	const struct sql_column *columns; /* the last has no name */
	double rows;			  /* about how many, for who plans a query */
	bool has_bounds;		  /* by time, device and operation, not by file alone */
	size_t rows_size;		  /* of its struct sql_rows, and what is behind it */
	void (*close)(void *rows);	  /* NULL: there is nothing to free */
	void (*begin)(void *rows);	  /* again, before the first file; NULL: nothing is open */
	int (*next)(void *rows);	  /* 1: a row; 0: there are no more; -errno */
	/* What a column of that row is `of`; NULL: there is none. */
	const void *(*object)(const void *rows, uint16_t of);
	/* Bytes of all files that are read; NULL: too few to tell. */
	uint64_t (*position)(void *rows);
};
/* Of the row at hand. A text lasts until the next call of any. */
struct cell sql_table__cell(const struct sql_table *table, void *rows, size_t column);

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
