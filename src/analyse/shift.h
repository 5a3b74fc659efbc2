/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shift.h: how far is one run from another, and is that more than chance? Each run is drawn again
 * 1,000 times, as it could have been: blocks of I/Os at random, out of its own (a block bootstrap,
 * for I/Os close in time are alike). What almost all of these draws agree on is no chance. Costs
 * 1,000 passes over the buckets in use, however many I/Os there were: some 50 ms for each device
 * and operation. It cannot see what differs between any two runs and not within one: a warmer room.
 */
#ifndef IOSONAR_ANALYSE_SHIFT_H
#define IOSONAR_ANALYSE_SHIFT_H

#include "analyse/sample.h"

enum shift_what {
	SHIFT_P50,
	SHIFT_P90,
	SHIFT_P99,
	SHIFT_P999,
	SHIFT_MEAN,
	SHIFT_RATE,	  /* I/Os per second */
	SHIFT_SIZE,	  /* mean bytes */
	SHIFT_ERRORS,	  /* percent of I/Os that failed */
	SHIFT_SIZE_SHARE, /* percent of I/Os of this class of sizes */
	SHIFT_STEP_SHARE, /* percent of their time that this step took */
	NR_SHIFTS,
};

enum shift_verdict {
	SHIFT_NOISE,   /* chance would do the same */
	SHIFT_MORE,    /* more in the second run */
	SHIFT_LESS,    /* less */
	SHIFT_TOO_FEW, /* I/Os, to say anything */
	SHIFT_UNKNOWN, /* a file holds only this number, not how it varied */
};

struct shift {
	enum shift_what what;
	uint32_t key; /* of a share: class or sample__step */
	double a, b;
	double shift;	  /* percent of a; between shares: points. NaN: a is 0 */
	double low, high; /* where it is, all of a list together, in 95 of 100 comparisons; NaN */
	enum shift_verdict verdict;
	/* until it is settled */
	bool is_judged;
	double change, down, up; /* how far the draws went: logarithms, or points */
	double blur;		 /* what buckets do not tell apart */
	uint32_t nr_blocks;	 /* of the run that has fewer; 0: none has */
};

struct shift_list {
	struct shift *shifts;
	size_t nr, room;
};

/* What can be said of two settled samples is added. -ENOMEM. */
int shift_list__compare(struct shift_list *list, const struct sample *a, const struct sample *b);
/*
 * After the last: intervals and verdicts. The more is compared, the wider the intervals: some of
 * many numbers would be far off by chance alone.
 */
void shift_list__settle(struct shift_list *list);
void shift_list__free(struct shift_list *list);

bool shift__is_points(enum shift_what what); /* of a difference, not of a ratio */
/* The latency below which this part of the I/Os lies; `sums` of the sample's buckets. */
double sample__percentile(const struct sample *sample, const double *sums, double part);

#endif
