/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source_tree.h: where are functions defined, and what is their source? Reads a tree of C files
 * once, until all are found; a definition is a name at the left margin, its arguments, a brace.
 * Among definitions of one name the first counts, block layer and file systems before the rest.
 * Functions made by macros are not found.
 */
#ifndef IOSONAR_CALLS_SOURCE_TREE_H
#define IOSONAR_CALLS_SOURCE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SOURCE_LINES_MOST = 400,     /* of one function */
	SOURCE_BYTES_MOST = 2 << 20, /* of all functions; more are not shown */
};

struct source_text {
	char *file;    /* relative to the tree; NULL: not found */
	uint32_t line; /* of its first line, from 1 */
	char *text;    /* hostile */
	bool is_cut;
};

/* texts: nr entries, all zeros. 0 or a negative errno, said: the tree does not exist. */
int source_tree__find(const char *dir, const char *const *names, size_t nr,
		      struct source_text *texts);
void source_text__free(struct source_text *text);

#endif
