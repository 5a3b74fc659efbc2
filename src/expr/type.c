/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * type.c: may two operands be compared or added, and what is the result? Decided once, in one walk
 * over the nodes of a filter, so that evaluation never meets a duration beside a text. A number
 * literal with k or Ki is a plain number, which fits a size; only a duration requires its unit.
 */
#include <errno.h>
#include <string.h>
#include "expr/tree.h"

enum { TYPE_SHOWN = 24 }; /* bytes of an operand in a message */

static const char *const type_words[] = {
	[EXPR_NUMBER] = "a number", [EXPR_DURATION] = "a duration", [EXPR_SIZE] = "a size",
	[EXPR_TEXT] = "a text",	    [EXPR_BOOL] = "a boolean",
};

static const char *const type_verbs[] = {
	[LEVEL_COND] = "alternatives",	[LEVEL_COMPARE] = "compared",
	[LEVEL_BITOR] = "joined by |",	[LEVEL_BITXOR] = "joined by ^",
	[LEVEL_BITAND] = "joined by &", [LEVEL_SHIFT] = "shifted",
	[LEVEL_SUM] = "added",		[LEVEL_TERM] = "multiplied or divided",
};

struct type_pair {
	const struct expr *expr;
	const struct expr_node *node;
	enum expr_op op;
	struct expr_node *left, *right;
	struct expr_error *error;
};

static int type_shown(const struct expr *expr, const struct expr_node *node)
{
	return expr_clip(expr->source + node->at, node->len, TYPE_SHOWN);
}

static bool type_counts(enum expr_type type)
{
	return type == EXPR_NUMBER || type == EXPR_DURATION || type == EXPR_SIZE;
}

/* The common type of two operands, or -1 if they cannot be combined. */
static int type_blend(enum expr_type a, enum expr_type b)
{
	if (a == b)
		return (int)a;
	if ((a == EXPR_SIZE && b == EXPR_NUMBER) || (a == EXPR_NUMBER && b == EXPR_SIZE))
		return EXPR_SIZE;
	return -1;
}

static int type_misfit(const struct type_pair *pair)
{
	const char *source = pair->expr->source;
	const struct expr_node *l = pair->left, *r = pair->right;

	return expr_error__set(pair->error, r->at, "%.*s is %s, %.*s is %s: they cannot be %s",
			       type_shown(pair->expr, l), source + l->at, type_words[l->type],
			       type_shown(pair->expr, r), source + r->at, type_words[r->type],
			       type_verbs[expr_ops[pair->op].level]);
}

/* "p99 is a duration: write 500us", if that is the mistake. */
static int type_misfit_unit(const struct type_pair *pair)
{
	const struct expr_node *time = pair->left, *number = pair->right;
	const char *source = pair->expr->source;

	if (time->type != EXPR_DURATION) {
		time = pair->right;
		number = pair->left;
	}
	if (time->type != EXPR_DURATION || number->op != OP_NUMBER || number->type != EXPR_NUMBER ||
	    !strchr("0123456789", source[number->at + number->len - 1]))
		return type_misfit(pair);
	return expr_error__set(pair->error, number->at, "%.*s is a duration: write %.*sus",
			       type_shown(pair->expr, time), source + time->at,
			       type_shown(pair->expr, number), source + number->at);
}

static bool type_takes_words(const struct expr_node *node)
{
	return node->type == EXPR_TEXT && (node->op == OP_FIELD || node->op == OP_COND);
}

/* A word that cannot be a text: it is another name of a field, or a mistake. */
static int type_other_name(const struct expr *expr, struct expr_node *word,
			   struct expr_error *error)
{
	const struct expr_names *names = expr->names;
	int field = names ? names->find(names->arg, word->text, word->text_len, error) : -ENOENT;

	if (field == -ENOENT)
		return expr_error__no_field(error, expr, word);
	if (field < 0) {
		error->at = word->at;
		return -EINVAL;
	}
	word->op = OP_FIELD;
	word->field = (size_t)field;
	word->type = expr->fields[field].type;
	return 0;
}

/* A bare word is a text only beside a text field: 'opp == "read"' is a typing mistake. */
static int type_settle_words(const struct type_pair *pair)
{
	struct expr_node *l = pair->left, *r = pair->right;
	bool is_side_by_side = pair->op == OP_COND || expr_ops[pair->op].level == LEVEL_COMPARE;
	int err = 0;

	if (l->op == OP_WORD) {
		if (is_side_by_side && type_takes_words(r))
			l->op = OP_TEXT;
		else
			err = type_other_name(pair->expr, l, pair->error);
	}
	if (!err && r->op == OP_WORD) {
		if (is_side_by_side && type_takes_words(l))
			r->op = OP_TEXT;
		else
			err = type_other_name(pair->expr, r, pair->error);
	}
	return err;
}

static int type_compare(const struct type_pair *pair)
{
	const struct expr_node *l = pair->left, *r = pair->right;
	bool is_equality = pair->op == OP_EQ || pair->op == OP_NE;
	const char *source = pair->expr->source;

	if (pair->op == OP_MATCH && l->type != EXPR_TEXT)
		return expr_error__set(pair->error, l->at, "%s requires a text: %.*s is %s",
				       source[pair->node->op_at] == '=' ? "=~" : "like",
				       type_shown(pair->expr, l), source + l->at,
				       type_words[l->type]);
	if (type_blend(l->type, r->type) < 0)
		return type_misfit_unit(pair);
	if (l->type == EXPR_TEXT && pair->op != OP_MATCH && !is_equality)
		return expr_error__set(pair->error, l->at, "texts have no order: use ==, != or =~");
	if (l->type == EXPR_BOOL && !is_equality)
		return expr_error__set(pair->error, l->at, "booleans have no order: use == or !=");
	return EXPR_BOOL;
}

