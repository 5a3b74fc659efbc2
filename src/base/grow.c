/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/grow.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

enum { GROW_LEAST = 16 };

/* A pointer of any type. */
typedef void *__attribute__((may_alias)) grow_pointer;

int grow__to(void *array, size_t room, size_t element_bytes)
{
	grow_pointer *pointer = array;
	size_t bytes;
	void *larger;

	if (__builtin_mul_overflow(room, element_bytes, &bytes) || bytes > PTRDIFF_MAX)
		return -ENOMEM;
	larger = realloc(*pointer, bytes);
	if (!larger)
		return -ENOMEM;
	*pointer = larger;
	return 0;
}

int grow__room(void *array, size_t *room, size_t wanted, size_t element_bytes)
{
	size_t larger = *room > GROW_LEAST / 2 ? *room : GROW_LEAST / 2;
	int err;

	if (wanted <= *room)
		return 0;
	larger = 2 * larger < wanted ? wanted : 2 * larger; /* also where doubling overflows */
	err = grow__to(array, larger, element_bytes);
	if (!err)
		*room = larger;
	return err;
}

int grow__by_one(void *array, size_t nr, size_t element_bytes)
{
	if (nr & (nr - 1))
		return 0;
	return nr > SIZE_MAX / 2 ? -ENOMEM : grow__to(array, nr ? 2 * nr : 1, element_bytes);
}

void grow__release(void)
{
	malloc_trim(0);
}
