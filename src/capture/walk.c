/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/walk.h"

#include <errno.h>

enum { WALK_LOOK = 256 }; /* chunks between two checks for signals */

int capture_walk__next(struct capture_walk *walk, struct capture_chunk *chunk)
{
	struct capture_source *source = walk->source;

	while (walk->at < source->size) {
		int good = capture_source__header(source, walk->at, chunk);

		if (good < 0 || (!good && source->size - walk->at < CAPTURE_CHUNK_BYTES))
			return good;
		if (!good) {
			good = capture_source__resync(source, &walk->at);
			walk->nr_gaps++;
			if (good)
				return good;
			continue;
		}
		if (chunk->length > source->size - walk->at - CAPTURE_CHUNK_BYTES)
			return 0;
		walk->chunk_at = walk->at;
		walk->at += CAPTURE_CHUNK_BYTES + chunk->length;
		return ++walk->nr % WALK_LOOK || !capture_source__is_interrupted() ? 1 : -EINTR;
	}
	return 0;
}
