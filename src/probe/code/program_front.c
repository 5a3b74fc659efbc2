/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_front.c: which instructions find the row of a key without the hash? Most programs meet
 * few keys: the first ones have their rows in the front, in one of two places, and others go to the
 * hash. The key's words lead to its places and are compared: some 20 instructions where a lookup of
 * the hash takes 130. No row ever moves, so counts stay exact. A hit inside a hit would see half a
 * key, so programs that may be interrupted by themselves have no front.
 */
#include "probe/code/program_inside.h"

enum { FRONT_WAYS_BITS = 1, FRONT_WAYS = 1 << FRONT_WAYS_BITS, FRONT_SHIFT = 6 };
_Static_assert(sizeof(struct probe_front_row) == 1 << FRONT_SHIFT, "a power of two");

static struct place front_word(int32_t i)
{
	return (struct place){ R0, (int32_t)offsetof(struct probe_front_row, key) + 8 * i };
}

/* The byte offset of the key's places into R1. */
static void front_home(struct emit *e, struct place key, int32_t nr)
{
	code__load(&e->code, 8, R1, key);
	code__set(&e->code, R2, (int64_t)0x9e3779b97f4a7c15);
	code__reckon(&e->code, BPF_MUL, R1, R2);
	for (int32_t i = 1; i < nr; i++) {
		code__load(&e->code, 8, R3, place_at(key, 8 * i));
		code__reckon(&e->code, BPF_XOR, R1, R3);
		code__reckon(&e->code, BPF_MUL, R1, R2);
	}
	code__reckon_number(&e->code, BPF_RSH, R1, 64 - PROBE_FRONT_BITS + FRONT_WAYS_BITS);
	code__reckon_number(&e->code, BPF_LSH, R1, FRONT_SHIFT + FRONT_WAYS_BITS);
}

/* Jumps to found if the place at R0 is the key's, to empty if it is nobody's. */
static void front_compare(struct emit *e, struct place key, int32_t nr, int found, int empty)
{
	int another = code__label(&e->code);
	struct code *code = &e->code;

	code__load(code, 8, R1, (struct place){ R0, offsetof(struct probe_front_row, row.count) });
	code__jump_if_number(code, BPF_JEQ, R1, 0, empty);
	for (int32_t i = 0; i < nr; i++) {
		code__load(code, 8, R1, front_word(i));
		code__load(code, 8, R2, place_at(key, 8 * i));
		code__jump_if(code, i < nr - 1 ? BPF_JNE : BPF_JEQ, R1, R2,
			      i < nr - 1 ? another : found);
	}
	code__bind(code, another);
}

void emit__front(struct emit *e, struct place key, int found, int elsewhere)
{
	const int32_t nr = (int32_t)plan__row_key_bytes(e->plan) / 8;
	struct code_mark mark = code__mark(&e->code);
	struct place number = code__take(&e->code, 8);
	int empty = code__label(&e->code);
	struct code *code = &e->code;

	code__store_number(code, 4, number, (int32_t)e->wants->cell);
	emit__lookup(e, e->wants->maps->fronts, number);
	code__give_back(code, mark);
	code__jump_if_number(code, BPF_JEQ, R0, 0, elsewhere);
	front_home(e, key, nr);
	code__reckon(code, BPF_ADD, R0, R1);
	for (int32_t way = 0; way < FRONT_WAYS; way++) {
		if (way)
			code__reckon_number(code, BPF_ADD, R0, 1 << FRONT_SHIFT);
		front_compare(e, key, nr, found, empty);
	}
	code__jump(code, elsewhere);
	code__bind(code, empty);
	for (int32_t i = 0; i < nr; i++) {
		code__load(code, 8, R2, place_at(key, 8 * i));
		code__store(code, 8, front_word(i), R2);
	}
	code__jump(code, found);
}
