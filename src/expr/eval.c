/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eval.c: is the expression true for this row? Walks the typed tree; looks a field up only when it
 * reaches it. A value that is absent, not finite or divided by zero makes its comparison false, so
 * !(a == b) can be true for a row that has no a. 64-bit integers stay exact, other numbers are
 * reals.
 */
#include <string.h>
#include "base/compare.h"
#include "expr/tree.h"

struct eval {
	const struct expr *expr;
	expr_lookup lookup;
	const void *row;
};

/* Holds both signed and unsigned 64 bits, and their sums. */
typedef __int128 eval_int;

struct eval_value {
	bool absent;
	bool truth;
	bool is_whole;
	eval_int whole; /* if is_whole: -2^63 ... 2^64 - 1 */
	double real;	/* else */
	const char *text;
	size_t text_len;
};

#define EVAL_2_63 9223372036854775808.0

static const struct eval_value eval_absent = { .absent = true };

static struct eval_value eval_node(const struct eval *eval, uint32_t index);

static struct eval_value eval_truth(bool truth)
{
	return (struct eval_value){ .truth = truth };
}

/* Truncates to an integer; false: it does not fit in 64 bits. */
static bool eval_cut(double real, eval_int *whole)
{
	if (real < -EVAL_2_63 || real >= 2 * EVAL_2_63)
		return false;
	*whole = (eval_int)real;
	return true;
}

static struct eval_value eval_real(double real)
{
	struct eval_value value = { .real = real };

	if (!__builtin_isfinite(real))
		return eval_absent;
	value.is_whole = eval_cut(real, &value.whole) && (double)value.whole == real;
	return value;
}

static struct eval_value eval_whole(eval_int whole)
{
	if (whole < INT64_MIN || whole > UINT64_MAX)
		return eval_real((double)whole);
	return (struct eval_value){ .whole = whole, .is_whole = true };
}

static double eval_to_real(const struct eval_value *value)
{
	return value->is_whole ? (double)value->whole : value->real;
}

static struct eval_value eval_field(const struct eval *eval, const struct expr_node *node)
{
	struct expr_value value = eval->lookup(eval->row, node->field);

	if (value.absent)
		return eval_absent;
	if (node->type == EXPR_BOOL)
		return eval_truth(value.truth);
	if (node->type != EXPR_TEXT)
		return value.is_whole ? eval_whole(value.whole) : eval_real(value.number);
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

/* Below 0, 0 or above 0 when l is less than, equal to or more than r. */
static int eval_order(const struct eval_value *l, const struct eval_value *r)
{
	if (l->is_whole && r->is_whole)
		return COMPARE(l->whole, r->whole);
	return COMPARE(eval_to_real(l), eval_to_real(r));
}

static bool eval_is_equal(enum expr_type type, const struct eval_value *l,
			  const struct eval_value *r)
{
	if (type == EXPR_BOOL)
		return l->truth == r->truth;
	if (type == EXPR_TEXT)
		return l->text_len == r->text_len && !memcmp(l->text, r->text, l->text_len);
	return !eval_order(l, r);
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
	case OP_LT: return eval_order(&l, &r) < 0;
	case OP_LE: return eval_order(&l, &r) <= 0;
	case OP_GT: return eval_order(&l, &r) > 0;
	default: return eval_order(&l, &r) >= 0;
	}
}

/* Integer operation, as in C: operands are truncated first. */
static struct eval_value eval_remainder(const struct eval_value *l, const struct eval_value *r)
{
	eval_int a = l->whole, b = r->whole;

	if ((!l->is_whole && !eval_cut(l->real, &a)) || (!r->is_whole && !eval_cut(r->real, &b)))
		return eval_absent;
	return b ? eval_whole(a % b) : eval_absent;
}

static struct eval_value eval_real_sum(enum expr_op op, double l, double r)
{
	switch (op) {
	case OP_ADD: return eval_real(l + r);
	case OP_SUB: return eval_real(l - r);
	case OP_MUL: return eval_real(l * r);
	default: return r == 0 ? eval_absent : eval_real(l / r);
	}
}

