/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/chance.h"

#include <math.h>

/* splitmix64: a counter with mixed bits. */
static uint64_t chance_next(struct chance *c)
{
	uint64_t z = c->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

uint32_t chance__below(struct chance *c, uint32_t limit)
{
	return (uint32_t)((chance_next(c) >> 32) * limit >> 32);
}

double chance__part(struct chance *c)
{
	return ((double)(chance_next(c) >> 12) + 0.5) / 4503599627370496.0; /* 2^52 */
}

double chance__normal(struct chance *c)
{
	double radius = sqrt(-2 * log(chance__part(c)));

	return radius * cos(2 * M_PI * chance__part(c));
}

/* Small means: count factors until the product is too small. Large means: almost normal. */
double chance__poisson(struct chance *c, double mean)
{
	double least = exp(-mean), product = chance__part(c), nr = 0;

	if (mean > 32) {
		nr = floor(mean + sqrt(mean) * chance__normal(c) + 0.5);
		return nr > 0 ? nr : 0;
	}
	for (; product > least; nr++)
		product *= chance__part(c);
	return nr;
}

/* Normal distribution: where the upper tail is `tail`. Bisects until it is exact enough. */
static double chance_normal_reach(double tail)
{
	double low = 0, high = 40;

	for (int i = 0; i < 80; i++) {
		double middle = (low + high) / 2;

		if (erfc(middle / M_SQRT2) / 2 > tail)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * Student's t for nr - 1 degrees of freedom: the first terms of its expansion about the normal
 * distribution (Abramowitz and Stegun 26.7.5), good to 2 % from 8 values on.
 */
double chance__reach(double doubt, uint32_t nr)
{
	double x = chance_normal_reach(doubt / 2), x2 = x * x, n = (double)nr - 1;

	if (nr < 2)
		return x;
	return x + x * (x2 + 1) / (4 * n) + x * ((5 * x2 + 16) * x2 + 3) / (96 * n * n) +
	       x * (((3 * x2 + 19) * x2 + 17) * x2 - 15) / (384 * n * n * n);
}

/* One step of Lentz's method: the next coefficient of a continued fraction. */
static double chance_fraction(double coefficient, double *c, double *d)
{
	const double tiny = 1e-300;

	*d = 1 + coefficient * *d;
	*c = 1 + coefficient / *c;
	*d = 1 / (fabs(*d) < tiny ? tiny : *d);
	*c = fabs(*c) < tiny ? tiny : *c;
	return *c * *d;
}

/* The regularized incomplete beta function for x < (a + 1) / (a + b + 2): DLMF 8.17.22. */
static double chance_beta(double x, double a, double b)
{
	double c = 1, d = 0, product = 1;
	int sign;
	double front = lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) +
		       a * log(x) + b * log1p(-x);

	for (int i = 0; i < 300; i++) {
		double m = i, even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		if (i)
			product *= chance_fraction(even, &c, &d);
		product *= chance_fraction(odd, &c, &d);
	}
	return exp(front) / a / product;
}

double chance__student(double t, double freedom)
{
	double x = freedom / (freedom + t * t), a = freedom / 2, tail;

	if (x >= 1)
		return 0.5;
	if (!(x > 0))
		return t > 0 ? 0 : 1;
	tail = x < (a + 1) / (a + 2.5) ? chance_beta(x, a, 0.5) : 1 - chance_beta(1 - x, 0.5, a);
	return t > 0 ? tail / 2 : 1 - tail / 2;
}
