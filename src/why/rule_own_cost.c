/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_own_cost.c: this program itself takes the CPUs' time. Told of the disk with most I/O. */
#include <inttypes.h>
#include <stdio.h>
#include "why/rules.h"

static const double own_cost_matters = 0.01;
/* What begins and ends a run is no share of a short one. */
static const uint64_t own_cost_after_ns = 5000000000;
/* What docs/benchmarks.md has for programs with stages is 600 to 700 ns. */
static const uint64_t own_cost_each_ns = 1000;

static bool own_cost_is_told_for(const struct why_case *c)
{
	struct fact_sums all, tail;
	bool before = true;

	for (size_t i = 0; i < c->facts->nr_devices; i++) {
		const struct fact_choice choice = { .device = c->facts->devices[i]->device,
						    .classes = FACT_ALL_CLASSES };

		facts__sum(c->facts, choice, &all, &tail);
		before = before && c->facts->devices[i] != c->device;
		if (all.nr > c->all.nr || (before && all.nr == c->all.nr))
			return false;
	}
	return true;
}

static bool own_cost_test(const struct why_case *c, struct why_finding *f)
{
	const struct fact_own *own = &c->facts->own;
	uint64_t nr = 0, programs_ns;

	if (own->elapsed_ns < own_cost_after_ns || !own_cost_is_told_for(c))
		return false;
	for (size_t i = 0; i < c->facts->nr_devices; i++)
		nr += c->facts->devices[i]->count;
	programs_ns = nr * own_cost_each_ns;
	f->cost_ns = own->cpu_ns + programs_ns;
	f->total = f->tail = why_share(f->cost_ns, own->elapsed_ns * own->nr_cpus);
	if (f->total < own_cost_matters)
		return false;
	f->total = f->tail = f->total < 1 ? f->total : 1;
	f->affected = nr;
	snprintf(f->whose, sizeof(f->whose), "all CPUs");
	verdict__say(f, "iosonar itself takes %.1f %% of the CPUs' time", 100 * f->total);
	verdict__prove(f, "it ran for %s of %s", why_ns((double)own->cpu_ns).text,
		       why_ns((double)own->elapsed_ns).text);
	verdict__prove(f,
		       "its programs in the kernel took about %s, by an estimate of 1 us for each "
		       "of %" PRIu64 " commands",
		       why_ns((double)programs_ns).text, nr);
	verdict__prove(f, "%" PRIu32 " CPUs are online", own->nr_cpus);
	verdict__more(f, "latency", "-v", NULL);
	return true;
}

const struct why_rule rule_own_cost = { "own-cost", false, false, own_cost_test, { NULL } };
