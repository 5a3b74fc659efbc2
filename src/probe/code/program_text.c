/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_text.c: which instructions fetch a text, and compare two? A text takes a multiple of 8
 * bytes of memory, filled with zeros after its end, so that equal texts are equal keys and are
 * compared by words. Short arrays of a record are also copied by words: no helper is called.
 */
#include <string.h>
#include "probe/code/program_inside.h"

enum { TEXT_MOST_BY_WORDS = 24 };

static uint64_t text_word(const char *text, size_t at)
{
	size_t len = strlen(text);
	uint64_t word = 0;

	if (at < len)
		memcpy(&word, text + at, len - at < 8 ? len - at : 8);
	return word;
}

static void text_literal(struct emit *e, const struct value *v, struct place to, uint32_t room)
{
	for (uint32_t at = 0; at < room; at += 8) {
		const int64_t word = (int64_t)text_word(v->text, at);

		if (word == (int32_t)word) {
			code__store_number(&e->code, 8, place_at(to, (int32_t)at), (int32_t)word);
			continue;
		}
		code__set(&e->code, R0, word);
		code__store(&e->code, 8, place_at(to, (int32_t)at), R0);
	}
}

/* Some kernels (6.1) do not clear the bytes after a name: one name would be two keys. */
static void text_comm(struct emit *e, struct place to, uint32_t room)
{
	code__clear(&e->code, to, room);
	emit__comm(e, to);
}

static void text_record_words(struct emit *e, const struct value *v, struct place to)
{
	int done = code__label(&e->code);
	uint32_t at, bytes;

	for (at = 0; at < v->size; at += 8) {
		bytes = v->size - at < 8 ? v->size - at : 8;
		emit__record_bytes(e, R1, v->offset + at, bytes);
		emit__cut_word(e);
		code__store(&e->code, 8, place_at(to, (int32_t)at), R1);
		if (at + 8 < v->size)
			code__jump_if_number(&e->code, BPF_JNE, R2, -1, done);
	}
	code__bind(&e->code, done);
}

/* The address of the text into R3. */
static void text_address(struct emit *e, const struct value *v)
{
	if (v->is_loc) {
		/* A u32 in the record says where in it the text is: offset in its lower half. */
		emit__record_bytes(e, R3, v->offset, 4);
		code__reckon_number(&e->code, BPF_AND, R3, 0xffff);
		if (v->is_rel)
			code__reckon_number(&e->code, BPF_ADD, R3, v->offset + 4);
		code__reckon(&e->code, BPF_ADD, R3, REG_CTX);
	} else if (v->left) {
		emit__number(e, v->left, R1);
		code__set_address(&e->code, R3, (struct place){ R1, (int32_t)v->offset });
	} else {
		code__set_address(&e->code, R3, (struct place){ REG_CTX, (int32_t)v->offset });
	}
}

static void text_mark(struct emit *e, struct place text, uint32_t room)
{
	code__store_number(&e->code, 1, place_at(text, (int32_t)room - 1), VALUE_UNREADABLE);
}

static void text_read(struct emit *e, const struct value *v, struct place to)
{
	enum value_memory memory = v->left ? v->memory : MEMORY_KERNEL;

	if (emit__is_exec_path(e, v)) {
		memory = MEMORY_KERNEL;
		emit__exec_path(e);
	} else {
		text_address(e, v);
	}
	emit__read(e, memory, to, v->size + 1, emit_read_text);
}

static void text_chars(struct emit *e, const struct value *v, struct place to, uint32_t room)
{
	int good;

	if (!v->left && e->wants->ctx != CTX_RECORD) {
		emit__refuse(e, v, "a raw tracepoint has no record");
		return;
	}
	code__clear(&e->code, to, room);
	if (!v->left && !v->is_loc && v->size <= TEXT_MOST_BY_WORDS) {
		text_record_words(e, v, to);
		return;
	}
	text_read(e, v, to);
	good = code__label(&e->code);
	code__jump_if_number(&e->code, BPF_JSGE, R0, 0, good);
	if (emit__may_hold(e, v)) {
		emit__jump_hold(e);
	} else {
		emit__count(e, PROBE_FAULTS);
		text_mark(e, to, room);
	}
	code__bind(&e->code, good);
}

static void text_copy(struct emit *e, struct place from, uint32_t bytes, struct place to,
		      uint32_t room)
{
	for (uint32_t at = 0; at < bytes; at += 8) {
		code__load(&e->code, 8, R0, place_at(from, (int32_t)at));
		code__store(&e->code, 8, place_at(to, (int32_t)at), R0);
	}
	code__clear(&e->code, place_at(to, (int32_t)bytes), room - bytes);
	if (room == bytes)
		return;
	/* The mark of an unreadable text is in its last byte. */
	code__load(&e->code, 1, R0, place_at(to, (int32_t)bytes - 1));
	code__store_number(&e->code, 1, place_at(to, (int32_t)bytes - 1), 0);
	code__store(&e->code, 1, place_at(to, (int32_t)room - 1), R0);
}

