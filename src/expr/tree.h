/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree.h: an expression as a tree. parse.c makes it from tokens and knows no fields; type.c gives a
 * filter's nodes their types, for eval.c; src/probe types the trees of expr__parse_tree itself.
 */
#ifndef IOSONAR_EXPR_TREE_H
#define IOSONAR_EXPR_TREE_H

#include <stdint.h>
#include "expr/expr.h"

enum {
	EXPR_MAX_LEN = 65536, /* bytes of text; so every length fits an int */
	EXPR_MAX_NEST = 64,   /* nested "(", "?", "!", "-", "~", as written and as printed */
	/* Height of a tree (a + b + c + ... is high): eval and print need stack for it. */
	EXPR_MAX_HEIGHT = 1024,
};

/* No operand, no argument. */
#define EXPR_NONE UINT32_MAX

/* What lex.c reads comes first, longer spellings before their prefixes: "<=" before "<". */
enum expr_op {
	OP_OR,
	OP_AND,
	OP_EQ,
	OP_NE,
	OP_LE,
	OP_GE,
	OP_MATCH, /* =~, like: right is an OP_TEXT, the pattern */
	OP_SHL,
	OP_SHR,
	OP_ARROW, /* left -> text */
	OP_NOT,
	OP_LT,
	OP_GT,
	OP_BITOR,
	OP_BITXOR,
	OP_BITAND,
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_COMPLEMENT,
	OP_COND,   /* left ? right : third */
	OP_MEMBER, /* left . text */
	OP_NEG,
	OP_CALL,  /* text(left, left's next, ...) */
	OP_INDEX, /* left [ right ] */
	/* leaves */
	OP_FIELD, /* a filter's word that is one of its fields */
	OP_NUMBER,
	OP_TEXT,
	OP_WORD, /* a bare word that is not typed yet */
};

/* How tightly an operator binds; operators of one level associate from left to right. */
enum expr_level {
	LEVEL_COND,
	LEVEL_OR,
	LEVEL_AND,
	LEVEL_NOT,
	LEVEL_COMPARE,
	LEVEL_BITOR,
	LEVEL_BITXOR,
	LEVEL_BITAND,
	LEVEL_SHIFT,
	LEVEL_SUM,
	LEVEL_TERM,
	LEVEL_UNARY,
	LEVEL_POSTFIX,
	LEVEL_ATOM,
};

struct expr_op_info {
	const char *text;
	enum expr_level level;
};
extern const struct expr_op_info expr_ops[]; /* by enum expr_op */

struct expr_node {
	enum expr_op op;
	enum expr_type type;	     /* of a number: NUMBER or DURATION; of others: after typing */
	uint32_t left, right, third; /* operands, or EXPR_NONE; a unary operator has only left */
	uint32_t next;		     /* of a call's argument: the next argument, or EXPR_NONE */
	uint32_t height;	     /* 1 for a leaf */
	uint32_t nest;		     /* printed without parentheses of its own */
	size_t field;		     /* OP_FIELD */
	double number;		     /* OP_NUMBER, in its base unit (ns, bytes) */
	uint64_t whole;		     /* the same, exact, if is_whole */
	bool is_whole;
	/* OP_TEXT without quotes; OP_WORD; name of OP_MEMBER, OP_ARROW, OP_CALL. Not terminated. */
	const char *text;
	size_t text_len;
	size_t at, len;	 /* its position in the source */
	size_t from, to; /* position including the parentheses around it */
	size_t op_at;	 /* position of the operator itself */
};

struct expr {
	const char *source;
	const struct expr_field *fields;
	size_t nr_fields;
	const struct expr_names *names; /* while it is typed; NULL: none */
	struct expr_node *nodes; /* operands come before their operator, leaves in source order */
	size_t room;
	uint32_t nr_nodes, root;
};

/* An empty tree, or NULL with *error filled. */
struct expr *expr__new(const char *source, struct expr_error *error);
/* A node that has no operands yet. */
struct expr_node expr_node__new(enum expr_op op, size_t at, size_t len);
/* Index of the new node (its operands exist), or -EINVAL: no memory, too deep or too high. */
int expr__add(struct expr *expr, const struct expr_node *node, struct expr_error *error);
int expr_error__too_deep(struct expr_error *error, size_t at);

/* Types every node, as a filter on the fields; the root must be a truth value. 0 or -EINVAL. */
int expr__type(struct expr *expr, struct expr_error *error);

/* Fills *error; always returns -EINVAL, so that callers can return it directly. */
int expr_error__set(struct expr_error *error, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * "no field 'p98'; did you mean p99?", with `says` = "no field": points at the name of a word,
 * member or call, and suggests the most similar name, or as many names as fit if none is similar.
 */
int expr_error__unknown(struct expr_error *error, const struct expr_node *word, const char *says,
			const char *const *names, size_t nr);
/* expr_error__unknown for the expression's own fields. */
int expr_error__no_field(struct expr_error *error, const struct expr *expr,
			 const struct expr_node *word);

/* The part of a length that fits in `most` bytes, cut between characters. */
int expr_clip(const char *text, size_t len, size_t most);

static inline bool expr_op_is_unary(enum expr_op op)
{
	return op == OP_NOT || op == OP_NEG || op == OP_COMPLEMENT;
}

static inline bool expr_op_is_leaf(enum expr_op op)
{
	return op >= OP_FIELD;
}

/* Position of the name of a word, member or call. */
static inline size_t expr_node__name_at(const struct expr_node *node)
{
	bool is_behind = node->op == OP_MEMBER || node->op == OP_ARROW;

	return is_behind ? node->at + node->len - node->text_len : node->at;
}

enum expr_place { PLACE_LEFT, PLACE_RIGHT, PLACE_THIRD };

/*
 * An operand needs no parentheses: a leaf, a unary operator, the left operand in a chain of one
 * level, or the last choice of a chain (a ? b : c ? d : e).
 */
static inline bool expr_prints_bare(enum expr_op op, enum expr_op operand, enum expr_place place)
{
	enum expr_level level = expr_ops[op].level, below = expr_ops[operand].level;

	if (level == LEVEL_POSTFIX)
		return below >= LEVEL_POSTFIX;
	if (below >= LEVEL_UNARY)
		return true;
	if (operand == OP_NOT)
		return level <= LEVEL_NOT;
	if (level == LEVEL_COND)
		return place == PLACE_THIRD && operand == OP_COND;
	return place == PLACE_LEFT && level != LEVEL_COMPARE && !expr_op_is_unary(op) &&
	       level == below;
}

#endif
