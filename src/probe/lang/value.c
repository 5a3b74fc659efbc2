/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value.c: what does an expression mean at a probe, and do its parts fit together? Walks the tree
 * once. All errors are found before anything is loaded.
 */
#include <string.h>
#include "probe/lang/value_inside.h"

/* ---- leaves ---- */

static struct value *typing_literal_text(struct typing *t, const struct expr_node *node)
{
	struct value *v;

	if (node->text_len > VALUE_STR_MOST) {
		expr_error__set(t->error, node->at, "text too long: at most %d characters",
				VALUE_STR_MOST);
		return NULL;
	}
	v = value__new(t, VALUE_TEXT, node);
	if (!v)
		return NULL;
	v->shape.is_text = true;
	v->shape.size = value__text_room(node->text_len);
	v->text = strndup(node->text, node->text_len);
	if (v->text)
		return v;
	expr_error__set(t->error, node->at, "out of memory");
	value__free(v);
	return NULL;
}

static struct value *typing_literal_number(struct typing *t, const struct expr_node *node)
{
	struct value *v;

	if (!node->is_whole) {
		expr_error__set(t->error, node->at,
				"expected a whole number of up to 64 bits, not %.*s",
				typing__clip(t, node), typing__text(t, node));
		return NULL;
	}
	v = value__new_number(t, node, node->whole);
	if (v && node->type == EXPR_DURATION)
		v->shape.unit = VALUE_DURATION;
	return v;
}

static struct value *typing_leaf(struct typing *t, uint32_t index)
{
	const struct expr_node *node = typing__node(t, index);
	struct typed typed;

	if (node->op == OP_NUMBER)
		return typing_literal_number(t, node);
	if (node->op == OP_TEXT)
		return typing_literal_text(t, node);
	return typing__chain(t, index, &typed) ? typing__settle(t, node, &typed) : NULL;
}

/* ---- operators ---- */

static bool typing_is_literal(const struct value *v)
{
	return v->op == VALUE_CONST && (int64_t)v->number >= 0;
}

static bool typing_is_signed(const struct value *left, const struct value *right)
{
	if (typing_is_literal(left))
		return right->shape.is_signed;
	if (typing_is_literal(right))
		return left->shape.is_signed;
	return left->shape.is_signed || right->shape.is_signed;
}

/* A time stays a time when a number is added to it or it is multiplied. Dividing it, by a time
 * or by 1000, converts it to another unit. */
static enum value_unit typing_unit(const struct value *v)
{
	enum value_unit l = v->left->shape.unit;
	enum value_unit r = v->right ? v->right->shape.unit : VALUE_PLAIN;

	switch (v->op) {
	case VALUE_ADD:
	case VALUE_SUB:
		if (l == VALUE_DURATION || r == VALUE_DURATION)
			return VALUE_DURATION;
		return (l == VALUE_POINTER) != (r == VALUE_POINTER) ? VALUE_POINTER : VALUE_PLAIN;
	case VALUE_MUL:
		return (l == VALUE_DURATION) != (r == VALUE_DURATION) ? VALUE_DURATION
								      : VALUE_PLAIN;
	case VALUE_MOD:
	case VALUE_NEG: return l == VALUE_DURATION ? VALUE_DURATION : VALUE_PLAIN;
	default: return VALUE_PLAIN;
	}
}

/* Constants are calculated once, not at each hit; but each division by zero has to be counted. */
static struct value *typing_fold(struct value *v)
{
	struct value_world world = { .divisions_by_zero = 0 };
	struct value_result result;

	if (!v || v->left->op != VALUE_CONST || (v->right && v->right->op != VALUE_CONST) ||
	    (v->other && v->other->op != VALUE_CONST))
		return v;
	value__reckon(v, &world, &result);
	if (world.divisions_by_zero)
		return v;
	value__free(v->left);
	value__free(v->right);
	value__free(v->other);
	v->left = v->right = v->other = NULL;
	v->op = VALUE_CONST;
	v->number = result.number;
	return v;
}

