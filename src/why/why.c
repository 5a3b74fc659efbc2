/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/why.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "why/rules.h"

enum { WHY_FEW = 100 };			   /* commands that say something */
static const double why_busy_share = 0.01; /* of all devices' time */

static enum why_sure why_sure_of(const struct why_finding *f, const struct why_case *c)
{
	if (f->rule->is_fault)
		return WHY_HIGH;
	if (f->affected >= 100 && c->all.nr >= 1000 && verdict__share(f) >= 0.4)
		return WHY_HIGH;
	return f->affected >= 30 && verdict__share(f) >= 0.25 ? WHY_MEDIUM : WHY_LOW;
}

static void why_name_all(struct why_finding *f, const struct facts *facts)
{
	snprintf(f->whose, sizeof(f->whose), "%s", facts->whose ?: "all commands");
}

static void why_test(struct why *why, const struct why_case *c, const struct why_rule *rule)
{
	struct why_finding *f = &why->findings[why->nr];

	if (why->nr == WHY_MOST || (rule->needs_stages && 2 * c->device->staged < c->device->count))
		return;
	memset(f, 0, sizeof(*f));
	f->rule = rule;
	f->device = c->device->device;
	if (!rule->test(c, f))
		return;
	if (!f->whose[0])
		why_name_all(f, c->facts);
	f->sure = why_sure_of(f, c);
	why->nr++;
}

/* A fault matters as much as the least that matters. */
static double why_weight(const struct why_finding *f, double least)
{
	double share = verdict__share(f);

	return f->rule->is_fault && share < least ? least : share;
}

/* What only the slowest suffer from, with little of all time, does not explain what all do. */
static bool why_explains(const struct why_finding *by, const struct why_finding *f)
{
	return 2 * verdict__share(by) >= verdict__share(f) && 3 * by->total >= f->total;
}

static bool why_is_explained(const struct why *why, const struct why_finding *f)
{
	for (size_t i = 0; i < why->nr; i++)
		for (const char *const *name = f->rule->yields; *name; name++)
			if (why->findings[i].device == f->device &&
			    !strcmp(why->findings[i].rule->name, *name) &&
			    why_explains(&why->findings[i], f))
				return true;
	return false;
}

static void why_leave_out(struct why *why)
{
	bool explained[WHY_MOST];
	size_t kept = 0;

	for (size_t i = 0; i < why->nr; i++)
		explained[i] = why_is_explained(why, &why->findings[i]);
	for (size_t i = 0; i < why->nr; i++)
		if (!explained[i])
			why->findings[kept++] = why->findings[i];
	why->nr = kept;
}

static void why_rank(struct why *why, double least)
{
	for (size_t i = 1; i < why->nr; i++) {
		struct why_finding f = why->findings[i];
		size_t at = i;

		for (; at && why_weight(&why->findings[at - 1], least) < why_weight(&f, least);
		     at--)
			why->findings[at] = why->findings[at - 1];
		why->findings[at] = f;
	}
}

static uint64_t why_all_ns(const struct facts *f)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < f->nr; i++)
		ns += f->groups[i]->key.flags & FACT_BYSTANDER ? 0 : f->groups[i]->all.total_ns;
	return ns;
}

static void why_judge_device(struct why *why, struct why_case *c, uint64_t all_ns)
{
	facts__sum(c->facts,
		   (struct fact_choice){ .device = c->device->device, .classes = FACT_ALL_CLASSES },
		   &c->all, &c->tail);
	why->stageless += c->device->count - c->device->staged;
	if (!c->device->timeouts &&
	    (c->all.nr < WHY_FEW || (double)c->all.total_ns < why_busy_share * (double)all_ns))
		return;
	for (size_t i = 0; why_rules[i]; i++)
		why_test(why, c, why_rules[i]);
}

int why__judge(struct why *why, const struct facts *f, double least)
{
	struct culprits culprits;
	int err = culprits__find(&culprits, f);
	const uint64_t all_ns = why_all_ns(f);

	memset(why, 0, sizeof(*why));
	for (size_t i = 0; !err && i < f->nr_devices; i++) {
		struct why_case c = { f, &culprits, f->devices[i], .least = least };

		why_judge_device(why, &c, all_ns);
	}
	culprits__free(&culprits);
	why_leave_out(why);
	why_rank(why, least);
	return err;
}

/* ---- nothing is wrong ---- */

static bool why_is_judged(const struct facts *f, const struct fact_device *d)
{
	for (size_t i = 0; i < f->nr; i++)
		if (fact_group__is_judged(f->groups[i], d->device))
			return true;
	return false;
}

const struct fact_device *why__busiest(const struct facts *f)
{
	const struct fact_device *busiest = NULL;

	for (size_t i = 0; i < f->nr_devices; i++)
		if (why_is_judged(f, f->devices[i]) &&
		    (!busiest || f->devices[i]->flight_ns > busiest->flight_ns))
			busiest = f->devices[i];
	return busiest;
}

void why__explain_none(const struct facts *facts, const struct fact_device *d,
		       struct why_finding *f)
{
	struct fact_sums all, tail, failed, unused;
	uint64_t before_ns;

	memset(f, 0, sizeof(*f));
	f->device = d->device;
	facts__sum(facts, (struct fact_choice){ .device = d->device, .classes = FACT_ALL_CLASSES },
		   &all, &tail);
	facts__sum(facts,
		   (struct fact_choice){
			   .device = d->device, .classes = FACT_ALL_CLASSES, .flags = FACT_FAILED },
		   &failed, &unused);
	before_ns = all.parts_ns[PART_SCHED] + all.parts_ns[PART_FLUSH];
	for (int part = 0; part <= PART_TAGS; part++)
		before_ns += all.parts_ns[part];
	why_name_all(f, facts);
	if (all.nr < WHY_FEW)
		verdict__say(f, "too few commands to tell");
	else
		verdict__say(f, "nothing is wrong");
	verdict__prove(f, "%" PRIu64 " commands, median %s, p99 %s", all.nr,
		       why_ns((double)facts__percentile(facts, d->device, 5000)).text,
		       why_ns((double)facts__percentile(facts, d->device, 9900)).text);
	verdict__prove(f, "%.1f %% of the time is spent at the device, %.1f %% before it",
		       100 * why_share(all.parts_ns[PART_DEVICE], all.total_ns),
		       100 * why_share(before_ns, all.total_ns));
	verdict__prove(f,
		       "%.1f commands are in flight while it is busy, %" PRIu64 " failed, %" PRIu64
		       " were tried again",
		       why_share(d->flight_ns, d->busy_ns), failed.nr, d->retried);
	verdict__more(f, "latency", NULL, NULL);
}
