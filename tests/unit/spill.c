/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spill.c: does everything come back, once and in order, whether it stayed in memory or not?
 */
#include <errno.h>
#include <stdlib.h>
#include "base/spill.h"
#include "tap.h"

struct thing {
	uint64_t time_ns;
	uint32_t nr;
	char tail[5]; /* not a multiple of anything */
};

struct seen {
	uint64_t nr, last_ns, sum;
	uint32_t last_nr;
	bool in_order, whole;
	uint64_t stop_at; /* 0: never */
};

static int see(void *arg, uint64_t time_ns, const void *item)
{
	struct seen *seen = arg;
	struct thing thing;

	memcpy(&thing, item, sizeof(thing));
	if (seen->nr &&
	    (time_ns < seen->last_ns || (time_ns == seen->last_ns && thing.nr < seen->last_nr)))
		seen->in_order = false;
	seen->whole &= thing.time_ns == time_ns && !memcmp(thing.tail, "tail", 5);
	seen->last_ns = time_ns;
	seen->last_nr = thing.nr;
	seen->sum += thing.nr;
	return ++seen->nr == seen->stop_at ? -7 : 0;
}

static struct spill *filled(uint32_t nr, size_t memory)
{
	struct spill *spill = spill__new(sizeof(struct thing), memory);
	uint64_t random = 88172645463325252;
	int err = 0;

	for (uint32_t i = 0; spill && !err && i < nr; i++) {
		struct thing thing = { .nr = i, .tail = "tail" };

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		thing.time_ns = random % (nr / 3 + 1); /* some are equal */
		err = spill__add(spill, thing.time_ns, &thing);
	}
	return err ? NULL : spill;
}

static void test_many(uint32_t nr, size_t memory, const char *how)
{
	struct seen seen = { .in_order = true, .whole = true };
	struct spill *spill = filled(nr, memory);
	ok(!spill__each(spill, see, &seen), "%u %s: no error", nr, how);
	ok(seen.nr == nr, "%u %s: all come back", nr, how);
	ok(seen.sum == (uint64_t)nr * (nr - (nr > 0)) / 2, "%u %s: each of them once", nr, how);
	ok(seen.in_order && seen.whole, "%u %s: in order, equal times as they came, unchanged", nr,
	   how);
	spill__free(spill);
}

static void test_end(void)
{
	struct seen seen = { .in_order = true, .whole = true, .stop_at = 11 };
	struct spill *spill = filled(1000, 4096);

	ok(spill__each(spill, see, &seen) == -7, "what ends it is told");
	is_u64(seen.nr, 11, "and it ended there");
	spill__free(spill);
	spill__free(NULL);
}

static void test_no_folder(void)
{
	struct thing thing = { .tail = "tail" };
	struct spill *spill = spill__new(sizeof(thing), 0);
	int err = 0;

	setenv("TMPDIR", "/no/such/folder", 1);
	for (int i = 0; i < 3 && !err; i++)
		err = spill__add(spill, 1, &thing);
	ok(err == -EIO, "a folder that is not there is a failure, not a wrong usage");
	unsetenv("TMPDIR");
	spill__free(spill);
}

int main(void)
{
	test_many(0, 4096, "in memory");
	test_many(1, 4096, "in memory");
	test_many(997, SPILL_MEMORY, "in memory");
	test_many(997, 4096, "in a few runs");
	test_many(100003, 4096, "in many runs");
	test_many(100003, 0, "in runs of two");
	test_end();
	test_no_folder();
	return done_testing();
}
