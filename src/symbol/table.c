/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "symbol/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "base/grow.h"
#include "symbol/demangle.h"

enum { TABLE_NEIGHBOURS = 32 }; /* functions that may begin inside a longer one */

/* The longest function of Linux 6.18 has 16 KiB: what lies farther from a start is not known. */
static const uint64_t table_reach_bytes = 65536;

struct symbol_entry {
	uint64_t addr;
	uint32_t size_bytes; /* 0: up to the next one */
	uint32_t name;	     /* in the pool; 0: nothing is known from here on */
};

static uint32_t table_keep_name(struct symbol_table *t, const char *name, size_t len)
{
	size_t at = t->pool_len;

	if (!len)
		return 0;
	memcpy(t->pool + at, name, len);
	t->pool[at + len] = '\0';
	t->pool_len += len + 1;
	return (uint32_t)at;
}

int symbol_table__add(struct symbol_table *t, uint64_t addr, uint64_t size_bytes, const char *name,
		      size_t len)
{
	bool is_whole = demangle__is_mangled(name, len) && len <= SYMBOL_MANGLED_MAX;
	int err;

	if (len > SYMBOL_NAME_MAX && !is_whole)
		len = SYMBOL_NAME_MAX;
	if (t->nr >= SYMBOL_TABLE_MAX || t->pool_len + len + 2 > SYMBOL_POOL_MAX)
		return -E2BIG;
	err = GROW(t->entries, t->room, t->nr + 1)
		      ?: GROW(t->pool, t->pool_room, t->pool_len + len + 2);
	if (err)
		return err;
	if (!t->pool_len)
		t->pool[t->pool_len++] = '\0'; /* the empty name */
	t->entries[t->nr++] = (struct symbol_entry){
		.addr = addr,
		.size_bytes = size_bytes < UINT32_MAX ? (uint32_t)size_bytes : UINT32_MAX,
		.name = table_keep_name(t, name, len),
	};
	return 0;
}

/* ---- order ---- */

/* "read" before "__read" before "__libc_read", in whatever order the file has them; an end is
 * last. */
static int table_compare_names(const char *a, const char *b)
{
	size_t a_dashes = strspn(a, "_"), b_dashes = strspn(b, "_");
	size_t a_len = strlen(a), b_len = strlen(b);

	return COMPARE(!a_len, !b_len) ?: COMPARE(a_dashes, b_dashes) ?: COMPARE(a_len, b_len) ?: strcmp(a, b);
}

static int table_compare(const void *left, const void *right, void *pool)
{
	const struct symbol_entry *a = left, *b = right;

	return COMPARE(a->addr, b->addr)
		       ?: table_compare_names((char *)pool + a->name, (char *)pool + b->name);
}

/* One entry per address: the plainest name, the largest size. */
static void table_drop_aliases(struct symbol_table *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->nr; i++) {
		struct symbol_entry *last = kept ? &t->entries[kept - 1] : NULL;

		if (!last || last->addr != t->entries[i].addr)
			t->entries[kept++] = t->entries[i];
		else if (last->size_bytes < t->entries[i].size_bytes)
			last->size_bytes = t->entries[i].size_bytes;
	}
	t->nr = kept;
}

/*
 * Names of one address, which the kernel lists in any order. Of hostile files that have more of
 * them than neighbours some stay out of order.
 */
static void table_order_aliases(struct symbol_table *t)
{
	for (size_t i = 1; i < t->nr; i++) {
		const struct symbol_entry entry = t->entries[i];
		const size_t end = i > TABLE_NEIGHBOURS ? i - TABLE_NEIGHBOURS : 0;
		size_t at = i;

		for (; at > end && t->entries[at - 1].addr == entry.addr &&
		       table_compare(&t->entries[at - 1], &entry, t->pool) > 0;
		     at--)
			t->entries[at] = t->entries[at - 1];
		t->entries[at] = entry;
	}
}

/* How many of the first entries lie where they belong. */
static size_t table_count_sorted(const struct symbol_table *t)
{
	uint64_t lowest = UINT64_MAX; /* of those behind */
	size_t nr = 1;

	while (nr < t->nr && table_compare(&t->entries[nr - 1], &t->entries[nr], t->pool) <= 0)
		nr++;
	for (size_t i = nr; i < t->nr; i++)
		lowest = t->entries[i].addr < lowest ? t->entries[i].addr : lowest;
	while (nr > 0 && t->entries[nr - 1].addr >= lowest)
		nr--;
	return nr;
}

/* The kernel's own functions are in order, those of its modules, behind them, are not. */
void symbol_table__sort(struct symbol_table *t)
{
	size_t sorted;

	table_order_aliases(t);
	sorted = t->nr ? table_count_sorted(t) : 0;
	if (sorted < t->nr)
		qsort_r(t->entries + sorted, t->nr - sorted, sizeof(*t->entries), table_compare,
			t->pool);
	table_drop_aliases(t);
}

/* ---- search ---- */

/* How many functions begin at this address or before. */
static size_t table_count_up_to(const struct symbol_table *t, uint64_t addr)
{
	size_t low = 0, high = t->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->entries[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A function of unknown size extends to the next one. */
static bool table_holds(const struct symbol_entry *entry, uint64_t addr, bool is_nearest)
{
	uint64_t offset = addr - entry->addr;

	if (!entry->name)
		return false;
	return entry->size_bytes ? offset < entry->size_bytes
				 : is_nearest && offset < table_reach_bytes;
}

bool symbol_table__find(const struct symbol_table *t, uint64_t addr, struct symbol_found *found)
{
	size_t after = table_count_up_to(t, addr);
	size_t first = after > TABLE_NEIGHBOURS ? after - TABLE_NEIGHBOURS : 0;

	for (size_t i = after; i-- > first;) {
		const struct symbol_entry *entry = &t->entries[i];

		if (!table_holds(entry, addr, i + 1 == after))
			continue;
		found->name = t->pool + entry->name;
		found->offset = addr - entry->addr;
		return true;
	}
	return false;
}

size_t symbol_table__bytes(const struct symbol_table *t)
{
	return t->room * sizeof(*t->entries) + t->pool_room;
}

void symbol_table__free(struct symbol_table *t)
{
	free(t->entries);
	free(t->pool);
	memset(t, 0, sizeof(*t));
}
