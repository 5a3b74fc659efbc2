/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plain.h: is a text plain, so that it can be copied unchanged? Sixteen bytes per step, copied in
 * the same step: half of a trace's line is text. Other texts go to the functions of text.h.
 */
#ifndef IOSONAR_RENDER_PLAIN_H
#define IOSONAR_RENDER_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef unsigned char text_bytes __attribute__((vector_size(16)));
typedef uint64_t text_halves __attribute__((vector_size(16)));

/* All ones in bytes that are control characters or not ASCII. */
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

/* Copies from both ends, so the middle is copied twice; pads to sixteen with spaces. */
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

/* Returns all ones where a byte is odd. The last step overlaps bytes already seen. */
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

/* As above, to check several texts at once: text__is_plain of all results, ORed. */
static inline text_bytes text__copy_many(char *at, const char *text, size_t len)
{
	return text_copy(at, text, len, text_odd);
}

/* Without the surrounding quotes. */
static inline bool text__copy_json(char *at, const char *text, size_t len)
{
	return text__is_plain(text_copy(at, text, len, text_odd_in_json));
}

/* An empty text must be quoted, to differ from no value; a text that begins like a formula needs
 * a closer check. */
static inline bool text__copy_csv(char *at, const char *text, size_t len)
{
	if (!len || *text == '=' || *text == '+' || *text == '-' || *text == '@')
		return false;
	return text__is_plain(text_copy(at, text, len, text_odd_in_csv));
}

#endif
