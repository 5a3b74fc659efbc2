/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * number.h: writes numbers to memory, right-aligned in `width` columns; wider ones extend to the
 * right. Each returns the end. Nothing is terminated, and bytes after the end are scratch: the
 * caller provides width + NUMBER_ROOM bytes. About 10 ns each, printf takes 200.
 */
#ifndef IOSONAR_DECODE_NUMBER_H
#define IOSONAR_DECODE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { NUMBER_ROOM = 384 }; /* "%.1f%%" of the largest double has 312 characters */

extern const char number_pairs[201]; /* "000102…99" */
extern const uint64_t number_powers[20];

static inline unsigned int number__digits(uint64_t n)
{
	/* 1233/4096 is a little more than log10(2): right, or one too few. */
	unsigned int guess = (64 - (unsigned int)__builtin_clzll(n | 1)) * 1233 >> 12;

	return guess + (n >= number_powers[guess]);
}

/* Same as number__digits(n) <= width, in fewer steps. */
static inline bool number__fits(uint64_t n, size_t width)
{
	return width >= 20 || n < number_powers[width];
}

/* Fills the width with spaces, sixteen per store; returns the end. */
static inline char *number__blank(char *at, size_t width)
{
	memcpy(at, "                ", 16);
	for (size_t i = 16; i < width; i += 16)
		memcpy(at + i, "                ", 16);
	return at + width;
}

/*
 * Where n and the characters of tail end. A branch, not a maximum: the start of the next cell must
 * not wait for these digits.
 */
static inline char *number__end(char *at, size_t width, uint64_t n, size_t tail)
{
	if (__builtin_expect(width > tail && number__fits(n, width - tail), 1))
		return number__blank(at, width);
	return at + number__digits(n) + tail;
}

/* From the last digit to the first, four a step: the pairs need not wait for each other. */
static inline void number__write(char *end, uint64_t n)
{
	for (; n >= 10000; n /= 10000) {
		uint32_t four = (uint32_t)(n % 10000);

		memcpy(end - 2, &number_pairs[four % 100 * 2], 2);
		memcpy(end -= 4, &number_pairs[four / 100 * 2], 2);
	}
	if (n >= 100) {
		memcpy(end -= 2, &number_pairs[n % 100 * 2], 2);
		n /= 100;
	}
	if (n >= 10)
		memcpy(end - 2, &number_pairs[n * 2], 2);
	else
		end[-1] = (char)('0' + n);
}

static inline char *number__count(char *at, size_t width, uint64_t n)
{
	char *end = number__end(at, width, n, 0);

	number__write(end, n);
	return end;
}

/*
 * Writes backwards from the end, into a line that is blank there. The caller knows that the number
 * fits: durations below NUMBER_SHORT_NS have at most NUMBER_SHORT characters, times ten more than
 * their seconds.
 */
enum { NUMBER_SHORT = 6 };
#define NUMBER_SHORT_NS 999500000000
void number__write_duration(char *end, uint64_t ns);
void number__write_time(char *end, uint64_t ns);

char *number__duration(char *at, size_t width, uint64_t ns); /* "850ns" "12.3us" "2.50s" */
char *number__bytes(char *at, size_t width, uint64_t bytes); /* "512" "4.0Ki" "1.5Mi" */
char *number__time(char *at, size_t width, uint64_t ns);     /* seconds: "12.000345678" */
char *number__rate(char *at, size_t width, double per_s);    /* "0.5" "999" "12.3k" "1.20M" */

/* "%.*f", up to three decimals. */
char *number__fixed(char *at, size_t width, double real, unsigned int decimals);
/* A finite number for programs: up to three decimals, no zeros at the end, no "-0". */
char *number__real(char *at, double real);
/* A finite number with enough digits to read it back exactly. */
char *number__exact(char *at, double real);

/* A wall clock time as text. Kept from one to the next: the second is put into words once. */
struct number_wall {
	uint64_t second;
	size_t len; /* of its words; 0: there are none yet */
	char text[48];
};

/*
 * 2026-11-15T07:08:09.123456789Z: UTC, so that lines of two machines can be compared. ns since
 * 1970, of which 3 or 9 digits behind the second are shown. NULL: the time is 0, not known.
 */
const char *number__wall(struct number_wall *wall, uint64_t real_ns, size_t digits);

#endif
