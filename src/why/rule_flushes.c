/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_flushes.c: flushes of the device's cache take the time, or commands wait for them. */
#include <inttypes.h>
#include "why/rules.h"

static const double flushes_dominate = 0.4;

/* What others waited because of flushes. */
static void flushes_waits(const struct why_case *c, uint64_t *all_ns, uint64_t *tail_ns)
{
	const struct culprits *all = c->culprits;

	for (size_t i = 0; i < all->nr; i++)
		for (size_t j = 0; j < all->nr; j++) {
			if (all->actors[i].device != c->device->device ||
			    all->actors[i].class == FACT_FLUSH ||
			    all->actors[j].class != FACT_FLUSH)
				continue;
			*all_ns += culprits__between(all, i, j)->all_ns;
			*tail_ns += culprits__between(all, i, j)->tail_ns;
		}
}

/* Beside reads and writes. */
static bool flushes_are_slow(const struct fact_sums *flushes, const struct fact_sums *data)
{
	return !data->nr || !flushes->nr ||
	       flushes->total_ns / flushes->nr >= 2 * (data->parts_ns[PART_DEVICE] / data->nr);
}

static bool flushes_test(const struct why_case *c, struct why_finding *f)
{
	struct fact_sums all, tail, data, unused;
	uint64_t waits_ns = 0, tail_waits_ns = 0;

	facts__sum(c->facts, (struct fact_choice){ c->device->device, 1 << FACT_FLUSH, 0 }, &all,
		   &tail);
	facts__sum(c->facts, (struct fact_choice){ c->device->device, FACT_DATA, 0 }, &data,
		   &unused);
	flushes_waits(c, &waits_ns, &tail_waits_ns);
	verdict__weigh(f, c, all.total_ns + c->all.parts_ns[PART_FLUSH] + waits_ns,
		       tail.total_ns + c->tail.parts_ns[PART_FLUSH] + tail_waits_ns);
	if (f->total < c->least || (f->total < flushes_dominate && !flushes_are_slow(&all, &data)))
		return false;
	f->affected = all.nr;
	verdict__say(f, "flushes of the device's write cache take the time");
	verdict__prove(f, "%" PRIu64 " flushes, %s each", all.nr,
		       why_ns(all.nr ? (double)all.total_ns / (double)all.nr : 0).text);
	verdict__prove(f, "other commands waited %s for them",
		       why_ns((double)(c->all.parts_ns[PART_FLUSH] + waits_ns)).text);
	if (data.nr)
		verdict__prove(f, "%" PRIu64 " reads and writes, %s each at the device", data.nr,
			       why_ns((double)data.parts_ns[PART_DEVICE] / (double)data.nr).text);
	verdict__more(f, "latency", "--by", "comm,op");
	return true;
}

const struct why_rule rule_flushes = { "flushes", false, false, flushes_test, { "stalls" } };
