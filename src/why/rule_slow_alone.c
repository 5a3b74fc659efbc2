/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_slow_alone.c: the device is slow though it has little to do. */
#include <inttypes.h>
#include "why/rules.h"

/* No flash drive takes this long for a small command, and no disk that. */
static const uint64_t slow_nvme_ns = 5000000, slow_other_ns = 30000000;
enum { SLOW_TIMES = 10, SLOW_SIZE = 17, SLOW_FEW = 5 }; /* size class: 64 KiB */

struct slow {
	uint64_t nr, nr_alone; /* slow ones; alone: all with few others */
	double ns, tail_ns, usual_ns;
};

/* Times far above the median of their group, or all if the median is too long. */
static void slow_add(const struct why_case *c, const struct fact_group *g, struct slow *slow)
{
	const uint64_t usual = fact_cells__percentile(g->alone, 5000);
	const uint64_t too_long = c->device->place.is_nvme ? slow_nvme_ns : slow_other_ns;
	const bool is_slow = usual >= too_long && g->key.size_class <= SLOW_SIZE;
	const uint64_t tail_ns = fact_cell__ns(g->tail_from);

	slow->nr_alone += g->nr_alone;
	slow->usual_ns += (double)usual * (double)g->nr_alone;
	for (uint32_t i = 0; i < FACT_CELLS; i++) {
		const uint64_t ns = fact_cell__ns(i);

		if (!g->alone[i] || (!is_slow && ns < SLOW_TIMES * usual))
			continue;
		slow->nr += g->alone[i];
		slow->ns += (double)g->alone[i] * (double)ns;
		slow->tail_ns += ns >= tail_ns ? (double)g->alone[i] * (double)ns : 0;
	}
}

static bool slow_alone_test(const struct why_case *c, struct why_finding *f)
{
	struct slow slow = { 0 };

	for (size_t i = 0; i < c->facts->nr; i++) {
		const struct fact_group *g = c->facts->groups[i];

		if (fact_group__is_judged(g, c->device->device) && FACT_DATA >> g->key.class & 1 &&
		    g->nr_alone >= FACT_ALONE)
			slow_add(c, g, &slow);
	}
	verdict__weigh(f, c, (uint64_t)slow.ns, (uint64_t)slow.tail_ns);
	if (slow.nr < SLOW_FEW || (f->total < c->least && f->tail < 0.6))
		return false;
	f->affected = slow.nr;
	verdict__say(f, "the device is slow though it has at most two commands in flight");
	verdict__prove(f, "%" PRIu64 " of %" PRIu64 " commands with at most one other took %s each",
		       slow.nr, slow.nr_alone, why_ns(slow.ns / (double)slow.nr).text);
	verdict__prove(f, "the median of such commands is %s",
		       why_ns(slow.usual_ns / (double)slow.nr_alone).text);
	verdict__more(f, "slow", NULL, NULL);
	return true;
}

const struct why_rule rule_slow_alone = {
	"slow-alone",
	true,
	false,
	slow_alone_test,
	{ "stalls", "retries", "timeouts", "fua", "misaligned", "path", "completion" },
};
