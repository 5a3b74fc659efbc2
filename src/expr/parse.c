/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parse.c: what does an expression say? Recursive descent over the grammar in expr.h, one pass,
 * each node typed as it is made. Whatever the text, the stack it needs is bounded by
 * EXPR_MAX_NEST and the memory by the length of the text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "expr/tree.h"

struct parser {
	struct expr *expr;
	struct expr_error *error;
	struct token token; /* the one not yet taken */
	size_t at;	    /* behind it */
	int nest;
};

static int parse_chain(struct parser *p, enum expr_level level);

static int parser_take(struct parser *p)
{
	const char *source = p->expr->source;

	if (p->token.kind == TOKEN_OP && p->token.op == OP_MATCH)
		return token__read_glob(source, &p->at, &p->token, p->error);
	return token__read(source, &p->at, &p->token, p->error);
}

static bool parser_sees(const struct parser *p, enum expr_op op)
{
	return p->token.kind == TOKEN_OP && p->token.op == op;
}

static int parser_too_deep(struct parser *p, size_t at)
{
	return expr_error__set(p->error, at, "nested too deeply: at most %d levels", EXPR_MAX_NEST);
}

/* The index of the new node, or a negative errno. */
static int parser_add(struct parser *p, const struct expr_node *node)
{
	struct expr *expr = p->expr;
	uint32_t room = expr->room ? 2 * expr->room : 16;
	struct expr_node *nodes;

	if (expr->nr_nodes == expr->room) {
		nodes = realloc(expr->nodes, room * sizeof(*nodes));
		if (!nodes)
			return expr_error__set(p->error, node->at, "out of memory");
		expr->nodes = nodes;
		expr->room = room;
	}
	expr->nodes[expr->nr_nodes] = *node;
	return (int)expr->nr_nodes++;
}

static uint32_t parser_operand_nest(const struct expr_node *node, const struct expr_node *operand,
				    bool is_left)
{
	return operand->nest + !expr_prints_bare(node->op, operand->op, is_left);
}

/* What is printed must parse again, so parentheses that print.c will add count as well. */
static int parser_measure(struct parser *p, struct expr_node *node)
{
	const struct expr_node *left = &p->expr->nodes[node->left];
	const struct expr_node *right = &p->expr->nodes[node->right];
	uint32_t nest = parser_operand_nest(node, left, true);

	node->height = left->height + 1;
	if (expr_op_is_unary(node->op)) {
		node->nest = nest + 1;
	} else {
		node->nest = parser_operand_nest(node, right, false);
		if (node->nest < nest)
			node->nest = nest;
		if (node->height <= right->height)
			node->height = right->height + 1;
	}
	if (node->nest + 1 > EXPR_MAX_NEST)
		return parser_too_deep(p, node->at);
	if (node->height > EXPR_MAX_HEIGHT)
		return expr_error__set(p->error, node->at, "too long: at most %d in a row",
				       EXPR_MAX_HEIGHT);
	return 0;
}

static int parser_join(struct parser *p, struct expr_node *node)
{
	int err = parser_measure(p, node);

	if (!err)
		err = node__type(p->expr, node, p->error);
	return err ? err : parser_add(p, node);
}

static int parser_join_binary(struct parser *p, const struct token *op, int left, int right)
{
	const struct expr_node *l = &p->expr->nodes[left], *r = &p->expr->nodes[right];
	struct expr_node node = {
		.op = op->op,
		.left = (uint32_t)left,
		.right = (uint32_t)right,
		.at = l->at,
		.len = r->at + r->len - l->at,
	};

	return parser_join(p, &node);
}

static int parse_word(struct parser *p, struct expr_node *node)
{
	const struct expr *expr = p->expr;
	const struct token *word = &p->token;
	size_t i;

	node->op = OP_WORD;
	node->type = EXPR_TEXT;
	for (i = 0; i < expr->nr_fields; i++) {
		if (strlen(expr->fields[i].name) != word->text_len ||
		    memcmp(expr->fields[i].name, word->text, word->text_len))
			continue;
		node->op = OP_FIELD;
		node->field = i;
		node->type = expr->fields[i].type;
		break;
	}
	return parser_add(p, node);
}

static int parse_leaf(struct parser *p)
{
	const struct token *token = &p->token;
	struct expr_node node = {
		.height = 1,
		.text = token->text,
		.text_len = token->text_len,
		.at = token->at,
		.len = token->len,
	};

	if (token->kind == TOKEN_WORD)
		return parse_word(p, &node);
	if (token->kind == TOKEN_TEXT) {
		node.op = OP_TEXT;
		node.type = EXPR_TEXT;
		return parser_add(p, &node);
	}
	node.op = OP_NUMBER;
	node.type = token->type;
	node.number = token->number;
	return parser_add(p, &node);
}

static int parse_parentheses(struct parser *p)
{
	size_t at = p->token.at;
	int err, node;

	if (++p->nest > EXPR_MAX_NEST)
		return parser_too_deep(p, at);
	err = parser_take(p);
	node = err ? err : parse_chain(p, LEVEL_OR);
	if (node < 0)
		return node;
	if (p->token.kind != TOKEN_CLOSE)
		return expr_error__set(p->error, p->token.at, "expected ) for the ( at %zu",
				       at + 1);
	p->nest--;
	err = parser_take(p);
	return err ? err : node;
}

