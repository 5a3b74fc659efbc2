/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h: how far is it? A bar on stderr, if that is a terminal, for work that takes longer
 * than a second; drawn at most ten times a second, and removed when the work is done. Clear it
 * before anything else is printed on that terminal.
 */
#ifndef IOSONAR_BASE_PROGRESS_H
#define IOSONAR_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
	uint64_t start_ns, next_ns;
	bool is_shown;
};

void progress__begin(struct progress *progress);
/* `at` of `all` is done. Call it often: it costs one look at the clock. */
void progress__show(struct progress *progress, uint64_t at, uint64_t all);
void progress__clear(struct progress *progress);

/* "reading [#####     ]  50 %, 3 s left", in at most `columns` columns. Returns buf. */
enum { PROGRESS_LINE = 128 };
char *progress__line(char buf[PROGRESS_LINE], uint64_t at, uint64_t all, double seconds,
		     size_t columns);

#endif
