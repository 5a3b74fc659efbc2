/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_errors.c: commands fail. */
#include <inttypes.h>
#include "why/rules.h"

enum { ERRORS_FEW = 5, ERRORS_ONE_OF = 100 };

static bool errors_test(const struct why_case *c, struct why_finding *f)
{
	struct fact_sums all, tail;

	facts__sum(c->facts,
		   (struct fact_choice){ .device = c->device->device,
					 .classes = FACT_ALL_CLASSES,
					 .flags = FACT_FAILED },
		   &all, &tail);
	verdict__weigh(f, c, all.total_ns, tail.total_ns);
	if (all.nr < ERRORS_FEW || all.nr * ERRORS_ONE_OF < c->all.nr)
		return false;
	f->affected = all.nr;
	verdict__say(f, "commands fail");
	verdict__prove(f, "%" PRIu64 " of %" PRIu64 " commands failed, after %s each", all.nr,
		       c->all.nr, why_ns((double)all.total_ns / (double)all.nr).text);
	verdict__more(f, "errors", NULL, NULL);
	return true;
}

const struct why_rule rule_errors = { "errors", false, true, errors_test, { "timeouts" } };
