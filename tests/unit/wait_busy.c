/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wait_busy.c: is a moment counted once, however many commands are under way and in whatever order
 * they come? Against a map with a mark for each moment.
 */
#include <stdlib.h>
#include <string.h>
#include "analyse/wait_busy.h"
#include "tap.h"

enum { MOMENTS = 400, ROUNDS = 300 };

static void add(struct wait_busy *busy, uint64_t from_ns, uint64_t to_ns)
{
	if (wait_busy__add(busy, from_ns, to_ns))
		abort();
}

static void test_few(void)
{
	struct wait_busy busy = { 0 };

	ok(!wait_busy__within(&busy, 0, 100), "no command");
	add(&busy, 30, 40);
	add(&busy, 10, 20);
	ok(wait_busy__within(&busy, 0, 100) == 20 && busy.nr == 2, "two, apart");
	add(&busy, 15, 30);
	ok(wait_busy__within(&busy, 0, 100) == 30 && busy.nr == 1, "one between makes them one");
	ok(wait_busy__within(&busy, 12, 35) == 23, "only what is within");
	add(&busy, 50, 50);
	ok(busy.nr == 1, "one that takes no time");
	wait_busy__clear(&busy);
	ok(!wait_busy__within(&busy, 0, 100), "cleared");
	wait_busy__free(&busy);
}

static uint64_t marked(const char *marks, size_t from, size_t to)
{
	uint64_t sum = 0;

	for (size_t i = from; i < to; i++)
		sum += marks[i] != 0;
	return sum;
}

static void test_random(void)
{
	struct wait_busy busy = { 0 };
	char marks[MOMENTS];
	int wrong = 0;

	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		memset(marks, 0, sizeof(marks));
		wait_busy__clear(&busy);
		for (int i = 0; i < 40; i++) {
			size_t from = (size_t)rand() % MOMENTS, room = MOMENTS - from;
			size_t len = (size_t)rand() % (room < 20 ? room : 20);

			add(&busy, from, from + len);
			memset(marks + from, 1, len);
			wrong += wait_busy__within(&busy, 50, 300) != marked(marks, 50, 300);
		}
	}
	is_u64((uint64_t)wrong, 0, "in any order, 12,000 times");
	wait_busy__free(&busy);
}

int main(void)
{
	test_few();
	test_random();
	return done_testing();
}
