/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * walk.h: from chunk to chunk through a capture, past what is damaged. Reads headers only.
 *
 *	struct capture_walk walk = { .source = source, .at = CAPTURE_FILE_BYTES };
 *	while ((more = capture_walk__next(&walk, &chunk)) > 0)
 *		…	(the chunk begins at walk.chunk_at)
 */
#ifndef IOSONAR_CAPTURE_WALK_H
#define IOSONAR_CAPTURE_WALK_H

#include "capture/source.h"

struct capture_walk {
	struct capture_source *source;
	uint64_t at;	   /* where the next chunk should begin */
	uint64_t chunk_at; /* where the last one began */
	uint64_t nr;	   /* chunks so far */
	uint64_t nr_gaps;  /* damaged places before the last one */
};

/* 1: a chunk that is whole as far as its length says; 0: the end of such; -errno, -EINTR. */
int capture_walk__next(struct capture_walk *walk, struct capture_chunk *chunk);

#endif
