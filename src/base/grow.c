/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/grow.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { GROW_LEAST = 16 };

static int grow_to(void *array, size_t room, size_t element_bytes)
{
	void *at, *larger;
	size_t bytes;

	if (__builtin_mul_overflow(room, element_bytes, &bytes) || bytes > PTRDIFF_MAX)
		return -ENOMEM;
	memcpy(&at, array, sizeof(at)); /* a pointer of any type */
	larger = realloc(at, bytes);
	if (!larger)
		return -ENOMEM;
	memcpy(array, &larger, sizeof(larger));
	return 0;
}

int grow__room(void *array, size_t *room, size_t wanted, size_t element_bytes)
{
	size_t larger = *room > GROW_LEAST / 2 ? *room : GROW_LEAST / 2;
	int err;

	if (wanted <= *room)
		return 0;
	larger = 2 * larger < wanted ? wanted : 2 * larger; /* also where twice as much wraps */
	err = grow_to(array, larger, element_bytes);
	if (!err)
		*room = larger;
	return err;
}

int grow__by_one(void *array, size_t nr, size_t element_bytes)
{
	if (nr & (nr - 1))
		return 0;
	return nr > SIZE_MAX / 2 ? -ENOMEM : grow_to(array, nr ? 2 * nr : 1, element_bytes);
}
