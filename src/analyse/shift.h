/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shift.h: how far is one run from another, and is that more than chance? Each run is resampled
 * 1,000 times from its own blocks of I/Os (a block bootstrap, as I/Os close in time are alike). A
 * difference that almost all resamples show is not chance. Costs 1,000 passes over the buckets in
 * use, however many I/Os there were: about 50 ms for each device and operation. It cannot see
 * causes that differ between any two runs but not within one, such as a warmer room.
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
	SHIFT_SIZE_SHARE, /* percent of I/Os in this size class */
	SHIFT_STEP_SHARE, /* percent of the I/Os' time in this step */
	NR_SHIFTS,
};

enum shift_verdict {
	SHIFT_NOISE,   /* within chance */
	SHIFT_MORE,    /* more in the second run */
	SHIFT_LESS,    /* less */
	SHIFT_TOO_FEW, /* too few I/Os to judge */
	SHIFT_UNKNOWN, /* a file holds only this number, not how it varied */
};

struct shift {
	enum shift_what what;
	uint32_t key; /* of a share: class or sample__step */
	double a, b;
	double shift;	  /* percent of a; between shares: points. NaN: a is 0 */
	double low, high; /* simultaneous 95 % confidence interval over the list; NaN */
	enum shift_verdict verdict;
	/* until settled */
	bool is_judged;
	double change, down, up; /* spread of the resamples: logarithms, or points */
	double blur;		 /* resolution of the buckets */
	uint32_t nr_blocks;	 /* of the run with fewer; 0: no blocks */
};

struct shift_list {
	struct shift *shifts;
	size_t nr, room;
};

/* Adds all comparable measures of two settled samples. -ENOMEM. */
int shift_list__compare(struct shift_list *list, const struct sample *a, const struct sample *b);
/*
 * After the last comparison: intervals and verdicts. More comparisons widen the intervals: of many
 * numbers, some would be far off by chance alone.
 */
void shift_list__settle(struct shift_list *list);
void shift_list__free(struct shift_list *list);

bool shift__is_points(enum shift_what what); /* of a difference, not of a ratio */
/* The latency below which this part of the I/Os lies; `sums` of the sample's buckets. */
double sample__percentile(const struct sample *sample, const double *sums, double part);

#endif
