/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lex.c: what is the next word of an expression? One pass over the text, nothing is copied. It
 * does not know fields: whether a word is one is decided by parse.c. Numbers are read here rather
 * than by strtod, which follows the locale and takes "inf", "nan" and hexadecimal.
 */
#include <errno.h>
#include <string.h>
#include "expr/tree.h"

const struct expr_op_info expr_ops[] = {
	[OP_OR] = { "||", LEVEL_OR },	   [OP_AND] = { "&&", LEVEL_AND },
	[OP_NOT] = { "!", LEVEL_NOT },	   [OP_EQ] = { "==", LEVEL_COMPARE },
	[OP_NE] = { "!=", LEVEL_COMPARE }, [OP_LE] = { "<=", LEVEL_COMPARE },
	[OP_GE] = { ">=", LEVEL_COMPARE }, [OP_MATCH] = { "=~", LEVEL_COMPARE },
	[OP_LT] = { "<", LEVEL_COMPARE },  [OP_GT] = { ">", LEVEL_COMPARE },
	[OP_ADD] = { "+", LEVEL_SUM },	   [OP_SUB] = { "-", LEVEL_SUM },
	[OP_MUL] = { "*", LEVEL_TERM },	   [OP_DIV] = { "/", LEVEL_TERM },
	[OP_MOD] = { "%", LEVEL_TERM },	   [OP_NEG] = { "-", LEVEL_UNARY },
	[OP_FIELD] = { NULL, LEVEL_ATOM }, [OP_NUMBER] = { NULL, LEVEL_ATOM },
	[OP_TEXT] = { NULL, LEVEL_ATOM },  [OP_WORD] = { NULL, LEVEL_ATOM },
};

static const struct lex_unit {
	const char *name;
	double factor;
	enum expr_type type;
} lex_units[] = {
	{ "", 1, EXPR_NUMBER },
	{ "ns", 1, EXPR_DURATION },
	{ "us", 1e3, EXPR_DURATION },
	{ "ms", 1e6, EXPR_DURATION },
	{ "s", 1e9, EXPR_DURATION },
	{ "k", 1e3, EXPR_NUMBER },
	{ "M", 1e6, EXPR_NUMBER },
	{ "G", 1e9, EXPR_NUMBER },
	{ "Ki", 1024, EXPR_NUMBER },
	{ "Mi", 1048576, EXPR_NUMBER },
	{ "Gi", 1073741824, EXPR_NUMBER },
};

/* Not isdigit and isalnum: those follow the locale. */
static bool lex_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool lex_is_word(char c)
{
	return lex_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* A dot is part of a word only inside it: p99.9 */
static size_t lex_word_len(const char *s)
{
	size_t len = 0;

	while (lex_is_word(s[len]) || (len && s[len] == '.' && lex_is_word(s[len + 1])))
		len++;
	return len;
}

static int lex_unit(const char *source, struct token *token, size_t digits_len,
		    struct expr_error *error)
{
	const char *unit = source + token->at + digits_len;
	size_t i, len = lex_word_len(unit);

	for (i = 0; i < sizeof(lex_units) / sizeof(lex_units[0]); i++) {
		if (strlen(lex_units[i].name) != len || strncmp(lex_units[i].name, unit, len))
			continue;
		token->number *= lex_units[i].factor;
		token->type = lex_units[i].type;
		token->len = digits_len + len;
		return 0;
	}
	return expr_error__set(error, token->at + digits_len,
			       "no unit '%.*s'; there are: ns us ms s, k M G Ki Mi Gi",
			       expr_clip(unit, len, 24), unit);
}

/* Divides last, so that 1.001ms is 1001000 ns and not a hair more. */
static int lex_number(const char *source, struct token *token, struct expr_error *error)
{
	const char *s = source + token->at, *p = s;
	double scale = 1;
	int err;

	token->kind = TOKEN_NUMBER;
	for (; lex_is_digit(*p); p++)
		token->number = token->number * 10 + (*p - '0');
	if (*p == '.' && lex_is_digit(p[1])) {
		for (p++; lex_is_digit(*p); p++) {
			if (scale >= 1e15)
				continue;
			token->number = token->number * 10 + (*p - '0');
			scale *= 10;
		}
	}
	err = lex_unit(source, token, (size_t)(p - s), error);
	if (err)
		return err;
	token->number /= scale;
	if (token->number > (double)UINT64_MAX)
		return expr_error__set(error, token->at, "number too large: at most 2^64");
	return 0;
}

static int lex_quoted(const char *source, struct token *token, struct expr_error *error)
{
	const char *s = source + token->at, *end = strchr(s + 1, *s);

	if (!end)
		return expr_error__set(error, token->at, "this %c has no other end", *s);
	token->kind = TOKEN_TEXT;
	token->text = s + 1;
	token->text_len = (size_t)(end - s) - 1;
	token->len = (size_t)(end - s) + 1;
	return 0;
}

/* Longer operators stand before their beginnings in expr_ops: "<=" before "<". */
static bool lex_operator(const char *source, struct token *token)
{
	size_t op, len;

	for (op = OP_OR; op < OP_NEG; op++) {
		len = strlen(expr_ops[op].text);
		if (op == OP_NOT && source[token->at + 1] == '=')
			continue;
		if (strncmp(source + token->at, expr_ops[op].text, len))
			continue;
		token->kind = TOKEN_OP;
		token->op = (enum expr_op)op;
		token->len = len;
		return true;
	}
	return false;
}

static int lex_unexpected(char c, size_t at, struct expr_error *error)
{
	if (c == '=')
		return expr_error__set(error, at, "write == to compare");
	if (c == '&' || c == '|')
		return expr_error__set(error, at, "write %c%c", c, c);
	if (c > ' ' && c < 0x7f)
		return expr_error__set(error, at, "unexpected '%c'", c);
	return expr_error__set(error, at, "unexpected character \\x%02x; quote texts",
			       (unsigned char)c);
}

static void lex_begin(const char *source, size_t *at, struct token *token)
{
	*at += strspn(source + *at, " \t\r\n");
	*token = (struct token){ .kind = TOKEN_END, .at = *at };
}

static void lex_span(const char *source, struct token *token, enum token_kind kind, size_t len)
{
	token->kind = kind;
	token->text = source + token->at;
	token->text_len = token->len = len;
}

int token__read(const char *source, size_t *at, struct token *token, struct expr_error *error)
{
	int err = 0;
	char c;

	lex_begin(source, at, token);
	c = source[*at];
	if (!c)
		return 0;
	if (c == '(' || c == ')')
		lex_span(source, token, c == '(' ? TOKEN_OPEN : TOKEN_CLOSE, 1);
	else if (lex_is_digit(c))
		err = lex_number(source, token, error);
	else if (c == '"' || c == '\'')
		err = lex_quoted(source, token, error);
	else if (lex_is_word(c))
		lex_span(source, token, TOKEN_WORD, lex_word_len(source + *at));
	else if (!lex_operator(source, token))
		err = lex_unexpected(c, *at, error);
	*at += token->len;
	return err;
}

int token__read_glob(const char *source, size_t *at, struct token *token, struct expr_error *error)
{
	size_t len;
	int err = 0;

	lex_begin(source, at, token);
	len = strcspn(source + *at, " \t\r\n()&|!<>=\"'");
	if (len)
		lex_span(source, token, TOKEN_TEXT, len);
	else if (source[*at] == '"' || source[*at] == '\'')
		err = lex_quoted(source, token, error);
	else
		err = expr_error__set(error, *at, "=~ needs a pattern, as in nvme*");
	*at += token->len;
	return err;
}
