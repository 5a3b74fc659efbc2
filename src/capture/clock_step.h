/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock_step.h: was the wall clock of a capture's machine set during the recording? Compares each
 * reading of the clocks with the one before it: between two, about a second apart, the wall clock
 * should advance as CLOCK_MONOTONIC does. A machine that slept steps, too. Does not see a clock
 * that is adjusted slowly, by at most 1 in 1,000.
 */
#ifndef IOSONAR_CAPTURE_CLOCK_STEP_H
#define IOSONAR_CAPTURE_CLOCK_STEP_H

#include "capture/about.h"

struct capture_clock_step {
	uint64_t wall_ns; /* after the step */
	int64_t by_ns;	  /* back: negative */
};

/* From the reading `*nr` on, which is 1 at first. False: there are no more steps. */
bool capture_clock_step__next(const struct capture_about *about, size_t *nr,
			      struct capture_clock_step *step);
/* Warns about each; name: of the capture. Returns how many there are. */
uint64_t capture_clock_step__tell(const struct capture_about *about, const char *name);
/* "2026-11-18T20:11:05Z"; NULL: 0, or a time without such a text. */
const char *capture_clock_step__wall(char buf[32], uint64_t wall_ns);

#endif
