/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plain.h: is a text plain, so that it can be copied as it is? Sixteen bytes a step, and copied in
 * the same step: half a trace's line is text. What is not plain is for the functions of text.h.
 */
#ifndef IOSONAR_RENDER_PLAIN_H
#define IOSONAR_RENDER_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef unsigned char text_bytes __attribute__((vector_size(16)));
typedef uint64_t text_halves __attribute__((vector_size(16)));

/* Bytes that are control characters or not ASCII are all ones. */
static inline text_bytes text_odd(text_bytes bytes)
{
	return (text_bytes)(bytes - 0x20 > 0x7e - 0x20);
}

static inline text_bytes text_odd_in_json(text_bytes bytes)
{
	return text_odd(bytes) | (text_bytes)(bytes == '"') | (text_bytes)(bytes == '\\');
}

static inline text_bytes text_odd_in_csv(text_bytes bytes)
{
	return text_odd(bytes) | (text_bytes)(bytes == '"') | (text_bytes)(bytes == ',');
}

/* From both ends, so the middle is copied twice; what is left of the sixteen is spaces. */
static inline text_bytes text_copy_short(char *at, const char *text, size_t len)
{
	const uint64_t spaces = 0x2020202020202020;
	uint64_t first = spaces, last = spaces;
	uint32_t head, tail;

	if (len >= 8) {
		memcpy(&first, text, 8);
		memcpy(&last, text + len - 8, 8);
		memcpy(at, &first, 8);
		memcpy(at + len - 8, &last, 8);
	} else if (len >= 4) {
		memcpy(&head, text, 4);
		memcpy(&tail, text + len - 4, 4);
		memcpy(at, &head, 4);
		memcpy(at + len - 4, &tail, 4);
		first = head | (uint64_t)tail << 32;
	} else if (len) {
		char ends[3] = { text[0], text[len / 2], text[len - 1] };

		at[0] = ends[0];
		at[len / 2] = ends[1];
		at[len - 1] = ends[2];
		memcpy(&first, ends, sizeof(ends));
	}
	return (text_bytes)(text_halves){ first, last };
}

/* What is odd in it, as all ones somewhere. The last step covers bytes that were seen before. */
static inline __attribute__((always_inline)) text_bytes text_copy(
	char *at, const char *text, size_t len, text_bytes (*odd_in)(text_bytes bytes))
{
	text_bytes bytes, odd = { 0 };
	size_t i;

	if (len < 16)
		return odd_in(text_copy_short(at, text, len));
	for (i = 0; i < len - 16; i += 16) {
		memcpy(&bytes, text + i, 16);
		memcpy(at + i, &bytes, 16);
		odd |= odd_in(bytes);
	}
	memcpy(&bytes, text + len - 16, 16);
	memcpy(at + len - 16, &bytes, 16);
	return odd | odd_in(bytes);
}

static inline bool text__is_plain(text_bytes odd)
{
	text_halves any = (text_halves)odd;

	return !(any[0] | any[1]);
}

/*
 * Each copies len bytes, the text's strlen; nothing is terminated. False: the text needs an escape
 * in that format, the copy is of no use.
 */
static inline bool text__copy_terminal(char *at, const char *text, size_t len)
{
	return text__is_plain(text_copy(at, text, len, text_odd));
}

/* The same, for who asks about several texts at once: text__is_plain of all answers, joined. */
static inline text_bytes text__copy_many(char *at, const char *text, size_t len)
{
	return text_copy(at, text, len, text_odd);
}

/* Without the quotes around it. */
static inline bool text__copy_json(char *at, const char *text, size_t len)
{
	return text__is_plain(text_copy(at, text, len, text_odd_in_json));
}

/* An empty text has to be quoted, so that it differs from no value at all; one that begins like a
 * formula is looked at more closely. */
static inline bool text__copy_csv(char *at, const char *text, size_t len)
{
	if (!len || *text == '=' || *text == '+' || *text == '-' || *text == '@')
		return false;
	return text__is_plain(text_copy(at, text, len, text_odd_in_csv));
}

#endif
