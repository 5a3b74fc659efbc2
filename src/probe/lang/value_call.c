/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value_call.c: what do str(), args(), sym() and the others make of their arguments? The first two
 * read memory; those that name a number (sym, errno, syscall, dev) set how it is shown. syscall
 * also marks the number of a 32-bit call.
 */
#include "probe/lang/value_inside.h"

enum { CALL_STACK_MOST = 127 };

/* A constant number from 1 to `most`; 0: it is not one. */
static uint32_t call_constant(struct typing *t, uint32_t index, uint32_t most)
{
	const struct expr_node *node = typing__node(t, index);
	struct value *v = typing__number(t, index);
	uint32_t number = 0;

	if (!v)
		return 0;
	if (v->op == VALUE_CONST && v->number >= 1 && v->number <= most)
		number = (uint32_t)v->number;
	else
		expr_error__set(t->error, node->at, "expected a number from 1 to %u, not %.*s",
				most, typing__clip(t, node), typing__text(t, node));
	value__free(v);
	return number;
}

/* Takes the address. */
static struct value *call_text_at(struct typing *t, const struct expr_node *node,
				  struct value *address, enum value_memory memory, uint32_t chars)
{
	struct value *v = value__new_of(t, VALUE_CHARS, node, address);

	if (!v)
		return NULL;
	v->memory = memory;
	v->size = chars;
	v->shape.is_text = true;
	v->shape.size = value__text_room(chars);
	return v;
}

/* The BTF of most kernels does not mark user pointers: then the address decides. */
static enum value_memory call_memory(struct typing *t, const struct typed *pointer)
{
	enum value_memory memory = typing__memory(t, pointer);

	return memory == MEMORY_USER ? memory : MEMORY_EITHER;
}

/* A text can be cut, or be read longer than usual where its length is unknown. */
static struct value *call_str_of_text(struct typing *t, const struct expr_node *node,
				      struct value *text, uint32_t chars)
{
	if (text->shape.unit == VALUE_HEX) {
		expr_error__set(t->error, node->at, "%.*s: an array of numbers is not a text",
				typing__clip(t, node), typing__text(t, node));
		value__free(text);
		return NULL;
	}
	if (text->op != VALUE_CHARS) {
		expr_error__set(t->error, node->at, "%.*s: this is already a text",
				typing__clip(t, node), typing__text(t, node));
		value__free(text);
		return NULL;
	}
	text->size = chars;
	text->shape.size = value__text_room(chars);
	text->at = node->at;
	text->len = node->len;
	return text;
}

static struct value *call_str(struct typing *t, const struct expr_node *node)
{
	const struct expr_node *first = typing__node(t, node->left);
	uint32_t chars = VALUE_STR_DEFAULT;
	struct typed typed;
	struct value *v;

	if (first->next != EXPR_NONE) {
		chars = call_constant(t, first->next, VALUE_STR_MOST);
		if (!chars)
			return NULL;
	}
	if (!typing__chain(t, node->left, &typed))
		return NULL;
	v = typing__settle(t, first, &typed);
	if (!v)
		return NULL;
	if (v->shape.is_text)
		return call_str_of_text(t, node, v, chars);
	if (value__is_stack(v)) {
		expr_error__set(t->error, first->at, "%.*s is a stack, not a pointer",
				typing__clip(t, first), typing__text(t, first));
		value__free(v);
		return NULL;
	}
	return call_text_at(t, node, v, call_memory(t, &typed), chars);
}

static struct value *call_args(struct typing *t, const struct expr_node *node)
{
	struct value *argv = typing__number(t, node->left);
	struct value *v = value__new_of(t, VALUE_ARGS, node, argv);

	if (!v)
		return NULL;
	v->memory = MEMORY_USER;
	v->size = VALUE_ARGS_MOST;
	v->shape.is_text = true;
	v->shape.size = value__text_room(VALUE_ARGS_MOST);
	return v;
}

static struct value *call_unit(struct typing *t, const struct expr_node *node, enum value_unit unit)
{
	struct value *v = typing__number(t, node->left);

	if (!v)
		return NULL;
	v->shape.unit = unit;
	v->at = node->at;
	v->len = node->len;
	return v;
}

/* 32-bit calls have other numbers. */
static struct value *call_syscall(struct typing *t, const struct expr_node *node)
{
	const struct probe_compat *compat = &typing__probe(t)->compat;
	struct value *number = call_unit(t, node, VALUE_SYSCALL), *v;

	if (!number || !compat->bits)
		return number;
	v = value__new_of(t, VALUE_COMPAT, node, number);
	if (!v)
		return NULL;
	v->shape = number->shape;
	number->shape.unit = VALUE_PLAIN;
	v->number = compat->bits;
	v->offset = compat->at;
	v->size = compat->size;
	return v;
}

static struct value *call_stack(struct typing *t, const struct expr_node *node)
{
	uint32_t depth = call_constant(t, node->left, CALL_STACK_MOST);

	return depth ? typing__stack(t, node, typing__is_named(node, "ustack"), depth) : NULL;
}

static const struct call {
	const char *name;
	uint32_t least, most; /* values it takes */
	const char *usage;
	struct value *(*make)(struct typing *t, const struct expr_node *node);
	enum value_unit unit; /* without make: how its argument, a number, is shown */
} calls[] = {
	{ "str", 1, 2, "str(pointer) or str(pointer, length)", call_str },
	{ "args", 1, 1, "args(argv)", call_args },
	{ "sym", 1, 1, "sym(address)", NULL, VALUE_SYM },
	{ "errno", 1, 1, "errno(number)", NULL, VALUE_ERRNO },
	{ "syscall", 1, 1, "syscall(number)", call_syscall },
	{ "dev", 1, 1, "dev(number)", NULL, VALUE_DEV },
	{ "kstack", 1, 1, "kstack or kstack(depth)", call_stack },
	{ "ustack", 1, 1, "ustack or ustack(depth)", call_stack },
};
enum { NR_CALLS = sizeof(calls) / sizeof(calls[0]) };

struct value *typing__call(struct typing *t, const struct expr_node *node)
{
	const char *names[NR_CALLS];
	uint32_t nr = 0;

	for (uint32_t i = node->left; i != EXPR_NONE; i = typing__node(t, i)->next)
		nr++;
	for (size_t i = 0; i < NR_CALLS; i++) {
		if (!typing__is_named(node, calls[i].name))
			continue;
		if (nr >= calls[i].least && nr <= calls[i].most)
			return calls[i].make ? calls[i].make(t, node)
					     : call_unit(t, node, calls[i].unit);
		expr_error__set(t->error, node->at, "write %s", calls[i].usage);
		return NULL;
	}
	for (size_t i = 0; i < NR_CALLS; i++)
		names[i] = calls[i].name;
	expr_error__unknown(t->error, node, "unknown function", names, NR_CALLS);
	return NULL;
}
