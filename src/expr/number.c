/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * number.c: which number is this, to the last digit? Reads 12, 1.5ms, 1e6, 0x1f and says whether it
 * is an integer; integers of 64 bits are exact. Does not use strtod, which follows the locale,
 * accepts "inf" and "nan", and keeps only 53 bits.
 */
#include <string.h>
#include "base/units.h"
#include "expr/token.h"

enum { NUMBER_MAX_TENS = 400 }; /* beyond the range of a double, in both directions */

/* digits * 10^tens; digits that do not fit are left off. */
struct number {
	uint64_t digits;
	int tens;
	bool has_rest; /* some digit that was left off is not 0 */
};

/* A digit that fits after one that did not is a place too high: a double does not show the 20th. */
static void number_take(struct number *n, char c, bool is_fraction)
{
	uint64_t digit = (uint64_t)(c - '0'), next;

	if (!__builtin_mul_overflow(n->digits, 10, &next) &&
	    !__builtin_add_overflow(next, digit, &next)) {
		n->digits = next;
		n->tens -= is_fraction;
		return;
	}
	n->has_rest |= digit != 0;
	n->tens += !is_fraction;
}

/* "e6", "e-3": returns the text after it, or s if it is not an exponent. */
static const char *number_exponent(struct number *n, const char *s)
{
	const char *p = s + 1;
	bool is_minus = *s && *p == '-';
	int tens = 0;

	if (*s != 'e' && *s != 'E')
		return s;
	p += *p == '-' || *p == '+';
	if (!token__is_digit(*p))
		return s;
	for (; token__is_digit(*p); p++)
		if (tens < 2 * EXPR_MAX_LEN)
			tens = tens * 10 + (*p - '0');
	n->tens += is_minus ? -tens : tens;
	return p;
}

static const char *number_digits(struct number *n, const char *s)
{
	for (; token__is_digit(*s); s++)
		number_take(n, *s, false);
	if (*s == '.' && token__is_digit(s[1]))
		for (s++; token__is_digit(*s); s++)
			number_take(n, *s, true);
	return number_exponent(n, s);
}

static double number_real(unsigned __int128 value, int tens)
{
	double scale = 1;
	int i, nr = tens < 0 ? -tens : tens;

	for (i = 0; i < nr && i < NUMBER_MAX_TENS; i++)
		scale *= 10;
	return tens < 0 ? (double)value / scale : (double)value * scale;
}

/* An integer if the unit makes it one: 1.5us is 1500 ns. */
static int number_settle(const struct number *n, uint64_t factor, struct token *token,
			 struct expr_error *error)
{
	unsigned __int128 value = (unsigned __int128)n->digits * factor;
	int tens = value ? n->tens : 0; /* 0e-99999 needs no divisions */

	for (; tens < 0 && value % 10 == 0; tens++)
		value /= 10;
	for (; tens > 0 && value <= UINT64_MAX; tens--)
		value *= 10;
	token->is_whole = !tens && !n->has_rest && value <= UINT64_MAX;
	token->whole = token->is_whole ? (uint64_t)value : 0;
	token->number = number_real(value, tens);
	if (token->number > (double)UINT64_MAX)
		return expr_error__set(error, token->at, "number too large: at most 2^64");
	return 0;
}

/* "10%": the sign is the operator if an operand follows. */
static bool number_is_percent(const struct lexer *lexer, const char *unit)
{
	const char *next = unit + 1 + (*unit == '%' ? strspn(unit + 1, " \t\r\n") : 0);

	return !lexer->is_tree && *unit == '%' && (!*next || strchr(")&|<>=!?:", *next));
}

static int number_decimal(const struct lexer *lexer, struct token *token)
{
	struct number n = { 0 };
	const char *s = lexer->source + token->at, *unit = number_digits(&n, s);
	size_t len = token__word_len(lexer, unit);
	const struct unit *duration = units__find(units_duration, unit, len);
	const struct unit *found = duration ?: units__find(units_size, unit, len);

	if (!found)
		return expr_error__set(
			lexer->error, token->at + (size_t)(unit - s),
			"unknown unit '%.*s'; available: ns us ms s m h d, k M G Ki Mi Gi",
			expr_clip(unit, len, 24), unit);
	token->type = duration ? EXPR_DURATION : EXPR_NUMBER;
	token->len = (size_t)(unit - s) + len + (!len && number_is_percent(lexer, unit));
	return number_settle(&n, found->scale, token, lexer->error);
}

/* -1: not a digit. Not isxdigit, which follows the locale. */
static int number_hex_digit(char c)
{
	if (token__is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int number_hex(const struct lexer *lexer, struct token *token)
{
	const char *s = lexer->source + token->at, *p = s + 2;

	for (; number_hex_digit(*p) >= 0; p++) {
		if (token->whole >> 60)
			return expr_error__set(lexer->error, token->at,
					       "number too large: at most 2^64");
		token->whole = token->whole << 4 | (uint64_t)number_hex_digit(*p);
	}
	if (p == s + 2 || token__word_len(lexer, p))
		return expr_error__set(lexer->error, (size_t)(p - lexer->source),
				       "expected only hexadecimal digits after 0x");
	token->type = EXPR_NUMBER;
	token->is_whole = true;
	token->number = (double)token->whole;
	token->len = (size_t)(p - s);
	return 0;
}

int token__read_number(const struct lexer *lexer, struct token *token)
{
	const char *s = lexer->source + token->at;

	token->kind = TOKEN_NUMBER;
	return s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? number_hex(lexer, token)
							   : number_decimal(lexer, token);
}
