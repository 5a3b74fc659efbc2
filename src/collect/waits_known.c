/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/waits_known.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * The outermost frames are not looked for: the kernel moves the entry of a system call by a random
 * distance (in do_syscall_64; in invoke_syscall, which three functions lie before), and they follow
 * from the one that calls on.
 */
#ifdef __x86_64__
enum { KNOWN_OUTER = 1 };
#else
enum { KNOWN_OUTER = 5 };
#endif
/* How many of the innermost ones may lie before the context: our program and what runs it. */
enum { KNOWN_INNER = 6, KNOWN_LEAST = 4 };

struct known_place {
	uint16_t at;
	uint64_t word;
};

struct known_stack {
	uint16_t nr_frames, nr_copies, nr_places;
	uint16_t first;		    /* of the frames that lie behind the context */
	struct known_place *places; /* that all copies have, innermost first; NULL: none */
	uint64_t frames[];	    /* innermost first */
};

struct waits_known {
	struct wait_known_stack *table;
	struct known_stack *stacks[WAIT_STACKS + 1]; /* by number; NULL: not followed */
	uint64_t nr_wrong;
};

struct waits_known *waits_known__new(struct wait_known_stack *table)
{
	struct waits_known *known = calloc(1, sizeof(*known));

	if (known)
		known->table = table;
	return known;
}

void waits_known__free(struct waits_known *known)
{
	for (uint32_t i = 0; known && i <= WAIT_STACKS; i++) {
		if (known->stacks[i])
			free(known->stacks[i]->places);
		free(known->stacks[i]);
	}
	free(known);
}

void waits_known__stack(struct waits_known *known, const struct io_stack *stack)
{
	const size_t bytes = stack->nr * sizeof(stack->frames[0]);
	struct known_stack *s;

	if (!stack->number || stack->number > WAIT_STACKS || known->stacks[stack->number])
		return;
	if (stack->is_truncated || stack->nr < KNOWN_OUTER + KNOWN_LEAST ||
	    stack->nr > STACK_FRAMES)
		return;
	s = calloc(1, sizeof(*s) + bytes);
	if (!s)
		return;
	s->nr_frames = stack->nr;
	memcpy(s->frames, stack->frames, bytes);
	known->stacks[stack->number] = s;
}

/* ---- places ---- */

static bool known_has_frame(const struct known_stack *s, uint64_t word)
{
	for (int i = 0; i < s->nr_frames - KNOWN_OUTER; i++)
		if (s->frames[i] == word)
			return word != 0;
	return false;
}

static void known_begin(struct known_stack *s, const struct wait_copy *copy)
{
	s->places = calloc(WAIT_WORDS, sizeof(s->places[0]));
	for (uint16_t i = 0; s->places && i < copy->nr; i++) {
		uint64_t word = wait_return_address(copy->words[i]);

		if (known_has_frame(s, word))
			s->places[s->nr_places++] = (struct known_place){ .at = i, .word = word };
	}
}

static void known_compare(struct known_stack *s, const struct wait_copy *copy)
{
	uint16_t nr = 0;

	for (int i = 0; i < s->nr_places; i++) {
		const struct known_place *place = &s->places[i];

		if (place->at < copy->nr &&
		    wait_return_address(copy->words[place->at]) == place->word)
			s->places[nr++] = *place;
	}
	s->nr_places = nr;
}

/* True: every frame from the context on has a place, in order. */
static bool known_is_whole(struct known_stack *s)
{
	const int last = s->nr_frames - KNOWN_OUTER;
	int first = 0, frame, i = 0;

	while (first < KNOWN_INNER && first < last && s->nr_places &&
	       s->places[0].word != s->frames[first])
		first++;
	for (frame = first; i < s->nr_places && frame < last; i++)
		frame += s->places[i].word == s->frames[frame];
	s->first = (uint16_t)first;
	return frame == last && frame - first >= KNOWN_LEAST;
}

/* ---- what the programs see ---- */

static struct wait_known_stack *known_find_free(struct waits_known *known, uint8_t by)
{
	struct wait_known_stack *first = &known->table[(by % WAIT_FUNCTIONS) * WAIT_KNOWN];

	for (int i = 0; i < WAIT_KNOWN; i++)
		if (!first[i].nr)
			return &first[i];
	return NULL;
}

static void known_publish(struct waits_known *known, const struct known_stack *s,
			  const struct wait_copy *copy)
{
	struct wait_known_stack *to = known_find_free(known, copy->by);

	if (!to || s->nr_places > WAIT_PLACES)
		return;
	for (int i = 0; i < s->nr_places; i++) {
		const struct known_place *place = &s->places[s->nr_places - 1 - i];

		to->at[i] = place->at;
		to->words[i] = place->word;
	}
	to->number = copy->number;
	__atomic_store_n(&to->nr, s->nr_places, __ATOMIC_RELEASE);
}

void waits_known__copy(struct waits_known *known, const struct wait_copy *copy)
{
	struct known_stack *s = copy->number <= WAIT_STACKS ? known->stacks[copy->number] : NULL;

	if (!s || copy->nr > WAIT_WORDS || s->nr_copies == WAIT_COPIES)
		return;
	if (!s->places)
		known_begin(s, copy);
	else
		known_compare(s, copy);
	if (!s->places || ++s->nr_copies < WAIT_COPIES)
		return;
	if (known_is_whole(s))
		known_publish(known, s, copy);
	free(s->places);
	s->places = NULL;
}

/* ---- in doubt ---- */

static const struct known_stack *known_stack(const struct waits_known *known, uint32_t number)
{
	return number <= WAIT_STACKS ? known->stacks[number] : NULL;
}

/* A walked stack whose frames did not arrive is no evidence. */
void waits_known__doubt(struct waits_known *known, const struct wait_doubt *doubt)
{
	const struct known_stack *a = known_stack(known, doubt->known);
	const struct known_stack *b = known_stack(known, doubt->walked);
	const int nr = a ? a->nr_frames - a->first : 0;

	if (!a || !b)
		return;
	known->nr_wrong +=
		b->nr_frames < nr || memcmp(&a->frames[a->first], &b->frames[b->nr_frames - nr],
					    (size_t)nr * sizeof(a->frames[0])) != 0;
}

uint64_t waits_known__nr_wrong(const struct waits_known *known)
{
	return known->nr_wrong;
}
