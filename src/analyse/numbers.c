/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/numbers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/compare.h"
#include "base/grow.h"

static int numbers_add(struct numbers *numbers, union numbers_value value)
{
	if (GROW(numbers->values, numbers->room, numbers->nr + 1))
		return -ENOMEM;
	numbers->values[numbers->nr++] = value;
	return 0;
}

int numbers__add_whole(struct numbers *numbers, int64_t value)
{
	if (numbers->is_real)
		return numbers_add(numbers, (union numbers_value){ .real = (double)value });
	return numbers_add(numbers, (union numbers_value){ .whole = value });
}

int numbers__add_real(struct numbers *numbers, double value)
{
	if (isnan(value))
		return -EINVAL;
	/* After the first real value, all values are real. */
	for (size_t i = 0; i < numbers->nr && !numbers->is_real; i++)
		numbers->values[i].real = (double)numbers->values[i].whole;
	numbers->is_real = true;
	return numbers_add(numbers, (union numbers_value){ .real = value });
}

void numbers__free(struct numbers *numbers)
{
	free(numbers->values);
	*numbers = (struct numbers){ 0 };
}

static int numbers_compare_whole(const void *a, const void *b)
{
	const union numbers_value *x = a, *y = b;

	return COMPARE(x->whole, y->whole);
}

static int numbers_compare_real(const void *a, const void *b)
{
	const union numbers_value *x = a, *y = b;

	return COMPARE(x->real, y->real);
}

/* From 1 to nr. In floating point 0.7 x 10 is not 7: a result so close to a rank is that rank. */
static size_t numbers_rank(size_t nr, double part)
{
	double exact = part * (double)nr, rank = ceil(exact);

	if (exact - floor(exact) < (double)nr * 1e-15)
		rank = floor(exact);
	if (rank < 1)
		return 1;
	return rank < (double)nr ? (size_t)rank : nr;
}

bool numbers__percentile(struct numbers *numbers, double part, union numbers_value *value)
{
	if (!numbers->nr)
		return false;
	qsort(numbers->values, numbers->nr, sizeof(*numbers->values),
	      numbers->is_real ? numbers_compare_real : numbers_compare_whole);
	*value = numbers->values[numbers_rank(numbers->nr, part) - 1];
	return true;
}

size_t numbers__octave(double value)
{
	int exponent;

	if (value < 0)
		return 0;
	if (value < 1)
		return 1;
	if (isinf(value))
		return NUMBERS_OCTAVES - 1;
	frexp(value, &exponent); /* value < 2^exponent, and at least half of it */
	return exponent + 1 < NUMBERS_OCTAVES ? (size_t)exponent + 1 : NUMBERS_OCTAVES - 1;
}

double numbers__octave_from(size_t octave)
{
	return octave < 2 ? 0 : ldexp(1, (int)octave - 2);
}
