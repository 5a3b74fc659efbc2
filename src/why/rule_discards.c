/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_discards.c: reads and writes wait for discards. */
#include "why/rules.h"

static bool discards_is(const struct actor *victim, const struct actor *culprit)
{
	return culprit->class == FACT_DISCARD && FACT_DATA >> victim->class & 1;
}

static bool discards_test(const struct why_case *c, struct why_finding *f)
{
	struct culprit_worst worst;

	if (!why_test_culprit(c, discards_is, f, &worst))
		return false;
	verdict__say(f, "%s wait for discards of %s", f->whose,
		     c->culprits->actors[worst.culprit].comm);
	return true;
}

const struct why_rule rule_discards = { "discards", false, false, discards_test, { "stalls" } };
