/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flushers.h: who asks a device for flushes? A write that flushes before or after itself names its
 * task; a flush of its own names the task that sent it, which for an fsync is a kernel worker:
 * whose fsync it was is not known. Memory is bounded: 16 tasks of a device.
 */
#ifndef IOSONAR_WHY_FLUSHERS_H
#define IOSONAR_WHY_FLUSHERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLUSHERS_MOST = 16 };

struct flusher {
	char comm[17];
	uint64_t writes;  /* with a flush before or after them */
	uint64_t flushes; /* that it sent */
};

struct flushers {
	struct flusher of[FLUSHERS_MOST];
	size_t nr;
	struct flusher all; /* those of further tasks as well */
};

/* comm: of a record, 16 bytes. is_write: a write that flushes; else a flush. */
void flushers__add(struct flushers *flushers, const char *comm, bool is_write);
/* Can the writes account for half of the flushes? */
bool flushers__are_of_writes(const struct flushers *flushers);
/* Who asks most often: by writes if these can account for them. NULL: nobody. */
const struct flusher *flushers__main(const struct flushers *flushers);
/* The disk or partition of the file system that it serves: "sda1" of jbd2/sda1-8. False: none. */
bool flusher__disk(const struct flusher *flusher, char *buf, size_t size);

#endif
