/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_info.h: what a capture of the page cache holds besides its rows: how the cache was
 * observed, and what was lost, as pairs of texts.
 */
#ifndef IOSONAR_SESSION_CACHE_INFO_H
#define IOSONAR_SESSION_CACHE_INFO_H

#include "analyse/cache.h"
#include "capture/about.h"
#include "session/recorder.h"

/* The events that are recorded one by one. */
enum cache_tells { CACHE_TELLS_NOTHING, CACHE_TELLS_MISSES, CACHE_TELLS_COMMANDS };

int cache_info__put_start(struct recorder *recorder, const struct cache_about *about,
			  enum cache_tells tells);
int cache_info__put_end(struct recorder *recorder, const struct cache_about *about,
			const struct cache_losses *losses);
/* A missing loss counts as 0; other missing values are unknown. */
enum cache_tells cache_info__get(const struct capture_about *capture, struct cache_about *about,
				 struct cache_losses *losses);

#endif
