/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STACKS_MIN_INDEX = 64 };

enum stack_half stack_half__of(int64_t id)
{
	switch (id) {
	case -EEXIST: return STACK_COLLIDED;
	case -ENOMEM: return STACK_NO_ROOM;
	case -EFAULT: return STACK_NONE;
	default: return id >= 0 ? STACK_TAKEN : STACK_FAILED;
	}
}

const char *stack_half__words(enum stack_half half)
{
	static const char *const words[NR_STACK_HALF] = {
		[STACK_TAKEN] = "taken",
		[STACK_NOT_WANTED] = "not wanted",
		[STACK_NONE] = "no stack",
		[STACK_COLLIDED] = "stacks collided",
		[STACK_NO_ROOM] = "stack table full",
		[STACK_FAILED] = "stack not taken",
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
	free((void *)row->stack.kernel); /* with the user's behind it */
	free(row->hist);
	free(row);
}

void stacks__free(struct stacks *s)
{
	for (size_t i = 0; i < s->nr; i++)
		stacks_free_row(s->rows[i]);
	free(s->rows);
	free(s->sorted);
	free(s->index);
	free(s->other.hist);
	memset(s, 0, sizeof(*s));
}

/* ---- one row for each stack ---- */

static uint64_t stacks_mix(uint64_t h, uint64_t word)
{
	return (h ^ word) * 0x9e3779b97f4a7c15ULL ^ h >> 29;
}

static uint64_t stacks_hash(const struct stack *stack)
{
	uint64_t comm[2] = { 0 }, h = stacks_mix(stack->pid, stack->image);

	memcpy(comm, stack->comm, strnlen(stack->comm, sizeof(comm)));
	h = stacks_mix(stacks_mix(h, comm[0]), comm[1]);
	h = stacks_mix(h, (uint64_t)stack->kernel_half << 8 | (uint64_t)stack->user_half);
	for (uint32_t i = 0; i < stack->nr_kernel; i++)
		h = stacks_mix(h, stack->kernel[i]);
	for (uint32_t i = 0; i < stack->nr_user; i++)
		h = stacks_mix(h, stack->user[i]);
	return h >> 20;
}

static int stacks_order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int stacks_compare_frames(const uint64_t *a, uint32_t nr_a, const uint64_t *b, uint32_t nr_b)
{
	for (uint32_t i = 0; i < nr_a && i < nr_b; i++)
		if (a[i] != b[i])
			return stacks_order(a[i], b[i]);
	return stacks_order(nr_a, nr_b);
}

static int stacks_compare(const struct stack *a, const struct stack *b)
{
	int order = strncmp(a->comm, b->comm, sizeof(a->comm));

	order = order ?: stacks_order(a->pid, b->pid);
	order = order ?: stacks_order(a->image, b->image);
	order = order ?: stacks_order(a->kernel_half, b->kernel_half);
	order = order ?: stacks_order(a->user_half, b->user_half);
	order = order ?: stacks_compare_frames(a->kernel, a->nr_kernel, b->kernel, b->nr_kernel);
	return order ?: stacks_compare_frames(a->user, a->nr_user, b->user, b->nr_user);
}

static uint32_t *stacks_cell(const struct stacks *s, const struct stack *stack)
{
	size_t at = stacks_hash(stack) & (s->index_size - 1);

	while (s->index[at] && stacks_compare(&s->rows[s->index[at] - 1]->stack, stack))
		at = (at + 1) & (s->index_size - 1);
	return &s->index[at];
}

/* At most half full. */
static int stacks_grow(struct stacks *s)
{
	size_t size = s->index_size ? 2 * s->index_size : STACKS_MIN_INDEX;
	struct stack_row **rows = realloc(s->rows, size / 2 * sizeof(*rows));
	uint32_t *index = calloc(size, sizeof(*index));

	if (rows)
		s->rows = rows;
	if (!rows || !index) {
		free(index);
		return -ENOMEM;
	}
	free(s->index);
	s->index = index;
	s->index_size = size;
	for (size_t i = 0; i < s->nr; i++)
		*stacks_cell(s, &s->rows[i]->stack) = (uint32_t)i + 1;
	return 0;
}

static int stacks_copy(struct stack *to, const struct stack *from)
{
	size_t nr = (size_t)from->nr_kernel + from->nr_user;
	uint64_t *frames = calloc(nr ? nr : 1, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	if (from->nr_kernel)
		memcpy(frames, from->kernel, from->nr_kernel * sizeof(*frames));
	if (from->nr_user)
		memcpy(frames + from->nr_kernel, from->user, from->nr_user * sizeof(*frames));
	*to = *from;
	to->kernel = frames;
	to->user = frames + from->nr_kernel;
	return 0;
}

static struct stack_row *stacks_new_row(const struct stacks *s, const struct stack *stack)
{
	struct stack_row *row = calloc(1, sizeof(*row));

	if (!row)
		return NULL;
	if (s->with_hist)
		row->hist = calloc(1, sizeof(*row->hist));
	if ((!s->with_hist || row->hist) && !stacks_copy(&row->stack, stack))
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
	struct stack_row *row;
	uint32_t *cell;

	if (2 * (s->nr + 1) > s->index_size && stacks_grow(s))
		return NULL;
	cell = stacks_cell(s, stack);
	if (*cell)
		return s->rows[*cell - 1];
	if (s->nr == s->most_rows)
		return stacks_other(s);
	row = stacks_new_row(s, stack);
	if (!row)
		return NULL;
	s->rows[s->nr] = row;
	*cell = (uint32_t)++s->nr;
	return row;
}

/* ---- sums ---- */

static void stacks_add_to(struct stack_sum *to, const struct stack_sum *sum)
{
	to->count += sum->count;
	to->bytes += sum->bytes;
	to->total_ns += sum->total_ns;
	if (sum->max_ns > to->max_ns)
		to->max_ns = sum->max_ns;
}

static struct stack_row *stacks_count(struct stacks *s, const struct stack *stack,
				      const struct stack_sum *sum)
{
	struct stack_row *row = stacks_row(s, stack);

	if (!row)
		return NULL;
	stacks_add_to(&row->sum, sum);
	stacks_add_to(&s->total, sum);
	s->kernel_halves[stack->kernel_half] += sum->count;
	s->user_halves[stack->user_half] += sum->count;
	return row;
}

int stacks__add_sum(struct stacks *s, const struct stack *stack, const struct stack_sum *sum,
		    const struct hist *part)
{
	struct stack_row *row = stacks_count(s, stack, sum);

	if (row && row->hist && part)
		hist__merge(row->hist, part);
	return row ? 0 : -ENOMEM;
}

int stacks__add(struct stacks *s, const struct stack *stack, uint64_t ns, uint64_t bytes)
{
	const struct stack_sum one = { .count = 1, .bytes = bytes, .total_ns = ns, .max_ns = ns };
	struct stack_row *row = stacks_count(s, stack, &one);

	if (row && row->hist)
		hist__add(row->hist, ns, bytes);
	return row ? 0 : -ENOMEM;
}

static void stacks_clear(struct stack_row *row)
{
	memset(&row->sum, 0, sizeof(row->sum));
	if (row->hist)
		memset(row->hist, 0, sizeof(*row->hist));
}

void stacks__begin(struct stacks *s)
{
	for (size_t i = 0; i < s->nr; i++)
		stacks_clear(s->rows[i]);
	stacks_clear(&s->other);
	memset(&s->total, 0, sizeof(s->total));
	memset(s->kernel_halves, 0, sizeof(s->kernel_halves));
	memset(s->user_halves, 0, sizeof(s->user_halves));
}

/* ---- order ---- */

static int stacks_compare_rows(const struct stack_row *a, const struct stack_row *b,
			       enum stack_measure by)
{
	int order = stacks_order(stack_sum__value(&b->sum, by), stack_sum__value(&a->sum, by));

	return order ?: stacks_compare(&a->stack, &b->stack);
}

static int stacks_by_count(const void *a, const void *b)
{
	return stacks_compare_rows(*(struct stack_row **)a, *(struct stack_row **)b,
				   STACK_BY_COUNT);
}

static int stacks_by_bytes(const void *a, const void *b)
{
	return stacks_compare_rows(*(struct stack_row **)a, *(struct stack_row **)b,
				   STACK_BY_BYTES);
}

static int stacks_by_time(const void *a, const void *b)
{
	return stacks_compare_rows(*(struct stack_row **)a, *(struct stack_row **)b, STACK_BY_TIME);
}

int stacks__sort(struct stacks *s, enum stack_measure by)
{
	static int (*const orders[])(const void *a, const void *b) = {
		[STACK_BY_COUNT] = stacks_by_count,
		[STACK_BY_BYTES] = stacks_by_bytes,
		[STACK_BY_TIME] = stacks_by_time,
	};
	struct stack_row **sorted = realloc(s->sorted, (s->nr + 1) * sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	s->sorted = sorted;
	if (s->nr)
		memcpy(sorted, s->rows, s->nr * sizeof(*sorted));
	qsort(sorted, s->nr, sizeof(*sorted), orders[by]);
	return 0;
}
