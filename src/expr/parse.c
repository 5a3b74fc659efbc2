/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parse.c: what does an expression say? Recursive descent over the grammar in expr.h, one pass,
 * into a tree without types. EXPR_MAX_NEST bounds the stack and the length of the text bounds the
 * memory, for any text.
 */
#include <errno.h>
#include <string.h>
#include "expr/token.h"

struct parser {
	struct expr *expr;
	struct expr_error *error;
	struct lexer lexer;
	struct token token; /* the token that is not yet taken */
	int nest;
	bool is_list; /* the text may hold several expressions */
};

static int parse_chain(struct parser *p, enum expr_level level);
static int parse_cond(struct parser *p);

static int parser_take(struct parser *p)
{
	struct token match = p->token;

	if (match.kind == TOKEN_OP && match.op == OP_MATCH)
		return token__read_glob(&p->lexer, &match, &p->token);
	return token__read(&p->lexer, &p->token);
}

static bool parser_sees(const struct parser *p, enum expr_op op)
{
	return p->token.kind == TOKEN_OP && p->token.op == op;
}

static bool parser_sees_level(const struct parser *p, enum expr_level level)
{
	return p->token.kind == TOKEN_OP && expr_ops[p->token.op].level == level;
}

static bool parser_sees_word(const struct parser *p, const char *word)
{
	return p->token.kind == TOKEN_WORD && p->token.text_len == strlen(word) &&
	       !memcmp(p->token.text, word, p->token.text_len);
}

static int parser_add(struct parser *p, const struct expr_node *node)
{
	return expr__add(p->expr, node, p->error);
}

/* The node ends with the token. */
static int parser_add_ended(struct parser *p, const struct expr_node *node)
{
	int index = parser_add(p, node), err = index < 0 ? index : parser_take(p);

	return err ?: index;
}

/* Signs that only have a meaning where the grammar expects them. */
static bool parser_sees_sign(const struct parser *p)
{
	return p->token.kind == TOKEN_COMMA || p->token.kind == TOKEN_COLON ||
	       parser_sees(p, OP_MEMBER);
}

static int parser_unexpected(const struct parser *p)
{
	return expr_error__set(p->error, p->token.at, "unexpected '%c'",
			       p->lexer.source[p->token.at]);
}

/* Enters one more level of nesting, after the token that opens it. */
static int parser_enter(struct parser *p)
{
	if (++p->nest > EXPR_MAX_NEST)
		return expr_error__too_deep(p->error, p->token.at);
	return parser_take(p);
}

static int parser_join_binary(struct parser *p, const struct token *op, int left, int right)
{
	const struct expr_node *l = &p->expr->nodes[left], *r = &p->expr->nodes[right];
	struct expr_node node = expr_node__new(op->op, l->from, r->to - l->from);

	node.op_at = op->at;
	node.left = (uint32_t)left;
	node.right = (uint32_t)right;
	return parser_add(p, &node);
}

static int parser_add_leaf(struct parser *p, const struct token *token)
{
	enum expr_op op = token->kind == TOKEN_NUMBER ? OP_NUMBER
			  : token->kind == TOKEN_TEXT ? OP_TEXT
						      : OP_WORD;
	struct expr_node node = expr_node__new(op, token->at, token->len);

	node.type = token->type;
	node.number = token->number;
	node.whole = token->whole;
	node.is_whole = token->is_whole;
	node.text = token->text;
	node.text_len = token->text_len;
	return parser_add(p, &node);
}

static int parse_leaf(struct parser *p)
{
	struct token token = p->token;
	int err = parser_take(p);

	return err ?: parser_add_leaf(p, &token);
}

static int parse_parentheses(struct parser *p)
{
	size_t at = p->token.at, end;
	int err = parser_enter(p), node;

	node = err ?: parse_cond(p);
	if (node < 0)
		return node;
	if (p->token.kind != TOKEN_CLOSE)
		return expr_error__set(p->error, p->token.at, "expected ) for the ( at %zu",
				       at + 1);
	end = p->token.at + p->token.len;
	p->nest--;
	err = parser_take(p);
	p->expr->nodes[node].from = at;
	p->expr->nodes[node].to = end;
	return err ?: node;
}