static void text_choose(struct emit *e, const struct value *v, struct place to, uint32_t room)
{
	int other = code__label(&e->code), done = code__label(&e->code);

	emit__jump_unless(e, v->left, R1, other);
	emit__text(e, v->right, to, room);
	code__jump(&e->code, done);
	code__bind(&e->code, other);
	emit__text(e, v->other, to, room);
	code__bind(&e->code, done);
}

/*
 * The words of argv are joined in the scratch: only there may an index be variable. Each word is
 * read whole after the one before, so room for one word stays free after the last possible start of
 * a word, and a text that is too long is cut when it is copied.
 */
enum { ARGS_ROOM = 2 * (VALUE_ARGS_MOST + 8), ARGS_WORD = VALUE_ARGS_MOST + 1 };

/* Where the loop over the words goes on: after the last one, or one that cannot be read. */
struct args_ends {
	int done, failed;
};

/* One word: its address is in argv[nr]. R8, R9 may be in use, so `used` is in memory. */
static void args_word(struct emit *e, const struct value *v, struct place buffer,
		      struct place slots, uint32_t nr, const struct args_ends *ends)
{
	struct place argv = slots, pointer = place_at(slots, 8), used = place_at(slots, 16);
	struct code *code = &e->code;
	int good = code__label(code), empty = code__label(code), done = ends->done;

	code__load(code, 8, R3, argv);
	code__reckon_number(code, BPF_ADD, R3, 8 * nr);
	emit__read(e, v->memory, pointer, 8, emit_read_bytes);
	code__jump_if_number(code, BPF_JSLT, R0, 0, ends->failed);
	code__load(code, 8, R3, pointer);
	code__jump_if_number(code, BPF_JEQ, R3, 0, done);
	code__load(code, 8, R4, used);
	code__jump_if_number(code, BPF_JGT, R4, VALUE_ARGS_MOST, done);
	code__set_address(code, R1, buffer);
	code__reckon(code, BPF_ADD, R1, R4);
	code__set(code, R2, ARGS_WORD);
	code__call(code, emit_read_text[v->memory != MEMORY_KERNEL]);
	code__jump_if_number(code, BPF_JSGT, R0, 0, good);
	code__jump_if_number(code, BPF_JEQ, R0, 0, empty);
	code__jump(code, ends->failed);
	/* With its terminator an empty text is 1 byte; 5.10 returns 0 for it. */
	code__bind(code, empty);
	code__set(code, R0, 1);
	code__bind(code, good);
	/* The end of this one becomes the space before the next. */
	code__load(code, 8, R4, used);
	code__reckon(code, BPF_ADD, R4, R0);
	code__store(code, 8, used, R4);
	code__reckon_number(code, BPF_SUB, R4, 1);
	code__jump_if_number(code, BPF_JGT, R4, ARGS_ROOM - 8, done);
	code__set_address(code, R1, buffer);
	code__reckon(code, BPF_ADD, R1, R4);
	code__store_number(code, 1, (struct place){ R1, 0 }, ' ');
}

static void text_args(struct emit *e, const struct value *v, struct place to, uint32_t room)
{
	struct code_mark mark = code__mark(&e->code);
	struct place buffer = code__take_scratch(&e->code, ARGS_ROOM), slots;
	struct code *code = &e->code;
	const struct args_ends ends = { code__label(code), code__label(code) };
	int empty = code__label(code);

	emit__number(e, v->left, R1);
	slots = code__take(code, 24);
	code__store(code, 8, slots, R1);
	code__store_number(code, 8, place_at(slots, 16), 0);
	for (uint32_t nr = 0; nr < VALUE_ARGS_WORDS; nr++)
		args_word(e, v, buffer, slots, nr, &ends);
	code__jump(code, ends.done);
	code__bind(code, ends.failed);
	emit__count(e, PROBE_FAULTS);
	code__load(code, 8, R4, place_at(slots, 16));
	code__jump_if_number(code, BPF_JNE, R4, 0, ends.done);
	code__clear(code, to, room);
	text_mark(e, to, room);
	code__jump(code, empty);
	code__bind(code, ends.done);
	code__clear(code, to, room);
	code__load(code, 8, R4, place_at(slots, 16));
	code__reckon_number(code, BPF_SUB, R4, 1);
	code__jump_if_number(code, BPF_JGT, R4, ARGS_ROOM - 8, empty);
	code__set_address(code, R1, buffer);
	code__reckon(code, BPF_ADD, R1, R4);
	code__store_number(code, 1, (struct place){ R1, 0 }, 0);
	code__set_address(code, R3, buffer);
	emit__read(e, MEMORY_KERNEL, to, VALUE_ARGS_MOST + 1, emit_read_text);
	code__bind(code, empty);
	code__give_back(code, mark);
}

