/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eval.c: is the expression true of this row? Walks the typed tree; a field is looked up only when
 * it is reached. What is absent, not finite or divided by zero makes its comparison false, so
 * !(a == b) can be true of a row that has no a.
 */
#include <string.h>
#include "expr/tree.h"

struct eval {
	const struct expr *expr;
	expr_lookup lookup;
	const void *row;
};

struct eval_value {
	bool absent;
	bool truth;
	double number;
	const char *text;
	size_t text_len;
};

static const struct eval_value eval_absent = { .absent = true };

static struct eval_value eval_node(const struct eval *eval, uint32_t index);

static struct eval_value eval_truth(bool truth)
{
	return (struct eval_value){ .truth = truth };
}

static struct eval_value eval_number(double number)
{
	if (!__builtin_isfinite(number))
		return eval_absent;
	return (struct eval_value){ .number = number };
}

static struct eval_value eval_field(const struct eval *eval, const struct expr_node *node)
{
	struct expr_value value = eval->lookup(eval->row, node->field);

	if (value.absent)
		return eval_absent;
	if (node->type == EXPR_BOOL)
		return eval_truth(value.truth);
	if (node->type != EXPR_TEXT)
		return eval_number(value.number);
	if (!value.text)
		return eval_absent;
	return (struct eval_value){ .text = value.text, .text_len = strlen(value.text) };
}

/*
 * On a mismatch go back to the last star and let it eat one more: no recursion, at most
 * text * pattern steps whatever the pattern.
 */
static bool eval_glob(const struct eval_value *text, const struct eval_value *glob)
{
	size_t t = 0, g = 0, star_t = 0, star_g = 0;
	bool has_star = false;

	while (t < text->text_len) {
		if (g < glob->text_len && glob->text[g] == '*') {
			has_star = true;
			star_g = ++g;
			star_t = t;
		} else if (g < glob->text_len &&
			   (glob->text[g] == '?' || glob->text[g] == text->text[t])) {
			g++;
			t++;
		} else if (has_star) {
			g = star_g;
			t = ++star_t;
		} else {
			return false;
		}
	}
	while (g < glob->text_len && glob->text[g] == '*')
		g++;
	return g == glob->text_len;
}

static bool eval_is_equal(enum expr_type type, const struct eval_value *l,
			  const struct eval_value *r)
{
	if (type == EXPR_BOOL)
		return l->truth == r->truth;
	if (type == EXPR_TEXT)
		return l->text_len == r->text_len && !memcmp(l->text, r->text, l->text_len);
	return l->number == r->number;
}

static bool eval_comparison(const struct eval *eval, const struct expr_node *node)
{
	struct eval_value l = eval_node(eval, node->left), r = eval_node(eval, node->right);
	enum expr_type type = eval->expr->nodes[node->left].type;

	if (l.absent || r.absent)
		return false;
	switch (node->op) {
	case OP_EQ: return eval_is_equal(type, &l, &r);
	case OP_NE: return !eval_is_equal(type, &l, &r);
	case OP_MATCH: return eval_glob(&l, &r);
	case OP_LT: return l.number < r.number;
	case OP_LE: return l.number <= r.number;
	case OP_GT: return l.number > r.number;
	default: return l.number >= r.number;
	}
}

/* Of whole numbers, as in C: what lies behind the point is cut off first. */
static struct eval_value eval_remainder(double l, double r)
{
	const double limit = 9223372036854775808.0; /* 2^63 */

	if (l <= -limit || l >= limit || r <= -limit || r >= limit || !(int64_t)r)
		return eval_absent;
	return eval_number((double)((int64_t)l % (int64_t)r));
}

static struct eval_value eval_sum(const struct eval *eval, const struct expr_node *node)
{
	struct eval_value l = eval_node(eval, node->left), r = eval_node(eval, node->right);

	if (l.absent || r.absent)
		return eval_absent;
	switch (node->op) {
	case OP_ADD: return eval_number(l.number + r.number);
	case OP_SUB: return eval_number(l.number - r.number);
	case OP_MUL: return eval_number(l.number * r.number);
	case OP_MOD: return eval_remainder(l.number, r.number);
	default: return r.number == 0 ? eval_absent : eval_number(l.number / r.number);
	}
}

/* An absent truth is false. */
static bool eval_is_true(const struct eval *eval, uint32_t index)
{
	struct eval_value value = eval_node(eval, index);

	return !value.absent && value.truth;
}

static struct eval_value eval_unary(const struct eval *eval, const struct expr_node *node)
{
	struct eval_value value;

	if (node->op == OP_NOT)
		return eval_truth(!eval_is_true(eval, node->left));
	value = eval_node(eval, node->left);
	value.number = -value.number;
	return value;
}

static struct eval_value eval_leaf(const struct eval *eval, const struct expr_node *node)
{
	if (node->op == OP_FIELD)
		return eval_field(eval, node);
	if (node->op == OP_NUMBER)
		return eval_number(node->number);
	return (struct eval_value){ .text = node->text, .text_len = node->text_len };
}

/* As deep as the tree is high: EXPR_MAX_HEIGHT. */
static struct eval_value eval_node(const struct eval *eval, uint32_t index)
{
	const struct expr_node *node = &eval->expr->nodes[index];

	switch (expr_ops[node->op].level) {
	case LEVEL_OR:
		return eval_truth(eval_is_true(eval, node->left) ||
				  eval_is_true(eval, node->right));
	case LEVEL_AND:
		return eval_truth(eval_is_true(eval, node->left) &&
				  eval_is_true(eval, node->right));
	case LEVEL_NOT:
	case LEVEL_UNARY: return eval_unary(eval, node);
	case LEVEL_COMPARE: return eval_truth(eval_comparison(eval, node));
	case LEVEL_ATOM: return eval_leaf(eval, node);
	default: return eval_sum(eval, node);
	}
}

bool expr__is_true(const struct expr *expr, expr_lookup lookup, const void *row)
{
	struct eval eval = { .expr = expr, .lookup = lookup, .row = row };

	return eval_is_true(&eval, expr->root);
}

int expr__first_field(const struct expr *expr)
{
	uint32_t i;

	for (i = 0; i < expr->nr_nodes; i++)
		if (expr->nodes[i].op == OP_FIELD)
			return (int)expr->nodes[i].field;
	return -1;
}
