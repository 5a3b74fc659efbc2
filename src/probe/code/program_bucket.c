/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_bucket.c: which instructions find the bucket of a number? Buckets are those of
 * wire/buckets.h, the position of the highest bit, or equal steps. No loop: a search by halves
 * finds the highest bit in at most 6 branches.
 */
#include "probe/code/program_inside.h"
#include "wire/buckets.h"

/* The magnitude into R1, the bit of negative numbers into R5. */
static void bucket_take_sign(struct emit *e)
{
	int positive = code__label(&e->code);

	code__set(&e->code, R5, 0);
	if (e->plan->of_is_signed) {
		code__jump_if_number(&e->code, BPF_JSGE, R1, 0, positive);
		code__negate(&e->code, R1);
		code__set(&e->code, R5, PROBE_NEGATIVE);
	}
	code__bind(&e->code, positive);
}

/* Adds the position of from's highest bit, which is below 2 * half, to `to`. Clobbers R0 and
 * from. */
static void bucket_add_log2(struct emit *e, enum code_reg from, uint32_t half, enum code_reg to)
{
	for (; half > 1; half /= 2) {
		int small = code__label(&e->code);

		code__jump_if_number(&e->code, BPF_JLT, from, 1LL << half, small);
		code__reckon_number(&e->code, BPF_RSH, from, half);
		code__reckon_number(&e->code, BPF_ADD, to, half);
		code__bind(&e->code, small);
	}
	code__reckon_number(&e->code, BPF_RSH, from, 1);
	code__reckon(&e->code, BPF_ADD, to, from);
}

/* hist_wide_slot */
static void bucket_fine(struct emit *e)
{
	int done = code__label(&e->code);
	struct code *code = &e->code;

	bucket_take_sign(e);
	code__jump_if_number(code, BPF_JLT, R1, HIST_SUB, done);
	code__move(code, R2, R1);
	code__reckon_number(code, BPF_RSH, R2, HIST_SUB_BITS);
	code__set(code, R3, 0);
	bucket_add_log2(e, R2, 32, R3);
	code__reckon(code, BPF_RSH, R1, R3);
	code__reckon_number(code, BPF_LSH, R3, HIST_SUB_BITS);
	code__reckon(code, BPF_ADD, R1, R3);
	code__bind(code, done);
	code__reckon(code, BPF_OR, R1, R5);
}

static void bucket_log2(struct emit *e)
{
	int zero = code__label(&e->code);

	bucket_take_sign(e);
	code__jump_if_number(&e->code, BPF_JEQ, R1, 0, zero);
	code__set(&e->code, R3, 1);
	bucket_add_log2(e, R1, 32, R3);
	code__move(&e->code, R1, R3);
	code__bind(&e->code, zero);
	code__reckon(&e->code, BPF_OR, R1, R5);
}

/* Unsigned numbers are above any negative bound: nothing is below it. */
static void bucket_linear(struct emit *e)
{
	const struct plan *plan = e->plan;
	bool is_signed = plan->of_is_signed, has_below = is_signed || plan->linear_from > 0;
	int64_t to = is_signed || plan->linear_to > 0 ? plan->linear_to : 0;
	uint64_t span = (uint64_t)plan->linear_to - (uint64_t)plan->linear_from;
	uint64_t step = (uint64_t)plan->linear_step, nr_steps = span / step + (span % step != 0);
	int above = code__label(&e->code), below = code__label(&e->code);
	int done = code__label(&e->code);
	struct code *code = &e->code;

	code__jump_if_number(code, is_signed ? BPF_JSGE : BPF_JGE, R1, to, above);
	if (has_below)
		code__jump_if_number(code, is_signed ? BPF_JSLT : BPF_JLT, R1, plan->linear_from,
				     below);
	code__reckon_number(code, BPF_SUB, R1, plan->linear_from);
	code__reckon_number(code, BPF_DIV, R1, plan->linear_step);
	code__reckon_number(code, BPF_ADD, R1, 1);
	code__jump(code, done);
	if (has_below) {
		code__bind(code, below);
		code__set(code, R1, 0);
		code__jump(code, done);
	}
	code__bind(code, above);
	code__set(code, R1, (int64_t)nr_steps + 1);
	code__bind(code, done);
}

void emit__bucket(struct emit *e)
{
	switch (e->plan->buckets) {
	case BUCKETS_FINE: bucket_fine(e); break;
	case BUCKETS_LOG2: bucket_log2(e); break;
	case BUCKETS_LINEAR: bucket_linear(e); break;
	}
}
