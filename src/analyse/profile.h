/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.h: how much of each kind was in each part of a run? A table of amounts by kind (a bucket
 * of latency, a size, a step) and block, which is a stretch of the run. Grows with the kinds seen;
 * at most 64 blocks: when they are full, pairs of blocks are joined.
 */
#ifndef IOSONAR_ANALYSE_PROFILE_H
#define IOSONAR_ANALYSE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

enum { PROFILE_BLOCKS = 64 };

struct profile {
	uint32_t nr_keys;		/* kinds are below it */
	uint16_t *place;		/* by kind: its row + 1 */
	uint16_t *keys;			/* by row */
	double (*rows)[PROFILE_BLOCKS]; /* until settled */
	uint32_t nr;
	size_t room;
	/* settled: rows by kind, their blocks back to back */
	double *blocks;
	uint32_t nr_blocks;
};

int profile__init(struct profile *profile, uint32_t nr_keys); /* below 65,535. -ENOMEM */
void profile__free(struct profile *profile);		      /* all zeros, too */
/* -ENOMEM; -EINVAL: invalid kind. */
int profile__add(struct profile *profile, uint32_t key, uint32_t block, double amount);
/* Joins 64 blocks into 32, each the sum of two. */
void profile__fold(struct profile *profile);
/* After the last amount, before weighing: sorts rows by kind. -ENOMEM. */
int profile__settle(struct profile *profile, uint32_t nr_blocks);

/* sums[row]: the sum over blocks, each times its weight. */
void profile__weigh(const struct profile *profile, const double *weights, double *sums);
/* With all weights 1. */
void profile__sum(const struct profile *profile, double *sums);
/* The row of a kind, or -1. */
int profile__row(const struct profile *profile, uint32_t key);

/* profile__fold for a single row of blocks. */
void blocks__fold(double blocks[PROFILE_BLOCKS]);

#endif