/* Raw bytes: a zero does not end them. */
static void text_array(struct emit *e, const struct value *v, struct place to, uint32_t room)
{
	uint32_t at, bytes;

	code__clear(&e->code, to, room);
	if (v->left) {
		text_address(e, v);
		emit__read(e, v->memory, to, v->size, emit_read_bytes);
		emit__count_fault(e);
		return;
	}
	for (at = 0; at < v->size; at += 8) {
		bytes = v->size - at < 8 ? v->size - at : 8;
		emit__record_bytes(e, R1, v->offset + at, bytes);
		code__store(&e->code, 8, place_at(to, (int32_t)at), R1);
	}
}

static void text_make(struct emit *e, const struct value *v, struct place to, uint32_t room)
{
	struct place saved = { REG_START, (int32_t)v->offset };

	switch (v->op) {
	case VALUE_TEXT: text_literal(e, v, to, room); break;
	case VALUE_COMM: text_comm(e, to, room); break;
	case VALUE_CHARS: text_chars(e, v, to, room); break;
	case VALUE_ARGS:
		if (e->wants->turn == TURN_EXEC)
			text_copy(e, emit__held(offsetof(struct probe_held, args)), v->shape.size,
				  to, room);
		else
			text_args(e, v, to, room);
		break;
	case VALUE_ARRAY: text_array(e, v, to, room); break;
	case VALUE_SAVED: text_copy(e, saved, v->shape.size, to, room); break;
	case VALUE_CHOOSE: text_choose(e, v, to, room); break;
	default: emit__refuse(e, v, "this is not a text");
	}
}

void emit__text(struct emit *e, const struct value *v, struct place to, uint32_t room)
{
	const struct value *outer = e->code.now;

	e->code.now = v;
	text_make(e, v, to, room);
	e->code.now = outer;
}

struct place emit__text_place(struct emit *e, const struct value *v)
{
	struct place place = { REG_START, (int32_t)v->offset };

	if (v->op == VALUE_SAVED)
		return place;
	place = code__take(&e->code, v->shape.size);
	emit__text(e, v, place, v->shape.size);
	return place;
}

/* Eight bytes of a text, without the mark of an unreadable one. */
static void text_load(struct emit *e, const struct value *v, enum code_reg reg, struct place text,
		      uint32_t at)
{
	code__load(&e->code, 8, reg, place_at(text, (int32_t)at));
	if (at + 8 < v->shape.size || v->shape.unit == VALUE_HEX)
		return;
	code__reckon_number(&e->code, BPF_LSH, reg, 8);
	code__reckon_number(&e->code, BPF_RSH, reg, 8);
}

static void text_differs_from(struct emit *e, const struct value *v, const struct value *literal,
			      int label)
{
	uint32_t bytes = (uint32_t)strlen(literal->text) + 1, at;
	struct place place = emit__text_place(e, v);

	if (bytes > v->shape.size) {
		/* The verifier requires a way to the code below, even if it is never taken. */
		code__set(&e->code, R0, 0);
		code__jump_if_number(&e->code, BPF_JEQ, R0, 0, label);
		return;
	}
	for (at = 0; at < bytes; at += 8) {
		text_load(e, v, R1, place, at);
		code__jump_if_number(&e->code, BPF_JNE, R1, (int64_t)text_word(literal->text, at),
				     label);
	}
}

/* Where the shorter one is filled up with zeros the longer one has to have ended, too. */
static void text_differ(struct emit *e, const struct value *a, const struct value *b, int label)
{
	uint32_t least = a->shape.size < b->shape.size ? a->shape.size : b->shape.size, at;
	struct place a_at = emit__text_place(e, a), b_at = emit__text_place(e, b);

	for (at = 0; at < least; at += 8) {
		text_load(e, a, R1, a_at, at);
		text_load(e, b, R2, b_at, at);
		code__jump_if(&e->code, BPF_JNE, R1, R2, label);
	}
}

void emit__jump_differ(struct emit *e, const struct value *a, const struct value *b, int label)
{
	struct code_mark mark = code__mark(&e->code);

	if (b->op == VALUE_TEXT)
		text_differs_from(e, a, b, label);
	else if (a->op == VALUE_TEXT)
		text_differs_from(e, b, a, label);
	else
		text_differ(e, a, b, label);
	code__give_back(&e->code, mark);
}
