/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.c: how is a name shown? Names come from tasks, files and devices and may hold any bytes;
 * escaped, they cannot move a cursor, break a line or pass for another name. Widths are counted in
 * characters: wide and combining ones count as one column each.
 */
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_INVALID UINT32_MAX /* not a code point */

/* Bits of the lead byte, and the smallest value that needs `len` bytes. */
static const struct text_lead {
	unsigned char mask, bits;
	size_t len;
	uint32_t least;
} text_leads[] = {
	{ 0x80, 0x00, 1, 0 },
	{ 0xe0, 0xc0, 2, 0x80 },
	{ 0xf0, 0xe0, 3, 0x800 },
	{ 0xf8, 0xf0, 4, 0x10000 },
};

static const struct text_lead *text_lead(unsigned char c)
{
	size_t i;

	for (i = 0; i < sizeof(text_leads) / sizeof(text_leads[0]); i++)
		if ((c & text_leads[i].mask) == text_leads[i].bits)
			return &text_leads[i];
	return NULL;
}

/* One character; a byte that begins none (stray, cut off, overlong, surrogate) counts as one. */
static uint32_t text_decode(const char *text, size_t *len)
{
	const unsigned char *s = (const unsigned char *)text;
	const struct text_lead *lead = text_lead(*s);
	uint32_t code;
	size_t i;

	*len = 1;
	if (!lead)
		return TEXT_INVALID;
	code = *s & (unsigned char)~lead->mask;
	for (i = 1; i < lead->len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return TEXT_INVALID;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < lead->least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return TEXT_INVALID;
	*len = lead->len;
	return code;
}

/*
 * Characters that move a cursor, end a line, change the direction of writing or are invisible: with
 * them a name can look like another, or like a line of ours (CVE-2021-42574).
 */
static const struct text_range {
	uint32_t first, last;
} text_unseen[] = {
	{ 0x00, 0x1f },	      { 0x7f, 0x9f },	  { 0xad, 0xad },     { 0x34f, 0x34f },
	{ 0x61c, 0x61c },     { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },
	{ 0x200b, 0x200f },   { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 },
	{ 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0x1d173, 0x1d17a },
	{ 0xe0000, 0xe0fff },
};

static bool text_is_unseen(uint32_t code)
{
	for (size_t i = 0; i < sizeof(text_unseen) / sizeof(text_unseen[0]); i++)
		if (code <= text_unseen[i].last)
			return code >= text_unseen[i].first;
	return false;
}

char *text__replace(char *text, char from, char to)
{
	for (char *at = strchr(text, from); at; at = strchr(at + 1, from))
		*at = to;
	return text;
}

bool text__read_line(const char *path, char *buf, size_t size)
{
	FILE *in = fopen(path, "re");

	buf[0] = 0;
	if (in && fgets(buf, (int)size, in))
		buf[strcspn(buf, "\n")] = 0;
	if (in)
		fclose(in);
	return buf[0];
}

/* ---- one character ---- */

static char *text_hex(char *at, const char *text, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		at[0] = '\\';
		at[1] = 'x';
		at[2] = digits[c >> 4];
		at[3] = digits[c & 15];
		at += 4;
	}
	return at;
}

static char *text_append(char *at, const char *text, size_t len)
{
	memcpy(at, text, len);
	return at + len;
}

/* Its length goes to *len, the columns it fills are added to *width. */
static char *text_terminal_one(char *at, const char *text, size_t *len, size_t *width)
{
	uint32_t code = text_decode(text, len);

	if (code == TEXT_INVALID || text_is_unseen(code)) {
		*width += 4 * *len;
		return text_hex(at, text, *len);
	}
	++*width;
	return text_append(at, text, *len);
}

static char *text_json_unit(char *at, uint32_t unit)
{
	static const char digits[] = "0123456789abcdef";

	at = text_append(at, "\\u", 2);
	for (int shift = 12; shift >= 0; shift -= 4)
		*at++ = digits[unit >> shift & 15];
	return at;
}

static char *text_json_one(char *at, const char *text, size_t *len)
{
	uint32_t code = text_decode(text, len);

	if (code == TEXT_INVALID)
		return text_json_unit(at, 0xfffd);
	if (text_is_unseen(code) && code >= 0x10000) {
		at = text_json_unit(at, 0xd800 + ((code - 0x10000) >> 10));
		return text_json_unit(at, 0xdc00 + (code & 0x3ff));
	}
	if (text_is_unseen(code))
		return text_json_unit(at, code);
	if (code == '"' || code == '\\')
		*at++ = '\\';
	return text_append(at, text, *len);
}

