/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json.h: reads one line of `latency -o json`: an object whose values are texts, numbers, booleans
 * or null. No nested objects, no arrays. Any other input is refused, never guessed.
 */
#ifndef IOSONAR_DECODE_JSON_H
#define IOSONAR_DECODE_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum json_kind { JSON_NULL, JSON_TRUTH, JSON_NUMBER, JSON_TEXT };

struct json_field {
	const char *key;
	enum json_kind kind;
	double number; /* for a boolean: 0 or 1 */
	const char *text;
};

enum { JSON_FIELDS = 80 }; /* more than a table has columns */

struct json_line {
	struct json_field fields[JSON_FIELDS];
	size_t nr;
};

/* Texts stay in the line, which is modified. -EBADMSG: not an object of this form. */
int json_line__parse(struct json_line *parsed, char *line);
/* NULL: no value of this name, or not a text. */
const char *json_line__text(const struct json_line *parsed, const char *key);
/* NAN: no value of this name, or not a number. */
double json_line__number(const struct json_line *parsed, const char *key);

#endif
