/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/json.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char *json_skip(char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* ---- texts ---- */

static int json_hex(const char *at, uint32_t *value)
{
	*value = 0;
	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdef0123456789ABCDEF";
		const char *digit = at[i] ? strchr(digits, at[i]) : NULL;

		if (!digit)
			return -EBADMSG;
		*value = *value << 4 | (uint32_t)((digit - digits) & 15);
	}
	return 0;
}

static char *json_put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 63));
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	}
	return to;
}

/* After "\u"; a surrogate pair is one character; NUL would end the text and is refused. */
static int json_unicode(char **from, char **to)
{
	uint32_t c, low;

	if (json_hex(*from, &c) || !c)
		return -EBADMSG;
	*from += 4;
	if (c >= 0xd800 && c < 0xdc00) {
		if ((*from)[0] != '\\' || (*from)[1] != 'u' || json_hex(*from + 2, &low) ||
		    low < 0xdc00 || low >= 0xe000)
			return -EBADMSG;
		*from += 6;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	*to = json_put_utf8(*to, c); /* never longer than the escaped text */
	return 0;
}

static int json_escape(char **from, char **to)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	char c = *(*from)++;
	const char *letter = c ? strchr(letters, c) : NULL;

	if (c == 'u')
		return json_unicode(from, to);
	if (!letter)
		return -EBADMSG;
	*(*to)++ = meant[letter - letters];
	return 0;
}

/* at: after the first quote. Returns the position after the last one, or NULL. */
static char *json_text(char *at, const char **text)
{
	char *to = at;

	*text = at;
	while (*at && *at != '"') {
		if (*at != '\\')
			*to++ = *at++;
		else if (at++, json_escape(&at, &to))
			return NULL;
	}
	if (!*at)
		return NULL;
	*to = 0;
	return at + 1;
}

/* ---- values ---- */

static char *json_word(char *at, const char *word)
{
	size_t len = strlen(word);

	return strncmp(at, word, len) ? NULL : at + len;
}

/* strtod would take "inf", "nan" and 0x10, too. */
static char *json_number(char *at, double *number)
{
	size_t len = strspn(at, "+-.0123456789eE");
	char *end;

	if (!len || (*at != '-' && (*at < '0' || *at > '9')))
		return NULL;
	*number = strtod(at, &end);
	return end == at + len && isfinite(*number) ? end : NULL;
}

static char *json_value(char *at, struct json_field *field)
{
	char *end;

	if (*at == '"') {
		field->kind = JSON_TEXT;
		return json_text(at + 1, &field->text);
	}
	if ((end = json_word(at, "null"))) {
		field->kind = JSON_NULL;
		return end;
	}
	field->kind = JSON_TRUTH;
	field->number = *at == 't';
	if ((end = json_word(at, "true")) || (end = json_word(at, "false")))
		return end;
	field->kind = JSON_NUMBER;
	return json_number(at, &field->number);
}

static char *json_field(char *at, struct json_field *field)
{
	if (*at != '"')
		return NULL;
	at = json_text(at + 1, &field->key);
	if (!at)
		return NULL;
	at = json_skip(at);
	return *at == ':' ? json_value(json_skip(at + 1), field) : NULL;
}

int json_line__parse(struct json_line *parsed, char *line)
{
	char *at = json_skip(line);

	parsed->nr = 0;
	if (*at != '{')
		return -EBADMSG;
	do {
		if (parsed->nr == JSON_FIELDS)
			return -EBADMSG;
		at = json_field(json_skip(at + 1), &parsed->fields[parsed->nr++]);
		if (!at)
			return -EBADMSG;
		at = json_skip(at);
	} while (*at == ',');
	return *at == '}' && !*json_skip(at + 1) ? 0 : -EBADMSG;
}

static const struct json_field *json_find(const struct json_line *parsed, const char *key)
{
	for (size_t i = 0; i < parsed->nr; i++)
		if (!strcmp(parsed->fields[i].key, key))
			return &parsed->fields[i];
	return NULL;
}

const char *json_line__text(const struct json_line *parsed, const char *key)
{
	const struct json_field *field = json_find(parsed, key);

	return field && field->kind == JSON_TEXT ? field->text : NULL;
}

double json_line__number(const struct json_line *parsed, const char *key)
{
	const struct json_field *field = json_find(parsed, key);

	return field && field->kind == JSON_NUMBER ? field->number : NAN;
}
