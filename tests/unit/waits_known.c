/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits_known.c: from copies of a stack, is every return address found, so that another stack is
 * never taken for it, and do the leftovers of earlier calls not keep it from being known again?
 * Stacks are made: frames of random sizes, filled with leftovers.
 */
#include <stdlib.h>
#include <string.h>
#include "collect/waits_known.h"
#include "draw.h"
#include "tap.h"

enum { FRAMES = 18, INNER = 3, ROUNDS = 400, FUNCTION = 2 };
#ifdef __x86_64__
enum { OUTER = 1 };
#else
enum { OUTER = 5 };
#endif

/* Where the return addresses of the frames lie, from INNER on; the rest lies before the context. */
struct made {
	struct io_stack frames;
	uint16_t at[FRAMES];
	uint64_t old[WAIT_WORDS]; /* what earlier calls left */
};

static uint64_t function(uint64_t nr)
{
	return 0xffffffff81000000ULL + nr * 64 + 5;
}

static void make(struct made *m, uint32_t number)
{
	unsigned int at = (unsigned int)(draw(6));

	memset(m, 0, sizeof(*m));
	m->frames.number = number;
	m->frames.nr = FRAMES;
	for (int i = 0; i < FRAMES; i++) {
		m->frames.frames[i] = function(draw(1000));
		if (i < INNER)
			continue;
		m->at[i] = (uint16_t)at;
		at += 1 + (unsigned int)(draw(18));
	}
	for (int i = 0; i < WAIT_WORDS; i++)
		m->old[i] = draw(20) ? draw(~0ULL) : m->frames.frames[draw(FRAMES)];
}

/* As the kernel's functions put it on the stack: arm64 may sign it, differently for each task. */
static uint64_t on_stack(uint64_t address)
{
#ifdef __aarch64__
	return address ^ draw(1 << 16) << 48;
#else
	return address;
#endif
}

/* One sleep: some of the leftovers differ each time, and the outermost frames lie elsewhere. */
static struct wait_copy sleep_at(const struct made *m)
{
	struct wait_copy copy = { .number = m->frames.number, .nr = WAIT_WORDS, .by = FUNCTION };
	unsigned int shift = (unsigned int)(draw(8));

	for (int i = 0; i < WAIT_WORDS; i++)
		copy.words[i] = i % 4 == 0 && draw(2) ? draw(~0ULL) : m->old[i];
	for (int i = INNER; i < FRAMES; i++) {
		unsigned int at = m->at[i] + (i >= FRAMES - OUTER ? shift : 0);

		copy.words[at] = on_stack(m->frames.frames[i]);
	}
	return copy;
}

/* As bpf/wait_known.h compares. */
static uint32_t find(const struct wait_known_stack *table, const struct wait_copy *copy)
{
	for (int i = 0; i < WAIT_KNOWN; i++) {
		const struct wait_known_stack *known = &table[copy->by * WAIT_KNOWN + i];
		uint32_t j = 0;

		while (j < known->nr &&
		       wait_return_address(copy->words[known->at[j]]) == known->words[j])
			j++;
		if (known->nr && j == known->nr)
			return known->number;
	}
	return 0;
}

static void learn(struct waits_known *known, const struct made *m)
{
	waits_known__stack(known, &m->frames);
	for (int i = 0; i < WAIT_COPIES; i++) {
		struct wait_copy copy = sleep_at(m);

		waits_known__copy(known, &copy);
	}
}

static struct wait_known_stack table[WAIT_FUNCTIONS * WAIT_KNOWN];

static struct waits_known *begin(void)
{
	struct waits_known *known = waits_known__new(table);

	memset(table, 0, sizeof(table));
	if (!known)
		abort();
	return known;
}

/* Every frame that is looked for is changed, one at a time. */
static int taken_for_others(const struct made *m)
{
	int nr = 0;

	for (int i = INNER; i < FRAMES - OUTER; i++) {
		struct wait_copy copy = sleep_at(m);

		copy.words[m->at[i]] = function(2000);
		nr += find(table, &copy) != 0;
	}
	return nr;
}

static void test_random(void)
{
	int learned = 0, again = 0, wrong = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct waits_known *known = begin();
		struct wait_copy copy;
		struct made m;

		make(&m, 1 + (uint32_t)round);
		learn(known, &m);
		learned += table[FUNCTION * WAIT_KNOWN].nr > 0;
		copy = sleep_at(&m);
		again += find(table, &copy) == m.frames.number;
		wrong += taken_for_others(&m);
		waits_known__free(known);
	}
	ok(learned > ROUNDS * 2 / 3, "most stacks are known after %d copies: %d of %d", WAIT_COPIES,
	   learned, ROUNDS);
	ok(again > learned * 9 / 10, "and are found again: %d", again);
	is_u64((uint64_t)wrong, 0, "a stack with one other frame is none of them");
}

