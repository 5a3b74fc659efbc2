/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * known.c: from copies of a stack, is every return address found, so that another stack is
 * never taken for it, and do the leftovers of earlier calls not keep it from being known again?
 * Stacks are made: frames of random sizes, filled with leftovers.
 */
#include <stdlib.h>
#include <string.h>
#include "collect/known.h"
#include "draw.h"
#include "tap.h"

enum { FRAMES = 18, INNER = 3, ROUNDS = 400, STACKS = 500, SET = 2 };
#ifdef __x86_64__
enum { OUTER = 1 };
#else
enum { OUTER = 5 };
#endif

/* Where the return addresses of the frames lie, from INNER on; the rest lies before the context. */
struct made {
	struct io_stack frames;
	uint16_t at[FRAMES];
	uint64_t old[KNOWN_WORDS]; /* what earlier calls left */
	int nr_outer;		   /* frames that lie elsewhere each time */
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
	m->nr_outer = OUTER;
	for (int i = 0; i < FRAMES; i++) {
		m->frames.frames[i] = function(draw(1000));
		if (i < INNER)
			continue;
		m->at[i] = (uint16_t)at;
		at += 1 + (unsigned int)(draw(18));
	}
	for (int i = 0; i < KNOWN_WORDS; i++)
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
static struct known_copy sleep_at(const struct made *m)
{
	struct known_copy copy = { .number = m->frames.number,
				   .nr = KNOWN_WORDS,
				   .set = SET,
				   .of_kernel_thread = !m->nr_outer };
	unsigned int shift = (unsigned int)(draw(8));

	for (int i = 0; i < KNOWN_WORDS; i++)
		copy.words[i] = i % 4 == 0 && draw(2) ? draw(~0ULL) : m->old[i];
	for (int i = INNER; i < FRAMES; i++) {
		unsigned int at = m->at[i] + (i >= FRAMES - m->nr_outer ? shift : 0);

		copy.words[at] = on_stack(m->frames.frames[i]);
	}
	return copy;
}

/* As bpf/known.h compares. */
static uint32_t find(const struct known_stack *table, const struct known_copy *copy)
{
	for (int i = 0; i < KNOWN_STACKS; i++) {
		const struct known_stack *known = &table[copy->set * KNOWN_STACKS + i];
		uint32_t j = 0;

		while (j < known->nr &&
		       known_return_address(copy->words[known->at[j]]) == known->words[j])
			j++;
		if (known->nr && j == known->nr)
			return known->number;
	}
	return 0;
}

static void learn(struct known *known, const struct made *m)
{
	known__stack(known, &m->frames);
	for (int i = 0; i < KNOWN_COPIES; i++) {
		struct known_copy copy = sleep_at(m);

		known__copy(known, &copy);
	}
}

static struct known_stack table[KNOWN_SETS * KNOWN_STACKS];

static struct known *begin(void)
{
	struct known *known = known__new(table, STACKS);

	memset(table, 0, sizeof(table));
	if (!known)
		abort();
	return known;
}

/* Every frame that is looked for is changed, one at a time. */
static int taken_for_others(const struct made *m)
{
	int nr = 0;

	for (int i = INNER; i < FRAMES - (m->nr_outer ? m->nr_outer : 1); i++) {
		struct known_copy copy = sleep_at(m);

		copy.words[m->at[i]] = function(2000);
		nr += find(table, &copy) != 0;
	}
	return nr;
}

static void test_random(void)
{
	int learned = 0, again = 0, wrong = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct known *known = begin();
		struct known_copy copy;
		struct made m;

		make(&m, 1 + (uint32_t)round);
		learn(known, &m);
		learned += table[SET * KNOWN_STACKS].nr > 0;
		copy = sleep_at(&m);
		again += find(table, &copy) == m.frames.number;
		wrong += taken_for_others(&m);
		known__free(known);
	}
	ok(learned > ROUNDS * 2 / 3, "most stacks are known after %d copies: %d of %d",
	   KNOWN_COPIES, learned, ROUNDS);
	ok(again > learned * 9 / 10, "and are found again: %d", again);
	is_u64((uint64_t)wrong, 0, "a stack with one other frame is none of them");
}

