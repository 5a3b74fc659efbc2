/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wait_commands.c: does each call get its own commands, the longest of many, in their order, and
 * the number of all?
 */
#include <stdlib.h>
#include "analyse/wait_commands.h"
#include "tap.h"

static struct wait_threads threads;

static void add(uint32_t tid, uint64_t start_ns, uint64_t issue_ns, uint64_t took_ns)
{
	struct wait_command c = { .start_ns = start_ns,
				  .issue_ns = issue_ns,
				  .end_ns = issue_ns + took_ns,
				  .bytes = 512,
				  .tid = tid };

	if (wait_threads__add(&threads, &c, "write"))
		abort();
}

static void test_call(void)
{
	const struct wait_commands *c;

	ok(!wait_threads__find(&threads, 7, 100), "a thread without commands");
	add(7, 100, 130, 5);
	add(7, 100, 110, 50);
	c = wait_threads__find(&threads, 7, 100);
	ok(c && c->nr == 2 && c->bytes == 1024 && wait_commands__kept(c) == 2, "two commands");
	ok(c && c->longest[0].issue_ns == 110 && c->longest[1].issue_ns == 130,
	   "in the order of their issue");
	ok(!wait_threads__find(&threads, 7, 101), "another call of the thread has none");
	ok(!wait_threads__find(&threads, 7 + WAIT_TASKS, 100), "nor a thread with the same place");
	add(7, 200, 210, 5);
	c = wait_threads__find(&threads, 7, 200);
	ok(c && c->nr == 1, "a new call begins without commands");
	add(7 + WAIT_TASKS, 200, 210, 5);
	ok(!wait_threads__find(&threads, 7, 200), "a thread with the same place takes it");
}

/* Command i of 100 takes i * 37 % 100, which is every number once. */
static void test_longest(void)
{
	const struct wait_commands *c;
	bool in_order = true;
	uint64_t least = UINT64_MAX;

	for (uint64_t i = 0; i < 100; i++)
		add(9, 1, 1000 + i, i * 37 % 100);
	c = wait_threads__find(&threads, 9, 1);
	ok(c && c->nr == 100 && wait_commands__kept(c) == WAIT_COMMANDS, "100 commands, 8 kept");
	for (size_t i = 0; c && i < WAIT_COMMANDS; i++) {
		uint64_t took = c->longest[i].end_ns - c->longest[i].issue_ns;

		least = took < least ? took : least;
		in_order &= !i || c->longest[i].issue_ns > c->longest[i - 1].issue_ns;
	}
	ok(least == 100 - WAIT_COMMANDS, "the longest of all");
	ok(in_order, "in the order of their issue");
}

int main(void)
{
	test_call();
	test_longest();
	wait_threads__free(&threads);
	return done_testing();
}
