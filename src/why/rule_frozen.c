/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_frozen.c: the queue is frozen or the device suspended, and commands wait for that to end. */
#include "why/rules.h"

static bool frozen_test(const struct why_case *c, struct why_finding *f)
{
	return why_test_held(c, PART_FROZEN, "the queue was frozen, or the device suspended", f);
}

const struct why_rule rule_frozen = { "frozen", true, false, frozen_test, { NULL } };