/* Links the arguments; afterwards the token is the one that ends them. */
static int parse_arguments(struct parser *p, struct expr_node *call)
{
	int err = parser_enter(p), argument, last = -1;

	if (err || p->token.kind == TOKEN_CLOSE)
		return err;
	for (;;) {
		argument = parse_cond(p);
		if (argument < 0)
			return argument;
		if (last < 0)
			call->left = (uint32_t)argument;
		else
			p->expr->nodes[last].next = (uint32_t)argument;
		last = argument;
		if (p->token.kind != TOKEN_COMMA)
			return 0;
		err = parser_take(p);
		if (err)
			return err;
	}
}

/* The token is the ( after the name. */
static int parse_call(struct parser *p, const struct token *name)
{
	struct expr_node call = expr_node__new(OP_CALL, name->at, name->len);
	size_t at = p->token.at;
	int err;

	if (!p->lexer.is_tree)
		return expr_error__set(
			p->error, name->at,
			"functions are not supported here: only fields, numbers and texts");
	call.text = name->text;
	call.text_len = name->text_len;
	err = parse_arguments(p, &call);
	if (err)
		return err;
	if (p->token.kind != TOKEN_CLOSE)
		return expr_error__set(p->error, p->token.at, "expected , or ) for the ( at %zu",
				       at + 1);
	p->nest--;
	call.len = p->token.at + p->token.len - call.at;
	return parser_add_ended(p, &call);
}

/* In a filter `failed (count > 1)` is not a call: an operator is missing. */
static bool parser_sees_call(const struct parser *p, const struct token *name)
{
	bool is_behind_space = p->token.at > name->at + name->len;

	return p->token.kind == TOKEN_OPEN && (p->lexer.is_tree || !is_behind_space);
}

static int parse_word(struct parser *p)
{
	struct token word = p->token;
	int err = parser_take(p);

	if (err)
		return err;
	return parser_sees_call(p, &word) ? parse_call(p, &word) : parser_add_leaf(p, &word);
}

static int parse_atom(struct parser *p)
{
	switch (p->token.kind) {
	case TOKEN_OPEN: return parse_parentheses(p);
	case TOKEN_WORD: return parse_word(p);
	case TOKEN_NUMBER:
	case TOKEN_TEXT: return parse_leaf(p);
	case TOKEN_OP:
		if (p->token.op == OP_NOT)
			return expr_error__set(p->error, p->token.at, "use parentheses: (!...)");
		/* fall through */
	default:
		if (parser_sees_sign(p))
			return parser_unexpected(p);
		return expr_error__set(p->error, p->token.at,
				       "expected a field, a number or a text");
	}
}

/* The token is the . or -> after `left`. */
static int parse_member(struct parser *p, int left)
{
	struct token op = p->token;
	size_t from = p->expr->nodes[left].from;
	struct expr_node node = expr_node__new(op.op, from, 0);
	int err;

	if (!p->lexer.is_tree)
		return expr_error__set(
			p->error, op.at,
			"members are not supported here: only fields, numbers and texts");
	err = parser_take(p);
	if (err)
		return err;
	if (p->token.kind != TOKEN_WORD)
		return expr_error__set(p->error, p->token.at, "expected the name of a member");
	node.op_at = op.at;
	node.left = (uint32_t)left;
	node.text = p->token.text;
	node.text_len = p->token.text_len;
	node.len = p->token.at + p->token.len - from;
	return parser_add_ended(p, &node);
}

/* The token is the [ after `left`. */
static int parse_index(struct parser *p, int left)
{
	size_t at = p->token.at, from = p->expr->nodes[left].from;
	struct expr_node node = expr_node__new(OP_INDEX, from, 0);
	int err = parser_enter(p), right = err ?: parse_cond(p);

	if (right < 0)
		return right;
	if (p->token.kind != TOKEN_INDEX_END)
		return expr_error__set(p->error, p->token.at, "expected ] for the [ at %zu",
				       at + 1);
	p->nest--;
	node.op_at = at;
	node.left = (uint32_t)left;
	node.right = (uint32_t)right;
	node.len = p->token.at + p->token.len - from;
	return parser_add_ended(p, &node);
}

static int parse_postfix(struct parser *p)
{
	int node = parse_atom(p);

	while (node >= 0) {
		if (p->token.kind == TOKEN_INDEX)
			node = parse_index(p, node);
		else if (parser_sees_level(p, LEVEL_POSTFIX))
			node = parse_member(p, node);
		else
			break;
	}
	return node;
}

