/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_completion.c: one CPU completes the commands of many, and is late. */
#include <inttypes.h>
#include "why/rules.h"

static const double completion_hot = 0.8, completion_spread = 0.6;

static uint32_t completion_busiest(const uint32_t counts[FACT_CPUS])
{
	uint32_t busiest = 0;

	for (uint32_t i = 1; i < FACT_CPUS; i++)
		busiest = counts[i] > counts[busiest] ? i : busiest;
	return busiest;
}

static bool completion_test(const struct why_case *c, struct why_finding *f)
{
	const struct fact_device *d = c->device;
	const uint32_t end = completion_busiest(d->ends), submit = completion_busiest(d->submits);

	if (!why_test_part(c, PART_DONE, f) || d->ends[end] < completion_hot * (double)d->count ||
	    d->submits[submit] > completion_spread * (double)d->staged)
		return false;
	f->affected = d->ends[end];
	verdict__say(f, "CPU %" PRIu32 " completes the commands of all CPUs, and is late", end);
	verdict__prove(f, "CPU %" PRIu32 " completed %" PRIu32 " of %" PRIu64 " commands", end,
		       d->ends[end], d->count);
	verdict__prove(f, "the busiest CPU submitted %" PRIu32, d->submits[submit]);
	verdict__prove(f, "from the device's answer to the end it takes %s",
		       why_ns((double)c->all.parts_ns[PART_DONE] / (double)c->all.nr).text);
	verdict__more(f, "latency", "--by", "cpu");
	return true;
}

const struct why_rule rule_completion = { "completion", true, false, completion_test, { NULL } };