/* Is the result an integer that fits? Only products of large unsigned numbers are not. */
static bool eval_is_whole_sum(enum expr_op op, const struct eval_value *l,
			      const struct eval_value *r)
{
	if (!l->is_whole || !r->is_whole)
		return false;
	if (op == OP_DIV)
		return r->whole && l->whole % r->whole == 0;
	return op != OP_MUL || (double)l->whole * (double)r->whole < 4 * EVAL_2_63;
}

static struct eval_value eval_sum(enum expr_op op, const struct eval_value *l,
				  const struct eval_value *r)
{
	if (op == OP_MOD)
		return eval_remainder(l, r);
	if (!eval_is_whole_sum(op, l, r))
		return eval_real_sum(op, eval_to_real(l), eval_to_real(r));
	switch (op) {
	case OP_ADD: return eval_whole(l->whole + r->whole);
	case OP_SUB: return eval_whole(l->whole - r->whole);
	case OP_MUL: /* unsigned: of signed ones clang's sanitizer wants a function gcc's lacks */
		return eval_whole(
			(eval_int)((unsigned __int128)l->whole * (unsigned __int128)r->whole));
	default: return eval_whole(l->whole / r->whole);
	}
}

/* 64 bits; what comes out is negative only if an operand was. */
static struct eval_value eval_from_bits(uint64_t bits, bool is_signed)
{
	return eval_whole(is_signed ? (eval_int)(int64_t)bits : (eval_int)bits);
}

static struct eval_value eval_shift(enum expr_op op, const struct eval_value *l, uint64_t by)
{
	uint64_t bits = (uint64_t)l->whole;
	bool is_signed = l->whole < 0;

	if (by >= 64)
		return eval_whole(0);
	if (op == OP_SHL)
		return eval_from_bits(bits << by, is_signed);
	return is_signed ? eval_whole((int64_t)bits >> by) : eval_whole(bits >> by);
}

static struct eval_value eval_bits(enum expr_op op, const struct eval_value *l,
				   const struct eval_value *r)
{
	uint64_t a = (uint64_t)l->whole, b = (uint64_t)r->whole;
	bool is_signed = l->whole < 0 || r->whole < 0;

	if (!l->is_whole || !r->is_whole)
		return eval_absent;
	switch (op) {
	case OP_BITOR: return eval_from_bits(a | b, is_signed);
	case OP_BITXOR: return eval_from_bits(a ^ b, is_signed);
	case OP_BITAND: return eval_from_bits(a & b, is_signed);
	default: return eval_shift(op, l, b);
	}
}

static struct eval_value eval_binary(const struct eval *eval, const struct expr_node *node)
{
	struct eval_value l = eval_node(eval, node->left), r = eval_node(eval, node->right);

	if (l.absent || r.absent)
		return eval_absent;
	return expr_ops[node->op].level < LEVEL_SUM ? eval_bits(node->op, &l, &r)
						    : eval_sum(node->op, &l, &r);
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
	if (value.absent)
		return eval_absent;
	if (node->op == OP_COMPLEMENT)
		return value.is_whole ? eval_from_bits(~(uint64_t)value.whole, value.whole < 0)
				      : eval_absent;
	return value.is_whole ? eval_whole(-value.whole) : eval_real(-value.real);
}

static struct eval_value eval_leaf(const struct eval *eval, const struct expr_node *node)
{
	if (node->op == OP_FIELD)
		return eval_field(eval, node);
	if (node->op == OP_NUMBER)
		return node->is_whole ? eval_whole(node->whole) : eval_real(node->number);
	return (struct eval_value){ .text = node->text, .text_len = node->text_len };
}

/* Recursion is as deep as the tree is high: at most EXPR_MAX_HEIGHT. */
static struct eval_value eval_node(const struct eval *eval, uint32_t index)
{
	const struct expr_node *node = &eval->expr->nodes[index];

	switch (expr_ops[node->op].level) {
	case LEVEL_COND:
		return eval_node(eval, eval_is_true(eval, node->left) ? node->right : node->third);
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
	default: return eval_binary(eval, node);
	}
}

bool expr__is_true(const struct expr *expr, expr_lookup lookup, const void *row)
{
	struct eval eval = { .expr = expr, .lookup = lookup, .row = row };

	return eval_is_true(&eval, expr->root);
}
