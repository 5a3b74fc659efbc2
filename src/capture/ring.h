/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ring.h: a directory of captures that goes on over restarts and stays within a size. A file gets
 *its final name only when it is complete and on the disk; the oldest files are removed. A deputy
 *does all of this: creates, syncs, renames, removes and writes the manifest, in this directory
 *only. So the measuring process can open no file, and no sync makes it wait: the next file is
 *created ahead. One process at a time uses a ring.
 *
 *	fd = ring__file(ring);	begin a capture …	ring__prepare(ring);	… finish it
 *	ring__keep(ring);	fd = ring__file(ring);	…
 *	ring__end(ring);
 */
#ifndef IOSONAR_CAPTURE_RING_H
#define IOSONAR_CAPTURE_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { RING_FILES = 20, RING_FILES_LEAST = 2, RING_FILE_LEAST = 256 << 10 };

struct ring_options {
	const char *path;	    /* of the directory, which must exist */
	const char *host, *boot_id; /* for the names of files */
	uint64_t size;		    /* limit of all files together */
	unsigned int files;	    /* likewise; the one that is written counts */
	mode_t mode;		    /* of files */
};

struct ring;

/*
 * Before privileges are dropped: takes the directory, recovers what an earlier run left, removes
 * files beyond the limits, and starts the deputy. Reports all of it. Prints a message on error:
 * -EBUSY: another process records into this directory.
 */
int ring__open(const struct ring_options *options, struct ring **ring);
/* Bytes at which a file should end; the rest of its share is for its last block. */
uint64_t ring__file_bytes(const struct ring *ring);
/* A new file, as a descriptor, which is the caller's. -ENOSPC: no room, not logged; or a negative
 * errno, logged. */
int ring__file(struct ring *ring);
/* The file was begun: the next one is created meanwhile. Does not wait. */
int ring__prepare(struct ring *ring);
/* The file is complete and gets its final name. Does not wait. */
int ring__keep(struct ring *ring);
/* It is complete because the disk is full: the oldest file is removed. Waits. */
int ring__keep_full(struct ring *ring);
/* Instead of ring__prepare: the file could not be begun, and is removed. Waits. */
int ring__drop(struct ring *ring);
/* What was written so far is to reach the disk. Does not wait. Also hears what became of earlier
 * orders. 1; 0: not ordered, because one of these is under way; or a negative errno, logged. */
int ring__sync(struct ring *ring);
/* Waits for all that was ordered, and removes the spare: 0 or a negative errno, logged. */
int ring__finish(struct ring *ring);
/* Also frees it. NULL is fine. */
void ring__end(struct ring *ring);

#endif