static void test_many(void)
{
	struct known *known = begin();
	static struct made made[KNOWN_STACKS + 3];
	int right = 0, wrong = 0, places = 0;

	for (uint32_t i = 0; i < KNOWN_STACKS + 3; i++) {
		make(&made[i], i + 1);
		for (int w = 0; w < KNOWN_WORDS; w++)
			made[i].old[w] = 1; /* nothing is left */
		learn(known, &made[i]);
	}
	for (uint32_t i = 0; i < KNOWN_STACKS + 3; i++) {
		struct known_copy copy = sleep_at(&made[i]);
		uint32_t number = find(table, &copy);

		right += number == i + 1;
		wrong += number && number != i + 1;
	}
	for (int i = 0; i < KNOWN_SETS * KNOWN_STACKS; i++)
		places += table[i].nr > 0;
	is_u64((uint64_t)right, KNOWN_STACKS,
	       "as many stacks of a function are known as have room");
	is_u64((uint64_t)wrong, 0, "none is taken for another");
	is_u64((uint64_t)places, KNOWN_STACKS, "and nothing is written elsewhere");
	known__free(known);
}

static void refused(const char *name, const struct made *m, uint16_t nr)
{
	struct known *known = begin();

	known__stack(known, &m->frames);
	for (int i = 0; i < KNOWN_COPIES; i++) {
		struct known_copy copy = sleep_at(m);

		copy.nr = nr;
		known__copy(known, &copy);
	}
	ok(!table[SET * KNOWN_STACKS].nr, "%s: it is walked each time", name);
	known__free(known);
}

static void test_refused(void)
{
	struct made m, other;

	make(&m, 1);
	refused("a frame lies behind the copy", &m, m.at[FRAMES - OUTER - 1]);
	refused("a copy says that it is longer than it is", &m, KNOWN_WORDS + 1);
	other = m;
	other.at[INNER + 3] = m.at[INNER + 4];
	other.at[INNER + 4] = m.at[INNER + 3];
	memset(other.old, 1, sizeof(other.old));
	refused("frames in another order", &other, KNOWN_WORDS);
	other = m;
	other.frames.is_truncated = 1;
	refused("a truncated stack", &other, KNOWN_WORDS);
	other = m;
	other.frames.number = STACKS + 1;
	refused("a number that there is not", &other, KNOWN_WORDS);
	other = m;
	for (int i = 0; i < KNOWN_WORDS; i++)
		other.old[i] = m.frames.frames[INNER];
	refused("more places than there is room for", &other, KNOWN_WORDS);
}

/* Its outermost frame but one is a function, not the entry of a system call. */
static void test_kernel_thread(void)
{
	struct known *known = begin();
	struct known_copy copy;
	struct made m;

	make(&m, 1);
	m.nr_outer = 0;
	memset(m.old, 1, sizeof(m.old));
	learn(known, &m);
	copy = sleep_at(&m);
	is_u64(find(table, &copy), 1, "kernel thread: known");
	is_u64((uint64_t)taken_for_others(&m), 0, "by all its frames but the outermost");
	known__stop(known);
	is_u64(find(table, &copy), 0, "stopped: it is walked");
	learn(known, &m);
	make(&m, 2);
	memset(m.old, 1, sizeof(m.old));
	learn(known, &m);
	is_u64(table[SET * KNOWN_STACKS].nr, 0, "and so are new ones");
	known__free(known);
}

/* The numbers differ; do the stacks? */
static uint64_t doubted(const struct made *m, const struct io_stack *walked)
{
	struct known *known = begin();
	const struct known_doubt doubt = { .known = m->frames.number, .walked = 2 };
	uint64_t wrong;

	learn(known, m);
	if (walked)
		known__stack(known, walked);
	known__doubt(known, &doubt);
	wrong = known__nr_wrong(known);
	known__free(known);
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
	test_kernel_thread();
	test_doubt();
	return done_testing();
}
