/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * expr_print.h: for tests: what did the parser understand? Every operator in parentheses, except
 * the left end of a row of equals (a || b || c), so that long rows do not nest. Numbers stand as
 * they were written: no digit is lost. Parsing the result gives the same tree, unless it has
 * outgrown EXPR_MAX_LEN.
 */
#ifndef IOSONAR_TESTS_EXPR_PRINT_H
#define IOSONAR_TESTS_EXPR_PRINT_H

#include <string.h>
#include "expr/tree.h"

struct print {
	const struct expr *expr;
	char *buf;
	size_t size, len;
};

static void print_bytes(struct print *print, const char *text, size_t len)
{
	size_t room = print->len < print->size ? print->size - print->len : 0;

	if (room)
		memcpy(print->buf + print->len, text, len < room ? len : room);
	print->len += len;
}

static void print_text(struct print *print, const char *text)
{
	print_bytes(print, text, strlen(text));
}

static void print_node(struct print *print, uint32_t index);

/* A text was written in one kind of quotes, or bare without either: it never holds both. */
static void print_leaf(struct print *print, const struct expr_node *node)
{
	const char *quote = "\"";

	if (node->op != OP_TEXT) {
		print_bytes(print, print->expr->source + node->at, node->len);
	} else {
		if (memchr(node->text, '"', node->text_len))
			quote = "'";
		print_text(print, quote);
		print_bytes(print, node->text, node->text_len);
		print_text(print, quote);
	}
}

static void print_operand(struct print *print, enum expr_op op, uint32_t index,
			  enum expr_place place)
{
	const struct expr_node *node = &print->expr->nodes[index];
	bool is_bare = expr_prints_bare(op, node->op, place);

	/* Before an operator of arithmetic its sign would be read as a remainder's: 1% + 2. */
	if (expr_ops[op].level > LEVEL_COMPARE && node->op == OP_NUMBER && node->len &&
	    print->expr->source[node->at + node->len - 1] == '%')
		is_bare = false;
	if (!is_bare)
		print_text(print, "(");
	print_node(print, index);
	if (!is_bare)
		print_text(print, ")");
}

static void print_spaced(struct print *print, const char *text)
{
	print_text(print, " ");
	print_text(print, text);
	print_text(print, " ");
}

static void print_call(struct print *print, const struct expr_node *node)
{
	print_bytes(print, node->text, node->text_len);
	print_text(print, "(");
	for (uint32_t i = node->left; i != EXPR_NONE; i = print->expr->nodes[i].next) {
		if (i != node->left)
			print_text(print, ", ");
		print_node(print, i);
	}
	print_text(print, ")");
}

/* One or two operands, or the three of a choice. */
static void print_operator(struct print *print, const struct expr_node *node)
{
	print_operand(print, node->op, node->left, PLACE_LEFT);
	if (node->op == OP_MEMBER || node->op == OP_ARROW) {
		print_text(print, expr_ops[node->op].text);
		print_bytes(print, node->text, node->text_len);
		return;
	}
	if (node->op == OP_INDEX) {
		print_text(print, "[");
		print_node(print, node->right);
		print_text(print, "]");
		return;
	}
	print_spaced(print, expr_ops[node->op].text);
	print_operand(print, node->op, node->right, PLACE_RIGHT);
	if (node->op != OP_COND)
		return;
	print_spaced(print, ":");
	print_operand(print, node->op, node->third, PLACE_THIRD);
}

static void print_node(struct print *print, uint32_t index)
{
	const struct expr_node *node = &print->expr->nodes[index];

	if (expr_op_is_leaf(node->op)) {
		print_leaf(print, node);
	} else if (expr_op_is_unary(node->op)) {
		print_text(print, expr_ops[node->op].text);
		print_operand(print, node->op, node->left, PLACE_LEFT);
	} else if (node->op == OP_CALL) {
		print_call(print, node);
	} else {
		print_operator(print, node);
	}
}

/* Returns the length, like snprintf. */
static int expr__print(const struct expr *expr, char *buf, size_t size)
{
	struct print print = { .expr = expr, .buf = buf, .size = size };
	bool is_bare = expr_ops[expr->nodes[expr->root].op].level >= LEVEL_UNARY ||
		       expr->nodes[expr->root].op == OP_NOT;

	if (!is_bare)
		print_text(&print, "(");
	print_node(&print, expr->root);
	if (!is_bare)
		print_text(&print, ")");
	if (size)
		buf[print.len < size ? print.len : size - 1] = '\0';
	return (int)print.len;
}

#endif
