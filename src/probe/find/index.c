/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * index.c: names to numbers, in a table of cells that is never more than half full. It copies
 * nothing and forgets nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "probe/find/inside.h"

struct find_index_cell {
	const char *name; /* NULL: free */
	uint32_t value;
};

enum { FIND_INDEX_LEAST = 256 };

/* FNV-1a. */
static uint64_t index_hash(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
	return hash ^ hash >> 32;
}

/* The cell that has this name, or the free one where it belongs. */
static struct find_index_cell *index_cell(const struct find_index *index, const char *name)
{
	size_t at = index_hash(name) & (index->room - 1);

	while (index->cells[at].name && strcmp(index->cells[at].name, name))
		at = (at + 1) & (index->room - 1);
	return &index->cells[at];
}

static int index_grow(struct find_index *index)
{
	struct find_index larger = { .room = index->room ? 2 * index->room : FIND_INDEX_LEAST };

	larger.cells = calloc(larger.room, sizeof(*larger.cells));
	if (!larger.cells)
		return -ENOMEM;
	larger.nr = index->nr;
	for (size_t i = 0; i < index->room; i++)
		if (index->cells[i].name)
			*index_cell(&larger, index->cells[i].name) = index->cells[i];
	free(index->cells);
	*index = larger;
	return 0;
}

int find_index__add(struct find_index *index, const char *name, uint32_t value)
{
	struct find_index_cell *cell;

	if (2 * (index->nr + 1) > index->room && index_grow(index))
		return -ENOMEM;
	cell = index_cell(index, name);
	if (cell->name)
		return 0;
	*cell = (struct find_index_cell){ name, value };
	index->nr++;
	return 0;
}

bool find_index__get(const struct find_index *index, const char *name, uint32_t *value)
{
	const struct find_index_cell *cell;

	if (!index->room)
		return false;
	cell = index_cell(index, name);
	if (!cell->name)
		return false;
	*value = cell->value;
	return true;
}

int find_index__each(const struct find_index *index, find_index_fn fn, void *arg)
{
	int err = 0;

	for (size_t i = 0; !err && i < index->room; i++)
		if (index->cells[i].name)
			err = fn(arg, index->cells[i].name);
	return err;
}

void find_index__free(struct find_index *index)
{
	free(index->cells);
	*index = (struct find_index){ 0 };
}
