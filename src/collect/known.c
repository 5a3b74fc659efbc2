/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/known.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * The outermost frames are not looked for: the kernel moves the entry of a system call by a random
 * distance (in do_syscall_64; in invoke_syscall, which three functions lie before), and they follow
 * from the one that calls on. Kernel threads have no such entry.
 */
#ifdef __x86_64__
enum { KNOWN_OUTER = 1 };
#else
enum { KNOWN_OUTER = 5 };
#endif
enum { KNOWN_OUTER_OF_KERNEL_THREAD = 1 };
/* How many of the innermost ones may lie before the context: our program and what runs it. */
enum { KNOWN_INNER = 6, KNOWN_LEAST = 4 };

struct known_place {
	uint16_t at;
	uint64_t word;
};

struct learned {
	uint16_t nr_frames, nr_copies, nr_places;
	uint16_t first;		    /* of the frames that lie behind the context, */
	uint16_t last;		    /* and the one after those that are looked for */
	struct known_place *places; /* that all copies have, innermost first; NULL: none */
	uint64_t frames[];	    /* innermost first */
};

struct known {
	struct known_stack *table;
	uint64_t nr_wrong;
	uint32_t greatest;
	bool has_stopped;
	struct learned *stacks[]; /* by number; NULL: not followed */
};

struct known *known__new(struct known_stack *table, uint32_t greatest)
{
	struct known *known =
		calloc(1, sizeof(*known) + (greatest + 1ULL) * sizeof(known->stacks[0]));

	if (known) {
		known->table = table;
		known->greatest = greatest;
	}
	return known;
}

void known__free(struct known *known)
{
	for (uint32_t i = 0; known && i <= known->greatest; i++) {
		if (known->stacks[i])
			free(known->stacks[i]->places);
		free(known->stacks[i]);
	}
	free(known);
}

void known__stack(struct known *known, const struct io_stack *stack)
{
	const size_t bytes = stack->nr * sizeof(stack->frames[0]);
	struct learned *s;

	if (!stack->number || stack->number > known->greatest || known->stacks[stack->number])
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

static bool known_has_frame(const struct learned *s, uint64_t word)
{
	for (int i = 0; i < s->last; i++)
		if (s->frames[i] == word)
			return word != 0;
	return false;
}

static void known_begin(struct learned *s, const struct known_copy *copy)
{
	struct known_place found[KNOWN_WORDS];
	uint16_t nr = 0;

	s->last = s->nr_frames -
		  (copy->of_kernel_thread ? KNOWN_OUTER_OF_KERNEL_THREAD : KNOWN_OUTER);
	for (uint16_t i = 0; i < copy->nr; i++) {
		uint64_t word = known_return_address(copy->words[i]);

		if (known_has_frame(s, word))
			found[nr++] = (struct known_place){ .at = i, .word = word };
	}
	s->places = calloc(nr + 1U, sizeof(found[0]));
	if (!s->places)
		return;
	memcpy(s->places, found, nr * sizeof(found[0]));
	s->nr_places = nr;
}

static void known_compare(struct learned *s, const struct known_copy *copy)
{
	uint16_t nr = 0;

	for (int i = 0; i < s->nr_places; i++) {
		const struct known_place *place = &s->places[i];

		if (place->at < copy->nr &&
		    known_return_address(copy->words[place->at]) == place->word)
			s->places[nr++] = *place;
	}
	s->nr_places = nr;
}

/* True: every frame from the context on has a place, in order. */
static bool known_is_whole(struct learned *s)
{
	const int last = s->last;
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

static struct known_stack *known_find_free(struct known *known, uint8_t set)
{
	struct known_stack *first = &known->table[(set % KNOWN_SETS) * KNOWN_STACKS];

	for (int i = 0; i < KNOWN_STACKS; i++)
		if (!first[i].nr)
			return &first[i];
	return NULL;
}

static void known_publish(struct known *known, const struct learned *s,
			  const struct known_copy *copy)
{
	struct known_stack *to = known_find_free(known, copy->set);

	if (!to || s->nr_places > KNOWN_PLACES)
		return;
	for (int i = 0; i < s->nr_places; i++) {
		const struct known_place *place = &s->places[s->nr_places - 1 - i];

		to->at[i] = place->at;
		to->words[i] = place->word;
	}
	to->number = copy->number;
	__atomic_store_n(&to->nr, s->nr_places, __ATOMIC_RELEASE);
}

void known__copy(struct known *known, const struct known_copy *copy)
{
	struct learned *s = copy->number <= known->greatest ? known->stacks[copy->number] : NULL;

	if (!s || known->has_stopped || copy->nr > KNOWN_WORDS || s->nr_copies == KNOWN_COPIES)
		return;
	if (!s->places)
		known_begin(s, copy);
	else
		known_compare(s, copy);
	if (!s->places || ++s->nr_copies < KNOWN_COPIES)
		return;
	if (known_is_whole(s))
		known_publish(known, s, copy);
	free(s->places);
	s->places = NULL;
}

/* ---- in doubt ---- */

static const struct learned *known_learned(const struct known *known, uint32_t number)
{
	return number <= known->greatest ? known->stacks[number] : NULL;
}

/* A walked stack whose frames did not arrive is no evidence. */
void known__doubt(struct known *known, const struct known_doubt *doubt)
{
	const struct learned *a = known_learned(known, doubt->known);
	const struct learned *b = known_learned(known, doubt->walked);
	const int nr = a ? a->nr_frames - a->first : 0;

	if (!a || !b)
		return;
	known->nr_wrong +=
		b->nr_frames < nr || memcmp(&a->frames[a->first], &b->frames[b->nr_frames - nr],
					    (size_t)nr * sizeof(a->frames[0])) != 0;
}

uint64_t known__nr_wrong(const struct known *known)
{
	return known->nr_wrong;
}

void known__stop(struct known *known)
{
	known->has_stopped = true;
	for (int i = 0; i < KNOWN_SETS * KNOWN_STACKS; i++)
		__atomic_store_n(&known->table[i].nr, 0, __ATOMIC_RELEASE);
}