static int type_multiply(const struct type_pair *pair)
{
	enum expr_type l = pair->left->type, r = pair->right->type;

	if (pair->op == OP_MUL && l == EXPR_NUMBER)
		return (int)r;
	if (r == EXPR_NUMBER)
		return (int)l;
	if (pair->op == OP_DIV && type_blend(l, r) >= 0)
		return EXPR_NUMBER;
	return type_misfit(pair);
}

static int type_reckon(const struct type_pair *pair)
{
	int type = type_blend(pair->left->type, pair->right->type);

	if (!type_counts(pair->left->type) || !type_counts(pair->right->type))
		return type_misfit(pair);
	switch (pair->op) {
	case OP_MUL:
	case OP_DIV: return type_multiply(pair);
	case OP_SHL:
	case OP_SHR:
		return pair->right->type == EXPR_NUMBER ? (int)pair->left->type : type_misfit(pair);
	case OP_BITOR:
	case OP_BITXOR:
	case OP_BITAND: return type < 0 ? type_misfit(pair) : type;
	default: return type < 0 ? type_misfit_unit(pair) : type;
	}
}

static int type_need(const struct expr *expr, struct expr_node *node,
		     bool (*fits)(enum expr_type type), const char *need, struct expr_error *error)
{
	int err = node->op == OP_WORD ? type_other_name(expr, node, error) : 0;

	if (err || fits(node->type))
		return err;
	return expr_error__set(error, node->at, "%.*s is %s, not %s", type_shown(expr, node),
			       expr->source + node->at, type_words[node->type], need);
}

static bool type_is_truth(enum expr_type type)
{
	return type == EXPR_BOOL;
}

static int type_need_truth(const struct expr *expr, struct expr_node *node,
			   struct expr_error *error)
{
	return type_need(expr, node, type_is_truth, "a boolean: compare it", error);
}

static int type_binary(const struct type_pair *pair)
{
	const char *text = expr_ops[pair->op].text;
	int err;

	if (pair->op == OP_OR || pair->op == OP_AND) {
		err = type_need_truth(pair->expr, pair->left, pair->error);
		err = err ?: type_need_truth(pair->expr, pair->right, pair->error);
		return err ?: EXPR_BOOL;
	}
	/* failed & op == read: & between booleans means &&. */
	if ((pair->op == OP_BITAND || pair->op == OP_BITOR) &&
	    (pair->left->type == EXPR_BOOL || pair->right->type == EXPR_BOOL))
		return expr_error__set(pair->error, pair->node->op_at, "write %s%s", text, text);
	err = type_settle_words(pair);
	if (err)
		return err;
	return expr_ops[pair->op].level == LEVEL_COMPARE ? type_compare(pair) : type_reckon(pair);
}

/* `pair` holds the two alternatives. */
static int type_choice(const struct type_pair *pair)
{
	int type, err = type_need_truth(pair->expr, &pair->expr->nodes[pair->node->left],
					pair->error);

	err = err ?: type_settle_words(pair);
	if (err)
		return err;
	type = type_blend(pair->left->type, pair->right->type);
	return type < 0 ? type_misfit_unit(pair) : type;
}

static int type_unary(const struct expr *expr, const struct expr_node *node,
		      struct expr_error *error)
{
	struct expr_node *left = &expr->nodes[node->left];
	int err;

	if (node->op == OP_NOT)
		err = type_need_truth(expr, left, error);
	else
		err = type_need(expr, left, type_counts, "a number", error);
	return err ?: (int)left->type;
}

static int type_word(const struct expr *expr, struct expr_node *word)
{
	const char *name;

	for (size_t i = 0; i < expr->nr_fields; i++) {
		name = expr->fields[i].name;
		if (strlen(name) != word->text_len || memcmp(name, word->text, word->text_len))
			continue;
		word->op = OP_FIELD;
		word->field = i;
		return (int)expr->fields[i].type;
	}
	return EXPR_TEXT;
}

/* The node's type, or -EINVAL. */
static int type_node(const struct expr *expr, struct expr_node *node, struct expr_error *error)
{
	struct type_pair pair = { .expr = expr, .node = node, .op = node->op, .error = error };

	if (node->op == OP_NUMBER)
		return (int)node->type;
	if (node->op == OP_WORD)
		return type_word(expr, node);
	if (expr_op_is_leaf(node->op))
		return EXPR_TEXT;
	if (expr_op_is_unary(node->op))
		return type_unary(expr, node, error);
	pair.left = &expr->nodes[node->op == OP_COND ? node->right : node->left];
	pair.right = &expr->nodes[node->op == OP_COND ? node->third : node->right];
	return node->op == OP_COND ? type_choice(&pair) : type_binary(&pair);
}

int expr__type(struct expr *expr, struct expr_error *error)
{
	int type;

	for (uint32_t i = 0; i < expr->nr_nodes; i++) {
		type = type_node(expr, &expr->nodes[i], error);
		if (type < 0)
			return type;
		expr->nodes[i].type = (enum expr_type)type;
	}
	return type_need_truth(expr, &expr->nodes[expr->root], error);
}
