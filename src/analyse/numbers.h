/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * numbers.h: exact percentiles and powers of two of any numbers. All values are kept, eight bytes
 * each; whole numbers stay exact until the first one comes that is not whole.
 */
#ifndef IOSONAR_ANALYSE_NUMBERS_H
#define IOSONAR_ANALYSE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

union numbers_value {
	int64_t whole;
	double real;
};

struct numbers {
	union numbers_value *values; /* all whole, or all real */
	size_t nr, room;
	bool is_real;
};

/* -ENOMEM. NaN is no number: -EINVAL. */
int numbers__add_whole(struct numbers *numbers, int64_t value);
int numbers__add_real(struct numbers *numbers, double value);
void numbers__free(struct numbers *numbers);
/*
 * The least value that at least that part of the values does not exceed: of 0.5 the median (of an
 * even number of values the lower one), of 0 the least, of 1 the greatest. Sorts them. False: there
 * are none. numbers->is_real tells which it is.
 */
bool numbers__percentile(struct numbers *numbers, double part, union numbers_value *value);

/* Counts of values by powers of two: [0] below 0, [1] 0 up to 1, [n] 2^(n-2) up to 2^(n-1). */
enum { NUMBERS_OCTAVES = 66 };
size_t numbers__octave(double value); /* which of these */
/* Where it begins; the first has no beginning, the last ends there, too. */
double numbers__octave_from(size_t octave);

#endif
