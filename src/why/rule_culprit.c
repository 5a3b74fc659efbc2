/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_culprit.c: the commands of one task wait for those of another. */
#include <string.h>
#include "why/rules.h"

static bool culprit_is(const struct actor *victim, const struct actor *culprit)
{
	return (strcmp(victim->comm, culprit->comm) != 0 || actor__is_other(victim, culprit)) &&
	       FACT_DATA >> victim->class & 1 && FACT_DATA >> culprit->class & 1 &&
	       !culprit->is_swap && !writeback__is_of(culprit);
}

static bool culprit_test(const struct why_case *c, struct why_finding *f)
{
	const struct actor *victim, *culprit;
	struct culprit_worst worst;

	if (!why_test_culprit(c, culprit_is, f, &worst) ||
	    2 * worst.wait.all_ns < worst.all_waits_ns)
		return false;
	victim = &c->culprits->actors[worst.victim];
	culprit = &c->culprits->actors[worst.culprit];
	verdict__say(f, "%s wait for %s of %s%s", f->whose, fact_class__word(culprit->class),
		     actor__is_other(victim, culprit) ? "other " : "", culprit->comm);
	return true;
}

const struct why_rule rule_culprit = { "culprit", false, false, culprit_test, { "stalls" } };
