/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * obstacle.h: what keeps a run from starting, and what helps? One line for each cause, the same
 * from doctor and from every command. Judged from the step that failed, the kernel's error, and the
 * rights of the process; if the kernel's error has several causes, the likeliest one is named.
 */
#ifndef IOSONAR_COLLECT_OBSTACLE_H
#define IOSONAR_COLLECT_OBSTACLE_H

#include <stdbool.h>
#include <stdint.h>
#include "collect/rights.h"
#include "collect/trial.h"

/* The way of a run to its first event. */
enum start_step {
	START_BTF,
	START_SHAPE, /* the BTF has the types and events that the programs need */
	START_DEVICES,
	START_TABLES,
	START_PROGRAMS,
	START_ATTACH,
	START_DONE,
};

/* How far the run got. */
struct start {
	enum start_step step;  /* where it ended */
	int err;	       /* -errno; 0: all steps succeeded */
	const char *what;      /* START_SHAPE: what is missing; START_ATTACH: the event */
	uint64_t memory_bytes; /* of the tables */
	bool rehearses;	       /* for doctor: errors are not printed */
};

enum obstacle_kind {
	OBSTACLE_NONE,
	OBSTACLE_BTF,
	OBSTACLE_SYSFS,
	OBSTACLE_SHAPE,
	OBSTACLE_DEVICES,
	OBSTACLE_NO_BPF,
	OBSTACLE_CAPABILITY,
	OBSTACLE_USER_NAMESPACE,
	OBSTACLE_SYS_ADMIN, /* for the attach target, e.g. user probes */
	OBSTACLE_MEMLOCK,
	OBSTACLE_FILES,	 /* too low a limit of open files */
	OBSTACLE_MEMORY, /* of this process, or of the machine */
	OBSTACLE_SECCOMP,
	OBSTACLE_SECURITY_MODULE,
	OBSTACLE_LOCKDOWN,
	OBSTACLE_TABLES,
	OBSTACLE_PROGRAMS,
	OBSTACLE_ATTACH,
};

struct obstacle {
	enum obstacle_kind kind;
	int err;	/* the run's error: exit_code__of makes an exit code of it */
	char line[200]; /* what is missing and what to do */
};

/* tried: results of trial__do; ARRAY, UNLOCKED, RAW_TP and READ_KERNEL are used. Pure. */
void obstacle__judge(struct obstacle *obstacle, const struct start *start,
		     const struct rights *rights, const int tried[NR_TRIALS]);
const char *obstacle__word(enum obstacle_kind kind); /* "user_namespace": for scripts */
/* Reads what the judgement needs, judges, prints the line and returns its error. */
int obstacle__say(const struct start *start);
/* The run ends at this step: says why, unless it is a rehearsal, and returns the error. */
int start__stop(struct start *start, enum start_step step, int err, const char *what);

#endif
