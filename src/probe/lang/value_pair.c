/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value_pair.c: which parts of an expression at a pair's end are about its start? The largest parts
 * that need only the start are evaluated there, before their memory changes, and only their result
 * is kept until the end.
 */
#include <stddef.h>
#include "probe/lang/value_inside.h"
#include "wire/probe_maps.h"

/* Constants and unknown words belong to neither side. */
enum side { SIDE_NONE, SIDE_ENTRY, SIDE_EXIT };

/* An end is often an interrupt: the task is the one that began the pair. */
static bool pair_is_who(const struct expr_node *node)
{
	static const char *const names[] = { "pid", "tid", "uid", "comm", "cgroup" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (typing__is_named(node, names[i]))
			return true;
	return false;
}

static enum side pair_side_of_word(const struct typing *t, const struct expr_node *node)
{
	if (typing__is_unknown(t, node))
		return SIDE_NONE;
	if (typing__field(t->scope->probe, node) || typing__is_argument_of(t->scope->probe, node))
		return SIDE_EXIT;
	return typing__field(t->scope->entry, node) || pair_is_who(node) ||
			       typing__is_argument_of(t->scope->entry, node)
		       ? SIDE_ENTRY
		       : SIDE_EXIT;
}

/* entry.x, exit.x: SIDE_NONE if it is neither. */
static enum side pair_side_named(const struct typing *t, const struct expr_node *node)
{
	const struct expr_node *left = node->op == OP_MEMBER ? typing__node(t, node->left) : NULL;

	if (!left || !typing__is_unknown(t, left))
		return SIDE_NONE;
	return typing__is_named(left, "entry")	? SIDE_ENTRY
	       : typing__is_named(left, "exit") ? SIDE_EXIT
						: SIDE_NONE;
}

static enum side pair_side(const struct typing *t, uint32_t index);

static enum side pair_join(enum side a, enum side b)
{
	return a > b ? a : b;
}

/* A stack is taken where it is asked for; with entry. in front it is one of the head's. */
static enum side pair_side_of_call(const struct typing *t, const struct expr_node *node)
{
	enum side side = SIDE_NONE;

	if (typing__is_named(node, "kstack") || typing__is_named(node, "ustack"))
		return SIDE_EXIT;
	for (uint32_t i = node->left; i != EXPR_NONE; i = typing__node(t, i)->next)
		side = pair_join(side, pair_side(t, i));
	return side;
}

static enum side pair_side(const struct typing *t, uint32_t index)
{
	const struct expr_node *node = typing__node(t, index);
	enum side side = pair_side_named(t, node);

	if (side != SIDE_NONE)
		return side;
	if (node->op == OP_WORD)
		return pair_side_of_word(t, node);
	if (expr_op_is_leaf(node->op))
		return SIDE_NONE;
	if (node->op == OP_CALL)
		return pair_side_of_call(t, node);
	side = pair_side(t, node->left);
	if (node->right != EXPR_NONE)
		side = pair_join(side, pair_side(t, node->right));
	if (node->third != EXPR_NONE)
		side = pair_join(side, pair_side(t, node->third));
	return side;
}

bool typing__is_entry(const struct typing *t, uint32_t index)
{
	return t->scope->entry && !t->at_entry && pair_side(t, index) == SIDE_ENTRY;
}

/* ---- what every start notes ---- */

static const struct pair_head {
	const char *name;
	uint32_t offset, size;
	enum value_unit unit;
} pair_heads[] = {
	{ "pid", offsetof(struct probe_start, pid), 4, VALUE_PLAIN },
	{ "tid", offsetof(struct probe_start, tid), 4, VALUE_PLAIN },
	{ "comm", offsetof(struct probe_start, comm), 16, VALUE_PLAIN },
	{ "nsecs", offsetof(struct probe_start, ns), 8, VALUE_PLAIN },
	{ "time", offsetof(struct probe_start, ns), 8, VALUE_TIME },
	{ "kstack", offsetof(struct probe_start, kernel_stack), 4, VALUE_KSTACK_ID },
	{ "ustack", offsetof(struct probe_start, user_stack), 4, VALUE_USTACK_ID },
};

static const struct pair_head *pair_head(const struct typing *t, const struct expr_node *node)
{
	if (node->op != OP_WORD && pair_side_named(t, node) == SIDE_NONE)
		return NULL;
	if (typing__field(t->scope->entry, node))
		return NULL;
	for (size_t i = 0; i < sizeof(pair_heads) / sizeof(pair_heads[0]); i++)
		if (typing__is_named(node, pair_heads[i].name))
			return &pair_heads[i];
	return NULL;
}

/* The note holds a stack's number + 1: minus 1 that is -1 if there was no stack. */
static struct value *pair_less_one(struct typing *t, const struct expr_node *node,
				   struct value *noted)
{
	struct value *v = value__join(t, VALUE_SUB, node, noted, value__new_number(t, node, 1));

	if (v) {
		v->shape = noted->shape;
		v->shape.is_signed = true;
		noted->shape.unit = VALUE_PLAIN;
	}
	return v;
}

static struct value *pair_noted(struct typing *t, const struct expr_node *node,
				const struct pair_head *head)
{
	struct value *v = value__new(t, VALUE_SAVED, node);

	if (!v)
		return NULL;
	v->number = VALUE_IN_HEAD;
	v->offset = head->offset;
	v->size = head->size;
	v->shape.unit = head->unit;
	v->shape.is_text = head->size == 16;
	if (v->shape.is_text)
		v->shape.size = head->size;
	return value__is_stack(v) ? pair_less_one(t, node, v) : v;
}

struct value *typing__saved(struct typing *t, uint32_t index)
{
	const struct expr_node *node = typing__node(t, index);
	const struct pair_head *head = pair_head(t, node);
	struct typing at_entry = *t;
	struct value *v, *saved;
	int number;

	if (head)
		return pair_noted(t, node, head);
	at_entry.at_entry = true;
	v = typing__value(&at_entry, index);
	saved = v ? value__new(t, VALUE_SAVED, node) : NULL;
	if (!saved) {
		value__free(v);
		return NULL;
	}
	saved->shape = v->shape;
	saved->size = 8;
	number = t->scope->save(t->scope->arg, v);
	if (number >= 0) {
		saved->number = (uint64_t)number;
		return saved;
	}
	expr_error__set(t->error, node->at, "the end uses too many values of the start");
	value__free(saved);
	return NULL;
}
