/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * column.h: one table of columns prints text, JSON lines and CSV, so the three cannot differ. A
 * column has a key (JSON and CSV, with the unit: "p99_ns"), a heading and the way to get its cell
 * from a row; the printer does not know what a row is.
 */
#ifndef IOSONAR_DECODE_COLUMN_H
#define IOSONAR_DECODE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/text.h"

enum cell_kind {
	CELL_NONE,     /* nothing to say: "-" in text, null in JSON, empty in CSV */
	CELL_TEXT,     /* hostile: escaped in every format */
	CELL_COUNT,    /* 1234567 */
	CELL_DURATION, /* ns: "12.3us" in text, 12300 in JSON */
	CELL_BYTES,    /* "4.0Ki" in text */
	CELL_RATE,     /* real, per second: "12.3k" in text */
	CELL_MBPS,     /* real, 10^6 bytes per second: "123.4" */
	CELL_PERCENT,  /* real, 0…100 */
	CELL_SECONDS,  /* real, a point in the run: "12.000" */
	CELL_NUMBER,   /* as CELL_COUNT, but CELL_NO_NUMBER is an ordinary number */
	CELL_SIGNED,   /* as CELL_NUMBER, for an int64_t: -12 */
	CELL_TIME,     /* ns, a point in the run: seconds with nine digits in every format */
	CELL_REAL,     /* real: enough digits to read it back exactly, in every format */
	CELL_NSID,     /* as CELL_COUNT; the namespace id of all namespaces is "all" in text */
	CELL_WALL,     /* of a table with a clock: time_s as wall clock */
	CELL_ANY,      /* the field is a struct cell: each row has its own kind */
	CELL_KINDS,
};

#define CELL_ALL_NAMESPACES UINT32_MAX /* NVMe base specification, namespace identifier */
#define CELL_NO_NUMBER	    UINT64_MAX /* a number field without a value */

struct cell {
	enum cell_kind kind;
	union {
		uint64_t n;
		double real;
		const char *text;
	};
};

/*
 * What JSON makes of a text that joins several values, or that is "yes" or "no". Text and CSV show
 * the text itself, and conditions compare it. No element may contain the separator.
 */
enum form_kind {
	FORM_TRUTH,   /* "yes": true; any other text: false */
	FORM_TEXTS,   /* "a;b": ["a","b"] */
	FORM_NUMBERS, /* "Q2G=1200 G2S=800": {"Q2G":1200,"G2S":800} */
	FORM_OBJECTS, /* "sda:8+512": [{"dev":"sda","sector":8,"bytes":512}]; others: [null] */
};

enum { FORM_PARTS = 6 };

struct form {
	enum form_kind kind;
	const char *separator; /* of the elements, ASCII; an empty text has none */
	/* Of an element of FORM_OBJECTS, in their order: a part ends at the last such character,
	 * the last part with the element. Numbers are decimal, or hexadecimal after 0x. */
	struct form_part {
		const char *key;
		char end;
		bool is_text;
	} parts[FORM_PARTS];
};

extern const struct form form_truth, form_list; /* list: texts, separated by ';' */

/* A table of columns ends with one whose key is NULL. */
struct column {
	const char *key;    /* JSON and CSV */
	const char *header; /* text */
	enum cell_kind kind;
	int width;	  /* least width in text; text columns are left-aligned, others right */
	const char *help; /* for --json-schema */
	size_t at;	  /* offset of a u64, double or char * in the row, as the kind says */
	struct cell (*get)(const void *row); /* instead of `at`, for a computed cell */
	size_t len_at;			     /* offset of a size_t with the text's length, or 0 */
	bool not_in_text;	 /* not in text: it says little there, or is shown elsewhere */
	bool only_in_text;	 /* only in text: JSON and CSV have other columns for it */
	const struct form *form; /* of CELL_TEXT in JSON; NULL: a string */
	/* Text that is wider than its terminal leaves out 1 first, then 2, ...; 0 always stays.
	 * The manual page of the command has this order. */
	unsigned int drop;
};

/* The cell of this column in this row. A NULL text is no value. */
struct cell column__cell(const struct column *column, const void *row);

enum table_format { TABLE_TEXT, TABLE_JSON, TABLE_CSV };

struct table;

