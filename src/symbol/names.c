/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MIN_ROOM = 1024 };

static size_t names_hash(const char *name)
{
	uint64_t h = 0xcbf29ce484222325ULL; /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3ULL;
	return h >> 16;
}

/* Where it is, or where it belongs. */
static char **names_place(char **names, size_t room, const char *name)
{
	size_t at = names_hash(name) & (room - 1);

	while (names[at] && strcmp(names[at], name))
		at = (at + 1) & (room - 1);
	return &names[at];
}

static int names_grow(struct symbol_names *n)
{
	size_t room = n->room ? 2 * n->room : NAMES_MIN_ROOM;
	char **names = calloc(room, sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < n->room; i++)
		if (n->names[i])
			*names_place(names, room, n->names[i]) = n->names[i];
	free(n->names);
	n->names = names;
	n->room = room;
	return 0;
}

const char *symbol_names__keep(struct symbol_names *n, const char *name)
{
	size_t bytes = strlen(name) + 1;
	char **place;

	if (2 * (n->nr + 1) > n->room && names_grow(n))
		return NULL;
	place = names_place(n->names, n->room, name);
	if (*place || n->bytes + bytes > SYMBOL_NAMES_BYTES_MAX)
		return *place;
	*place = strdup(name);
	if (*place) {
		n->nr++;
		n->bytes += bytes;
	}
	return *place;
}

void symbol_names__free(struct symbol_names *n)
{
	for (size_t i = 0; i < n->room; i++)
		free(n->names[i]);
	free(n->names);
	memset(n, 0, sizeof(*n));
}
