/* SPDX-License-Identifier: BSD-2-Clause */
/* index.c: is each key found under its number, whatever its hash is and however many there are? */
#include "base/index.h"

#include <errno.h>
#include <stdlib.h>
#include "tap.h"

enum { NR = 20000 };

struct list {
	struct index index;
	uint64_t *keys;
};

static int asked;

static bool list_is(const void *keys, uint32_t number, const void *key)
{
	asked++;
	return ((const uint64_t *)keys)[number] == *(const uint64_t *)key;
}

static uint32_t list_find(const struct list *list, uint64_t hash, uint64_t key)
{
	return index__find(&list->index, hash, list_is, list->keys, &key);
}

static uint32_t list_add(struct list *list, uint64_t hash, uint64_t key)
{
	uint32_t at;

	if (index__reserve(&list->index, &list->keys, sizeof(*list->keys)))
		return INDEX_NONE;
	at = index__add(&list->index, hash);
	list->keys[at] = key;
	return at;
}

static void list_free(struct list *list)
{
	index__free(&list->index);
	free(list->keys);
}

static void test_few(void)
{
	struct list list = { 0 };

	is_u64(list_find(&list, 5, 5), INDEX_NONE, "an empty one has nothing");
	is_u64(list_add(&list, 5, 50), 0, "the first is 0");
	is_u64(list_add(&list, 6, 60), 1, "the second is 1");
	is_u64(list_find(&list, 5, 50), 0, "the first is found");
	is_u64(list_find(&list, 6, 60), 1, "so is the second");
	is_u64(list_find(&list, 7, 70), INDEX_NONE, "a third is not");
	asked = 0;
	is_u64(list_find(&list, 5 + 64, 50), INDEX_NONE, "another hash is another key");
	is_u64((uint64_t)asked, 0, "nobody is asked about it");
	list_free(&list);
	ok(!list.index.cells && !list.index.nr && !list.index.room, "a freed one is empty");
	index__free(&list.index);
}

/* All begin at the last cell: a search goes on at the first one. */
static void test_collisions(void)
{
	struct list list = { 0 };
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < 100; i++)
		wrong += list_add(&list, UINT64_MAX, i) != i;
	for (uint32_t i = 0; i < 100; i++)
		wrong += list_find(&list, UINT64_MAX, i) != i;
	is_u64(wrong, 0, "100 keys of one hash are told apart");
	is_u64(list_find(&list, UINT64_MAX, 100), INDEX_NONE, "the search for another one ends");
	list_free(&list);
}

static uint32_t list_wrong(const struct list *list, uint64_t step)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < NR; i++)
		wrong += list_find(list, index__mix(0, i * step), i * step) != i;
	return wrong;
}

/* Keys may differ below or above alone. */
static void test_growth(uint64_t step)
{
	struct list list = { 0 };
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < NR; i++) {
		wrong += list_add(&list, index__mix(0, i * step), i * step) != i;
		wrong += list.index.room < 2 * list.index.nr;
	}
	is_u64(wrong, 0, "20000 keys have their numbers; half of the cells are free");
	is_u64(list.index.room, 65536, "and no more than needed");
	asked = 0;
	is_u64(list_wrong(&list, step), 0, "all are found after growth");
	ok(asked < NR + 10, "hardly another one is asked about");
	is_u64(list_find(&list, index__mix(0, NR * step), NR * step), INDEX_NONE, "no other is");
	list_free(&list);
}

static bool never(const void *of, uint32_t number, const void *key)
{
	(void)of;
	(void)number;
	(void)key;
	return false;
}

