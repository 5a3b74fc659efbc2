/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_source.h: what a view of the page cache can query in its run, on this machine
 * (cache_live.c) or in a capture (cache_replay.c).
 */
#ifndef IOSONAR_SESSION_CACHE_SOURCE_H
#define IOSONAR_SESSION_CACHE_SOURCE_H

#include "analyse/cache.h"
#include "session/session.h"

/* How the cache was observed; all current rows; what was lost. */
const struct cache_about *cache_source__about(const struct session *s);
void cache_source__read(const struct session *s, cache_row_fn fn, void *arg);
void cache_source__losses(const struct session *s, struct cache_losses *losses);

/* ---- for cache_live.c and cache_replay.c ---- */

struct cache_answers {
	const struct cache_about *(*about)(const struct session *s);
	void (*read)(const struct session *s, cache_row_fn fn, void *arg);
	void (*losses)(const struct session *s, struct cache_losses *losses);
};

#endif
