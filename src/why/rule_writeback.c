/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_writeback.c: commands wait for writeback: dirty pages that kernel workers write. */
#include <string.h>
#include "why/rules.h"

bool writeback__is_of(const struct actor *actor)
{
	return actor->class == FACT_WRITE && !actor->is_swap && !strncmp(actor->comm, "kworker", 7);
}

/* Workers are numbered: the others of them are no victims. */
static bool writeback_is(const struct actor *victim, const struct actor *culprit)
{
	return writeback__is_of(culprit) && !writeback__is_of(victim);
}

static bool writeback_test(const struct why_case *c, struct why_finding *f)
{
	struct culprit_worst worst;

	if (!why_test_culprit(c, writeback_is, f, &worst))
		return false;
	verdict__say(f, "%s wait for writeback of dirty pages", f->whose);
	return true;
}

const struct why_rule rule_writeback = { "writeback", false, false, writeback_test, { "stalls" } };
