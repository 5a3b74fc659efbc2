/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

enum { INDEX_LEAST = 64 }; /* cells */

/* The length is mixed in last: trailing zeros change the hash. */
uint64_t index__mix_bytes(uint64_t hash, const void *bytes, size_t nr)
{
	const char *at = bytes;
	uint64_t word;
	size_t left = nr;

	for (; left >= sizeof(word); left -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = index__mix(hash, word);
	}
	if (left) {
		word = 0;
		memcpy(&word, at, left);
		hash = index__mix(hash, word);
	}
	return index__mix(hash, nr);
}

uint64_t index__mix_text(uint64_t hash, const char *text)
{
	return index__mix_bytes(hash, text, strlen(text));
}

static void index_put(struct index *index, struct index_cell cell)
{
	size_t at = cell.hash & (index->room - 1);

	while (index->cells[at].number)
		at = (at + 1) & (index->room - 1);
	index->cells[at] = cell;
}

int index__make_room(struct index *index, size_t nr)
{
	struct index larger = { .nr = index->nr, .room = INDEX_LEAST };

	if (nr <= index->room / 2)
		return 0;
	if (nr >= INDEX_NONE / 2)
		return -ENOMEM;
	while (larger.room / 2 < nr)
		larger.room *= 2;
	larger.cells = calloc(larger.room, sizeof(*larger.cells));
	if (!larger.cells)
		return -ENOMEM;
	for (size_t i = 0; i < index->room; i++)
		if (index->cells[i].number)
			index_put(&larger, index->cells[i]);
	free(index->cells);
	*index = larger;
	return 0;
}

/* The array grows first: if the index then cannot grow, that does no harm. */
int index__reserve(struct index *index, void *array, size_t entry_bytes)
{
	const size_t nr = index->room ? index->room : INDEX_LEAST / 2;

	if (index->nr < index->room / 2)
		return 0;
	return grow__to(array, nr, entry_bytes) ?: index__make_room(index, nr);
}

uint32_t index__add(struct index *index, uint64_t hash)
{
	index_put(index, (struct index_cell){ (uint32_t)hash, (uint32_t)++index->nr });
	return (uint32_t)index->nr - 1;
}

void index__clear(struct index *index)
{
	if (index->room)
		memset(index->cells, 0, index->room * sizeof(*index->cells));
	index->nr = 0;
}

void index__free(struct index *index)
{
	free(index->cells);
	*index = (struct index){ 0 };
}

typedef void *__attribute__((may_alias)) index_pointer; /* to entries of any type */

struct index_entries {
	const char *entries;
	size_t bytes; /* of one */
};

static bool index_has_key(const void *of, uint32_t number, const void *key)
{
	const struct index_entries *all = of;

	return !memcmp(all->entries + number * all->bytes, key, sizeof(uint64_t));
}

void *index__entry(struct index *index, void *array, size_t entry_bytes, uint64_t key)
{
	const index_pointer *entries = array;
	const struct index_entries all = { *entries, entry_bytes };
	const uint64_t hash = index__mix(0, key);
	uint32_t at = index__find(index, hash, index_has_key, &all, &key);
	char *entry;

	if (at != INDEX_NONE)
		return (char *)*entries + at * entry_bytes;
	if (index__reserve(index, array, entry_bytes))
		return NULL;
	at = index__add(index, hash);
	entry = (char *)*entries + at * entry_bytes;
	memset(entry, 0, entry_bytes);
	return memcpy(entry, &key, sizeof(key));
}
