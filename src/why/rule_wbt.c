/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_wbt.c: writeback throttling holds writes back: wbt_lat_usec of the queue. */
#include "why/rules.h"

static bool wbt_test(const struct why_case *c, struct why_finding *f)
{
	return why_test_held(c, PART_WBT,
			     "writeback throttling holds writes back: wbt_lat_usec of the queue",
			     f);
}

const struct why_rule rule_wbt = { "wbt", true, false, wbt_test, { NULL } };
