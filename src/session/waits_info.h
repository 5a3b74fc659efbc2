/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits_info.h: what a capture of waits holds besides its calls: which calls were followed, and,
 * at the end, where all of them went, as pairs of texts.
 */
#ifndef IOSONAR_SESSION_WAITS_INFO_H
#define IOSONAR_SESSION_WAITS_INFO_H

#include "capture/about.h"
#include "collect/waits.h"
#include "session/recorder.h"

/* calls: a mask of enum wait_call. */
int waits_info__put_start(struct recorder *recorder, uint32_t calls);
int waits_info__put_end(struct recorder *recorder, const struct waits_counts *counts,
			uint64_t nr_kept);
/* The mask of the calls that were followed. */
uint32_t waits_info__calls(const struct capture_about *capture);
/* Adds the counts of this capture. False: it has none, it was cut. */
bool waits_info__add(const struct capture_about *capture, struct waits_counts *counts);

#endif
