/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_own_writes.c: the reads of a task wait for its own writes. */
#include <string.h>
#include "why/rules.h"

static bool own_writes_is(const struct actor *victim, const struct actor *culprit)
{
	return !strcmp(victim->comm, culprit->comm) && !culprit->is_bystander &&
	       victim->class == FACT_READ && culprit->class == FACT_WRITE && !culprit->is_swap;
}

static bool own_writes_test(const struct why_case *c, struct why_finding *f)
{
	struct culprit_worst worst;

	if (!why_test_culprit(c, own_writes_is, f, &worst))
		return false;
	verdict__say(f, "%s wait for its own writes", f->whose);
	verdict__more(f, "blame", "--by", "comm,op");
	return true;
}

const struct why_rule rule_own_writes = {
	"own-writes", false, false, own_writes_test, { "stalls" }
};
