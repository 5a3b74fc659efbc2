/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_info.h: what a capture says of a run of the page cache beside its rows: how it was seen,
 * and what was lost, as pairs of texts.
 */
#ifndef IOSONAR_SESSION_CACHE_INFO_H
#define IOSONAR_SESSION_CACHE_INFO_H

#include "analyse/cache.h"
#include "capture/about.h"
#include "session/recorder.h"

/* What is told one by one. */
enum cache_tells { CACHE_TELLS_NOTHING, CACHE_TELLS_MISSES, CACHE_TELLS_COMMANDS };

int cache_info__put_start(struct recorder *recorder, const struct cache_about *about,
			  enum cache_tells tells);
int cache_info__put_end(struct recorder *recorder, const struct cache_about *about,
			const struct cache_losses *losses);
/* What is not said is as if nothing was lost, and not known. */
enum cache_tells cache_info__get(const struct capture_about *capture, struct cache_about *about,
				 struct cache_losses *losses);

#endif
