/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.h: captures as tables: the tables, their columns, and how to read their rows, one after the
 * other, straight from the files. A cell is computed when it is read. Independent of SQLite:
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
	size_t part;		       /* of the captures in that file */
	const char *name;	       /* the path; of several captures in it, which */
	struct capture_reader *reader; /* for its description; other readers read records */
	/* NULL: unknown. Hostile, like all of its contents. */
	const char *host, *boot_id, *capture_id;
	uint64_t start_ns;	      /* of its run: time_s is 0 there */
	struct capture_damage damage; /* the worst damage that a scan of it met */
};

struct sql_files {
	struct sql_file *files;
	size_t nr;
};

/* Says what went wrong. */
int sql_files__open(struct sql_files *files, const char *const *paths, size_t nr);
void sql_files__free(struct sql_files *files);
/* Notes the damage when another scan of that file ended or was given up. */
void sql_files__note(struct sql_files *files, size_t file, const struct capture_damage *damage);
uint64_t sql_files__bytes(const struct sql_files *files, size_t nr); /* of the first nr files */
/* Warns of truncated or damaged files; true: there are some. */
bool sql_files__tell(const struct sql_files *files);

enum sql_field { SQL_NUMBER, SQL_CHARS, SQL_POINTER }; /* unsigned; char[]; char * */

/* `get` computes the cell, or it is a field of the table's object `of`. */
struct sql_column {
	const char *name;
	const char *type; /* "INTEGER", "REAL", "TEXT" */
	const char *help;
	struct cell (*get)(void *rows);
	enum sql_field field;
	uint16_t of, at, bytes;
	bool none_is_0;	  /* a field that is 0 means NULL */
	bool none_is_max; /* likewise CELL_NO_NUMBER */
};
#define SQL_FIELD(kind, struct_of, type, member)                                 \
	.field = (kind), .of = (struct_of), .at = offsetof(struct type, member), \
	.bytes = sizeof(((struct type *)0)->member)

/* The bounds of a query. Rows outside may be returned, rows inside must be. */
struct sql_bounds {
	uint64_t since_from_ns, since_to_ns; /* time_s, both ends included */
	uint64_t end_from_ns, end_to_ns;     /* end_ns, likewise */
	const char *file, *dev, *op;	     /* NULL: any */
};
extern const struct sql_bounds sql_bounds_none;

/* The start of the rows of every table. */
struct sql_rows {
	struct sql_files *files;
	struct sql_bounds bounds;
	size_t file;	/* at hand */
	uint64_t place; /* of the row: unique in its file, for any bounds */
};
const struct sql_file *sql_rows__file(const void *rows);
bool sql_rows__next_file(struct sql_rows *rows); /* the next requested file; false: no more */
struct cell sql_rows__get_path(void *rows), sql_rows__get_host(void *rows);
#define SQL_FILE_COLUMNS                                                                   \
	{ "capture", "TEXT", "name of the capture", sql_rows__get_path },                  \
	{                                                                                  \
		"host", "TEXT", "host that recorded it; NULL: unknown", sql_rows__get_host \
	}

struct sql_table {
	const char *name, *brief;
	const struct sql_column *columns; /* the last has no name */
	double rows;			  /* estimated number, for the query planner */
	bool has_bounds;		  /* on time, device and operation, not only on the file */
	size_t rows_size;		  /* of its struct sql_rows and what follows it */
	void (*close)(void *rows);	  /* NULL: nothing to free */
	void (*begin)(void *rows);	  /* back to before the first file; NULL: nothing open */
	int (*next)(void *rows);	  /* 1: a row; 0: no more rows; -errno */
	/* The object `of` of that row; NULL: it has none. */
	const void *(*object)(const void *rows, uint16_t of);
	/* Bytes read of all files; NULL: too few to report. */
	uint64_t (*position)(void *rows);
};
/* A cell of the current row. A text is valid until the next call for any cell. */
struct cell sql_table__cell(const struct sql_table *table, void *rows, size_t column);

extern const struct sql_table sql_io, sql_device, sql_stack, sql_call, sql_ledger;
extern const struct sql_table *const sql_tables[]; /* NULL-terminated */

/* "CREATE TABLE io(file TEXT, …)"; with: one line per column, with its help. The caller owns it. */
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