/*
 * type goes into every JSON object ("type":"latency"). columns: nr pointers; the caller keeps the
 * columns, not the pointers. NULL and errno on failure. The heading is printed with the first row
 * and again after table__heading_again. In text a column grows to the widest cell seen so far. On
 * a terminal the columns of a text are chosen with each heading; a note names those left out.
 */
struct table *table__new(FILE *out, enum table_format format, const char *type,
			 const struct column *const *columns, size_t nr);
void table__row(struct table *table, const void *row);
void table__fit(struct table *table, const void *row); /* text: widens the columns to fit the row */
typedef void (*table_put_fn)(struct table *table, const void *row); /* either of them */
void table__heading_again(struct table *table);			    /* before the next row */
/* For rows that are printed as they arrive: from now on the heading is printed again before a row
 * that makes a column of a text wider. */
void table__head_growth(struct table *table);
/* The user chose this column, by its key or heading, or all: a narrow terminal has them, too. */
void table__keep_column(struct table *table, const char *name);
void table__keep_columns(struct table *table);
/*
 * From now on lines are buffered: the caller hands them over before anything else writes to the
 * stream or flushes it.
 */
void table__hold(struct table *table);
void table__hand_over(struct table *table);
enum { TABLE_SHARED = 64 }; /* columns of a text that another process may write */
/* For lines that another process writes. Not text on a terminal, or without table__head_growth. */
bool table__can_share(const struct table *table);
/* They go to this stream, without a heading; */
void table__continue_in(struct table *table, FILE *out);
/* of text, fn is called instead, before the first line of wider columns; */
typedef void (*table_growth_fn)(void *arg);
void table__tell_growth(struct table *table, table_growth_fn fn, void *arg);
size_t table__widths(const struct table *table, uint32_t *widths); /* how many; 0: it is no text */
/* and here they are, complete, in the place of rows: JSON and CSV, */
void table__put_lines(struct table *table, const void *lines, size_t bytes);
/* and text, ASCII, in columns of these widths. */
void table__put_text_lines(struct table *table, const uint32_t *widths, const char *lines,
			   size_t bytes);
void table__free(struct table *table); /* buffered lines are discarded */

/* How the times of a table's rows, which count from the start of the run, become wall clock. */
struct table_clock {
	uint64_t (*wall_ns)(const void *arg, uint64_t time_ns); /* since 1970, UTC; 0: not known */
	const void *arg;
	bool in_text; /* --wall */
};

extern const struct column column_wall;

/*
 * Before its first row: JSON and CSV get column_wall behind time_s, text has it in the place of
 * time_s if the clock says so. A table without time_s, or with a wall of its own, stays as it is.
 * 0 or -ENOMEM.
 */
int table__set_clock(struct table *table, const struct table_clock *clock);

/*
 * What one type of JSON object can hold. Tables pick their columns from it and --json-schema prints
 * all of it, so output and schema come from one list.
 */
struct object {
	const char *type;
	const struct column *parts[8]; /* ends with NULL: objects may share the first parts */
};

enum { OBJECT_COLUMNS = 64 }; /* maximum; a unit test checks every command */

/* All of its columns in their order; returns how many. */
size_t object__columns(const struct object *object, const struct column *columns[OBJECT_COLUMNS]);
/* Does this view show this column? */
typedef bool (*column_shown_fn)(const void *view, const struct column *column);
/* The columns that a format and a view show; shows NULL: the view shows all. */
size_t object__pick(const struct object *object, enum table_format format, column_shown_fn shows,
		    const void *view, const struct column *columns[OBJECT_COLUMNS]);
/* A table of these columns. */
struct table *table__of(FILE *out, enum table_format format, const struct object *object,
			column_shown_fn shows, const void *view);
/* A table of one row with all columns of its object. 0 or -ENOMEM. */
int object__put(const struct object *object, FILE *out, enum table_format format, const void *row);
/* JSON Schema of every object that a command prints. objects: NULL-terminated. */
void object__print_schema(FILE *out, const char *title, const struct object *const *objects);

/* Numbers as text; each returns buf. */
char *text__duration(char *buf, size_t size, uint64_t ns); /* "850ns" "12.3us" "1.00ms" "2.50s" */
char *text__bytes(char *buf, size_t size, uint64_t bytes); /* "512" "4.0Ki" "1.5Mi" */
char *text__rate(char *buf, size_t size, double per_s);	   /* "0.5" "999" "12.3k" "1.20M" */

#endif
