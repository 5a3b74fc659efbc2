/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grow.h: has an array room for more? If not, it grows to at least twice its size. An array that
 * gets n elements one by one is moved log2(n) times; a call that finds room costs one comparison.
 * New elements are not zeroed, and arrays shrink only if the caller wants it. Without memory the
 * array stays as it is, and the caller reports it.
 */
#ifndef IOSONAR_BASE_GROW_H
#define IOSONAR_BASE_GROW_H

#include <stddef.h>

/*
 * Makes room for `wanted` elements in all. array: a pointer, NULL at first, freed with free();
 * room: a size_t, 0 at first. Both are set, or neither is. 0 or -ENOMEM.
 */
#define GROW(array, room, wanted) \
	((wanted) <= (room) ? 0 : grow__room(&(array), &(room), (wanted), sizeof(*(array))))

/*
 * Makes room for one element behind `nr`, in an array that does not store its room: the room is the
 * power of two from nr on. Add every element of the array this way. 0 or -ENOMEM.
 */
#define GROW_BY_ONE(array, nr) grow__by_one(&(array), (nr), sizeof(*(array)))

/* What the macros call. array: the address of the pointer. */
int grow__to(void *array, size_t room, size_t element_bytes); /* exactly room elements */
int grow__room(void *array, size_t *room, size_t wanted, size_t element_bytes);
int grow__by_one(void *array, size_t nr, size_t element_bytes);

/*
 * After arrays became smaller (grow__to): malloc returns to the kernel what is free, also between
 * blocks that are in use. It looks at every free block.
 */
void grow__release(void);

#endif
