/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reader.h: the name of an address in a process. Keeps mappings of processes and functions of
 * files, each within bounds: the least recently used goes first. Needs no rights except open files
 * that it is handed; those are hostile, so it runs in a process of its own.
 */
#ifndef IOSONAR_SYMBOL_READER_H
#define IOSONAR_SYMBOL_READER_H

#include "symbol/opener.h"
#include "symbol/symbols.h"

enum reader_what {
	READER_NAME,
	READER_SEE,    /* only look at the process */
	READER_UNWIND, /* what it runs from now: struct symbols_unwind */
	READER_ROWS,   /* of a file: struct reader_rows */
	READER_RULES,  /* struct reader_rules */
	READER_FORGET, /* the numbers of all files that have rows */
};

struct reader_request {
	struct symbols_process process;
	uint64_t addr; /* rows, rules: the first one wanted */
	uint32_t file; /* likewise: its number */
	enum reader_what what;
};

enum { READER_CHUNK = 4096 };

struct reader_rows {
	uint32_t nr_rows, nr_rules; /* of the file */
	struct unwind_row rows[READER_CHUNK];
};

struct reader_rules {
	struct unwind_rule rules[READER_CHUNK];
};

struct reader_reply {
	uint64_t offset;
	enum symbol_how how;
	char name[SYMBOL_NAME_MAX + 1];
};

struct symbol_reader;

/* A descriptor, or a negative errno: symbol_opener's answers. */
typedef int (*reader_open_fn)(void *arg, const struct opener_request *request);

struct symbol_reader *symbol_reader__new(reader_open_fn open, void *arg);
void symbol_reader__answer(struct symbol_reader *reader, const struct reader_request *request,
			   struct reader_reply *reply);
/* What the process runs from; reads tables of files that were not read before. */
void symbol_reader__unwind(struct symbol_reader *reader, const struct symbols_process *process,
			   struct symbols_unwind *reply);
/* From a row or rule on; those behind the last one are zeros. After its last row a file's table is
 * gone. */
void symbol_reader__rows(struct symbol_reader *reader, uint32_t file, uint64_t from,
			 struct reader_rows *reply);
void symbol_reader__rules(struct symbol_reader *reader, uint32_t file, uint64_t from,
			  struct reader_rules *reply);
void symbol_reader__serve(struct symbol_reader *reader, int socket); /* until its end */
void symbol_reader__free(struct symbol_reader *reader);

#endif
