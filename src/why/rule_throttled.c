/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_throttled.c: a limit of a cgroup holds commands back: io.max, io.cost or io.latency. */
#include "why/rules.h"

static bool throttled_test(const struct why_case *c, struct why_finding *f)
{
	return why_test_held(
		c, PART_LIMIT,
		"a limit of a cgroup holds commands back: io.max, io.cost or io.latency", f);
}

const struct why_rule rule_throttled = { "throttled", true, false, throttled_test, { NULL } };
