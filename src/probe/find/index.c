/* SPDX-License-Identifier: BSD-2-Clause */
/* index.c: names to numbers. Copies no names and removes none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "probe/find/inside.h"

struct find_index_name {
	const char *name;
	uint32_t value;
};

static bool index_is(const void *names, uint32_t number, const void *name)
{
	return !strcmp(((const struct find_index_name *)names)[number].name, name);
}

int find_index__add(struct find_index *index, const char *name, uint32_t value)
{
	const uint64_t hash = index__mix_text(0, name);

	if (index__find(&index->index, hash, index_is, index->names, name) != INDEX_NONE)
		return 0;
	if (index__reserve(&index->index, &index->names, sizeof(*index->names)))
		return -ENOMEM;
	index->names[index__add(&index->index, hash)] = (struct find_index_name){ name, value };
	index->nr++;
	return 0;
}

bool find_index__get(const struct find_index *index, const char *name, uint32_t *value)
{
	const uint64_t hash = index__mix_text(0, name);
	const uint32_t at = index__find(&index->index, hash, index_is, index->names, name);

	if (at != INDEX_NONE && value)
		*value = index->names[at].value;
	return at != INDEX_NONE;
}

int find_index__each(const struct find_index *index, find_index_fn fn, void *arg)
{
	int err = 0;

	for (size_t i = 0; !err && i < index->nr; i++)
		err = fn(arg, index->names[i].name);
	return err;
}

void find_index__free(struct find_index *index)
{
	index__free(&index->index);
	free(index->names);
	*index = (struct find_index){ 0 };
}
