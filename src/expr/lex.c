/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lex.c: what is the next word of an expression? One pass over the text, no copies. It does not
 * know the fields: type.c decides whether a word is a field. number.c reads numbers.
 */
#include <string.h>
#include "expr/token.h"

const struct expr_op_info expr_ops[] = {
	[OP_OR] = { "||", LEVEL_OR },	      [OP_AND] = { "&&", LEVEL_AND },
	[OP_EQ] = { "==", LEVEL_COMPARE },    [OP_NE] = { "!=", LEVEL_COMPARE },
	[OP_LE] = { "<=", LEVEL_COMPARE },    [OP_GE] = { ">=", LEVEL_COMPARE },
	[OP_MATCH] = { "=~", LEVEL_COMPARE }, [OP_SHL] = { "<<", LEVEL_SHIFT },
	[OP_SHR] = { ">>", LEVEL_SHIFT },     [OP_ARROW] = { "->", LEVEL_POSTFIX },
	[OP_NOT] = { "!", LEVEL_NOT },	      [OP_LT] = { "<", LEVEL_COMPARE },
	[OP_GT] = { ">", LEVEL_COMPARE },     [OP_BITOR] = { "|", LEVEL_BITOR },
	[OP_BITXOR] = { "^", LEVEL_BITXOR },  [OP_BITAND] = { "&", LEVEL_BITAND },
	[OP_ADD] = { "+", LEVEL_SUM },	      [OP_SUB] = { "-", LEVEL_SUM },
	[OP_MUL] = { "*", LEVEL_TERM },	      [OP_DIV] = { "/", LEVEL_TERM },
	[OP_MOD] = { "%", LEVEL_TERM },	      [OP_COMPLEMENT] = { "~", LEVEL_UNARY },
	[OP_COND] = { "?", LEVEL_COND },      [OP_MEMBER] = { ".", LEVEL_POSTFIX },
	[OP_NEG] = { "-", LEVEL_UNARY },      [OP_CALL] = { NULL, LEVEL_POSTFIX },
	[OP_INDEX] = { NULL, LEVEL_POSTFIX }, [OP_FIELD] = { NULL, LEVEL_ATOM },
	[OP_NUMBER] = { NULL, LEVEL_ATOM },   [OP_TEXT] = { NULL, LEVEL_ATOM },
	[OP_WORD] = { NULL, LEVEL_ATOM },
};

static const struct {
	char c;
	enum token_kind kind;
} lex_marks[] = {
	{ '(', TOKEN_OPEN },  { ')', TOKEN_CLOSE }, { ',', TOKEN_COMMA },
	{ ':', TOKEN_COLON }, { '[', TOKEN_INDEX }, { ']', TOKEN_INDEX_END },
};

static int lex_quoted(const struct lexer *lexer, struct token *token)
{
	const char *s = lexer->source + token->at, *end = strchr(s + 1, *s);

	if (!end)
		return expr_error__set(lexer->error, token->at, "this %c is not closed", *s);
	token->kind = TOKEN_TEXT;
	token->text = s + 1;
	token->text_len = (size_t)(end - s) - 1;
	token->len = (size_t)(end - s) + 1;
	return 0;
}

static bool lex_operator(const char *s, struct token *token)
{
	size_t op, len;

	for (op = OP_OR; op < OP_NEG; op++) {
		len = strlen(expr_ops[op].text);
		if (strncmp(s, expr_ops[op].text, len))
			continue;
		token->kind = TOKEN_OP;
		token->op = (enum expr_op)op;
		token->len = len;
		return true;
	}
	return false;
}

static bool lex_mark(const struct lexer *lexer, char c, struct token *token)
{
	if (!lexer->is_tree && (c == '[' || c == ']'))
		return false;

	for (size_t i = 0; i < sizeof(lex_marks) / sizeof(lex_marks[0]); i++) {
		if (lex_marks[i].c != c)
			continue;
		token->kind = lex_marks[i].kind;
		token->len = 1;
		return true;
	}
	return false;
}

static int lex_unexpected(const char *s, size_t at, struct expr_error *error)
{
	char c = *s;

	if (c == '=' && (s[1] == '>' || s[1] == '<'))
		return expr_error__set(error, at, "write %c= to compare", s[1]);
	if (c == '=')
		return expr_error__set(error, at, "write == to compare");
	if (c == '[')
		return expr_error__set(error, at, "an index is not supported here");
	if (c == '$' || c == '@')
		return expr_error__set(error, at, "names cannot contain %c", c);
	if (c > ' ' && c < 0x7f)
		return expr_error__set(error, at, "unexpected '%c'", c);
	return expr_error__set(error, at, "unexpected character \\x%02x; quote texts",
			       (unsigned char)c);
}

static void lex_begin(struct lexer *lexer, struct token *token)
{
	lexer->at += strspn(lexer->source + lexer->at, " \t\r\n");
	*token = (struct token){ .kind = TOKEN_END, .at = lexer->at };
}

static void lex_span(const char *s, struct token *token, enum token_kind kind, size_t len)
{
	token->kind = kind;
	token->text = s;
	token->text_len = token->len = len;
}

int token__read(struct lexer *lexer, struct token *token)
{
	const char *s;
	int err = 0;

	lex_begin(lexer, token);
	s = lexer->source + lexer->at;
	if (!*s)
		return 0;
	if (token__is_digit(*s))
		err = token__read_number(lexer, token);
	else if (*s == '"' || *s == '\'')
		err = lex_quoted(lexer, token);
	else if (token__is_word(*s))
		lex_span(s, token, TOKEN_WORD, token__word_len(lexer, s));
	else if (!lex_operator(s, token) && !lex_mark(lexer, *s, token))
		err = lex_unexpected(s, lexer->at, lexer->error);
	lexer->at += token->len;
	return err;
}

int token__read_glob(struct lexer *lexer, const struct token *match, struct token *token)
{
	const char *ends = lexer->is_tree ? " \t\r\n()&|!<>=\"'," : " \t\r\n()&|!<>=\"'";
	const char *s;
	size_t len;
	int err = 0;

	lex_begin(lexer, token);
	s = lexer->source + lexer->at;
	len = strcspn(s, ends);
	if (len)
		lex_span(s, token, TOKEN_TEXT, len);
	else if (*s == '"' || *s == '\'')
		err = lex_quoted(lexer, token);
	else
		err = expr_error__set(lexer->error, lexer->at,
				      "%.*s requires a pattern, as in nvme*", (int)match->len,
				      lexer->source + match->at);
	lexer->at += token->len;
	return err;
}
