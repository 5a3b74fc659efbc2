/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json.h: one line of `-o json`, read again: an object whose values are texts, numbers, truths or
 * null, as column tables print them. No objects in objects, no arrays. The line may be anything:
 * what is no such object is refused, never guessed.
 */
#ifndef IOSONAR_DECODE_JSON_H
#define IOSONAR_DECODE_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum json_kind { JSON_NULL, JSON_TRUTH, JSON_NUMBER, JSON_TEXT };

struct json_field {
	const char *key;
	enum json_kind kind;
	double number; /* of a truth: 0 or 1 */
	const char *text;
};

enum { JSON_FIELDS = 80 }; /* more than a table has columns */

struct json_line {
	struct json_field fields[JSON_FIELDS];
	size_t nr;
};

/* Texts stay in the line, which is written to. -EBADMSG: it is no such object. */
int json_line__parse(struct json_line *parsed, char *line);
/* NULL: it has none of that name, or it is no text. */
const char *json_line__text(const struct json_line *parsed, const char *key);
/* NAN: it has none of that name, or it is no number. */
double json_line__number(const struct json_line *parsed, const char *key);

#endif