/* "!", "-" and "~": they differ only in the operand that may follow. */
static int parse_prefix(struct parser *p, enum expr_op op, int (*parse_operand)(struct parser *))
{
	struct expr_node node = expr_node__new(op, p->token.at, 0);
	int err = parser_enter(p), operand = err ?: parse_operand(p);

	if (operand < 0)
		return operand;
	p->nest--;
	node.left = (uint32_t)operand;
	node.len = p->expr->nodes[operand].to - node.at;
	return parser_add(p, &node);
}

/* A filter's "+10%": the sign changes nothing, it only makes the direction visible. */
static int parse_plus(struct parser *p)
{
	int err = parser_take(p);

	if (err)
		return err;
	if (p->token.kind != TOKEN_NUMBER)
		return expr_error__set(p->error, p->token.at, "expected a number after the +");
	return parse_leaf(p);
}

static int parse_unary(struct parser *p)
{
	if (!p->lexer.is_tree && parser_sees(p, OP_ADD))
		return parse_plus(p);
	if (parser_sees(p, OP_SUB))
		return parse_prefix(p, OP_NEG, parse_unary);
	if (parser_sees(p, OP_COMPLEMENT))
		return parse_prefix(p, OP_COMPLEMENT, parse_unary);
	return parse_postfix(p);
}

/* "like" is an operator only where one may stand: elsewhere it is a word. */
static bool parser_sees_comparison(struct parser *p)
{
	if (parser_sees_word(p, "like")) {
		p->token.kind = TOKEN_OP;
		p->token.op = OP_MATCH;
	}
	return parser_sees_level(p, LEVEL_COMPARE);
}

/* a > 1 & b > 2 is a > (1 & b) > 2, which is not what the user meant. */
static int parse_comparison_twice(struct parser *p, int middle)
{
	const struct expr_node *node = &p->expr->nodes[middle];

	if (node->from == node->at && (node->op == OP_BITAND || node->op == OP_BITOR))
		return expr_error__set(p->error, node->op_at, "write %s%s", expr_ops[node->op].text,
				       expr_ops[node->op].text);
	return expr_error__set(p->error, p->token.at,
			       "comparisons do not chain: write a < b && b < c");
}

static int parse_comparison(struct parser *p)
{
	struct token op;
	int err, left = parse_chain(p, LEVEL_BITOR), right;

	if (left < 0 || !parser_sees_comparison(p))
		return left;
	op = p->token;
	err = parser_take(p);
	if (err)
		return err;
	/* A pattern stands alone: it is not a sum. */
	right = op.op == OP_MATCH ? parse_leaf(p) : parse_chain(p, LEVEL_BITOR);
	if (right < 0)
		return right;
	if (parser_sees_comparison(p))
		return parse_comparison_twice(p, right);
	return parser_join_binary(p, &op, left, right);
}

static int parse_not(struct parser *p)
{
	return parser_sees(p, OP_NOT) ? parse_prefix(p, OP_NOT, parse_not) : parse_comparison(p);
}

static int parse_link(struct parser *p, enum expr_level level)
{
	switch (level) {
	case LEVEL_AND: return parse_not(p);
	case LEVEL_TERM: return parse_unary(p);
	default: return parse_chain(p, level + 1);
	}
}

static int parse_chain(struct parser *p, enum expr_level level)
{
	int err, right, left = parse_link(p, level);
	struct token op;

	while (left >= 0 && parser_sees_level(p, level)) {
		op = p->token;
		err = parser_take(p);
		right = err ?: parse_link(p, level);
		if (right < 0)
			return right;
		left = parser_join_binary(p, &op, left, right);
	}
	return left;
}

/* The token is the ? after `left`. */
static int parse_choice(struct parser *p, int left)
{
	size_t at = p->token.at, from = p->expr->nodes[left].from;
	struct expr_node node = expr_node__new(OP_COND, from, 0);
	int err = parser_enter(p), right = err ?: parse_cond(p), third;

	if (right < 0)
		return right;
	if (p->token.kind != TOKEN_COLON)
		return expr_error__set(p->error, p->token.at, "expected : for the ? at %zu",
				       at + 1);
	err = parser_take(p);
	third = err ?: parse_cond(p);
	if (third < 0)
		return third;
	p->nest--;
	node.op_at = at;
	node.left = (uint32_t)left;
	node.right = (uint32_t)right;
	node.third = (uint32_t)third;
	node.len = p->expr->nodes[third].to - from;
	return parser_add(p, &node);
}

