/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_direct.c: how are members of an object read without a helper? At fentry and fexit the
 * verifier knows the types of arguments and results, and allows plain loads of their members: 1
 * instruction instead of about 90. Such a load gives 0 where nothing is mapped, and says nothing.
 * So an address outside the kernel, or one from which only zeros came, is in doubt: then helpers
 * read all values again, and count what fails.
 */
#include "probe/code/program_inside.h"

/* An instruction's offset has 16 bits. */
static bool direct_is_near(const struct value *v)
{
	return v->is_member && v->memory != MEMORY_USER && v->offset + v->size <= INT16_MAX;
}

/* The argument or result at the start of a chain of members; NULL: it is no such chain. */
static const struct value *direct_base(const struct value *v)
{
	for (; v->op == VALUE_LOAD; v = v->left)
		if (!direct_is_near(v))
			return NULL;
	return (v->op == VALUE_ARG || v->op == VALUE_RET) && v->size == 8 ? v : NULL;
}

/* The part that is loaded: the last member, without its bits. NULL: not this way. */
static const struct value *direct_leaf(const struct value *v)
{
	if (v->op == VALUE_BITS)
		v = v->left;
	if (v->op == VALUE_CHARS)
		return v->left && direct_is_near(v) && v->size % 8 == 0 ? v : NULL;
	return v->op == VALUE_LOAD ? v : NULL;
}

static const struct value *direct_base_of(const struct value *v)
{
	const struct value *leaf = direct_leaf(v);

	return !leaf ? NULL : leaf->op == VALUE_LOAD ? direct_base(leaf) : direct_base(leaf->left);
}

/* One object: the base of the first chain. */
static const struct value *direct_object(const struct emit *e)
{
	const struct value *base = NULL;

	for (size_t i = 0; i < e->probe->nr_shown && !base; i++)
		base = direct_base_of(e->probe->shown[i].value);
	return base;
}

bool emit__is_direct(const struct emit *e, const struct value *v)
{
	const struct value *base = direct_base_of(v), *object = direct_object(e);

	return base && base->op == object->op && base->shift == object->shift;
}

/* A text that a helper fails to read may write before its place: direct values would be lost. */
bool emit__has_direct(const struct emit *e)
{
	bool has = false;

	if (!e->wants->is_direct || e->wants->ctx != CTX_TRACING || !e->plan->is_calls)
		return false;
	for (size_t i = 0; i < e->probe->nr_shown; i++) {
		const struct value *v = e->probe->shown[i].value;

		if (emit__is_direct(e, v))
			has = true;
		else if (v->shape.is_text)
			return false;
	}
	return has;
}

/* The verifier would not let a typed address be tested bit by bit. */
static void direct_check(struct emit *e, enum code_reg reg, int doubt)
{
	code__move(&e->code, R0, reg);
	code__forget_type(&e->code, R0);
	emit__jump_unless_kernel(e, R0, doubt);
}

/* The address to which a chain leads into R5, or REG_START, which holds the object. */
static enum code_reg direct_address(struct emit *e, const struct value *v, int doubt)
{
	enum code_reg from;

	if (v->op != VALUE_LOAD)
		return REG_START;
	from = direct_address(e, v->left, doubt);
	code__load(&e->code, 8, R5, (struct place){ from, (int32_t)v->offset });
	direct_check(e, R5, doubt);
	return R5;
}

/* A zero of the object itself is collected in R4: others may not be zero. */
static void direct_number(struct emit *e, const struct value *v, struct place to, int doubt)
{
	const struct value *leaf = direct_leaf(v);
	const enum code_reg from = direct_address(e, leaf->left, doubt);

	code__load(&e->code, leaf->size, R1, (struct place){ from, (int32_t)leaf->offset });
	if (leaf->shape.unit == VALUE_POINTER)
		code__forget_type(&e->code, R1);
	if (from == REG_START)
		code__reckon(&e->code, BPF_OR, R4, R1);
	else
		code__jump_if_number(&e->code, BPF_JEQ, R1, 0, doubt);
	if (leaf->shape.is_signed)
		code__extend(&e->code, R1, leaf->size, true);
	if (v->op == VALUE_BITS) {
		code__reckon_number(&e->code, BPF_LSH, R1, 64 - v->shift - v->bits);
		code__reckon_number(&e->code, v->shape.is_signed ? BPF_ARSH : BPF_RSH, R1,
				    64 - v->bits);
	}
	code__store(&e->code, 8, to, R1);
}

/* An empty text is in doubt, too. */
static void direct_text(struct emit *e, const struct value *v, struct place to, uint32_t room,
			int doubt)
{
	const enum code_reg from = direct_address(e, v->left, doubt);
	int done = code__label(&e->code);

	code__clear(&e->code, to, room);
	for (uint32_t at = 0; at < v->size; at += 8) {
		code__load(&e->code, 8, R1, (struct place){ from, (int32_t)(v->offset + at) });
		emit__cut_word(e);
		if (!at)
			code__jump_if_number(&e->code, BPF_JEQ, R1, 0, doubt);
		code__store(&e->code, 8, place_at(to, (int32_t)at), R1);
		if (at + 8 < v->size)
			code__jump_if_number(&e->code, BPF_JNE, R2, -1, done);
	}
	code__bind(&e->code, done);
}

static void direct_value(struct emit *e, const struct plan_shown *shown, int doubt)
{
	const struct value *outer = e->code.now, *v = shown->value;
	const struct place to = { REG_RECORD,
				  (int32_t)(sizeof(struct probe_record) + shown->part.at) };

	e->code.now = v;
	if (v->op == VALUE_CHARS)
		direct_text(e, v, to, shown->part.shape.size, doubt);
	else
		direct_number(e, v, to, doubt);
	e->code.now = outer;
}

/* Another member was loaded from the object and is not zero. */
static bool direct_is_proven(const struct emit *e)
{
	for (size_t i = 0; i < e->probe->nr_shown; i++) {
		const struct value *v = e->probe->shown[i].value;

		if (emit__is_direct(e, v) && (v->op == VALUE_CHARS || direct_leaf(v)->left->left))
			return true;
	}
	return false;
}

void emit__direct(struct emit *e, int doubt)
{
	emit__typed_slot(e, direct_object(e), REG_START);
	direct_check(e, REG_START, doubt);
	code__set(&e->code, R4, 0);
	for (size_t i = e->probe->nr_shown; i--;)
		if (emit__is_direct(e, e->probe->shown[i].value))
			direct_value(e, &e->probe->shown[i], doubt);
	if (!direct_is_proven(e))
		code__jump_if_number(&e->code, BPF_JEQ, R4, 0, doubt);
}
