/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * expr.c: can a text break the expression language? A libFuzzer target: parse as filter, tree and
 * list, print, evaluate; what is printed must parse to the same print, the same tree and the same
 * truth, what is refused must say where.
 *	clang -g -O1 -fsanitize=fuzzer,address,undefined -Isrc tests/fuzz/expr.c src/expr/?*.c
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "expr/tree.h"
#include "expr_print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_TREES = 8 };

static const struct expr_field fields[] = {
	{ "p99", EXPR_DURATION },  { "size", EXPR_SIZE },   { "n", EXPR_NUMBER },
	{ "op", EXPR_TEXT },	   { "failed", EXPR_BOOL }, { "gone", EXPR_NUMBER },
	{ "bi.lba", EXPR_NUMBER },
};

static struct expr_value lookup(const void *row, size_t field)
{
	struct expr_value value = { .type = fields[field].type };

	(void)row;
	switch (value.type) {
	case EXPR_TEXT: value.text = "read"; break;
	case EXPR_BOOL: value.truth = true; break;
	default: value.number = 4096;
	}
	value.absent = field == 5;
	if (field == 6)
		value = (struct expr_value){ EXPR_NUMBER, .is_whole = true, .whole = UINT64_MAX };
	return value;
}

static struct expr *parse_filter(const char *text, struct expr_error *error)
{
	return expr__parse(text, fields, sizeof(fields) / sizeof(fields[0]), NULL, error);
}

typedef struct expr *(*parser)(const char *text, struct expr_error *error);

static void check_error(const char *text, const struct expr_error *error)
{
	char lines[64];

	if (error->at > strlen(text) || !*error->message)
		abort();
	expr__point_at(text, error, lines, sizeof(lines));
}

static char *print(const struct expr *expr)
{
	int len = expr__print(expr, NULL, 0);
	char *text = malloc((size_t)len + 1);

	if (!text || expr__print(expr, text, (size_t)len + 1) != len || strlen(text) != (size_t)len)
		abort();
	return text;
}

/* Where they stand and how deep they nest may differ: a print has other parentheses. */
static bool is_same_node(const struct expr_node *a, const struct expr_node *b)
{
	return a->op == b->op && a->type == b->type && a->left == b->left && a->right == b->right &&
	       a->third == b->third && a->next == b->next && a->height == b->height &&
	       a->field == b->field && a->number == b->number && a->whole == b->whole &&
	       a->is_whole == b->is_whole && a->text_len == b->text_len &&
	       (!a->text || !memcmp(a->text, b->text, a->text_len));
}

static bool is_same_tree(const struct expr *a, const struct expr *b)
{
	uint32_t i;

	if (a->nr_nodes != b->nr_nodes || a->root != b->root)
		return false;
	for (i = 0; i < a->nr_nodes; i++)
		if (!is_same_node(&a->nodes[i], &b->nodes[i]))
			return false;
	return true;
}

/* Each stands within the text, and an operator around its operands. */
static void check_places(const struct expr *expr, size_t len)
{
	const struct expr_node *node = expr->nodes, *end = expr->nodes + expr->nr_nodes;

	for (; node < end; node++) {
		if (node->from > node->at || node->at + node->len > node->to || node->to > len ||
		    !node->len || node->op_at < node->at || node->op_at >= node->at + node->len)
			abort();
		if (node->left != EXPR_NONE && (expr->nodes[node->left].from < node->at ||
						expr->nodes[node->left].to > node->at + node->len))
			abort();
	}
}

static void check(const struct expr *expr, size_t len, parser parse)
{
	char *first = print(expr), *second;
	struct expr_error error;
	struct expr *again = parse(first, &error);

	check_places(expr, len);
	/* Only its length may stop a print: it has spaces and parentheses that the text had not. */
	if (again) {
		second = print(again);
		if (strcmp(first, second) || !is_same_tree(expr, again))
			abort();
		free(second);
	} else if (strlen(first) <= EXPR_MAX_LEN) {
		abort();
	}
	if (again && parse == parse_filter &&
	    expr__is_true(expr, lookup, NULL) != expr__is_true(again, lookup, NULL))
		abort();
	expr__free(again);
	free(first);
}

static void try_one(const char *text, parser parse)
{
	struct expr_error error;
	struct expr *expr = parse(text, &error);

	if (expr)
		check(expr, strlen(text), parse);
	else
		check_error(text, &error);
	expr__free(expr);
}

/* A list of one is the tree; a tree's refusal may be a list's comma. */
static void try_list(const char *text)
{
	struct expr *trees[MAX_TREES], *tree;
	struct expr_error error;
	size_t nr, i;

	if (expr__parse_list(text, trees, MAX_TREES, &nr, &error)) {
		if (nr)
			abort();
		check_error(text, &error);
	} else if (!nr) {
		abort();
	}
	tree = expr__parse_tree(text, &error);
	if (!tree != (nr != 1) || (tree && !is_same_tree(tree, trees[0])))
		abort();
	expr__free(tree);
	for (i = 0; i < nr; i++) {
		check(trees[i], strlen(text), expr__parse_tree);
		expr__free(trees[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	try_one(text, parse_filter);
	try_one(text, expr__parse_tree);
	try_list(text);
	free(text);
	return 0;
}
