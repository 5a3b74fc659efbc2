/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * numbers.h: exact percentiles and powers of two of any numbers. Keeps all values, eight bytes
 * each; integers stay exact until the first value that is not an integer.
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

/* -ENOMEM. NaN is rejected: -EINVAL. */
int numbers__add_whole(struct numbers *numbers, int64_t value);
int numbers__add_real(struct numbers *numbers, double value);
void numbers__free(struct numbers *numbers);
/*
 * The smallest value that at least this part of the values does not exceed: 0.5 is the median (of
 * an even number of values the lower one), 0 the minimum, 1 the maximum. Sorts the values. False:
 * no values. numbers->is_real tells which member holds it.
 */
bool numbers__percentile(struct numbers *numbers, double part, union numbers_value *value);

/* Counts of values by powers of two: [0] below 0, [1] 0 up to 1, [n] 2^(n-2) up to 2^(n-1). */
enum { NUMBERS_OCTAVES = 66 };
size_t numbers__octave(double value); /* which of these */
/* Where an octave begins; the first has no lower bound, the last includes its upper bound. */
double numbers__octave_from(size_t octave);

#endif
