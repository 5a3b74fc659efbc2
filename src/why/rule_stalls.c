/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_stalls.c: the device answers nothing for a long time, and then many. */
#include <inttypes.h>
#include "why/rules.h"

static bool stalls_test(const struct why_case *c, struct why_finding *f)
{
	const struct fact_device *d = c->device;

	verdict__weigh(f, c, c->all.parts_ns[PART_STALL], c->tail.parts_ns[PART_STALL]);
	if (d->stalls == 0 || d->stalled < 2 * d->stalls || verdict__share(f) < c->least)
		return false;
	f->affected = d->stalled;
	verdict__say(f, "the device stalls: it answers nothing, then many commands at once");
	verdict__prove(f, "%" PRIu64 " stalls, the longest %s", d->stalls,
		       why_ns((double)d->longest_stall_ns).text);
	verdict__prove(f, "%" PRIu64 " commands were in flight meanwhile; the usual time is %s",
		       d->stalled, why_ns((double)d->typical_ns).text);
	verdict__more(f, "slow", NULL, NULL);
	return true;
}

const struct why_rule rule_stalls = { "stalls", false, false, stalls_test, { "timeouts" } };
