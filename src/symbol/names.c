/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/names.h"

#include <stdlib.h>
#include <string.h>

static bool names_is(const void *names, uint32_t number, const void *name)
{
	return !strcmp(((char *const *)names)[number], name);
}

const char *symbol_names__keep(struct symbol_names *n, const char *name)
{
	const size_t bytes = strlen(name) + 1;
	const uint64_t hash = index__mix_bytes(0, name, bytes);
	uint32_t at = index__find(&n->index, hash, names_is, n->names, name);
	char *copy;

	if (at != INDEX_NONE)
		return n->names[at];
	if (n->bytes + bytes > SYMBOL_NAMES_BYTES_MAX ||
	    index__reserve(&n->index, &n->names, sizeof(*n->names)))
		return NULL;
	copy = strdup(name);
	if (!copy)
		return NULL;
	n->names[index__add(&n->index, hash)] = copy;
	n->bytes += bytes;
	return copy;
}

void symbol_names__free(struct symbol_names *n)
{
	for (size_t i = 0; i < n->index.nr; i++)
		free(n->names[i]);
	free(n->names);
	index__free(&n->index);
	memset(n, 0, sizeof(*n));
}