static char *text_json_escaped_one(char *at, const char *text, size_t *len)
{
	char one[TEXT_ESCAPED], *end;
	size_t width = 0;

	end = text_terminal_one(one, text, len, &width);
	for (const char *c = one; c < end; c++) {
		if (*c == '"' || *c == '\\')
			*at++ = '\\';
		*at++ = *c;
	}
	return at;
}

/* ---- texts of any length, a character at a time ---- */

enum { TEXT_ONE = TEXT_ESCAPED + 4 }; /* a backslash more for each byte */

char *text__escape_one(char *at, const char *text, size_t *len)
{
	size_t width = 0;

	return text_terminal_one(at, text, len, &width);
}

void text__put_terminal(FILE *out, const char *text)
{
	size_t len, width = 0;
	char one[TEXT_ONE], *end;

	for (; *text; text += len) {
		end = text_terminal_one(one, text, &len, &width);
		fwrite(one, 1, (size_t)(end - one), out);
	}
}

char *text__terminal(char *buf, size_t size, const char *text)
{
	size_t len, width = 0, at = 0;
	char one[TEXT_ONE], *end;

	for (; *text; text += len) {
		end = text_terminal_one(one, text, &len, &width);
		if (at + (size_t)(end - one) >= size)
			break;
		memcpy(buf + at, one, (size_t)(end - one));
		at += (size_t)(end - one);
	}
	buf[at] = 0;
	return buf;
}

char *text__plain(const char *text)
{
	char *plain = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&plain, &size);

	if (!out)
		return NULL;
	text__put_terminal(out, text);
	if (!fclose(out))
		return plain;
	free(plain);
	return NULL;
}

bool text__is_formula(const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_-./:";
	/* The full-width =, +, - and @, which some programs treat like the ASCII ones. */
	static const char wide[][4] = { "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
					"\xef\xbc\xa0" };

	if (*text == '+' || *text == '-')
		return text[strspn(text + 1, plain) + 1];
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (!strncmp(text, wide[i], 3))
			return true;
	return *text == '=' || *text == '@';
}

size_t text__width(const char *text)
{
	size_t width = 0, len;
	char one[TEXT_ONE];

	for (; *text; text += len)
		text_terminal_one(one, text, &len, &width);
	return width;
}

/* How many of the first bytes JSON shows unchanged. */
static size_t text_json_plain(const char *text, const char *end)
{
	const char *at = text;

	while (at < end && *at >= ' ' && *at <= '~' && *at != '"' && *at != '\\')
		at++;
	return (size_t)(at - text);
}

static void text_put_json(FILE *out, const char *text, size_t len, bool is_escaped)
{
	const char *end = text + len;
	char one[TEXT_ONE], *to;

	fputc('"', out);
	for (; text < end; text += len) {
		len = text_json_plain(text, end);
		if (len) {
			fwrite(text, 1, len, out);
			continue;
		}
		to = is_escaped ? text_json_escaped_one(one, text, &len)
				: text_json_one(one, text, &len);
		fwrite(one, 1, (size_t)(to - one), out);
	}
	fputc('"', out);
}

void text__put_json(FILE *out, const char *text)
{
	text_put_json(out, text, strlen(text), false);
}

void text__put_json_escaped(FILE *out, const char *text, size_t len)
{
	text_put_json(out, text, len, true);
}

/*
 * An empty text is quoted, so that it differs from no value at all. A formula gets an apostrophe: a
 * spreadsheet that opens the file must not run the name of a task.
 */
void text__put_csv(FILE *out, const char *text)
{
	bool is_plain = *text && !strpbrk(text, ",\"");
	const char *guard = text__is_formula(text) ? "'" : "";
	char one[TEXT_ONE], *end;
	size_t len;

	if (is_plain) {
		fputs(guard, out);
		text__put_terminal(out, text);
		return;
	}
	fputc('"', out);
	fputs(guard, out);
	for (; *text; text += len) {
		end = one;
		if (*text == '"')
			*end++ = '"';
		end = text__escape_one(end, text, &len);
		fwrite(one, 1, (size_t)(end - one), out);
	}
	fputc('"', out);
}
