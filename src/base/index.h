/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * index.h: which number has the entry with this key? An open-addressed hash table beside an array
 * of the caller. The array's entries are numbered from 0 in order of arrival; the caller tells
 * whether an entry matches. 8 bytes a cell, at most half of the cells are used, and a search
 * compares 32 bits of the hash before it asks the caller. Entries cannot be removed
 * one by one: clear it, and add those that stay.
 */
#ifndef IOSONAR_BASE_INDEX_H
#define IOSONAR_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

struct index_cell {
	uint32_t hash;
	uint32_t number; /* number of the entry + 1; 0: free */
};

/* All zeros is an empty index. */
struct index {
	struct index_cell *cells;
	size_t nr;   /* entries */
	size_t room; /* cells: 0 or a power of two */
};

/* Hashes several words, bytes or a text: pass the hash so far, 0 at first. */
uint64_t index__mix_bytes(uint64_t hash, const void *bytes, size_t nr);
uint64_t index__mix_text(uint64_t hash, const char *text);
static inline uint64_t index__mix(uint64_t hash, uint64_t word)
{
	unsigned __int128 wide = (unsigned __int128)(hash ^ word) * 0x9e3779b97f4a7c15ULL;

	return (uint64_t)(wide >> 64) ^ (uint64_t)wide;
}

/* Makes room for nr entries in total, so that adding them cannot fail. 0 or -ENOMEM. */
int index__make_room(struct index *index, size_t nr);
/*
 * Makes room for one more entry, in the array, too: `array` is the address of its pointer, which
 * may change. The array has as much room as the index, so pass it for every entry, or never.
 * -ENOMEM: nothing has changed.
 */
int index__reserve(struct index *index, void *array, size_t entry_bytes);
/* Adds an entry for which there is room; returns its number. Of equal keys the first is found
 * first, until the index grows. */
uint32_t index__add(struct index *index, uint64_t hash);
/* Forgets all entries and keeps the room: as many can be added again, which cannot fail. */
void index__clear(struct index *index);
void index__free(struct index *index); /* frees the cells, not the array; the index is empty then */

/* Is this the entry? Inlined into the search. */
typedef bool (*index_is_fn)(const void *of, uint32_t number, const void *key);

/* The number of the entry; INDEX_NONE: not found. `of` and `key` are the caller's. */
static inline uint32_t index__find(const struct index *index, uint64_t hash, index_is_fn is,
				   const void *of, const void *key)
{
	const size_t mask = index->room - 1;
	const uint32_t half = (uint32_t)hash;

	if (!index->room)
		return INDEX_NONE;
	for (size_t at = half & mask; index->cells[at].number; at = (at + 1) & mask)
		if (index->cells[at].hash == half && is(of, index->cells[at].number - 1, key))
			return index->cells[at].number - 1;
	return INDEX_NONE;
}

/*
 * For arrays whose entries begin with their uint64_t key: the entry of this key, or a new one with
 * zeros behind the key. Its address may change with the next new entry. NULL: out of memory.
 */
void *index__entry(struct index *index, void *array, size_t entry_bytes, uint64_t key);

#endif
