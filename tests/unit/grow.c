/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grow.c: is there room, and is what was there still there? Arrays of several sizes are filled one
 * by one and by leaps; sizes that no machine has are refused, and leave the array as it was.
 */
#include "base/grow.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "tap.h"

enum { MANY = 10007 };

struct triple {
	uint32_t a, b, c;
};

static void check_rooms(void)
{
	struct triple *all = NULL;
	size_t room = 0, moved = 0, wrong = 0;

	for (uint32_t i = 0; i < MANY; i++) {
		size_t before = room;

		wrong += GROW(all, room, i + 1) || room < i + 1;
		moved += room != before;
		all[i] = (struct triple){ i, i + 1, i + 2 };
	}
	is_u64(wrong, 0, "there is always room");
	for (uint32_t i = 0; i < MANY; i++)
		wrong += all[i].a != i || all[i].b != i + 1 || all[i].c != i + 2;
	is_u64(wrong, 0, "what was there is kept");
	is_u64(room, 16384, "the room doubles");
	is_u64(moved, 11, "from 16 on: 11 times");
	free(all);
}

static void check_leaps(void)
{
	char *text = NULL;
	size_t room = 0;

	ok(!grow__room(&text, &room, 0, 1) && !text && !room, "none are wanted: nothing is done");
	ok(!GROW(text, room, 1) && room == 16, "the least room is 16");
	memcpy(text, "fifteen letters", 16);
	ok(!GROW(text, room, 1000) && room == 1000, "a leap is taken at once");
	ok(!strcmp(text, "fifteen letters"), "with what was there");
	ok(!GROW(text, room, 1001) && room == 2000, "and doubles from there");
	memset(text, 'x', room);
	free(text);
}

static void check_one_by_one(void)
{
	uint64_t *all = NULL;
	size_t wrong = 0;

	for (uint32_t nr = 0; nr < MANY; nr++) {
		wrong += GROW_BY_ONE(all, nr) != 0;
		all[nr] = ~(uint64_t)nr;
	}
	for (uint32_t i = 0; i < MANY; i++)
		wrong += all[i] != ~(uint64_t)i;
	is_u64(wrong, 0, "one by one, without a room");
	for (uint32_t nr = 3; nr < 9; nr++) {
		wrong += GROW_BY_ONE(all, nr) != 0;
		all[nr] = nr;
	}
	ok(!wrong && all[0] == ~0ull && all[8] == 8, "also after some were taken away");
	free(all);
}

/* A sanitizer would end the program where realloc() returns NULL. */
static size_t too_many(size_t element_bytes)
{
#ifdef TAP_SANITIZED
	return PTRDIFF_MAX / element_bytes + 1;
#else
	return PTRDIFF_MAX / element_bytes;
#endif
}

static void check_refusals(void)
{
	struct triple *all = NULL, *before;
	size_t room = 0;

	ok(!GROW(all, room, 3), "an array");
	all[2] = (struct triple){ 7, 8, 9 };
	before = all;
	ok(GROW(all, room, SIZE_MAX / sizeof(*all) + 1) == -ENOMEM, "bytes beyond size_t");
	ok(GROW(all, room, SIZE_MAX) == -ENOMEM, "as many as there can be");
	ok(GROW(all, room, (size_t)PTRDIFF_MAX / sizeof(*all) + 1) == -ENOMEM,
	   "bytes beyond ptrdiff_t");
	ok(GROW(all, room, too_many(sizeof(*all))) == -ENOMEM, "more than there is");
	ok(grow__by_one(&all, SIZE_MAX / 2 + 1, sizeof(*all)) == -ENOMEM, "one beyond half");
	ok(grow__by_one(&all, SIZE_MAX / 4 + 1, sizeof(*all)) == -ENOMEM, "one beyond a quarter");
	ok(all == before && room == 16 && all[2].c == 9, "it is left as it was");
	room = SIZE_MAX / 2 + 1;
	ok(GROW(all, room, room + 1) == -ENOMEM, "a room that cannot double");
	ok(all == before && room == SIZE_MAX / 2 + 1, "is left too");
	free(all);
}

int main(void)
{
	check_rooms();
	check_leaps();
	check_one_by_one();
	check_refusals();
	return done_testing();
}
