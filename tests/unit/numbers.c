/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * numbers.c: are percentiles exact? Ranks by hand, then random numberss against counting: at least
 * that part is not above the value, and fewer would be with any lesser one.
 */
#include "analyse/numbers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "tap.h"

static int64_t whole(struct numbers *numbers, double part)
{
	union numbers_value value = { .whole = -1 };

	numbers__percentile(numbers, part, &value);
	return value.whole;
}

static void check_ranks(void)
{
	struct numbers s = { 0 };
	union numbers_value value;

	ok(!numbers__percentile(&s, 0.5, &value), "of nothing there is none");
	for (int64_t n = 10; n >= 1; n--)
		numbers__add_whole(&s, n * 100);
	is_u64(whole(&s, 0), 100, "p0 is the least");
	is_u64(whole(&s, 0.05), 100, "a part of a rank is that rank");
	is_u64(whole(&s, 0.1), 100, "p10 of ten is the first");
	is_u64(whole(&s, 0.11), 200, "a little more is the second");
	is_u64(whole(&s, 0.5), 500, "the median of ten is the fifth");
	is_u64(whole(&s, 0.7), 700, "0.7 x 10 is 7");
	is_u64(whole(&s, 0.99), 1000, "p99 of ten is the last");
	is_u64(whole(&s, 1), 1000, "p100 is the greatest");
	numbers__free(&s);
	numbers__add_whole(&s, INT64_MAX);
	numbers__add_whole(&s, INT64_MAX - 1);
	numbers__add_whole(&s, INT64_MIN);
	ok(whole(&s, 1) == INT64_MAX && whole(&s, 0.6) == INT64_MAX - 1 &&
		   whole(&s, 0) == INT64_MIN,
	   "whole numbers keep all of their digits");
	numbers__free(&s);
}

static void check_real(void)
{
	struct numbers s = { 0 };
	union numbers_value value;

	numbers__add_whole(&s, 3);
	ok(!numbers__add_real(&s, 2.5), "a real value may follow");
	numbers__add_whole(&s, -7);
	ok(numbers__add_real(&s, NAN) == -EINVAL, "NaN is refused");
	ok(s.is_real && s.nr == 3, "then all are real, and NaN is not among them");
	ok(numbers__percentile(&s, 0.5, &value) && value.real == 2.5, "in order of their size");
	ok(numbers__percentile(&s, 0, &value) && value.real == -7, "negative ones first");
	numbers__free(&s);
}

/* By the definition, in whole numbers: per_mille of nr, counted. */
static bool is_percentile(const struct numbers *s, int64_t value, uint64_t per_mille)
{
	uint64_t up_to = 0, below = 0;

	for (size_t i = 0; i < s->nr; i++) {
		up_to += s->values[i].whole <= value;
		below += s->values[i].whole < value;
	}
	return up_to * 1000 >= per_mille * s->nr && below * 1000 < per_mille * s->nr;
}

static void check_random(void)
{
	unsigned int wrong = 0;

	srandom(10);
	for (unsigned int round = 0; round < 500; round++) {
		struct numbers s = { 0 };

		for (long n = random() % 300 + 1; n; n--)
			numbers__add_whole(&s, random() % 100 - 20);
		for (uint64_t per_mille = 1; per_mille <= 1000; per_mille += 37)
			wrong += !is_percentile(&s, whole(&s, (double)per_mille / 1000), per_mille);
		numbers__free(&s);
	}
	is_u64(wrong, 0, "13,500 random percentiles are what counting says");
}

static void check_octaves(void)
{
	unsigned int wrong = 0;

	is_u64(numbers__octave(-0.1), 0, "below 0 is the first");
	is_u64(numbers__octave(0), 1, "0 is the second");
	is_u64(numbers__octave(0.99), 1, "with what is below 1");
	is_u64(numbers__octave(1), 2, "1 begins the third");
	is_u64(numbers__octave(INFINITY), NUMBERS_OCTAVES - 1, "the last has no end");
	for (size_t i = 2; i < NUMBERS_OCTAVES; i++) {
		double from = numbers__octave_from(i);

		wrong += numbers__octave(from) != i;
		wrong += numbers__octave(nextafter(from, 0)) != i - 1;
	}
	is_u64(wrong, 0, "each begins where the one before ends");
}

int main(void)
{
	check_ranks();
	check_real();
	check_random();
	check_octaves();
	return done_testing();
}
