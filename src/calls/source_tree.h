/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source_tree.h: where are functions defined, and what do they look like? A tree of C files is read
 * once, until all are found; a definition is a name at the left margin, its arguments, a brace. Of
 * several with one name the first counts, block layer and file systems before the rest; what macros
 * make is not found.
 */
#ifndef IOSONAR_CALLS_SOURCE_TREE_H
#define IOSONAR_CALLS_SOURCE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SOURCE_LINES_MOST = 400,     /* of one function */
	SOURCE_BYTES_MOST = 2 << 20, /* of all; more are not shown */
};

struct source_text {
	char *file;    /* below the tree; NULL: it was not found */
	uint32_t line; /* of its first line, from 1 */
	char *text;    /* hostile */
	bool is_cut;
};

/* texts: nr of them, all zeros. 0 or a negative errno, said: there is no such tree. */
int source_tree__find(const char *dir, const char *const *names, size_t nr,
		      struct source_text *texts);
void source_text__free(struct source_text *text);

#endif
