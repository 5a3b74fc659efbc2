/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.h: keeps each name once, at a fixed address. Names come from files and processes, without
 * limit: some 64 MiB are kept.
 */
#ifndef IOSONAR_SYMBOL_NAMES_H
#define IOSONAR_SYMBOL_NAMES_H

#include <stddef.h>
#include "base/index.h"

enum { SYMBOL_NAMES_BYTES_MAX = 64 << 20 };

struct symbol_names {
	char **names;
	size_t bytes;
	struct index index;
};

/* The same address for the same text, until free. NULL: no memory, or too many. */
const char *symbol_names__keep(struct symbol_names *names, const char *name);
void symbol_names__free(struct symbol_names *names);

#endif
