/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks.c: does every I/O land in the row of its stack, once, and is the order of rows always the
 * same? Thousands of stacks are compared with plain sums; a table that is full loses nothing.
 */
#include <stdlib.h>
#include "analyse/stacks.h"
#include "tap.h"

enum { NR_STACKS = 3000, DEEP = 3000 };

static const char kernel[] = "submit_bio;vfs_read;ksys_read", user[] = "read;main";

static const struct stack full = {
	.kernel = kernel,
	.user = user,
	.pid = 4711,
	.comm = "fio",
};

static void add(struct stacks *s, const struct stack *stack, uint64_t ns, uint64_t bytes)
{
	if (stacks__add(s, stack, ns, bytes))
		printf("Bail out! no memory\n");
}

static void check_sums(void)
{
	struct stacks s;

	stacks__init(&s, 10);
	add(&s, &full, 500, 4096);
	add(&s, &full, 300, 512);
	is_u64(s.nr, 1, "the same stack is the same row");
	is_u64(s.rows[0]->sum.count, 2, "its count");
	is_u64(s.rows[0]->sum.bytes, 4608, "its bytes");
	is_u64(s.rows[0]->sum.total_ns, 800, "its time");
	is_u64(s.rows[0]->sum.max_ns, 500, "its longest");
	ok(!s.rows[0]->hist, "no histogram where none is wanted");
	is_str(s.rows[0]->stack.kernel, kernel, "and it knows its stack");
	stacks__free(&s);
	ok(!s.rows && !s.index.cells && !s.nr, "nothing is left after free");
	stacks__free(&s);
}

/* Names that are other memory with the same text; a comm with something behind its end. */
static void check_same(void)
{
	char names[sizeof(kernel)];
	struct stack same = full;
	struct stacks s;

	memcpy(names, kernel, sizeof(names));
	same.kernel = names;
	memcpy(same.comm, "fio\0garbage", 11);
	stacks__init(&s, 10);
	add(&s, &full, 1, 1);
	add(&s, &same, 1, 1);
	is_u64(s.nr, 1, "what counts is what frames and names say, not where they are");
	stacks__free(&s);
}

static void check_different(void)
{
	struct stack others[9];
	struct stacks s;

	for (size_t i = 0; i < 9; i++)
		others[i] = full;
	others[1].kernel = "submit_bio;vfs_read";
	others[2].user = "main";
	others[3].pid++;
	others[4].user = "";
	others[5].comm[15] = others[5].comm[3] = 'x';
	others[6].kernel = NULL;
	others[6].kernel_half = STACK_COLLIDED;
	others[7].user = NULL;
	others[8].host = "db8";
	stacks__init(&s, 100);
	for (size_t i = 0; i < 9; i++)
		add(&s, &others[i], 1, 1);
	is_u64(s.nr, 9, "each thing that differs is another row");
	stacks__free(&s);
}

/* The border between both halves is part of a stack. */
static void check_border(void)
{
	struct stack a = { .kernel = "a;b", .user = "c" }, b = { .kernel = "a", .user = "b;c" };
	struct stacks s;

	stacks__init(&s, 100);
	add(&s, &a, 1, 1);
	add(&s, &b, 1, 1);
	is_u64(s.nr, 2, "a kernel's frame is no process's");
	stacks__free(&s);
}

static void check_halves(void)
{
	struct stack none = { .kernel_half = STACK_NO_ROOM, .user_half = STACK_NONE, .comm = "dd" };
	struct stacks s;

	is_str(stack_half__words(STACK_NO_ROOM), "stack table full", "in words");
	stacks__init(&s, 100);
	add(&s, &none, 10, 100);
	add(&s, &none, 10, 100);
	add(&s, &full, 10, 100);
	is_u64(s.kernel_halves[STACK_NO_ROOM], 2, "I/Os are counted by why they have no stack");
	is_u64(s.user_halves[STACK_NONE], 2, "each half by itself");
	is_u64(s.kernel_halves[STACK_TAKEN], 1, "and those that have one");
	is_u64(s.rows[0]->sum.bytes, 200, "without a stack they are in a row of their own");
	stacks__free(&s);
}

static void check_hist(void)
{
	struct stack other = full;
	struct stacks s;

	other.pid = 1;
	stacks__init_with_hist(&s, 1);
	add(&s, &full, 5000, 10);
	add(&s, &full, 3000, 10);
	add(&s, &full, 6000, 20);
	is_u64(s.rows[0]->hist->count, 3, "all are in its distribution");
	is_u64(s.rows[0]->hist->slots[hist_slot(3000)], 1, "in their buckets");
	is_u64(s.rows[0]->sum.max_ns, 6000, "the longest of them");
	add(&s, &other, 7000, 1);
	ok(s.nr == 1 && s.other.hist && s.other.hist->count == 1, "the row `other` has one, too");
	stacks__free(&s);
}

/* ---- many ---- */

