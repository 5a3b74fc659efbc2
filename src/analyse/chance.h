/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chance.h: random numbers that repeat, and how far chance reaches. The same seed draws the same
 * numbers on every machine, so a comparison made twice says the same twice. Not for secrets.
 */
#ifndef IOSONAR_ANALYSE_CHANCE_H
#define IOSONAR_ANALYSE_CHANCE_H

#include <stdint.h>

struct chance {
	uint64_t state;
};

uint32_t chance__below(struct chance *chance, uint32_t limit);
double chance__part(struct chance *chance);   /* between 0 and 1, neither of them */
double chance__normal(struct chance *chance); /* mean 0, deviation 1 */
/* How often something happens that happens `mean` times on average. */
double chance__poisson(struct chance *chance, double mean);

/*
 * How many deviations the mean of `nr` values can be off, so that it is further off by chance in
 * only `doubt` of all cases, in both directions together: 1.96 for 0.05 and many values. nr 0:
 * many.
 */
double chance__reach(double doubt, uint32_t nr);

#endif
