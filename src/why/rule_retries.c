/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_retries.c: commands fail and are tried again. */
#include <inttypes.h>
#include "why/rules.h"

/* One that was tried again may take longer than all others of the slowest 1 % of 3000 commands. */
static const double retries_least = 0.05;
enum { RETRIES_FEW = 5 };

static bool retries_test(const struct why_case *c, struct why_finding *f)
{
	verdict__weigh(f, c, c->all.parts_ns[PART_RETRY], c->tail.parts_ns[PART_RETRY]);
	if (c->device->retried < RETRIES_FEW || verdict__share(f) < c->least ||
	    f->total < retries_least)
		return false;
	f->affected = c->device->retried;
	verdict__say(f, "commands fail at first, and are tried again");
	verdict__prove(f, "%" PRIu64 " of %" PRIu64 " commands needed more than one attempt",
		       c->device->retried, c->all.nr);
	verdict__prove(
		f, "until the last attempt each took %s",
		why_ns((double)c->all.parts_ns[PART_RETRY] / (double)c->device->retried).text);
	verdict__more(f, "errors", NULL, NULL);
	return true;
}

const struct why_rule rule_retries = { "retries", false, false, retries_test, { "timeouts" } };
