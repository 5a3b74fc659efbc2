/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.h: what did calls wait for? The functions of a stack at a sleep name the part of the call's
 * time that the sleep belongs to. The parts of a call add up to its duration. Calls with the same
 * key share a group: a distribution of the whole and of each part, and each part's share in the
 * slowest calls. Pure.
 */
#ifndef IOSONAR_ANALYSE_WAITS_H
#define IOSONAR_ANALYSE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include "analyse/hist.h"
#include "base/index.h"
#include "wire/waits.h"

enum wait_part {
	PART_CPU,
	PART_RUNNABLE,
	PART_DEVICE, /* I/O, after the thread itself had submitted some in this call */
	PART_OTHERS, /* I/O that others submitted */
	PART_JOURNAL,
	PART_DIRTY,
	PART_QUEUE, /* one of the block layer that has no name of its own below */
	PART_TAG,
	PART_WBT,
	PART_IOMAX,
	PART_IOCOST,
	PART_IOLATENCY,
	PART_FROZEN,
	PART_LOCK,
	PART_RECLAIM,
	PART_NETWORK,
	PART_REST,
	NR_WAIT_PARTS,
};

const char *wait_part__name(enum wait_part part);  /* "journal" */
const char *wait_part__words(enum wait_part part); /* what it is, in words */
const char *wait_call__name(enum wait_call call);  /* "fsync" */

/*
 * The part that a sleep belongs to: the innermost function that is known decides. stack: as
 * frames__text gives it; NULL: not known. *place: the function that decided, or the innermost one
 * that does not merely sleep; it lies in the stack, len bytes long.
 */
struct wait_place {
	const char *name;
	size_t len;
};
enum wait_part wait_part__of(const char *stack, enum wait_io io, struct wait_place *place);

/* What makes a group; a member that is not told apart is 0. */
struct wait_key {
	uint64_t inode, cgroup;
	uint32_t dev, call;
	uint16_t nth, host; /* host: of captures, from 1 on; 0: live, or they are not told apart */
	uint32_t pid;
	char comm[WAIT_COMM_LEN];
	char fs[WAIT_FS_LEN];
};

struct wait_group {
	struct wait_key key;
	struct hist total;
	struct hist *parts[NR_WAIT_PARTS]; /* of calls that have it; NULL: none has */
	uint64_t *tails[HIST_CELLS];	   /* by bucket of the total: the sum of each part */
};

enum {
	WAIT_GROUPS = 1024,    /* the calls of further keys share the group of key `other` */
	WAIT_OTHER_CALL = 256, /* the call of that key; beyond calls and opcodes of io_uring */
};

struct wait_groups {
	struct wait_group **groups;
	struct index index; /* of groups */
	size_t nr;
	bool is_full; /* the last group is `other` */
};

/* -ENOMEM */
int wait_groups__add(struct wait_groups *groups, const struct wait_key *key,
		     const uint64_t parts[NR_WAIT_PARTS]);
int wait_groups__merge(struct wait_groups *into, const struct wait_groups *from);
void wait_groups__clear(struct wait_groups *groups);
void wait_groups__free(struct wait_groups *groups);
void wait_groups__sort(struct wait_groups *groups); /* by call, then the longest total first */

double wait_group__share(const struct wait_group *group, enum wait_part part);
/* In the time of the calls beyond a percentile of the total (9900: the slowest 1 %). */
double wait_group__tail_share(const struct wait_group *group, enum wait_part part,
			      uint32_t per_10000);

#endif