static void test_room(void)
{
	struct index index = { 0 };
	struct index_cell *cells;

	is_u64((uint64_t)-index__make_room(&index, 1000), 0, "room for 1000");
	is_u64(index.room, 2048, "in 2048 cells");
	cells = index.cells;
	for (uint32_t i = 0; i < 1000; i++)
		index__add(&index, index__mix(0, i));
	is_u64((uint64_t)-index__make_room(&index, 1000), 0, "again");
	ok(index.cells == cells, "which is the same");
	is_u64((uint64_t)-index__make_room(&index, UINT32_MAX), ENOMEM, "more than numbers: none");
	ok(index.cells == cells && index.nr == 1000, "all is as it was");
	is_u64(index__find(&index, 1, never, NULL, NULL), INDEX_NONE, "who is never it is none");
	index__free(&index);
}

/* An array that is too large for memory is not asked of the index either. */
static void test_no_memory(void)
{
	struct index index = { 0 };
	void *array = NULL;

	is_u64((uint64_t)-index__reserve(&index, &array, SIZE_MAX / 2), ENOMEM, "no memory");
	ok(!array && !index.room && !index.nr, "nothing has changed");
	is_u64((uint64_t)-index__reserve(&index, &array, 8), 0, "less is there");
	ok(array && index.room, "both have room");
	index__free(&index);
	free(array);
}

static void test_entries(void)
{
	struct entry {
		uint64_t key, times;
	} *entries = NULL, *entry;
	struct index index = { 0 };
	bool all = true, zeros = true;

	for (uint64_t i = 0; i < 2000; i++) {
		entry = index__entry(&index, &entries, sizeof(*entries), i % 1009 << 32);
		zeros = zeros && entry->times == i / 1009;
		entry->times++;
	}
	for (uint64_t i = 0; i < index.nr; i++)
		all = all && entries[i].key == i << 32 && entries[i].times == 1 + (i < 991);
	is_u64(index.nr, 1009, "an entry for each key");
	ok(zeros, "a new one is zeros behind its key, a known one as it was left");
	ok(all, "as they came");
	index__free(&index);
	free(entries);
}

/* Two thirds stay, without a new allocation. */
static void test_clear(void)
{
	struct list list = { 0 };
	size_t room;
	bool found = true;

	index__clear(&list.index);
	ok(!list.index.nr && !list.index.room, "an empty one may be cleared");
	for (uint64_t key = 0; key < NR; key++)
		list_add(&list, key, key);
	room = list.index.room;
	index__clear(&list.index);
	is_u64(list_find(&list, 7, 7), INDEX_NONE, "a cleared one has nothing");
	for (uint64_t key = 0; key < NR; key++)
		if (key % 3)
			list.keys[index__add(&list.index, key)] = key;
	for (uint64_t key = 0; key < NR; key++)
		found &= list_find(&list, key, key) ==
			 (key % 3 ? (uint32_t)(key - key / 3 - 1) : INDEX_NONE);
	ok(found, "what is added again is found, with new numbers");
	is_u64(list.index.room, room, "in the room that was there");
	list_free(&list);
}

static void test_hash(void)
{
	const char text[] = "vfs_read\0_write";

	ok(index__mix(0, 1) != index__mix(0, 1ULL << 63), "words differ");
	ok(index__mix(index__mix(0, 1), 2) != index__mix(index__mix(0, 2), 1), "order counts");
	ok(index__mix_text(0, text) == index__mix_bytes(0, text, 8), "a text ends at its zero");
	ok(index__mix_bytes(0, text, 8) != index__mix_bytes(0, text, 9), "a zero is a byte");
	ok(index__mix_bytes(0, text, 14) != index__mix_bytes(0, text, 15), "so is the last");
	ok(index__mix_bytes(1, "", 0) != index__mix_bytes(2, "", 0), "what was before counts");
	ok(index__mix_bytes(1, NULL, 0) == index__mix_text(1, ""), "nothing is nothing");
}

int main(void)
{
	test_few();
	test_collisions();
	test_growth(1);
	test_growth(1ULL << 32);
	test_growth(1ULL << 48);
	test_room();
	test_no_memory();
	test_entries();
	test_clear();
	test_hash();
	return done_testing();
}
