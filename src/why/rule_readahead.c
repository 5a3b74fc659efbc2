/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_readahead.c: pages are read ahead that nobody uses. */
#include "decode/column.h"
#include "why/rules.h"

static bool readahead_test(const struct why_case *c, struct why_finding *f)
{
	const struct pages_disk *pages = why_pages(c);
	const double bytes = pages ? pages->unused_bytes : 0;
	char wasted[16], all[16];

	if (bytes <= 0 || !why_test_wasted(c, bytes, f))
		return false;
	text__bytes(wasted, sizeof(wasted), (uint64_t)bytes);
	text__bytes(all, sizeof(all), pages->bytes);
	verdict__say(f, "pages are read ahead that nobody uses");
	verdict__prove(f, "%.0f pages left the page cache unused, %.0f were read ahead",
		       pages->unused, pages->ahead);
	verdict__prove(f, "these are %s of the %s that reads brought into the page cache", wasted,
		       all);
	verdict__more(f, "cache", "--by file --sort unused", NULL);
	return true;
}

const struct why_rule rule_readahead = { "readahead", false, false, readahead_test, { NULL } };
