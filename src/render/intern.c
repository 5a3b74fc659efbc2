/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/intern.h"

#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

enum { INTERN_SLOTS = 256 }; /* at first */

static uint64_t intern_hash(const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	uint64_t hash = 0xcbf29ce484222325ull;

	while (len--)
		hash = (hash ^ *at++) * 0x100000001b3ull;
	return hash ^ hash >> 29;
}

const char *intern__bytes(const struct intern *t, uint32_t number, size_t *len)
{
	const size_t start = number ? t->ends[number - 1] : 0;

	*len = t->ends[number] - start;
	return t->bytes + start;
}

static uint32_t *intern_place(const struct intern *t, const void *bytes, size_t len)
{
	size_t at = (size_t)intern_hash(bytes, len) & (t->slots - 1);

	for (; t->map[at]; at = (at + 1) & (t->slots - 1)) {
		size_t there;
		const char *other = intern__bytes(t, t->map[at] - 1, &there);

		if (there == len && (!len || !memcmp(other, bytes, len)))
			break;
	}
	return &t->map[at];
}

static bool intern_grow_map(struct intern *t)
{
	const size_t slots = t->slots ? 2 * t->slots : INTERN_SLOTS;
	uint32_t *map = calloc(slots, sizeof(*map));

	if (!map)
		return false;
	free(t->map);
	t->map = map;
	t->slots = slots;
	for (uint32_t i = 0; i < t->nr; i++) {
		size_t len;
		const char *bytes = intern__bytes(t, i, &len);

		*intern_place(t, bytes, len) = i + 1;
	}
	return true;
}

static bool intern_has_room(struct intern *t, size_t len)
{
	return t->nr < INT32_MAX && !GROW(t->ends, t->room, t->nr + 1) &&
	       !GROW(t->bytes, t->size, t->len + len + 1) &&
	       (2 * (t->nr + 1) < t->slots || intern_grow_map(t));
}

uint32_t intern__number(struct intern *t, const void *bytes, size_t len, bool *is_new)
{
	uint32_t *place;

	if (!intern_has_room(t, len))
		return INTERN_NONE;
	place = intern_place(t, bytes, len);
	if (is_new)
		*is_new = !*place;
	if (*place)
		return *place - 1;
	if (len)
		memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
	t->ends[t->nr] = t->len;
	*place = (uint32_t)++t->nr;
	return *place - 1;
}

void intern__free(struct intern *t)
{
	free(t->bytes);
	free(t->ends);
	free(t->map);
}
