/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_misaligned.c: writes that do not begin and end with the device's blocks take longer. */
#include <inttypes.h>
#include "why/rules.h"

static bool misaligned_test(const struct why_case *c, struct why_finding *f)
{
	const uint32_t unit = c->device->place.unit_bytes;
	struct why_extra extra;

	why_extra__find(c, FACT_ODD, &extra);
	verdict__weigh(f, c, (uint64_t)extra.ns, (uint64_t)extra.tail_ns);
	if (extra.nr < FACT_ALONE || f->total < c->least || extra.mean_ns < 1.5 * extra.without_ns)
		return false;
	f->affected = extra.nr;
	verdict__say(f, "writes are not aligned to the blocks of the device");
	verdict__prove(f, "%" PRIu64 " writes not aligned to %" PRIu32 " bytes take %s each",
		       extra.nr, unit > 4096 ? 4096 : unit, why_ns(extra.mean_ns).text);
	verdict__prove(f, "aligned writes of their size take %s", why_ns(extra.without_ns).text);
	verdict__more(f, "pattern", NULL, NULL);
	return true;
}

const struct why_rule rule_misaligned = {
	"misaligned", false, false, misaligned_test, { "stalls" }
};
