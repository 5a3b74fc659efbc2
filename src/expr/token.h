/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * token.h: the words and signs of a text: lex.c reads them, number.c reads those that begin with a
 * digit, parse.c puts them together.
 */
#ifndef IOSONAR_EXPR_TOKEN_H
#define IOSONAR_EXPR_TOKEN_H

#include "expr/tree.h"

enum token_kind {
	TOKEN_END,
	TOKEN_OP,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_INDEX, /* [ and ], in trees only */
	TOKEN_INDEX_END,
	TOKEN_COMMA,
	TOKEN_COLON,
	TOKEN_NUMBER,
	TOKEN_TEXT,
	TOKEN_WORD
};

struct token {
	enum token_kind kind;
	enum expr_op op;
	enum expr_type type; /* TOKEN_NUMBER: number or duration */
	double number;
	uint64_t whole;
	bool is_whole;
	const char *text; /* TOKEN_TEXT, TOKEN_WORD */
	size_t text_len;
	size_t at, len;
};

struct lexer {
	const char *source;
	size_t at;    /* after the last token */
	bool is_tree; /* has members and calls: a dot is an operator, not a part of the word */
	struct expr_error *error;
};

/* Each reads the token at lexer->at and moves on. 0 or -EINVAL with *error filled. */
int token__read(struct lexer *lexer, struct token *token);
/* Reads what follows `match`, a "=~" or "like": a quoted string or a bare pattern. */
int token__read_glob(struct lexer *lexer, const struct token *match, struct token *token);
/* A number from its first digit to the end of its unit. */
int token__read_number(const struct lexer *lexer, struct token *token);

/* Not isdigit and isalnum: those follow the locale. */
static inline bool token__is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool token__is_word(char c)
{
	return token__is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Length of the word, name or unit that begins at s. */
static inline size_t token__word_len(const struct lexer *lexer, const char *s)
{
	bool joins = !lexer->is_tree;
	size_t len = 0;

	while (token__is_word(s[len]) ||
	       (joins && len && s[len] == '.' && token__is_word(s[len + 1])))
		len++;
	return len;
}

#endif