static const enum value_op typing_ops[] = {
	[OP_OR] = VALUE_EITHER,	  [OP_AND] = VALUE_BOTH,
	[OP_NOT] = VALUE_NOT,	  [OP_EQ] = VALUE_EQ,
	[OP_NE] = VALUE_NE,	  [OP_LE] = VALUE_LE,
	[OP_GE] = VALUE_GE,	  [OP_LT] = VALUE_LT,
	[OP_GT] = VALUE_GT,	  [OP_MATCH] = VALUE_LIKE,
	[OP_SHL] = VALUE_SHL,	  [OP_SHR] = VALUE_SHR,
	[OP_BITOR] = VALUE_OR,	  [OP_BITXOR] = VALUE_XOR,
	[OP_BITAND] = VALUE_AND,  [OP_ADD] = VALUE_ADD,
	[OP_SUB] = VALUE_SUB,	  [OP_MUL] = VALUE_MUL,
	[OP_DIV] = VALUE_DIV,	  [OP_MOD] = VALUE_MOD,
	[OP_NEG] = VALUE_NEG,	  [OP_COMPLEMENT] = VALUE_COMPLEMENT,
	[OP_COND] = VALUE_CHOOSE,
};

/* The bytes of an array are not compared: no zero ends them. */
static bool typing_is_array(struct typing *t, const struct expr_node *node, const struct value *v)
{
	if (v->shape.unit == VALUE_HEX)
		expr_error__set(t->error, node->at,
				"%.*s is an array: it can only be a key or be shown; name an "
				"element: %.*s[0]",
				typing__clip(t, node), typing__text(t, node), typing__clip(t, node),
				typing__text(t, node));
	return v->shape.unit == VALUE_HEX;
}

static bool typing_can_reckon(struct typing *t, const struct expr_node *node, const struct value *v)
{
	if (!v || typing_is_array(t, node, v))
		return false;
	if (value__is_stack(v))
		expr_error__set(t->error, node->at,
				"%.*s is a stack: it can only be a key or be shown",
				typing__clip(t, node), typing__text(t, node));
	else if (v->shape.is_text)
		expr_error__set(t->error, node->at, "%.*s is a text, not a number",
				typing__clip(t, node), typing__text(t, node));
	return !v->shape.is_text && !value__is_stack(v);
}

struct value *typing__number(struct typing *t, uint32_t index)
{
	struct value *v = typing__value(t, index);

	if (typing_can_reckon(t, typing__node(t, index), v))
		return v;
	value__free(v);
	return NULL;
}

static struct value *typing_unary(struct typing *t, const struct expr_node *node)
{
	struct value *operand = typing__number(t, node->left), *v;

	v = value__new_of(t, typing_ops[node->op], node, operand);
	if (!v)
		return NULL;
	v->shape.is_signed = node->op != OP_COMPLEMENT || operand->shape.is_signed;
	v->shape.unit = typing_unit(v);
	return typing_fold(v);
}

static bool typing_result_is_signed(const struct value *v)
{
	switch (v->op) {
	case VALUE_SUB: return true;
	case VALUE_SHL:
	case VALUE_SHR: return v->left->shape.is_signed;
	default: return typing_is_signed(v->left, v->right);
	}
}

static struct value *typing_reckoning(struct typing *t, const struct expr_node *node)
{
	struct value *left = typing__number(t, node->left);
	struct value *right = left ? typing__number(t, node->right) : NULL;
	struct value *v = value__join(t, typing_ops[node->op], node, left, right);

	if (!v)
		return NULL;
	v->is_signed = v->op == VALUE_SHR ? left->shape.is_signed : typing_is_signed(left, right);
	v->shape.is_signed = typing_result_is_signed(v);
	v->shape.unit = typing_unit(v);
	return typing_fold(v);
}

/* && and ||: numbers count as truth values. */
static struct value *typing_logic(struct typing *t, const struct expr_node *node)
{
	struct value *left = typing__number(t, node->left);
	struct value *right = left ? typing__number(t, node->right) : NULL;
	struct value *v = value__join(t, typing_ops[node->op], node, left, right);

	if (v)
		v->shape.is_signed = true;
	return typing_fold(v);
}

/* ---- comparisons ---- */

/* Beside a text, an unknown word is a text as well: rwbs == WS. */
static struct value *typing_beside(struct typing *t, uint32_t index, const struct value *beside)
{
	const struct expr_node *node = typing__node(t, index);
	struct value *text = NULL;