static int parse_cond(struct parser *p)
{
	int left = parse_chain(p, LEVEL_OR);

	return left >= 0 && parser_sees(p, OP_COND) ? parse_choice(p, left) : left;
}

static int parse_leftover(struct parser *p)
{
	const struct expr_node *root = &p->expr->nodes[p->expr->root];
	const struct token *token = &p->token;

	if (token->kind == TOKEN_CLOSE)
		return expr_error__set(p->error, token->at, "this ) has no matching (");
	if (token->kind == TOKEN_INDEX_END)
		return expr_error__set(p->error, token->at, "this ] has no matching [");
	if (parser_sees_sign(p))
		return parser_unexpected(p);
	if (parser_sees_word(p, "and"))
		return expr_error__set(p->error, token->at, "write && instead of and");
	if (parser_sees_word(p, "or"))
		return expr_error__set(p->error, token->at, "write || instead of or");
	if (root->op == OP_WORD && root->text_len == 3 && !memcmp(root->text, "not", 3))
		return expr_error__set(p->error, root->at, "write ! instead of not");
	if (p->is_list && token->kind >= TOKEN_NUMBER)
		return expr_error__set(p->error, token->at, "expected a comma or an operator");
	return expr_error__set(p->error, token->at, "expected an operator or the end");
}

static int parser_start(struct parser *p, const char *text, struct expr_error *error)
{
	*error = (struct expr_error){ 0 };
	p->error = p->lexer.error = error;
	p->lexer.source = text;
	if (strlen(text) > EXPR_MAX_LEN)
		return expr_error__set(error, EXPR_MAX_LEN, "too long: at most %d bytes",
				       EXPR_MAX_LEN);
	return parser_take(p);
}

/* One tree; the caller handles the text after it. */
static struct expr *parser_tree(struct parser *p)
{
	int root;

	p->expr = expr__new(p->lexer.source, p->error);
	if (!p->expr)
		return NULL;
	root = parse_cond(p);
	if (root >= 0) {
		p->expr->root = (uint32_t)root;
		return p->expr;
	}
	expr__free(p->expr);
	return NULL;
}

static struct expr *parse_all(struct parser *p, const char *text, struct expr_error *error)
{
	struct expr *expr = parser_start(p, text, error) ? NULL : parser_tree(p);

	if (!expr || p->token.kind == TOKEN_END)
		return expr;
	parse_leftover(p);
	expr__free(expr);
	return NULL;
}

struct expr *expr__parse(const char *text, const struct expr_field *fields, size_t nr_fields,
			 const struct expr_names *names, struct expr_error *error)
{
	struct parser parser = { 0 };
	struct expr *expr = parse_all(&parser, text, error);
	int err;

	if (!expr)
		return NULL;
	expr->fields = fields;
	expr->nr_fields = nr_fields;
	expr->names = names;
	err = expr__type(expr, error);
	expr->names = NULL;
	if (!err)
		return expr;
	expr__free(expr);
	return NULL;
}

struct expr *expr__parse_tree(const char *text, struct expr_error *error)
{
	struct parser parser = { .lexer.is_tree = true };

	return parse_all(&parser, text, error);
}

static int parse_list(struct parser *p, struct expr **trees, size_t room, size_t *nr)
{
	int err = 0;

	for (; !err; err = parser_take(p)) {
		if (*nr == room && room == 1)
			return expr_error__set(
				p->error, p->token.at,
				"expected one expression, not a list (join conditions with &&)");
		if (*nr == room)
			return expr_error__set(p->error, p->token.at, "too many: at most %zu",
					       room);
		trees[*nr] = parser_tree(p);
		if (!trees[*nr])
			return -EINVAL;
		(*nr)++;
		if (p->token.kind != TOKEN_COMMA)
			return p->token.kind == TOKEN_END ? 0 : parse_leftover(p);
	}
	return err;
}

int expr__parse_list(const char *text, struct expr **trees, size_t room, size_t *nr,
		     struct expr_error *error)
{
	struct parser parser = { .lexer.is_tree = true, .is_list = room > 1 };
	int err;

	*nr = 0;
	err = parser_start(&parser, text, error);
	err = err ?: parse_list(&parser, trees, room, nr);
	while (err && *nr)
		expr__free(trees[--*nr]);
	return err;
}
