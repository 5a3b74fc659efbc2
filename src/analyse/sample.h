/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sample.h: what is kept of a run to compare it with another? Latencies in buckets of 0.4 %, sizes,
 * failures and steps of one device and operation, by blocks: stretches of I/Os that ended one after
 * the other, as I/Os close in time are alike. At most 64 blocks, however long the run: about 20
 * KiB, and 0.5 KiB for each bucket in use.
 */
#ifndef IOSONAR_ANALYSE_SAMPLE_H
#define IOSONAR_ANALYSE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include "analyse/steps.h"
#include "analyse/profile.h"

enum {
	SAMPLE_FINE = 8,    /* 2^8 buckets per octave: of records */
	SAMPLE_COARSE = 5,  /* those of analyse/hist: for saved histograms */
	SAMPLE_SIZES = 64,  /* classes: powers of two */
	SAMPLE_STEPS = 256, /* kinds of steps: sample_step */
};

enum sample_total {
	SAMPLE_COUNT,
	SAMPLE_BYTES,
	SAMPLE_FAILED,
	SAMPLE_NS,
	NR_SAMPLE_TOTALS,
};

struct sample {
	unsigned int bits; /* of the buckets */
	bool has_sizes, has_failed;
	bool is_loose; /* not in blocks: only sums of the whole run are known */
	struct profile lats, sizes, steps;
	double totals[NR_SAMPLE_TOTALS][PROFILE_BLOCKS];
	uint64_t nr_turns, turns_per_block, turns_in_block;
	uint32_t nr_blocks;
	/* count in each slice of time, from the start of the run */
	double slices[PROFILE_BLOCKS];
	uint64_t slice_ns;
	uint32_t nr_slices; /* whole ones, settled */
	double seconds;
};

struct sample_io {
	uint64_t ns, bytes;
	uint64_t at_ns; /* when it ended, since the start of the run */
	bool failed;
	size_t nr_moments; /* below 2: the record has no stages */
	const struct moment *moments;
};

/* bits: SAMPLE_FINE or SAMPLE_COARSE. -ENOMEM. */
int sample__init(struct sample *sample, unsigned int bits);
void sample__free(struct sample *sample);
/* One I/O. -ENOMEM. */
int sample__add(struct sample *sample, const struct sample_io *io);

/* From saved data, for one turn (an interval). Then sample__end_turn, if turns are known. */
int sample__add_bucket(struct sample *sample, uint64_t from_ns, double count);
void sample__add_total(struct sample *sample, enum sample_total total, double amount);
void sample__end_turn(struct sample *sample);
/* `count` at this time; the first call sets the length of a slice, others are folded into it. */
void sample__add_slice(struct sample *sample, uint64_t at_ns, uint64_t slice_ns, double count);

/* After the last addition; seconds: length of the run. -ENOMEM. */
int sample__settle(struct sample *sample, double seconds);

double sample__total(const struct sample *sample, enum sample_total total);

/* Bucket of a latency; where a bucket begins. The last bucket is open-ended. */
uint32_t sample__slot(uint64_t ns, unsigned int bits);
double sample__slot_from(uint32_t slot, unsigned int bits);
uint32_t sample__slots(unsigned int bits); /* with the last */

/* A step as a kind of the profile, and back. */
static inline uint32_t sample__step(enum stage from, enum stage to)
{
	return (uint32_t)from << 4 | (uint32_t)to;
}
static inline enum stage sample__step_from(uint32_t step)
{
	return (enum stage)(step >> 4);
}
static inline enum stage sample__step_to(uint32_t step)
{
	return (enum stage)(step & 15);
}

#endif