	if (!beside)
		return NULL;
	if (beside->shape.is_text && node->op == OP_WORD && typing__is_unknown(t, node))
		text = typing_literal_text(t, node);
	return text ? text : typing__value(t, index);
}

static bool typing_sides(struct typing *t, const struct expr_node *node, struct value **left,
			 struct value **right)
{
	const struct expr_node *first = typing__node(t, node->left);
	bool turned = first->op == OP_WORD && typing__is_unknown(t, first);

	if (turned && typing__is_unknown(t, typing__node(t, node->right)))
		turned = false;
	if (turned) {
		*right = typing__value(t, node->right);
		*left = typing_beside(t, node->left, *right);
	} else {
		*left = typing__value(t, node->left);
		*right = typing_beside(t, node->right, *left);
	}
	return *left && *right;
}

static int typing_misfit(struct typing *t, const struct expr_node *text,
			 const struct expr_node *other, const struct value *number)
{
	if (value__is_stack(number))
		return expr_error__set(t->error, other->at,
				       "%.*s is a stack: it can only be a key or be shown",
				       typing__clip(t, other), typing__text(t, other));
	if (number->shape.unit == VALUE_POINTER)
		return expr_error__set(t->error, other->at, "%.*s is a pointer: write str(%.*s)",
				       typing__clip(t, other), typing__text(t, other),
				       typing__clip(t, other), typing__text(t, other));
	return expr_error__set(t->error, other->at, "%.*s is a number, but %.*s is a text",
			       typing__clip(t, other), typing__text(t, other),
			       typing__clip(t, text), typing__text(t, text));
}

static bool typing_can_compare(struct typing *t, const struct expr_node *node,
			       const struct value *left, const struct value *right)
{
	const struct expr_node *l = typing__node(t, node->left);
	const struct expr_node *r = typing__node(t, node->right);

	if (typing_is_array(t, l, left) || typing_is_array(t, r, right))
		return false;
	if (left->shape.is_text && right->shape.is_text) {
		if (node->op == OP_EQ || node->op == OP_NE)
			return true;
		expr_error__set(t->error, node->op_at, "compare texts with ==, != or like");
		return false;
	}
	if (left->shape.is_text || right->shape.is_text) {
		if (left->shape.is_text)
			typing_misfit(t, l, r, right);
		else
			typing_misfit(t, r, l, left);
		return false;
	}
	return typing_can_reckon(t, l, left) && typing_can_reckon(t, r, right);
}

static struct value *typing_comparison(struct typing *t, const struct expr_node *node)
{
	struct value *left = NULL, *right = NULL, *v;

	if (!typing_sides(t, node, &left, &right) || !typing_can_compare(t, node, left, right)) {
		value__free(left);
		value__free(right);
		return NULL;
	}
	v = value__join(t, typing_ops[node->op], node, left, right);
	if (!v)
		return NULL;
	v->is_signed = typing_is_signed(left, right);
	v->shape.is_signed = true;
	return left->shape.is_text ? v : typing_fold(v);
}

static bool typing_is_good_glob(struct typing *t, const struct expr_node *glob)
{
	size_t chars = 0, i;

	for (i = 0; i < glob->text_len; i++)
		chars += glob->text[i] != '*';
	if (chars > VALUE_LIKE_MOST)
		expr_error__set(t->error, glob->at,
				"pattern too long: at most %d characters besides *",
				VALUE_LIKE_MOST);
	return chars <= VALUE_LIKE_MOST;
}

static bool typing_is_text(struct typing *t, const struct expr_node *node, const struct value *v)
{
	if (typing_is_array(t, node, v))
		return false;
	if (v->shape.is_text)
		return true;
	if (value__is_stack(v))
		return typing_can_reckon(t, node, v);
	if (v->shape.unit == VALUE_POINTER)
		expr_error__set(t->error, node->at, "%.*s is a pointer: write str(%.*s)",
				typing__clip(t, node), typing__text(t, node), typing__clip(t, node),
				typing__text(t, node));
	else
		expr_error__set(t->error, node->at, "like requires a text, and %.*s is not a text",
				typing__clip(t, node), typing__text(t, node));
	return false;
}

