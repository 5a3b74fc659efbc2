/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* qsort_r */
#include "analyse/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "base/grow.h"

const char *stack_half__words(enum stack_half half)
{
	static const char *const words[NR_STACK_HALF] = {
		[STACK_TAKEN] = "taken",
		[STACK_NOT_WANTED] = "not requested",
		[STACK_NONE] = "no stack",
		[STACK_COLLIDED] = "stacks collided",
		[STACK_NO_ROOM] = "stack table full",
		[STACK_FAILED] = "other error",
		[STACK_TRUNCATED] = "truncated",
	};

	return (unsigned int)half < NR_STACK_HALF ? words[half] : "?";
}

uint64_t stack_sum__value(const struct stack_sum *sum, enum stack_measure by)
{
	switch (by) {
	case STACK_BY_BYTES: return sum->bytes;
	case STACK_BY_TIME: return sum->total_ns;
	default: return sum->count;
	}
}

void stacks__init(struct stacks *s, size_t most_rows)
{
	memset(s, 0, sizeof(*s));
	s->most_rows = most_rows;
}

void stacks__init_with_hist(struct stacks *s, size_t most_rows)
{
	stacks__init(s, most_rows);
	s->with_hist = true;
}

static void stacks_free_row(struct stack_row *row)
{
	free(row->hist);
	free(row);
}

void stacks__free(struct stacks *s)
{
	for (size_t i = 0; i < s->nr; i++)
		stacks_free_row(s->rows[i]);
	free(s->rows);
	free(s->sorted);
	index__free(&s->index);
	free(s->other.hist);
	memset(s, 0, sizeof(*s));
}

/* ---- one row for each stack ---- */

static uint64_t stacks_mix_text(uint64_t h, const char *text)
{
	return text ? index__mix_text(h, text) : index__mix(h, 0);
}

static uint64_t stacks_hash(const struct stack *stack)
{
	uint64_t h = index__mix(stack->pid,
				(uint64_t)stack->kernel_half << 8 | (uint64_t)stack->user_half);

	h = stacks_mix_text(h, stack->comm);
	h = stacks_mix_text(h, stack->host);
	h = stacks_mix_text(h, stack->kernel);
	return stacks_mix_text(h, stack->user);
}

/* A missing text sorts first. */
static int stacks_compare_texts(const char *a, const char *b)
{
	if (a == b)
		return 0;
	return a && b ? strcmp(a, b) : COMPARE(a != NULL, b != NULL);
}

static int stacks_compare(const struct stack *a, const struct stack *b)
{
	int order = strncmp(a->comm, b->comm, sizeof(a->comm));

	order = order ?: stacks_compare_texts(a->host, b->host);
	order = order ?: COMPARE(a->pid, b->pid);
	order = order ?: COMPARE(a->kernel_half, b->kernel_half);
	order = order ?: COMPARE(a->user_half, b->user_half);
	order = order ?: stacks_compare_texts(a->kernel, b->kernel);
	return order ?: stacks_compare_texts(a->user, b->user);
}

static bool stacks_is(const void *rows, uint32_t number, const void *stack)
{
	return !stacks_compare(&((struct stack_row *const *)rows)[number]->stack, stack);
}

static struct stack_row *stacks_new_row(const struct stacks *s, const struct stack *stack)
{
	struct stack_row *row = calloc(1, sizeof(*row));

	if (!row)
		return NULL;
	if (s->with_hist)
		row->hist = calloc(1, sizeof(*row->hist));
	row->stack = *stack;
	if (!s->with_hist || row->hist)
		return row;
	stacks_free_row(row);
	return NULL;
}

static struct stack_row *stacks_other(struct stacks *s)
{
	if (s->with_hist && !s->other.hist)
		s->other.hist = calloc(1, sizeof(*s->other.hist));
	return s->with_hist && !s->other.hist ? NULL : &s->other;
}

static struct stack_row *stacks_row(struct stacks *s, const struct stack *stack)
{
	uint64_t hash = stacks_hash(stack);
	uint32_t at = index__find(&s->index, hash, stacks_is, s->rows, stack);
	struct stack_row *row;

	if (at != INDEX_NONE)
		return s->rows[at];
	if (s->nr == s->most_rows)
		return stacks_other(s);
	if (index__reserve(&s->index, &s->rows, sizeof(*s->rows)))
		return NULL;
	row = stacks_new_row(s, stack);
	if (!row)
		return NULL;
	s->rows[index__add(&s->index, hash)] = row;
	s->nr++;
	return row;
}

/* ---- sums ---- */

static void stacks_add_to(struct stack_sum *to, uint64_t ns, uint64_t bytes)
{
	to->count++;
	to->bytes += bytes;
	to->total_ns += ns;
	if (ns > to->max_ns)
		to->max_ns = ns;
}

int stacks__add(struct stacks *s, const struct stack *stack, uint64_t ns, uint64_t bytes)
{
	struct stack_row *row = stacks_row(s, stack);

	if (!row)
		return -ENOMEM;
	stacks_add_to(&row->sum, ns, bytes);
	stacks_add_to(&s->total, ns, bytes);
	s->kernel_halves[stack->kernel_half]++;
	s->user_halves[stack->user_half]++;
	if (row->hist)
		hist__add(row->hist, ns, bytes);
	return 0;
}

static void stacks_add_sum(struct stack_sum *to, const struct stack_sum *sum)
{
	to->count += sum->count;
	to->bytes += sum->bytes;
	to->total_ns += sum->total_ns;
	if (sum->max_ns > to->max_ns)
		to->max_ns = sum->max_ns;
}

int stacks__add_row(struct stacks *s, const struct stack_row *from)
{
	struct stack_row *row = stacks_row(s, &from->stack);

	if (!row)
		return -ENOMEM;
	stacks_add_sum(&row->sum, &from->sum);
	stacks_add_sum(&s->total, &from->sum);
	s->kernel_halves[from->stack.kernel_half] += from->sum.count;
	s->user_halves[from->stack.user_half] += from->sum.count;
	if (row->hist && from->hist)
		hist__merge(row->hist, from->hist);
	return 0;
}

void stacks__clear(struct stacks *s)
{
	bool with_hist = s->with_hist;
	size_t most_rows = s->most_rows;

	stacks__free(s);
	stacks__init(s, most_rows);
	s->with_hist = with_hist;
}

/* ---- order ---- */

static int stacks_compare_rows(const void *left, const void *right, void *by)
{
	const struct stack_row *a = *(struct stack_row *const *)left;
	const struct stack_row *b = *(struct stack_row *const *)right;
	const enum stack_measure measure = *(enum stack_measure *)by;

	return COMPARE(stack_sum__value(&b->sum, measure), stack_sum__value(&a->sum, measure))
		       ?: stacks_compare(&a->stack, &b->stack);
}

int stacks__sort(struct stacks *s, enum stack_measure by)
{
	if (grow__to(&s->sorted, s->nr + 1, sizeof(*s->sorted)))
		return -ENOMEM;
	if (s->nr)
		memcpy(s->sorted, s->rows, s->nr * sizeof(*s->sorted));
	qsort_r(s->sorted, s->nr, sizeof(*s->sorted), stacks_compare_rows, &by);
	return 0;
}
