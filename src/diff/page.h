/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page.h: two runs as a page for a browser: for each device and operation both distributions
 * as cumulative curves, and every number with its interval; of calls, the table. src/pages/diff.js
 * shows it.
 */
#ifndef IOSONAR_DIFF_PAGE_H
#define IOSONAR_DIFF_PAGE_H

#include "diff/view.h"

/* -ENOMEM, said; the caller checks the stream for write errors. */
int diff_page__put(FILE *out, const struct diff *diff);
int diff_page__put_calls(FILE *out, const struct call_pair *called,
			 const struct diff_file files[2]);

#endif