static struct value *typing_like(struct typing *t, const struct expr_node *node)
{
	const struct expr_node *glob = typing__node(t, node->right);
	struct value *text = typing_is_good_glob(t, glob) ? typing__value(t, node->left) : NULL;
	struct value *v;

	if (text && !typing_is_text(t, typing__node(t, node->left), text)) {
		value__free(text);
		return NULL;
	}
	v = value__new_of(t, VALUE_LIKE, node, text);
	if (!v)
		return NULL;
	v->shape.is_signed = true;
	v->text = strndup(glob->text, glob->text_len);
	if (v->text)
		return v;
	expr_error__set(t->error, node->at, "out of memory");
	value__free(v);
	return NULL;
}

/* ---- choice ---- */

static bool typing_can_choose(struct typing *t, const struct expr_node *node,
			      const struct value *right, const struct value *other)
{
	const struct expr_node *r = typing__node(t, node->right);
	const struct expr_node *o = typing__node(t, node->third);

	if (typing_is_array(t, r, right) || typing_is_array(t, o, other))
		return false;
	if (right->shape.is_text && other->shape.is_text)
		return true;
	if (right->shape.is_text != other->shape.is_text) {
		expr_error__set(t->error, node->op_at,
				"? requires two texts or two numbers: %.*s is a %s, %.*s is not",
				typing__clip(t, r), typing__text(t, r),
				right->shape.is_text ? "text" : "number", typing__clip(t, o),
				typing__text(t, o));
		return false;
	}
	return typing_can_reckon(t, r, right) && typing_can_reckon(t, o, other);
}

static void typing_shape_choice(struct value *v)
{
	const struct value_shape *a = &v->right->shape, *b = &v->other->shape;

	v->shape = *a;
	v->shape.is_signed = typing_is_signed(v->right, v->other);
	if (b->size > a->size)
		v->shape.size = b->size;
	if (a->unit != b->unit)
		v->shape.unit = VALUE_PLAIN;
}

static struct value *typing_choice(struct typing *t, const struct expr_node *node)
{
	struct value *v = value__new(t, VALUE_CHOOSE, node);

	if (!v)
		return NULL;
	v->left = typing__number(t, node->left);
	v->right = v->left ? typing__value(t, node->right) : NULL;
	v->other = v->right ? typing_beside(t, node->third, v->right) : NULL;
	if (!v->other || !typing_can_choose(t, node, v->right, v->other)) {
		value__free(v);
		return NULL;
	}
	typing_shape_choice(v);
	return v->shape.is_text ? v : typing_fold(v);
}

static struct value *typing_operation(struct typing *t, const struct expr_node *node)
{
	if (node->op == OP_CALL)
		return typing__call(t, node);
	if (node->op == OP_COND)
		return typing_choice(t, node);
	if (node->op == OP_MATCH)
		return typing_like(t, node);
	if (expr_op_is_unary(node->op))
		return typing_unary(t, node);
	switch (expr_ops[node->op].level) {
	case LEVEL_OR:
	case LEVEL_AND: return typing_logic(t, node);
	case LEVEL_COMPARE: return typing_comparison(t, node);
	default: return typing_reckoning(t, node);
	}
}

struct value *typing__value(struct typing *t, uint32_t index)
{
	const struct expr_node *node = typing__node(t, index);

	if (typing__is_entry(t, index))
		return typing__saved(t, index);
	if (expr_op_is_leaf(node->op) || node->op == OP_MEMBER || node->op == OP_ARROW ||
	    node->op == OP_INDEX)
		return typing_leaf(t, index);
	return typing_operation(t, node);
}

struct value *value__make(const struct expr *tree, const struct value_scope *scope,
			  struct expr_error *error)
{
	struct typing t = { .tree = tree, .scope = scope, .error = error };

	return typing__value(&t, tree->root);
}

struct value *value__make_at_entry(const struct expr *tree, const struct value_scope *scope,
				   struct expr_error *error)
{
	struct typing t = { .tree = tree, .scope = scope, .error = error, .at_entry = true };

	return typing__value(&t, tree->root);
}
