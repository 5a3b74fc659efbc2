/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits_merge.h: the waits of several captures as one, by time. Each file keeps its own order, in
 * which what a call waited for comes before it; the file whose next entry is the earliest comes
 * first, on ties the one named first. Times and ids are those of the merge.
 */
#ifndef IOSONAR_CAPTURE_WAITS_MERGE_H
#define IOSONAR_CAPTURE_WAITS_MERGE_H

#include "capture/merge.h"
#include "capture/waits.h"

struct waits_merge_file {
	struct capture_waits chunk;
	size_t at;	  /* the next entry */
	uint64_t time_ns; /* no entry before it has a later one */
	uint64_t nr_strange;
	bool is_done;
};

struct waits_merge {
	struct capture_merge *merge; /* stays the caller's */
	struct waits_merge_file *files;
	size_t from; /* the file of the entry returned last */
	bool begun;
};

int waits_merge__init(struct waits_merge *w, struct capture_merge *merge); /* -ENOMEM */
void waits_merge__free(struct waits_merge *w);
/* The next entry, valid until the next call; NULL: the end, and *err is 0; or *err is -errno. */
const struct capture_wait *waits_merge__next(struct waits_merge *w, int *err);
/* Calls of kinds that this version does not know: left out. */
uint64_t waits_merge__nr_strange(const struct waits_merge *w);

#endif
