/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * expr.h: the expression language, once: `p99 > 500us && op == read`. Parse and type against a
 * table of fields, evaluate on anything that can answer for a field. Pure: no I/O, no globals.
 *
 *	or: and ("||" and)*   and: not ("&&" not)*   not: "!" not | comparison
 *	comparison: sum [("==" "!=" "<" "<=" ">" ">=" "=~" glob) sum]
 *	sum: term (("+" | "-") term)*   term: unary (("*" | "/" | "%") unary)*
 *	unary: "-" unary | atom
 *	atom: NUMBER[unit] | "string" | 'string' | WORD | "(" or ")"
 *
 * Units: ns us ms s (durations), k M G Ki Mi Gi (sizes and plain numbers), % is only an operator.
 * A WORD is a field if one has that name, else a string (so `op == read` needs no quotes), but a
 * bare word that is compared with nothing, or with a number field, is an unknown field.
 */
#ifndef IOSONAR_EXPR_EXPR_H
#define IOSONAR_EXPR_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum expr_type {
	EXPR_NUMBER,   /* counts, rates, percents: real */
	EXPR_DURATION, /* ns */
	EXPR_SIZE,     /* bytes */
	EXPR_TEXT,
	EXPR_BOOL,
};

struct expr_field {
	const char *name;
	enum expr_type type;
};

struct expr_value {
	enum expr_type type;
	bool absent; /* the row has no such value: every comparison with it is false */
	union {
		double number; /* NUMBER, DURATION (ns), SIZE (bytes) */
		const char *text;
		bool truth;
	};
};

struct expr_error {
	size_t at; /* offset in the text */
	char message[120];
};

struct expr;

/* NULL with *error filled on failure. The text and fields must outlive the expression. */
struct expr *expr__parse(const char *text, const struct expr_field *fields, size_t nr_fields,
			 struct expr_error *error);
void expr__free(struct expr *expr);

typedef struct expr_value (*expr_lookup)(const void *row, size_t field);
/* The whole must be a truth (checked by parse). Division by zero makes a comparison false. */
bool expr__is_true(const struct expr *expr, expr_lookup lookup, const void *row);
/* The first field the expression names, or -1: for messages. */
int expr__first_field(const struct expr *expr);
/* Canonical text, fully parenthesised; parses to the same tree. Returns the length, like snprintf.
 */
int expr__print(const struct expr *expr, char *buf, size_t size);

/* Two lines for people: the text, and a caret under the character. */
void expr__point_at(const char *text, const struct expr_error *error, char *buf, size_t size);

#endif
