/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_tags.c: commands wait for a request, because all of the device or its queue are in use. */
#include <inttypes.h>
#include "why/rules.h"

enum { TAGS_MANY = 16 };	     /* that the device takes */
static const double tags_one = 1.25; /* in flight, itself among them */

/* One at a time of many that are allowed waits for no request: its task got no turn meanwhile. */
static bool tags_are_free(const struct why_case *c)
{
	const struct fact_device *d = c->device;

	return d->place.limit >= TAGS_MANY && !c->all.parts_ns[PART_SCHED] &&
	       (double)d->depth_sum < tags_one * (double)d->depths;
}

static bool tags_test(const struct why_case *c, struct why_finding *f)
{
	const uint64_t waited = why_waited(c, PART_TAGS);

	/* One that waited long, for its task got no turn, is no lack of requests. */
	if (waited < FACT_ALONE || tags_are_free(c) || !why_test_part(c, PART_TAGS, f))
		return false;
	f->affected = waited;
	verdict__say(f, "commands wait for a free request: too few may be in flight");
	verdict__prove(f, "%" PRIu64 " of %" PRIu64 " commands waited for a request, %s each",
		       waited, c->all.nr,
		       why_ns((double)c->all.parts_ns[PART_TAGS] / (double)waited).text);
	verdict__prove(f, "the device itself takes %s; at most %" PRIu32 " were in flight",
		       why_ns((double)c->all.parts_ns[PART_DEVICE] / (double)c->all.nr).text,
		       c->device->deepest);
	verdict__more(f, "layers", NULL, NULL);
	return true;
}

const struct why_rule rule_tags = { "tags", true, false, tags_test, { NULL } };
