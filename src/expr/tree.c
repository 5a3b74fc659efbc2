/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree.c: may this node stand here? Keeps the nodes of an expression and checks their bounds:
 * evaluation needs stack for the height, and printed text must parse again, so the parentheses that
 * print.c will add count as well. The length of the text bounds the memory.
 */
#include <stdlib.h>
#include "base/grow.h"
#include "expr/tree.h"

struct expr *expr__new(const char *source, struct expr_error *error)
{
	struct expr *expr = calloc(1, sizeof(*expr));

	if (!expr) {
		expr_error__set(error, 0, "out of memory");
		return NULL;
	}
	expr->source = source;
	return expr;
}

void expr__free(struct expr *expr)
{
	if (!expr)
		return;
	free(expr->nodes);
	free(expr);
}

struct expr_node expr_node__new(enum expr_op op, size_t at, size_t len)
{
	return (struct expr_node){
		.op = op,
		.left = EXPR_NONE,
		.right = EXPR_NONE,
		.third = EXPR_NONE,
		.next = EXPR_NONE,
		.at = at,
		.len = len,
		.op_at = at,
	};
}

int expr_error__too_deep(struct expr_error *error, size_t at)
{
	return expr_error__set(error, at, "nested too deeply: at most %d levels", EXPR_MAX_NEST);
}

/* The node is above `operand`, which `nest` more parentheses or prefixes surround. */
static void node_hold(struct expr_node *node, const struct expr_node *operand, uint32_t nest)
{
	if (node->height < operand->height + 1)
		node->height = operand->height + 1;
	if (node->nest < operand->nest + nest)
		node->nest = operand->nest + nest;
}

static void node_hold_at(const struct expr *expr, struct expr_node *node, uint32_t index,
			 enum expr_place place)
{
	bool is_inside = expr_op_is_unary(node->op) || place == PLACE_THIRD ||
			 (node->op == OP_COND && place == PLACE_RIGHT);
	const struct expr_node *operand;

	if (index == EXPR_NONE)
		return;
	operand = &expr->nodes[index];
	node_hold(node, operand, is_inside + !expr_prints_bare(node->op, operand->op, place));
}

static int node_measure(const struct expr *expr, struct expr_node *node, struct expr_error *error)
{
	node->height = 1;
	node->nest = 0;
	if (node->op == OP_CALL) {
		node->nest = 1;
		for (uint32_t i = node->left; i != EXPR_NONE; i = expr->nodes[i].next)
			node_hold(node, &expr->nodes[i], 1);
	} else if (node->op == OP_INDEX) {
		node_hold_at(expr, node, node->left, PLACE_LEFT);
		node_hold(node, &expr->nodes[node->right], 1);
	} else {
		node_hold_at(expr, node, node->left, PLACE_LEFT);
		node_hold_at(expr, node, node->right, PLACE_RIGHT);
		node_hold_at(expr, node, node->third, PLACE_THIRD);
	}
	if (node->nest + 1 > EXPR_MAX_NEST)
		return expr_error__too_deep(error, node->at);
	if (node->height > EXPR_MAX_HEIGHT)
		return expr_error__set(error, node->at, "too long: at most %d in a row",
				       EXPR_MAX_HEIGHT);
	return 0;
}

int expr__add(struct expr *expr, const struct expr_node *node, struct expr_error *error)
{
	struct expr_node added = *node;
	int err = node_measure(expr, &added, error);

	if (err)
		return err;
	if (GROW(expr->nodes, expr->room, expr->nr_nodes + 1))
		return expr_error__set(error, node->at, "out of memory");
	added.from = added.at;
	added.to = added.at + added.len;
	expr->nodes[expr->nr_nodes] = added;
	return (int)expr->nr_nodes++;
}
