/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/clock_step.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include "base/log.h"

enum {
	STEP_LEAST_NS = 10000000, /* two readings of the clocks are never that far apart */
	STEP_SLEW = 1000,	  /* the kernel adjusts a clock by at most 1 in 2,000 */
	STEP_TOLD = 3,		  /* of a capture; of the others the number */
};

static uint64_t step_size(int64_t by_ns)
{
	return by_ns < 0 ? -(uint64_t)by_ns : (uint64_t)by_ns;
}

bool capture_clock_step__next(const struct capture_about *about, size_t *nr,
			      struct capture_clock_step *step)
{
	for (; *nr < about->nr_clocks; ++*nr) {
		const struct capture_clock *last = &about->clocks[*nr - 1], *now = last + 1;
		uint64_t passed_ns = now->mono_ns - last->mono_ns;

		step->wall_ns = now->real_ns;
		step->by_ns = (int64_t)(now->real_ns - last->real_ns - passed_ns);
		if (step_size(step->by_ns) > STEP_LEAST_NS + passed_ns / STEP_SLEW)
			return ++*nr;
	}
	return false;
}

const char *capture_clock_step__wall(char buf[32], uint64_t wall_ns)
{
	time_t s = (time_t)(wall_ns / 1000000000);
	struct tm tm;

	return wall_ns && gmtime_r(&s, &tm) && strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) ? buf
											    : NULL;
}

uint64_t capture_clock_step__tell(const struct capture_about *about, const char *name)
{
	struct capture_clock_step step;
	uint64_t found = 0;
	size_t nr = 1;
	char buf[32];

	while (capture_clock_step__next(about, &nr, &step)) {
		const char *wall = capture_clock_step__wall(buf, step.wall_ns);

		if (found++ < STEP_TOLD)
			log_warn("%s: the wall clock was set %s by %.3f s at %s", name,
				 step.by_ns < 0 ? "back" : "forward",
				 (double)step_size(step.by_ns) / 1e9, wall ? wall : "?");
	}
	if (found > STEP_TOLD)
		log_warn("%s: the wall clock was set %" PRIu64 " more times", name,
			 found - STEP_TOLD);
	return found;
}
