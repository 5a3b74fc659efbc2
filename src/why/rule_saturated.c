/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_saturated.c: the device has more to do than it can: commands wait inside it. */
#include <inttypes.h>
#include "analyse/servers.h"
#include "why/rules.h"

static const double saturated_least = 0.3, saturated_depth = 3, saturated_stretch = 1.3;

/* What it takes longer than if it had few others: all commands, and the slowest. */
static void saturated_excess(const struct why_case *c, double *all_ns, double *tail_ns)
{
	for (size_t i = 0; i < c->facts->nr; i++) {
		const struct fact_group *g = c->facts->groups[i];
		double alone_ns;

		if (!fact_group__is_judged(g, c->device->device) ||
		    !(FACT_DATA >> g->key.class & 1))
			continue;
		alone_ns = facts__alone_ns(c->facts, g);
		if (alone_ns <= 0)
			continue;
		*all_ns += (double)g->all.parts_ns[PART_DEVICE] - alone_ns * (double)g->all.nr;
		*tail_ns += (double)g->tail.parts_ns[PART_DEVICE] - alone_ns * (double)g->tail.nr;
	}
}

/* Waits that blame found, without those before the device. */
static double saturated_waits(const struct why_case *c)
{
	double ns = 0;

	for (size_t i = 0; i < c->culprits->nr; i++)
		for (size_t j = 0; c->culprits->actors[i].device == c->device->device &&
				   !c->culprits->actors[i].is_bystander && j < c->culprits->nr;
		     j++)
			ns += (double)culprits__between(c->culprits, i, j)->all_ns;
	return ns - (double)c->all.parts_ns[PART_TAGS] - (double)c->all.parts_ns[PART_SCHED];
}

static void saturated_explain(const struct why_case *c, struct why_finding *f, double depth)
{
	const struct fact_device *d = c->device;
	const uint32_t servers = blame__servers(&c->facts->blame, d->place.station);
	const double busy_s = (double)d->busy_ns / 1e9;

	verdict__say(f, "the device is saturated: commands wait inside it for each other");
	verdict__prove(f, "%.0f commands/s x %s each = %.1f in flight while it is busy",
		       (double)d->count / busy_s,
		       why_ns((double)d->flight_ns / (double)d->count).text, depth);
	if (servers && servers != SERVERS_ALL)
		verdict__prove(f, "it serves %" PRIu32 " at once", servers);
	if (d->full)
		verdict__prove(f,
			       "%.0f %% of commands came when its limit of %" PRIu32 " was reached",
			       100 * why_share(d->full, d->depths), d->place.limit);
	verdict__more(f, "latency", "--by", "size");
}

static bool saturated_test(const struct why_case *c, struct why_finding *f)
{
	const struct fact_device *d = c->device;
	const double depth = why_share(d->flight_ns, d->busy_ns);
	double all_ns = 0, tail_ns = 0, waits_ns = saturated_waits(c);

	saturated_excess(c, &all_ns, &tail_ns);
	if (waits_ns > all_ns) {
		tail_ns = tail_ns > waits_ns * why_share(c->tail.total_ns, c->all.total_ns)
				  ? tail_ns
				  : waits_ns * why_share(c->tail.total_ns, c->all.total_ns);
		all_ns = waits_ns;
	}
	if (all_ns <= 0 || depth < saturated_depth || why_stretch(c, FACT_DATA) < saturated_stretch)
		return false;
	verdict__weigh(f, c, (uint64_t)all_ns, tail_ns > 0 ? (uint64_t)tail_ns : 0);
	if (f->total < saturated_least || f->total < c->least)
		return false;
	f->affected = c->all.nr;
	saturated_explain(c, f, depth);
	return true;
}

const struct why_rule rule_saturated = {
	"saturated",
	false,
	false,
	saturated_test,
	{ "culprit", "own-writes", "writeback", "swap", "discards", "flushes", "stalls", "path",
	  "misaligned", "fua", "slow-alone", "timeouts" },
};
