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
	READER_SEE, /* only look at the process */
};

struct reader_request {
	struct symbols_process process;
	uint64_t addr;
	enum reader_what what;
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
void symbol_reader__serve(struct symbol_reader *reader, int socket); /* until its end */
void symbol_reader__free(struct symbol_reader *reader);

#endif
