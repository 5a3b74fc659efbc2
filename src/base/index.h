/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * index.h: which number has the entry of this key? An open-addressed hash table beside an array of
 * the caller's, whose entries are numbered from 0 in the order in which they came; the caller says
 * which entry is the one. 8 bytes a cell, at most half of the cells are taken, and a search
 * compares 32 bits of the hash before it asks the caller. Nothing can be taken out.
 */
#ifndef IOSONAR_BASE_INDEX_H
#define IOSONAR_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

struct index_cell {
	uint32_t hash;
	uint32_t number; /* + 1; 0: free */
};

/* All zeros is an empty one. */
struct index {
	struct index_cell *cells;
	size_t nr;   /* entries */
	size_t room; /* cells: 0 or a power of two */
};

/* Of several words, of bytes, of a text: the hash so far goes in; it is 0 at first. */
uint64_t index__mix_bytes(uint64_t hash, const void *bytes, size_t nr);
uint64_t index__mix_text(uint64_t hash, const char *text);
static inline uint64_t index__mix(uint64_t hash, uint64_t word)
{
	unsigned __int128 wide = (unsigned __int128)(hash ^ word) * 0x9e3779b97f4a7c15ULL;

	return (uint64_t)(wide >> 64) ^ (uint64_t)wide;
}

/* Makes room for nr entries in all: adding them cannot fail then. -ENOMEM. */
int index__make_room(struct index *index, size_t nr);
/*
 * For one entry more, in the array, too: `array` is where its address is, which may change. It has
 * room for as many as the index, so it must be given at each one, or never. -ENOMEM: all is as it
 * was.
 */
int index__reserve(struct index *index, void *array, size_t entry_bytes);
/* An entry for which there is room. Its number. Of equal keys the first is found first, until the
 * index grows. */
uint32_t index__add(struct index *index, uint64_t hash);
void index__free(struct index *index); /* cells, not the array; it is empty then */

/* Whether this is the entry; inlined into the search. */
typedef bool (*index_is_fn)(const void *of, uint32_t number, const void *key);

/* The number of the entry; INDEX_NONE: there is none. `of` and `key` are the caller's. */
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
 * Of an array whose entries begin with a uint64_t, their key: the one of this key, or a new one
 * with zeros behind it. Where it lies may change with the next new one. NULL: out of memory.
 */
void *index__entry(struct index *index, void *array, size_t entry_bytes, uint64_t key);

#endif
