/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * expr.c: can a text break the expression language? A libFuzzer target: parse, print, evaluate;
 *what is printed must parse to the same print and the same truth, what is refused must say where.
 *	clang -g -O1 -fsanitize=fuzzer,address,undefined -Isrc tests/fuzz/expr.c src/expr/?*.c
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct expr_field fields[] = {
	{ "p99", EXPR_DURATION }, { "size", EXPR_SIZE },   { "n", EXPR_NUMBER },
	{ "op", EXPR_TEXT },	  { "failed", EXPR_BOOL }, { "gone", EXPR_NUMBER },
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
	return value;
}

static struct expr *parse(const char *text)
{
	struct expr_error error;
	struct expr *expr;
	char lines[64];

	expr = expr__parse(text, fields, sizeof(fields) / sizeof(fields[0]), &error);
	if (expr)
		return expr;
	if (error.at > strlen(text) || !*error.message)
		abort();
	expr__point_at(text, &error, lines, sizeof(lines));
	return NULL;
}

static char *print(const struct expr *expr)
{
	int len = expr__print(expr, NULL, 0);
	char *text = malloc((size_t)len + 1);

	if (!text || expr__print(expr, text, (size_t)len + 1) != len || strlen(text) != (size_t)len)
		abort();
	return text;
}

static void check(const struct expr *expr)
{
	char *first = print(expr), *second;
	struct expr *again = parse(first);

	/* Only its length may stop a print: it has spaces and parentheses that the text had not. */
	if (again) {
		second = print(again);
		if (strcmp(first, second) || expr__first_field(expr) != expr__first_field(again) ||
		    expr__is_true(expr, lookup, NULL) != expr__is_true(again, lookup, NULL))
			abort();
		free(second);
	} else if (strlen(first) <= 65536) {
		abort();
	}
	expr__free(again);
	free(first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct expr *expr;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	expr = parse(text);
	if (expr)
		check(expr);
	expr__free(expr);
	free(text);
	return 0;
}
