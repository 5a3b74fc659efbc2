/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why.h: why is I/O slow? Runs all rules over the facts of each device, leaves out findings that
 * others explain, and ranks the rest by the share of time that they explain.
 */
#ifndef IOSONAR_WHY_WHY_H
#define IOSONAR_WHY_WHY_H

#include "why/rule.h"

enum { WHY_MOST = 64 }; /* findings that are kept */

struct why {
	struct why_finding findings[WHY_MOST]; /* the most costly first */
	size_t nr;
	uint64_t stageless; /* commands without stages, for which some rules are blind */
};

/* After facts__finish. least: the share that matters, 0 to 1. -ENOMEM. */
int why__judge(struct why *why, const struct facts *facts, double least);

/* The busiest device, for a run without findings. NULL: there is none. */
const struct fact_device *why__busiest(const struct facts *facts);
/* What makes it say that nothing is wrong there, as a finding without a rule. */
void why__explain_none(const struct facts *facts, const struct fact_device *device,
		       struct why_finding *finding);

#endif
