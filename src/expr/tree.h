/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree.h: what the rooms of src/expr pass on to each other: tokens from lex.c to parse.c, typed
 * nodes from parse.c and type.c to eval.c and print.c. Nobody outside includes it.
 */
#ifndef IOSONAR_EXPR_TREE_H
#define IOSONAR_EXPR_TREE_H

#include <stdint.h>
#include "expr/expr.h"

enum {
	EXPR_MAX_LEN = 65536, /* bytes of text; so every length fits an int */
	EXPR_MAX_NEST = 64,   /* "(", "!" and "-" inside each other, in the text and when printed */
	/* The tree's, which a + b + c + ... makes high: eval and print need so much stack. */
	EXPR_MAX_HEIGHT = 1024,
};

enum expr_op {
	OP_OR,
	OP_AND,
	OP_NOT,
	OP_EQ,
	OP_NE,
	OP_LE,
	OP_GE,
	OP_MATCH,
	OP_LT,
	OP_GT,
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_NEG,
	OP_FIELD,
	OP_NUMBER,
	OP_TEXT,
	OP_WORD, /* a bare word that is no field: becomes OP_TEXT or an error */
};

/* How tightly an operator binds; operators of one level stand in a row, from left to right. */
enum expr_level {
	LEVEL_OR,
	LEVEL_AND,
	LEVEL_NOT,
	LEVEL_COMPARE,
	LEVEL_SUM,
	LEVEL_TERM,
	LEVEL_UNARY,
	LEVEL_ATOM,
};

struct expr_op_info {
	const char *text;
	enum expr_level level;
};
extern const struct expr_op_info expr_ops[]; /* by enum expr_op */

struct expr_node {
	enum expr_op op;
	enum expr_type type;
	uint32_t left, right; /* operands; a unary operator has only left */
	uint32_t height;      /* 1 for a leaf */
	uint32_t nest;	      /* printed without parentheses of its own */
	size_t field;	      /* OP_FIELD */
	double number;	      /* OP_NUMBER */
	const char *text;     /* OP_TEXT, OP_WORD: without quotes, not terminated */
	size_t text_len;
	size_t at, len; /* where it stands in the source */
};

struct expr {
	const char *source;
	const struct expr_field *fields;
	size_t nr_fields;
	struct expr_node *nodes; /* operands come before their operator, leaves in source order */
	uint32_t nr_nodes, room;
	uint32_t root;
};

enum token_kind {
	TOKEN_END,
	TOKEN_OP,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_NUMBER,
	TOKEN_TEXT,
	TOKEN_WORD
};

struct token {
	enum token_kind kind;
	enum expr_op op;
	enum expr_type type; /* TOKEN_NUMBER: number or duration */
	double number;
	const char *text; /* TOKEN_TEXT, TOKEN_WORD */
	size_t text_len;
	size_t at, len;
};

/* Each reads the token at *at and moves *at behind it. 0 or -EINVAL with *error filled. */
int token__read(const char *source, size_t *at, struct token *token, struct expr_error *error);
/* The same for what follows "=~": a quoted string or a bare pattern. */
int token__read_glob(const char *source, size_t *at, struct token *token, struct expr_error *error);

/*
 * Gives an operator its type, or says why its operands do not fit it; bare words beside a text
 * become texts. 0 or -EINVAL.
 */
int node__type(struct expr *expr, struct expr_node *node, struct expr_error *error);
/* The whole must be a truth. */
int node__type_root(const struct expr *expr, const struct expr_node *root,
		    struct expr_error *error);

/* Fills *error; always -EINVAL, so that it can be returned in the same breath. */
int expr_error__set(struct expr_error *error, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* "no field 'p98'; did you mean p99?" */
int expr_error__no_field(struct expr_error *error, const struct expr *expr,
			 const struct expr_node *word);

/* The part of a length that fits `most` bytes, cut between characters. */
int expr_clip(const char *text, size_t len, size_t most);

static inline bool expr_op_is_unary(enum expr_op op)
{
	return op == OP_NOT || op == OP_NEG;
}

static inline bool expr_op_is_leaf(enum expr_op op)
{
	return op >= OP_FIELD;
}

/* An operand needs no parentheses: a leaf, a unary operator, or the left end of the same row. */
static inline bool expr_prints_bare(enum expr_op op, enum expr_op operand, bool is_left)
{
	enum expr_level level = expr_ops[op].level;

	if (expr_ops[operand].level >= LEVEL_UNARY)
		return true;
	if (operand == OP_NOT)
		return op == OP_NOT || level == LEVEL_AND || level == LEVEL_OR;
	return is_left && level != LEVEL_COMPARE && !expr_op_is_unary(op) &&
	       level == expr_ops[operand].level;
}

#endif
