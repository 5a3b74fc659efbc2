/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async_info.h: what a capture of asynchronous requests holds besides them: whose requests were
 * followed, and, at the end, where all of them went, as pairs of texts.
 */
#ifndef IOSONAR_SESSION_ASYNC_INFO_H
#define IOSONAR_SESSION_ASYNC_INFO_H

#include "capture/about.h"
#include "collect/async.h"
#include "session/recorder.h"

int async_info__put_start(struct recorder *recorder, bool follows_aio);
int async_info__put_end(struct recorder *recorder, const struct async_counts *counts,
			uint64_t nr_kept);
/* Adds the counts of this capture. False: it has none, it was cut. */
bool async_info__add(const struct capture_about *capture, struct async_counts *counts);

#endif
