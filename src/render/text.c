/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.c: how is a name or a number shown? Names come from tasks, files and devices and may hold
 * anything; what leaves here can neither move a cursor nor break a JSON line. Widths are counted in
 * characters: wide and combining ones are taken for one column each.
 */
#include <string.h>
#include "render/column.h"

#define TEXT_INVALID UINT32_MAX /* no character has this number */

/* The lead byte's bits, and the least value that needs so many bytes. */
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

/* One character; a byte that begins none (stray, cut off, overlong, surrogate) is one by itself. */
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

static bool text_is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

static void text_put_hex(FILE *out, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		fprintf(out, "\\x%02x", (unsigned char)text[i]);
}

static void text_put_escaped(FILE *out, const char *text, const char *quote)
{
	uint32_t code;
	size_t len;

	for (; *text; text += len) {
		code = text_decode(text, &len);
		if (code == TEXT_INVALID || text_is_control(code))
			text_put_hex(out, text, len);
		else if (code == '"')
			fputs(quote, out);
		else
			fwrite(text, 1, len, out);
	}
}

void text__put_terminal(FILE *out, const char *text)
{
	text_put_escaped(out, text, "\"");
}

size_t text__width(const char *text)
{
	size_t width = 0, len;
	uint32_t code;

	for (; *text; text += len) {
		code = text_decode(text, &len);
		width += code == TEXT_INVALID || text_is_control(code) ? 4 * len : 1;
	}
	return width;
}

void text__put_json(FILE *out, const char *text)
{
	uint32_t code;
	size_t len;

	fputc('"', out);
	for (; *text; text += len) {
		code = text_decode(text, &len);
		if (code == TEXT_INVALID)
			fputs("\\ufffd", out);
		else if (text_is_control(code))
			fprintf(out, "\\u%04x", code);
		else if (code == '"' || code == '\\')
			fprintf(out, "\\%c", (char)code);
		else
			fwrite(text, 1, len, out);
	}
	fputc('"', out);
}

/* An empty text is quoted, so that it differs from no value at all. */
void text__put_csv(FILE *out, const char *text)
{
	bool is_plain = *text && !strpbrk(text, ",\"");

	if (is_plain) {
		text__put_terminal(out, text);
		return;
	}
	fputc('"', out);
	text_put_escaped(out, text, "\"\"");
	fputc('"', out);
}

struct text_unit {
	double factor;
	const char *name;
};

/* Three significant digits in the largest unit that leaves one before the point. */
static char *text_three_digits(char *buf, size_t size, double value, const struct text_unit *units,
			       size_t nr)
{
	double v = value / units[0].factor;
	size_t i = 0;

	/* 999.5 and not 1000: 999.7us would be printed as 1000us. */
	while (i + 1 < nr && v >= 999.5)
		v = value / units[++i].factor;
	snprintf(buf, size, "%.*f%s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[i].name);
	return buf;
}

char *text__duration(char *buf, size_t size, uint64_t ns)
{
	static const struct text_unit units[] = { { 1e3, "us" }, { 1e6, "ms" }, { 1e9, "s" } };

	if (ns >= 1000)
		return text_three_digits(buf, size, (double)ns, units, 3);
	snprintf(buf, size, "%uns", (unsigned int)ns);
	return buf;
}

char *text__bytes(char *buf, size_t size, uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	double v = (double)bytes / 1024;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(buf, size, "%u", (unsigned int)bytes);
		return buf;
	}
	/* 1023.95 would be printed as 1024.0 */
	for (; v >= 1023.95; v /= 1024)
		i++;
	snprintf(buf, size, "%.1f%ci", v, units[i]);
	return buf;
}

char *text__rate(char *buf, size_t size, double per_s)
{
	static const struct text_unit units[] = {
		{ 1e3, "k" }, { 1e6, "M" }, { 1e9, "G" }, { 1e12, "T" }
	};

	if (!__builtin_isfinite(per_s))
		snprintf(buf, size, "-");
	else if (per_s >= 999.5 && per_s < 1e15)
		return text_three_digits(buf, size, per_s, units, 4);
	else if (per_s >= 1e15)
		snprintf(buf, size, "%.2e", per_s);
	else
		snprintf(buf, size, "%.*f", per_s < 99.95 ? 1 : 0, per_s);
	return buf;
}
