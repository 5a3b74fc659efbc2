/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_merge.h: the page cache of several captures as one, by time: of their next readings and
 * events the earliest comes first, on ties that of the file named first. Times and ids are those
 * of the merge.
 */
#ifndef IOSONAR_CAPTURE_CACHE_MERGE_H
#define IOSONAR_CAPTURE_CACHE_MERGE_H

#include "capture/cache.h"
#include "capture/merge.h"

struct cache_merge_file {
	struct capture_cache chunk; /* the next one */
	uint64_t time_ns;	    /* no chunk before it has a later one */
	bool is_done;
};

struct cache_merge {
	struct capture_merge *merge; /* stays the caller's */
	struct cache_merge_file *files;
	size_t from; /* the file of the chunk returned last */
	bool begun;
};

int cache_merge__init(struct cache_merge *c, struct capture_merge *merge); /* -ENOMEM */
void cache_merge__free(struct cache_merge *c);
/* The next chunk, valid until the next call; NULL: the end, and *err is 0; or *err is -errno. */
const struct capture_cache *cache_merge__next(struct cache_merge *c, int *err);

#endif
