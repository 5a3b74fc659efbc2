/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_evicted.c: data are read again, because they have left the page cache. */
#include "decode/column.h"
#include "why/rules.h"

static bool evicted_test(const struct why_case *c, struct why_finding *f)
{
	const struct pages_disk *pages = why_pages(c);
	char again[16], all[16];

	if (!pages || !why_test_wasted(c, pages->again_bytes, f))
		return false;
	text__bytes(again, sizeof(again), (uint64_t)pages->again_bytes);
	text__bytes(all, sizeof(all), pages->bytes);
	verdict__say(f, "data are read again, because they have left the page cache");
	verdict__prove(f,
		       "%s of the %s that reads brought into the page cache had been there before",
		       again, all);
	verdict__prove(f, "%.0f pages were evicted", pages->evicted);
	verdict__more(f, "cache", "--by file --sort evicted", NULL);
	return true;
}

const struct why_rule rule_evicted = { "evicted", false, false, evicted_test, { NULL } };
