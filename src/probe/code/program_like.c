/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_like.c: which instructions match a text with a glob? A glob with a single star, at its
 * end, is compared by words. Any other runs as an automaton with a bit per state, all states at
 * once: a few instructions per character of the text, for any number of stars.
 */
#include <string.h>
#include "probe/code/program_inside.h"

/* State i: the glob matched up to its i-th character, not counting stars. */
struct like {
	char chars[VALUE_LIKE_MOST + 1];
	uint32_t nr;
	uint64_t stars; /* states in which any character is skipped */
};

static void like_read(struct like *like, const char *glob)
{
	memset(like, 0, sizeof(*like));
	for (; *glob; glob++) {
		if (*glob == '*')
			like->stars |= 1ULL << like->nr;
		else if (like->nr < VALUE_LIKE_MOST)
			like->chars[like->nr++] = *glob;
	}
}

/* States that a character advances; 0: those that any character advances. */
static uint64_t like_states(const struct like *like, char c)
{
	uint64_t states = 0;

	for (uint32_t i = 0; i < like->nr; i++)
		if (like->chars[i] == '?' || (c && like->chars[i] == c))
			states |= 1ULL << i;
	return states;
}

/* From R4, the character, to R5, the states that it advances. */
static void like_look_up(struct emit *e, const struct like *like)
{
	int known = code__label(&e->code), next;

	code__set(&e->code, R5, (int64_t)like_states(like, 0));
	for (uint32_t i = 0; i < like->nr; i++) {
		if (like->chars[i] == '?' || memchr(like->chars, like->chars[i], i))
			continue; /* any character, or a repeated one */
		next = code__label(&e->code);
		code__jump_if_number(&e->code, BPF_JNE, R4, (uint8_t)like->chars[i], next);
		code__set(&e->code, R5, (int64_t)like_states(like, like->chars[i]));
		code__jump(&e->code, known);
		code__bind(&e->code, next);
	}
	code__bind(&e->code, known);
}

/*
 * The verifier would track every possible set of states at each character. A store and a load
 * through memory that it does not track make it forget them.
 */
static void like_forget(struct emit *e, struct place slot)
{
	code__store(&e->code, 8, slot, R1);
	code__load(&e->code, 8, R1, slot);
}

/* R1: states, R2: where in the text, R3: characters left. */
static void like_run(struct emit *e, const struct like *like, struct place text, uint32_t room)
{
	struct place slot = code__take_scratch(&e->code, 8);
	int again = code__label(&e->code), ended = code__label(&e->code);
	struct code *code = &e->code;

	code__set(code, R1, 1);
	like_forget(e, slot);
	code__set_address(code, R2, text);
	code__set(code, R3, room - 1);
	code__bind(code, again);
	code__load(code, 1, R4, (struct place){ R2, 0 });
	code__jump_if_number(code, BPF_JEQ, R4, 0, ended);
	like_look_up(e, like);
	code__reckon(code, BPF_AND, R5, R1);
	code__reckon_number(code, BPF_LSH, R5, 1);
	code__reckon_number(code, BPF_AND, R1, (int64_t)like->stars);
	code__reckon(code, BPF_OR, R1, R5);
	code__reckon_number(code, BPF_ADD, R2, 1);
	code__reckon_number(code, BPF_SUB, R3, 1);
	code__jump_if_number(code, BPF_JNE, R3, 0, again);
	code__bind(code, ended);
	like_forget(e, slot);
}

static void like_by_states(struct emit *e, const struct value *v, const struct like *like,
			   int label)
{
	struct place text = { REG_START, (int32_t)v->left->offset };
	uint32_t room = v->left->shape.size;

	if (v->left->op != VALUE_SAVED) {
		text = code__take_scratch(&e->code, room);
		emit__text(e, v->left, text, room);
	}
	like_run(e, like, text, room);
	code__reckon_number(&e->code, BPF_RSH, R1, like->nr);
	code__reckon_number(&e->code, BPF_AND, R1, 1);
	code__jump_if_number(&e->code, BPF_JEQ, R1, 0, label);
}

/* Eight characters of the glob: a mask of those that are fixed, and their values. After the last
 * character of a glob without a star a 0 is required. */
static void like_word(const struct like *like, uint32_t at, uint64_t *mask, uint64_t *word)
{
	*mask = *word = 0;
	for (uint32_t i = 0; i < 8; i++) {
		bool is_end = at + i == like->nr && !like->stars;
		bool is_char = at + i < like->nr && like->chars[at + i] != '?';

		if (is_end || is_char)
			*mask |= 0xffULL << (8 * i);
		if (is_char)
			*word |= (uint64_t)(uint8_t)like->chars[at + i] << (8 * i);
	}
}

static void like_by_words(struct emit *e, const struct value *v, const struct like *like, int label)
{
	struct place text = emit__text_place(e, v->left);
	uint64_t mask, word;

	if (like->nr >= v->left->shape.size || (like->stars && !like->nr)) {
		/* The result is constant, but the verifier must see both ways: it refuses code
		 * that is never reached. */
		code__set(&e->code, R0, like->nr != 0);
		code__jump_if_number(&e->code, BPF_JNE, R0, 0, label);
		return;
	}
	for (uint32_t at = 0; at <= like->nr; at += 8) {
		like_word(like, at, &mask, &word);
		if (!mask)
			continue;
		code__load(&e->code, 8, R1, place_at(text, (int32_t)at));
		if (mask != UINT64_MAX)
			code__reckon_number(&e->code, BPF_AND, R1, (int64_t)mask);
		code__jump_if_number(&e->code, BPF_JNE, R1, (int64_t)word, label);
	}
	if (like->nr && like->chars[like->nr - 1] == '?') {
		/* A '?' must not match the end of the text. */
		code__load(&e->code, 1, R1, place_at(text, (int32_t)like->nr - 1));
		code__jump_if_number(&e->code, BPF_JEQ, R1, 0, label);
	}
}

void emit__jump_unlike(struct emit *e, const struct value *v, int label)
{
	struct code_mark mark = code__mark(&e->code);
	struct like like;

	like_read(&like, v->text);
	if (!like.stars || like.stars == 1ULL << like.nr)
		like_by_words(e, v, &like, label);
	else
		like_by_states(e, v, &like, label);
	code__give_back(&e->code, mark);
}
