/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value_node.c: one value of a tree: created, freed, searched, compared with another; and the text
 * of the expression that it comes from.
 */
#include <stdlib.h>
#include <string.h>
#include "probe/lang/value_inside.h"

enum { TYPING_SHOWN = 30 }; /* bytes of the expression in a message */

int typing__clip(const struct typing *t, const struct expr_node *node)
{
	return expr_clip(typing__text(t, node), node->len, TYPING_SHOWN);
}

bool typing__is_named(const struct expr_node *node, const char *name)
{
	return node->text && strlen(name) == node->text_len &&
	       !memcmp(node->text, name, node->text_len);
}

struct value *value__new(const struct typing *t, enum value_op op, const struct expr_node *node)
{
	struct value *v = calloc(1, sizeof(*v));

	if (!v) {
		expr_error__set(t->error, node->at, "out of memory");
		return NULL;
	}
	v->op = op;
	v->shape.size = 8;
	v->source = t->tree->source;
	v->at = node->at;
	v->len = node->len;
	return v;
}

struct value *value__new_of(const struct typing *t, enum value_op op, const struct expr_node *node,
			    struct value *left)
{
	struct value *v = left ? value__new(t, op, node) : NULL;

	if (v)
		v->left = left;
	else
		value__free(left);
	return v;
}

struct value *value__join(const struct typing *t, enum value_op op, const struct expr_node *node,
			  struct value *left, struct value *right)
{
	struct value *v = left && right ? value__new(t, op, node) : NULL;

	if (v) {
		v->left = left;
		v->right = right;
		return v;
	}
	value__free(left);
	value__free(right);
	return NULL;
}

/* Signed, as long as the number stays the same. */
struct value *value__new_number(const struct typing *t, const struct expr_node *node,
				uint64_t number)
{
	struct value *v = value__new(t, VALUE_CONST, node);

	if (v) {
		v->number = number;
		v->shape.is_signed = number <= INT64_MAX;
	}
	return v;
}

uint32_t value__text_room(size_t chars)
{
	return (uint32_t)((chars + 8) / 8 * 8);
}

void value__free(struct value *value)
{
	if (!value)
		return;
	value__free(value->left);
	value__free(value->right);
	value__free(value->other);
	free(value->text);
	free(value);
}

bool value__is_unreadable(const void *text, uint32_t room)
{
	return room && ((const uint8_t *)text)[room - 1] == VALUE_UNREADABLE;
}

bool value__is_stack(const struct value *value)
{
	return value->shape.unit == VALUE_KSTACK_ID || value->shape.unit == VALUE_USTACK_ID;
}

bool value__has(const struct value *value, enum value_op op)
{
	return value && (value->op == op || value__has(value->left, op) ||
			 value__has(value->right, op) || value__has(value->other, op));
}

static bool value_is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool value_is_same_shape(const struct value_shape *a, const struct value_shape *b)
{
	return a->is_text == b->is_text && a->is_signed == b->is_signed && a->size == b->size &&
	       a->unit == b->unit && a->depth == b->depth && a->bytes == b->bytes &&
	       a->element == b->element && a->words == b->words;
}

bool value__is_same(const struct value *a, const struct value *b)
{
	if (!a || !b)
		return a == b;
	return a->op == b->op && value_is_same_shape(&a->shape, &b->shape) &&
	       (a->number == b->number || a->op == VALUE_PROBE) &&
	       value_is_same_text(a->text, b->text) && a->offset == b->offset &&
	       a->size == b->size && a->bits == b->bits && a->shift == b->shift &&
	       a->is_signed == b->is_signed && a->is_loc == b->is_loc && a->is_rel == b->is_rel &&
	       a->memory == b->memory && a->is_member == b->is_member &&
	       value__is_same(a->left, b->left) && value__is_same(a->right, b->right) &&
	       value__is_same(a->other, b->other);
}
