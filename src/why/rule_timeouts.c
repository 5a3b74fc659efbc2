/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_timeouts.c: the driver's wait for commands times out. */
#include <inttypes.h>
#include "why/rules.h"

static bool timeouts_test(const struct why_case *c, struct why_finding *f)
{
	struct fact_sums all, tail;

	facts__sum(c->facts,
		   (struct fact_choice){ .device = c->device->device,
					 .classes = FACT_ALL_CLASSES,
					 .flags = FACT_TIMED_OUT },
		   &all, &tail);
	if (!c->device->timeouts)
		return false;
	verdict__weigh(f, c, all.total_ns, tail.total_ns);
	f->affected = c->device->timeouts;
	verdict__say(f, "commands time out");
	verdict__prove(f, "the wait for %" PRIu64 " of %" PRIu64 " commands timed out",
		       c->device->timeouts, c->all.nr);
	if (all.nr)
		verdict__prove(f, "%" PRIu64 " of them ended, after %s each", all.nr,
			       why_ns((double)all.total_ns / (double)all.nr).text);
	verdict__more(f, "errors", NULL, NULL);
	return true;
}

const struct why_rule rule_timeouts = { "timeouts", false, true, timeouts_test, { NULL } };
