/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_scheduler.c: commands wait in the I/O scheduler. */
#include <inttypes.h>
#include "why/rules.h"

static bool scheduler_test(const struct why_case *c, struct why_finding *f)
{
	const struct fact_device *d = c->device;

	if (!why_test_part(c, PART_SCHED, f))
		return false;
	f->affected = c->all.nr;
	verdict__say(f, "commands wait in the I/O scheduler");
	verdict__prove(f, "%s of %s each is between insertion and issue",
		       why_ns((double)c->all.parts_ns[PART_SCHED] / (double)c->all.nr).text,
		       why_ns((double)c->all.total_ns / (double)c->all.nr).text);
	if (d->depths)
		verdict__prove(f, "the device has %.1f commands in flight on average",
			       (double)d->depth_sum / (double)d->depths);
	verdict__more(f, "layers", NULL, NULL);
	return true;
}

const struct why_rule rule_scheduler = { "scheduler", true, false, scheduler_test, { NULL } };
