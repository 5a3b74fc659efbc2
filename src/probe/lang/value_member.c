/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value_member.c: where does `req->q->disk->disk_name` lie? Follows BTF through pointers, structs
 * and their anonymous members; each -> is one read of memory, a dot is free. value_index.c does the
 * same for elements of arrays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "probe/lang/value_inside.h"

/*
 * Pointers in a process's memory point into that memory. BTF of kernels built with gcc does not say
 * which memory a function's argument points into: then the address decides.
 */
enum value_memory typing__memory(const struct typing *t, const struct typed *pointer)
{
	switch (typing__probe(t)->kind) {
	case PROBE_USER:
	case PROBE_USERRET:
	case PROBE_USDT: return MEMORY_USER;
	default: break;
	}
	if (pointer->where == TYPED_MEMORY && pointer->memory != MEMORY_KERNEL)
		return pointer->memory;
	if (pointer->type.is_user)
		return MEMORY_USER;
	return typing__probe(t)->kind == PROBE_FN && pointer->where == TYPED_VALUE ? MEMORY_EITHER
										   : MEMORY_KERNEL;
}

static bool member_has_none(struct typing *t, const struct expr_node *node,
			    const struct typed *typed)
{
	const struct expr_node *left = typing__node(t, node->left);
	bool is_arrow = node->op == OP_ARROW;

	if (typed->type.kind == TYPE_POINTER && !is_arrow)
		expr_error__set(t->error, node->op_at, "%.*s is a pointer: write ->",
				typing__clip(t, left), typing__text(t, left));
	else if (typed->type.kind == TYPE_STRUCT && is_arrow)
		expr_error__set(t->error, node->op_at, "%.*s is not a pointer: write .",
				typing__clip(t, left), typing__text(t, left));
	else if (typed->type.kind == TYPE_POINTER)
		expr_error__set(t->error, node->op_at, "the type that %.*s points to is unknown",
				typing__clip(t, left), typing__text(t, left));
	else
		expr_error__set(t->error, node->op_at, "%.*s has no members: it is not a struct",
				typing__clip(t, left), typing__text(t, left));
	return false;
}

static bool member_unknown(struct typing *t, const struct expr_node *node, const struct type *of)
{
	const char **names = type__member_names(of);
	char says[80], shown[48];
	size_t nr = 0;

	while (names && names[nr])
		nr++;
	snprintf(says, sizeof(says), "%s has no member", type__print(of, shown, sizeof(shown)));
	expr_error__unknown(t->error, node, says, names, nr);
	free(names);
	return false;
}

static bool member_find(struct typing *t, const struct expr_node *node, const struct type *of,
			struct typed *typed)
{
	struct type member = { 0 };
	uint32_t offset = 0;
	char *name = strndup(node->text, node->text_len);
	bool found = name && type__member(of, name, &member, &offset);

	free(name);
	if (!found)
		return member_unknown(t, node, of);
	typed->type = member;
	typed->offset += offset;
	return true;
}

/* The target of a pointer is not read yet. */
bool typing__follow(struct typing *t, const struct expr_node *node, struct typed *typed)
{
	enum value_memory memory = typing__memory(t, typed);

	typed->value = typing__settle(t, typing__node(t, node->left), typed);
	if (!typed->value)
		return false;
	typed->where = TYPED_MEMORY;
	typed->memory = memory;
	typed->is_member = false;
	typed->offset = 0;
	return true;
}

static bool member_step(struct typing *t, const struct expr_node *node, struct typed *typed)
{
	bool is_arrow = node->op == OP_ARROW;
	struct type of = typed->type;

	if (is_arrow && of.kind == TYPE_POINTER)
		of = type__target(&typed->type);
	else if (is_arrow || typed->where == TYPED_VALUE)
		return member_has_none(t, node, typed);
	if (of.kind != TYPE_STRUCT)
		return member_has_none(t, node, typed);
	if (is_arrow && !typing__follow(t, node, typed))
		return false;
	typed->is_member |= is_arrow;
	return member_find(t, node, &of, typed);
}

static bool member_is_of_pair(const struct typing *t, const struct expr_node *node,
			      const char *side)
{
	const struct expr_node *left = typing__node(t, node->left);

	return node->op == OP_MEMBER && left->op == OP_WORD && typing__is_named(left, side) &&
	       typing__is_unknown(t, left);
}

bool typing__chain(struct typing *t, uint32_t index, struct typed *typed)
{
	const struct expr_node *node = typing__node(t, index);

	memset(typed, 0, sizeof(*typed));
	if (node->op == OP_WORD || member_is_of_pair(t, node, "entry") ||
	    member_is_of_pair(t, node, "exit"))
		return typing__name(t, node, typed);
	if (node->op != OP_MEMBER && node->op != OP_ARROW && node->op != OP_INDEX) {
		typed->value = typing__value(t, index);
		typed->type.kind =
			typed->value && typed->value->shape.is_text ? TYPE_TEXT : TYPE_INT;
		return typed->value;
	}
	if (!typing__chain(t, node->left, typed))
		return false;
	if (node->op == OP_INDEX ? typing__index(t, node, typed) : member_step(t, node, typed))
		return true;
	value__free(typed->value);
	return false;
}
