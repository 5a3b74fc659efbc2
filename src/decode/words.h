/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * words.h: text in a buffer that may be too small. Text that does not fit is cut, so the result is
 * always a prefix of the whole. No printf: a trace prints millions of lines a second.
 *	struct words w = words__on(buf, sizeof(buf));
 *	words__str(&w, "lba=");
 *	words__u64(&w, lba);
 *	puts(words__done(&w));
 */
#ifndef IOSONAR_DECODE_WORDS_H
#define IOSONAR_DECODE_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "decode/number.h"

struct words {
	char *start, *at;
	char *end; /* the last byte, kept for the terminator */
};

enum { WORDS_DIGITS = 20 }; /* digits of the largest 64-bit number */

/* The buffer holds at least one byte. */
static inline struct words words__on(char *buf, size_t size)
{
	return (struct words){ buf, buf, buf + size - 1 };
}

/* Ends the text; more may be appended after it. */
static inline const char *words__done(struct words *w)
{
	*w->at = '\0';
	return w->start;
}

static inline void words__bytes(struct words *w, const char *text, size_t len)
{
	size_t room = (size_t)(w->end - w->at);

	/* A branch, not a minimum: a literal's length stays a constant, its copy a store or two. */
	if (len <= room) {
		memcpy(w->at, text, len);
		w->at += len;
		return;
	}
	memcpy(w->at, text, room);
	w->at = w->end;
}

static inline void words__str(struct words *w, const char *text)
{
	words__bytes(w, text, strlen(text));
}

static inline void words__char(struct words *w, char c)
{
	if (w->at < w->end)
		*w->at++ = c;
}

/* A gap before the next item, except at the start or after another gap. */
static inline void words__space(struct words *w)
{
	if (w->at > w->start && w->at[-1] != ' ')
		words__char(w, ' ');
}

/* "key=", with a gap before it. */
static inline void words__key(struct words *w, const char *key)
{
	words__space(w);
	words__str(w, key);
	words__char(w, '=');
}

static inline void words__item(struct words *w, const char *text)
{
	words__space(w);
	words__str(w, text);
}

/* Two digits per division; copied with a constant length, including garbage after the number. */
static inline void words__u64(struct words *w, uint64_t value)
{
	char digits[2 * WORDS_DIGITS] = { 0 };
	char *last = digits + WORDS_DIGITS, *first = last;

	for (; value >= 100; value /= 100)
		memcpy(first -= 2, &number_pairs[value % 100 * 2], 2);
	memcpy(first -= 2, &number_pairs[value * 2], 2);
	first += value < 10;
	if (w->end - w->at < WORDS_DIGITS) {
		words__bytes(w, first, (size_t)(last - first));
		return;
	}
	memcpy(w->at, first, WORDS_DIGITS);
	w->at += last - first;
}

static inline void words__i64(struct words *w, int64_t value)
{
	if (value < 0)
		words__char(w, '-');
	words__u64(w, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* "0x2a", with a minimum number of digits: 4 gives "0x002a". */
static inline void words__hex(struct words *w, uint64_t value, int least_digits)
{
	char digits[16];
	char *first = digits + sizeof(digits);

	do {
		*--first = "0123456789abcdef"[value & 15];
		value >>= 4;
		least_digits--;
	} while ((value || least_digits > 0) && first > digits);
	words__bytes(w, "0x", 2);
	words__bytes(w, first, (size_t)(digits + sizeof(digits) - first));
}

/* Bytes in the largest exact unit, in the syntax of options: 4Ki, 1536, 2Mi. */
static inline void words__size(struct words *w, uint64_t bytes)
{
	unsigned int unit = 0;

	for (; bytes && !(bytes & 1023) && unit < 4; unit++)
		bytes >>= 10;
	words__u64(w, bytes);
	if (unit)
		words__bytes(w, &"KiMiGiTi"[2 * (unit - 1)], 2);
}

/* A duration in the largest exact unit: 100us, 1500ms, 120s. */
static inline void words__duration(struct words *w, uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	unsigned int unit = 0;

	while (unit < 3 && ns % 1000 == 0) {
		ns /= 1000;
		unit++;
	}
	words__u64(w, ns);
	words__str(w, units[unit]);
}

#endif