/* The first ones are the beginnings of the others. */
static const char *name_of(uint64_t i)
{
	static char names[NR_STACKS][64];

	snprintf(names[i], sizeof(names[i]), "f%.*s;%llu", (int)(i % 40),
		 "oooooooooooooooooooooooooooooooooooooooo", (unsigned long long)i / 40);
	return names[i];
}

static void add_nth(struct stacks *s, uint64_t i, uint64_t ns)
{
	struct stack stack = { .kernel = name_of(i), .comm = "x" };

	add(s, &stack, ns, i);
}

static void check_many(void)
{
	struct stacks s;
	uint64_t wrong = 0;

	stacks__init(&s, NR_STACKS);
	for (uint64_t round = 1; round <= 3; round++)
		for (uint64_t i = 0; i < NR_STACKS; i++)
			add_nth(&s, i, 10 * i + round);
	is_u64(s.nr, NR_STACKS, "3,000 stacks, 3,000 rows, however often each comes");
	for (uint64_t i = 0; i < NR_STACKS; i++)
		wrong += s.rows[i]->sum.count != 3 || s.rows[i]->sum.total_ns != 30 * i + 6 ||
			 s.rows[i]->sum.bytes != 3 * i;
	is_u64(wrong, 0, "each with its own three");
	stacks__free(&s);
}

static void check_full(void)
{
	struct stacks s;

	stacks__init(&s, 100);
	for (uint64_t i = 0; i < 150; i++)
		add_nth(&s, i, 7);
	add_nth(&s, 99, 7);
	is_u64(s.nr, 100, "no more rows than allowed");
	is_u64(s.other.sum.count, 50, "what is new is counted as other");
	is_u64(s.rows[99]->sum.count, 2, "what has a row still finds it");
	is_u64(s.total.count, 151, "and nothing is lost from the total");
	is_u64(s.total.total_ns, 151 * 7, "nor of its time");
	stacks__free(&s);
}

static void check_deep(void)
{
	static char first[DEEP], second[DEEP];
	struct stack stack = { .kernel = first, .comm = "deep" };
	struct stacks s;

	memset(first, 'f', DEEP - 1);
	memcpy(second, first, DEEP);
	second[DEEP - 2]++;
	stacks__init(&s, 10);
	add(&s, &stack, 1, 1);
	stack.kernel = second;
	add(&s, &stack, 1, 1);
	is_u64(s.nr, 2, "3,000 characters: the last one still counts");
	stacks__free(&s);
}

/* ---- order ---- */

static struct stack named(const char *comm, uint32_t pid)
{
	struct stack stack = { .pid = pid, .kernel = kernel };

	snprintf(stack.comm, sizeof(stack.comm), "%s", comm);
	return stack;
}

/* "a1 b2 ...": comm and pid in their order. */
static const char *order_of(struct stacks *s, enum stack_measure by)
{
	static char text[256];
	size_t len = 0;

	if (stacks__sort(s, by))
		return "no memory";
	for (size_t i = 0; i < s->nr; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%u", i ? " " : "",
					s->sorted[i]->stack.comm, s->sorted[i]->stack.pid);
	return text;
}

static void check_order(void)
{
	static const struct {
		const char *comm;
		uint32_t pid;
		struct stack_sum sum;
	} rows[] = {
		{ "b", 2, { .count = 5, .bytes = 1, .total_ns = 70 } },
		{ "b", 1, { .count = 5, .bytes = 9, .total_ns = 20 } },
		{ "a", 3, { .count = 5, .bytes = 4, .total_ns = 60 } },
		{ "c", 1, { .count = 9, .bytes = 2, .total_ns = UINT64_MAX } },
	};
	struct stacks s;

	stacks__init(&s, 10);
	is_str(order_of(&s, STACK_BY_COUNT), "", "nothing has no order");
	for (size_t i = 0; i < 4; i++) {
		struct stack stack = named(rows[i].comm, rows[i].pid);

		add(&s, &stack, rows[i].sum.total_ns, rows[i].sum.bytes);
		for (uint64_t n = 1; n < rows[i].sum.count; n++)
			add(&s, &stack, 0, 0);
	}
	is_str(order_of(&s, STACK_BY_COUNT), "c1 a3 b1 b2", "by count, equal ones by name");
	is_str(order_of(&s, STACK_BY_BYTES), "b1 a3 c1 b2", "by bytes");
	is_str(order_of(&s, STACK_BY_TIME), "c1 b2 a3 b1", "by time; large sums are not negative");
	is_u64(stack_sum__value(&rows[0].sum, STACK_BY_TIME), 70, "a measure of a sum");
	ok(s.rows[0]->stack.pid == 2 && s.rows[0]->stack.comm[0] == 'b',
	   "rows stay where they were");
	stacks__free(&s);
}

int main(void)
{
	check_sums();
	check_same();
	check_different();
	check_border();
	check_halves();
	check_hist();
	check_many();
	check_full();
	check_deep();
	check_order();
	return done_testing();
}
