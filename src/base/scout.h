/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scout.h: what do the files below /sys say now? For a process that may open no file: the scout is
 * forked before the privileges are dropped. It has no capability, opens files to read below the
 * directories that it was given and nowhere else (as far as the kernel has Landlock), and answers
 * one question at a time, in memory that both share. A question costs two switches of process. The
 * scout ends with its parent.
 */
#ifndef IOSONAR_BASE_SCOUT_H
#define IOSONAR_BASE_SCOUT_H

#include <stddef.h>
#include "base/deputy.h"

enum scout_question { SCOUT_NAMES, SCOUT_DEVICE, SCOUT_CGROUP, NR_SCOUT_QUESTIONS };

/* Runs in the scout: takes the question from this memory and leaves the answer there. */
typedef void (*scout_fn)(void *shared);

enum { SCOUT_BYTES = 2 << 20 }; /* pages that nobody uses take no memory */

struct scout {
	const char *const *directories;	      /* it may read below these; NULL at the end */
	scout_fn answers[NR_SCOUT_QUESTIONS]; /* SCOUT_NAMES is the scout's own */
	/* inside */
	struct deputy deputy;
	void *shared; /* the question, then the answer: SCOUT_BYTES; NULL: it does not run */
};

/* 0 or a negative errno, said. */
int scout__fork(struct scout *scout);
/* 0, or -ECHILD: it is gone, and there is no answer. */
int scout__ask(const struct scout *scout, enum scout_question question);
/* The names in a directory but . and .., one after the other, each with its 0; nvme2 is before
 * nvme10. Their bytes, or a negative errno; -E2BIG: they are too many. Free *names. */
ssize_t scout__names(const struct scout *scout, const char *path, char **names);
void scout__end(struct scout *scout);

#endif
