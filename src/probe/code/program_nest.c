/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_nest.c: how many returns of user functions does the kernel omit? It keeps 64 per task at
 * a time (wire/probe_maps.h); calls nested deeper run without a probe at their return. So a program
 * at each entry mirrors what the kernel keeps, the stack pointer of every call with a pending
 * return, and counts the calls without a place, whether they return or end by longjmp. It costs a
 * lookup and some 40 instructions a call; return probes of other tracers also take places, which it
 * cannot see.
 */
#include <string.h>
#include "probe/code/program_inside.h"

enum { NEST_MOST_BYTES = 8 * PROBE_NEST_MOST };

/* Process and thread into memory: the key. */
static struct place nest_key(struct emit *e)
{
	struct place key = code__take(&e->code, 8);

	if (e->who.is_there)
		code__load(&e->code, 8, R0, e->who.at);
	else
		code__call(&e->code, BPF_FUNC_get_current_pid_tgid);
	code__store(&e->code, 8, key, R0);
	return key;
}

/*
 * R0: the nest. R1: a stack pointer. R2 becomes the bytes of the stack pointers above it: the
 * outermost, which is the highest, comes first. Calls that ended by longjmp are no longer included.
 */
static void nest_find_alive(struct emit *e)
{
	code__load(&e->code, 8, R3, (struct place){ R0, offsetof(struct probe_nest, bytes) });
	code__set(&e->code, R2, 0);
	for (int32_t step = NEST_MOST_BYTES; step >= 8; step /= 2) {
		int dead = code__label(&e->code);

		code__move(&e->code, R4, R2);
		code__reckon_number(&e->code, BPF_ADD, R4, step);
		code__jump_if_number(&e->code, BPF_JGT, R4, NEST_MOST_BYTES, dead);
		code__jump_if(&e->code, BPF_JGT, R4, R3, dead);
		code__move(&e->code, R5, R0);
		code__reckon(&e->code, BPF_ADD, R5, R4);
		/* The last of R4 bytes of stack pointers; one word comes before them. */
		code__load(&e->code, 8, R5, (struct place){ R5, 0 });
		code__jump_if(&e->code, BPF_JLE, R5, R1, dead);
		code__move(&e->code, R2, R4);
		code__bind(&e->code, dead);
	}
}

void emit__leave_nest(struct emit *e)
{
	struct code_mark mark = code__mark(&e->code);
	struct place key = nest_key(e);
	int nobody = code__label(&e->code);

	emit__lookup(e, e->wants->maps->nests, key);
	code__jump_if_number(&e->code, BPF_JEQ, R0, 0, nobody);
	emit__stack_pointer(e, R1);
	nest_find_alive(e);
	code__store(&e->code, 8, (struct place){ R0, offsetof(struct probe_nest, bytes) }, R2);
	code__bind(&e->code, nobody);
	code__give_back(&e->code, mark);
}

/* R0: the nest of this task, a new one at its first call. */
static void nest_find(struct emit *e)
{
	struct place key = nest_key(e);
	int found = code__label(&e->code);

	emit__lookup(e, e->wants->maps->nests, key);
	code__jump_if_number(&e->code, BPF_JNE, R0, 0, found);
	code__set_map(&e->code, R1, e->wants->maps->nests);
	code__set_address(&e->code, R2, key);
	code__set_map_value(&e->code, R3, e->wants->maps->omitted);
	code__reckon_number(&e->code, BPF_ADD, R3, offsetof(struct probe_omitted, none));
	code__set(&e->code, R4, BPF_NOEXIST);
	code__call(&e->code, BPF_FUNC_map_update_elem);
	emit__lookup(e, e->wants->maps->nests, key);
	code__jump_if_number(&e->code, BPF_JEQ, R0, 0, e->out);
	code__bind(&e->code, found);
}

/* R0: the nest. Like the kernel, checks whether it is full before it forgets calls that ended by
 * longjmp. */
static void nest_enter(struct emit *e)
{
	struct place bytes = { R0, offsetof(struct probe_nest, bytes) };
	int full = code__label(&e->code);

	code__load(&e->code, 8, R2, bytes);
	code__jump_if_number(&e->code, BPF_JGE, R2, NEST_MOST_BYTES, full);
	emit__stack_pointer(e, R1);
	nest_find_alive(e);
	code__jump_if_number(&e->code, BPF_JGE, R2, NEST_MOST_BYTES,
			     full); /* never true: for the verifier */
	code__reckon_number(&e->code, BPF_ADD, R2, 8);
	code__store(&e->code, 8, bytes, R2);
	code__reckon(&e->code, BPF_ADD, R0, R2);
	code__store(&e->code, 8, (struct place){ R0, 0 }, R1);
	code__jump(&e->code, e->out);
	code__bind(&e->code, full);
	code__set_map_value(&e->code, R1, e->wants->maps->omitted);
	code__set(&e->code, R2, 1);
	code__add_atomic(&e->code, (struct place){ R1, offsetof(struct probe_omitted, count) }, R2);
}

int program__make_nest(struct program *program, const struct program_wants *wants)
{
	struct emit e = { .wants = wants,
			  .plan = wants->plan,
			  .probe = &wants->plan->probes[wants->probe] };

	code__init(&e.code, 0, 0);
	e.out = e.leave = code__label(&e.code);
	code__move(&e.code, REG_CTX, R1);
	emit__filters(&e);
	nest_find(&e);
	nest_enter(&e);
	code__bind(&e.code, e.out);
	code__set(&e.code, R0, program__verdict(wants->ctx));
	code__exit(&e.code);
	return emit__hand_over(&e, program, code__finish(&e.code));
}
