/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chance.h: repeatable random numbers, and confidence limits. The same seed draws the same numbers
 * on every machine, so a repeated comparison gives the same result. Not for secrets.
 */
#ifndef IOSONAR_ANALYSE_CHANCE_H
#define IOSONAR_ANALYSE_CHANCE_H

#include <stdint.h>

struct chance {
	uint64_t state;
};

uint32_t chance__below(struct chance *chance, uint32_t limit);
double chance__part(struct chance *chance);   /* between 0 and 1, both excluded */
double chance__normal(struct chance *chance); /* mean 0, deviation 1 */
/* A Poisson count: how often an event occurs that occurs `mean` times on average. */
double chance__poisson(struct chance *chance, double mean);

/*
 * How many standard deviations the mean of `nr` values can be off, so that chance exceeds it in
 * only `doubt` of all cases, both directions together: 1.96 for 0.05 and many values. nr 0: many
 * values.
 */
double chance__reach(double doubt, uint32_t nr);
/* The probability that Student's t with `freedom` degrees of freedom, 1 or more, exceeds this. */
double chance__student(double t, double freedom);

#endif
