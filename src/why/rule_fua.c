/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_fua.c: writes that have to reach stable storage take longer than others. */
#include <inttypes.h>
#include "why/rules.h"

static bool fua_test(const struct why_case *c, struct why_finding *f)
{
	struct why_extra extra;

	why_extra__find(c, FACT_FUA, &extra);
	verdict__weigh(f, c, (uint64_t)extra.ns, (uint64_t)extra.tail_ns);
	if (extra.nr < FACT_ALONE || f->total < c->least || extra.mean_ns < 2 * extra.without_ns)
		return false;
	f->affected = extra.nr;
	verdict__say(f, "writes to stable storage (FUA) take longer than other writes");
	verdict__prove(f, "%" PRIu64 " such writes take %s each at the device", extra.nr,
		       why_ns(extra.mean_ns).text);
	verdict__prove(f, "other writes of their size take %s", why_ns(extra.without_ns).text);
	verdict__more(f, "trace", "--op", "write");
	return true;
}

const struct why_rule rule_fua = { "fua", false, false, fua_test, { "stalls" } };