static int parse_atom(struct parser *p)
{
	int err, node;

	switch (p->token.kind) {
	case TOKEN_OPEN: return parse_parentheses(p);
	case TOKEN_NUMBER:
	case TOKEN_TEXT:
	case TOKEN_WORD: break;
	case TOKEN_OP:
		if (p->token.op == OP_NOT)
			return expr_error__set(p->error, p->token.at, "put parentheses: (!...)");
		/* fall through */
	default:
		return expr_error__set(p->error, p->token.at,
				       "expected a field, a number or a text");
	}
	node = parse_leaf(p);
	err = node < 0 ? node : parser_take(p);
	return err ? err : node;
}

/* "!" and "-": the rest of the line is the same but for what may follow. */
static int parse_prefix(struct parser *p, enum expr_op op, int (*parse_operand)(struct parser *))
{
	struct expr_node node = { .op = op, .at = p->token.at };
	int operand;

	if (++p->nest > EXPR_MAX_NEST)
		return parser_too_deep(p, node.at);
	operand = parser_take(p);
	if (!operand)
		operand = parse_operand(p);
	if (operand < 0)
		return operand;
	p->nest--;
	node.left = (uint32_t)operand;
	node.len = p->expr->nodes[operand].at + p->expr->nodes[operand].len - node.at;
	return parser_join(p, &node);
}

static int parse_unary(struct parser *p)
{
	return parser_sees(p, OP_SUB) ? parse_prefix(p, OP_NEG, parse_unary) : parse_atom(p);
}

static bool parser_sees_level(const struct parser *p, enum expr_level level)
{
	return p->token.kind == TOKEN_OP && expr_ops[p->token.op].level == level;
}

static int parse_comparison(struct parser *p)
{
	struct token op;
	int err, left = parse_chain(p, LEVEL_SUM), right;

	if (left < 0 || !parser_sees_level(p, LEVEL_COMPARE))
		return left;
	op = p->token;
	err = parser_take(p);
	if (err)
		return err;
	/* A pattern stands alone: it is no sum. */
	right = op.op == OP_MATCH ? parse_atom(p) : parse_chain(p, LEVEL_SUM);
	if (right < 0)
		return right;
	if (parser_sees_level(p, LEVEL_COMPARE))
		return expr_error__set(p->error, p->token.at,
				       "comparisons do not chain: write a < b && b < c");
	return parser_join_binary(p, &op, left, right);
}

static int parse_not(struct parser *p)
{
	return parser_sees(p, OP_NOT) ? parse_prefix(p, OP_NOT, parse_not) : parse_comparison(p);
}

static int parse_link(struct parser *p, enum expr_level level)
{
	switch (level) {
	case LEVEL_OR: return parse_chain(p, LEVEL_AND);
	case LEVEL_AND: return parse_not(p);
	case LEVEL_SUM: return parse_chain(p, LEVEL_TERM);
	default: return parse_unary(p);
	}
}

static int parse_chain(struct parser *p, enum expr_level level)
{
	int err, right, left = parse_link(p, level);
	struct token op;

	while (left >= 0 && parser_sees_level(p, level)) {
		op = p->token;
		err = parser_take(p);
		right = err ? err : parse_link(p, level);
		if (right < 0)
			return right;
		left = parser_join_binary(p, &op, left, right);
	}
	return left;
}

static int parse_leftover(struct parser *p)
{
	const struct token *token = &p->token;

	if (token->kind == TOKEN_CLOSE)
		return expr_error__set(p->error, token->at, "this ) closes nothing");
	if (token->kind == TOKEN_WORD && token->text_len == 3 && !memcmp(token->text, "and", 3))
		return expr_error__set(p->error, token->at, "write && for and");
	if (token->kind == TOKEN_WORD && token->text_len == 2 && !memcmp(token->text, "or", 2))
		return expr_error__set(p->error, token->at, "write || for or");
	return expr_error__set(p->error, token->at, "expected an operator or the end");
}

static int parse_all(struct parser *p)
{
	int err, root;

	if (strlen(p->expr->source) > EXPR_MAX_LEN)
		return expr_error__set(p->error, EXPR_MAX_LEN, "too long: at most %d bytes",
				       EXPR_MAX_LEN);
	err = parser_take(p);
	root = err ? err : parse_chain(p, LEVEL_OR);
	if (root < 0)
		return root;
	if (p->token.kind != TOKEN_END)
		return parse_leftover(p);
	p->expr->root = (uint32_t)root;
	return node__type_root(p->expr, &p->expr->nodes[root], p->error);
}

struct expr *expr__parse(const char *text, const struct expr_field *fields, size_t nr_fields,
			 struct expr_error *error)
{
	struct parser parser = { .error = error };

	*error = (struct expr_error){ 0 };
	parser.expr = calloc(1, sizeof(*parser.expr));
	if (!parser.expr) {
		expr_error__set(error, 0, "out of memory");
		return NULL;
	}
	parser.expr->source = text;
	parser.expr->fields = fields;
	parser.expr->nr_fields = nr_fields;
	if (!parse_all(&parser))
		return parser.expr;
	expr__free(parser.expr);
	return NULL;
}

void expr__free(struct expr *expr)
{
	if (!expr)
		return;
	free(expr->nodes);
	free(expr);
}
