/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scale.h: what do the buckets of an event's histogram mean, and which statistics do they give?
 * Fine buckets are those of wire/buckets.h (error <= 1.6 %), others are powers of two or user-
 * defined steps. Values may be negative. Pure.
 */
#ifndef IOSONAR_ANALYSE_SCALE_H
#define IOSONAR_ANALYSE_SCALE_H

#include "analyse/tally.h"

enum scale_kind { SCALE_FINE, SCALE_LOG2, SCALE_LINEAR };

struct scale {
	enum scale_kind kind;
	int64_t from, to, step; /* LINEAR */
};

/* Set in the number of a bucket below zero; these are numbered from zero downwards. */
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

/* Rows for display: joins neighbours so that at most `most` rows remain, gaps included. */
struct scale_range {
	struct scale_span span;
	uint64_t count;
	double cumulative_percent;
};
/* Returns the number of ranges; ranges has room for `most`. */
int scale__ranges(const struct scale *scale, const struct tally_group *group,
		  struct scale_range *ranges, int most);

#endif
