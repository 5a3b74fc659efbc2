/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_failures.c: is every failed command in the count of one status, or in that of those whose
 * status is not known, and does no count go down when devices go?
 */
#include "serve/failures.h"
#include "tap.h"

static struct failures f;
static int32_t gone;

static bool is_gone(void *arg, int32_t device)
{
	(void)arg;
	return device == gone;
}

static void put(uint64_t key, int32_t device, uint64_t now)
{
	for (size_t i = 0; i < f.nr; i++)
		if (f.all[i].key == key) {
			f.all[i].now += now;
			return;
		}
	f.all[f.nr++] = (struct failure){ .key = key, .device = device, .now = now };
}

/* A reading: a kind may come in parts. */
static void read_two(uint64_t first, uint64_t second)
{
	failures__begin(&f);
	put(1, 1, first);
	put(1, 1, 1);
	put(2, 2, second);
	failures__end(&f);
}

static void test_counts(void)
{
	read_two(3, 7);
	is_u64(f.all[0].count, 4, "parts add up");
	read_two(2, 9);
	is_u64(f.all[0].count, 4, "a count does not go down");
	is_u64(f.all[1].count, 9, "another goes up");
}

/* The ledger has 15: two had no place in the programs' table. */
static void test_unknown(void)
{
	failures__settle(&f, 15);
	is_u64(f.unknown, 0, "what failed in this second may be told late");
	failures__settle(&f, 15);
	is_u64(f.unknown, 2, "what nobody told in another second has no status");
	failures__settle(&f, 18);
	read_two(6, 9);
	failures__settle(&f, 18);
	is_u64(f.unknown, 2, "what was told late is counted once");
}

static void test_gone(void)
{
	gone = 2;
	failures__drop(&f, is_gone, NULL);
	ok(f.nr == 1 && f.all[0].device == 1, "a device goes, with its statuses");
	failures__settle(&f, 18);
	failures__settle(&f, 18);
	is_u64(f.unknown, 2, "they were known");
}

int main(void)
{
	test_counts();
	test_unknown();
	test_gone();
	return done_testing();
}
