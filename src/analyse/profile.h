/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.h: how much of each kind was in each part of a run? A table of amounts by kind (a bucket
 * of latency, a size, a step) and block, where a block is a stretch of the run. Grows with the
 * kinds that were met; the blocks are 64 at most, for two become one when there is no room.
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
	double (*rows)[PROFILE_BLOCKS]; /* until it is settled */
	uint32_t nr;
	size_t room;
	/* settled: rows by kind, one block behind the other */
	double *blocks;
	uint32_t nr_blocks;
};

int profile__init(struct profile *profile, uint32_t nr_keys); /* below 65,535. -ENOMEM */
void profile__free(struct profile *profile);		      /* all zeros, too */
/* -ENOMEM; -EINVAL: there is no such kind. */
int profile__add(struct profile *profile, uint32_t key, uint32_t block, double amount);
/* Of 64 blocks 32 remain, each the sum of two. */
void profile__fold(struct profile *profile);
/* After the last amount, before it is weighed: rows are sorted by kind. -ENOMEM. */
int profile__settle(struct profile *profile, uint32_t nr_blocks);

/* sums[row]: each block as often as its weight says. */
void profile__weigh(const struct profile *profile, const double *weights, double *sums);
/* As if each block was there once. */
void profile__sum(const struct profile *profile, double *sums);
/* The row of a kind, or -1. */
int profile__row(const struct profile *profile, uint32_t key);

/* The same of one row of blocks. */
void blocks__fold(double blocks[PROFILE_BLOCKS]);

#endif
