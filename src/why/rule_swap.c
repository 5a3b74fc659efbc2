/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_swap.c: the device is busy with swapping. */
#include <inttypes.h>
#include "why/rules.h"

static bool swap_test(const struct why_case *c, struct why_finding *f)
{
	struct fact_sums all, tail, reads, unused;
	const int32_t device = c->device->device;

	facts__sum(c->facts,
		   (struct fact_choice){
			   .device = device, .classes = FACT_ALL_CLASSES, .flags = FACT_SWAP },
		   &all, &tail);
	facts__sum(c->facts,
		   (struct fact_choice){
			   .device = device, .classes = 1 << FACT_READ, .flags = FACT_SWAP },
		   &reads, &unused);
	verdict__weigh(f, c, all.total_ns, tail.total_ns);
	if (all.nr < FACT_ALONE || f->total < c->least)
		return false;
	f->affected = all.nr;
	verdict__say(f, "memory is short: the time goes to swapping");
	verdict__prove(f, "%" PRIu64 " of %" PRIu64 " commands swap, %s each", all.nr, c->all.nr,
		       why_ns((double)all.total_ns / (double)all.nr).text);
	verdict__prove(f, "%" PRIu64 " swap in, %" PRIu64 " swap out", reads.nr, all.nr - reads.nr);
	verdict__more(f, "latency", "--by", "comm,op");
	return true;
}

const struct why_rule rule_swap = { "swap", true, false, swap_test, { NULL } };
