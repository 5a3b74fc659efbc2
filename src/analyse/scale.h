/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scale.h: what do the buckets of any event's histogram mean, and what can be read from them?
 * Fine ones are wire/buckets.h's (error <= 1.6 %), others powers of two, or steps of one's own.
 * Values may be negative. Pure.
 */
#ifndef IOSONAR_ANALYSE_SCALE_H
#define IOSONAR_ANALYSE_SCALE_H

#include "analyse/tally.h"

enum scale_kind { SCALE_FINE, SCALE_LOG2, SCALE_LINEAR };

struct scale {
	enum scale_kind kind;
	int64_t from, to, step; /* LINEAR */
};

/* Set in the number of a bucket below zero, which is counted from zero down. */
#define SCALE_NEGATIVE 0x80000000u

/* From its smallest value to its largest; both saturate. */
struct scale_span {
	int64_t from, last;
	bool no_from, no_last; /* LINEAR: below the first step, above the last */
};
struct scale_span scale__span(const struct scale *scale, uint32_t bucket);

/* As hist__percentile: the middle of the bucket of that rank, not above the largest value. */
int64_t scale__percentile(const struct scale *scale, const struct tally_group *group,
			  uint32_t per_10000);

/* Rows for a picture: neighbours joined so that at most `most` remain, gaps included. */
struct scale_range {
	struct scale_span span;
	uint64_t count;
	double cumulative_percent;
};
/* Returns how many; ranges has room for `most`. */
int scale__ranges(const struct scale *scale, const struct tally_group *group,
		  struct scale_range *ranges, int most);

#endif