static void test_many(void)
{
	struct waits_known *known = begin();
	static struct made made[WAIT_KNOWN + 3];
	int right = 0, wrong = 0, places = 0;

	for (uint32_t i = 0; i < WAIT_KNOWN + 3; i++) {
		make(&made[i], i + 1);
		for (int w = 0; w < WAIT_WORDS; w++)
			made[i].old[w] = 1; /* nothing is left */
		learn(known, &made[i]);
	}
	for (uint32_t i = 0; i < WAIT_KNOWN + 3; i++) {
		struct wait_copy copy = sleep_at(&made[i]);
		uint32_t number = find(table, &copy);

		right += number == i + 1;
		wrong += number && number != i + 1;
	}
	for (int i = 0; i < WAIT_FUNCTIONS * WAIT_KNOWN; i++)
		places += table[i].nr > 0;
	is_u64((uint64_t)right, WAIT_KNOWN, "as many stacks of a function are known as have room");
	is_u64((uint64_t)wrong, 0, "none is taken for another");
	is_u64((uint64_t)places, WAIT_KNOWN, "and nothing is written elsewhere");
	waits_known__free(known);
}

static void refused(const char *name, const struct made *m, uint16_t nr)
{
	struct waits_known *known = begin();

	waits_known__stack(known, &m->frames);
	for (int i = 0; i < WAIT_COPIES; i++) {
		struct wait_copy copy = sleep_at(m);

		copy.nr = nr;
		waits_known__copy(known, &copy);
	}
	ok(!table[FUNCTION * WAIT_KNOWN].nr, "%s: it is walked each time", name);
	waits_known__free(known);
}

static void test_refused(void)
{
	struct made m, other;

	make(&m, 1);
	refused("a frame lies behind the copy", &m, m.at[FRAMES - OUTER - 1]);
	refused("a copy says that it is longer than it is", &m, WAIT_WORDS + 1);
	other = m;
	other.at[INNER + 3] = m.at[INNER + 4];
	other.at[INNER + 4] = m.at[INNER + 3];
	memset(other.old, 1, sizeof(other.old));
	refused("frames in another order", &other, WAIT_WORDS);
	other = m;
	other.frames.is_truncated = 1;
	refused("a truncated stack", &other, WAIT_WORDS);
	other = m;
	other.frames.number = WAIT_STACKS + 1;
	refused("a number that there is not", &other, WAIT_WORDS);
	other = m;
	for (int i = 0; i < WAIT_WORDS; i++)
		other.old[i] = m.frames.frames[INNER];
	refused("more places than there is room for", &other, WAIT_WORDS);
}

/* The numbers differ; do the stacks? */
static uint64_t doubted(const struct made *m, const struct io_stack *walked)
{
	struct waits_known *known = begin();
	const struct wait_doubt doubt = { .known = m->frames.number, .walked = 2 };
	uint64_t wrong;

	learn(known, m);
	if (walked)
		waits_known__stack(known, walked);
	waits_known__doubt(known, &doubt);
	wrong = waits_known__nr_wrong(known);
	waits_known__free(known);
	return wrong;
}

static void test_doubt(void)
{
	struct io_stack walked;
	struct made m;

	make(&m, 1);
	memset(m.old, 1, sizeof(m.old));
	walked = m.frames;
	walked.number = 2;
	walked.frames[0] = walked.frames[INNER - 1] = function(3000);
	is_u64(doubted(&m, &walked), 0, "our program was called from elsewhere: the same stack");
	memmove(walked.frames + 1, walked.frames, (FRAMES - 1) * sizeof(walked.frames[0]));
	walked.frames[FRAMES] = m.frames.frames[FRAMES - 1];
	walked.nr = FRAMES + 1;
	is_u64(doubted(&m, &walked), 0, "and through one function more");
	walked.frames[FRAMES - 5] = function(3000);
	is_u64(doubted(&m, &walked), 1, "another function: not the same");
	is_u64(doubted(&m, NULL), 0, "a stack that did not arrive is no evidence");
}

int main(void)
{
	test_random();
	test_many();
	test_refused();
	test_doubt();
	return done_testing();
}
