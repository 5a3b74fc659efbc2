/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_small.c: data that lie beside each other are read or written in small commands. */
#include <inttypes.h>
#include "decode/column.h"
#include "why/rules.h"

static const double small_least = 0.5, small_busy = 0.5;
enum { SMALL_FEW = 200 };

static uint64_t small_bytes(const struct why_case *c)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < c->facts->nr; i++)
		if (fact_group__is_judged(c->facts->groups[i], c->device->device) &&
		    c->facts->groups[i]->key.flags & FACT_IN_ORDER)
			bytes += c->facts->groups[i]->bytes;
	return bytes;
}

static bool small_test(const struct why_case *c, struct why_finding *f)
{
	const struct fact_device *d = c->device;
	const double busy = why_share(d->busy_ns, d->last_ns - d->first_ns);
	struct fact_sums all, tail;
	char bytes[16];

	facts__sum(c->facts,
		   (struct fact_choice){
			   .device = d->device, .classes = FACT_DATA, .flags = FACT_IN_ORDER },
		   &all, &tail);
	verdict__weigh(f, c, all.total_ns, tail.total_ns);
	if (all.nr < SMALL_FEW || f->total < small_least || f->total < c->least ||
	    busy < small_busy)
		return false;
	f->affected = all.nr;
	text__bytes(bytes, sizeof(bytes), small_bytes(c) / all.nr);
	verdict__say(f, "data that lie beside each other go in small commands");
	verdict__prove(f, "%" PRIu64 " of %" PRIu64 " commands follow the one before, with %s each",
		       all.nr, c->all.nr, bytes);
	verdict__prove(f, "the device is busy for %.0f %% of the time", 100 * busy);
	verdict__more(f, "pattern", NULL, NULL);
	return true;
}

const struct why_rule rule_small = {
	"small",
	false,
	false,
	small_test,
	{ "culprit", "own-writes", "writeback", "discards", "flushes", "stalls", "slow-alone",
	  "tags", "scheduler", "saturated" },
};
