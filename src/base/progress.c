/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/terminal.h"

static const uint64_t progress_patience_ns = 1000000000, progress_interval_ns = 100000000;

enum { PROGRESS_BAR = 40, PROGRESS_COLUMNS = 80 };

/* Estimated time left; nothing until there is something to estimate from. */
static void progress_left(char *buf, size_t size, double share, double seconds)
{
	double left = share > 0.01 ? seconds / share * (1 - share) : 0;

	if (left >= 100)
		snprintf(buf, size, ", %.0f min left", left / 60);
	else if (left >= 1)
		snprintf(buf, size, ", %.0f s left", left);
	else
		*buf = 0;
}

char *progress__line(char buf[PROGRESS_LINE], uint64_t at, uint64_t all, double seconds,
		     size_t columns)
{
	double share = all ? (double)at / (double)all : 0;
	char bar[PROGRESS_BAR + 1], left[32];
	size_t done;

	share = share > 1 ? 1 : share;
	done = (size_t)(share * PROGRESS_BAR);
	memset(bar, ' ', PROGRESS_BAR);
	memset(bar, '#', done);
	bar[PROGRESS_BAR] = 0;
	progress_left(left, sizeof(left), share, seconds);
	snprintf(buf, PROGRESS_LINE, "reading [%s] %3.0f %%%s", bar, 100 * share, left);
	if (strlen(buf) >= columns)
		snprintf(buf, PROGRESS_LINE, "reading %.0f %%", 100 * share);
	return buf;
}

void progress__begin(struct progress *p)
{
	*p = (struct progress){ .start_ns = clock__mono_ns(), .next_ns = UINT64_MAX };
	if (isatty(STDERR_FILENO))
		p->next_ns = p->start_ns + progress_patience_ns;
}

void progress__show(struct progress *p, uint64_t at, uint64_t all)
{
	uint64_t now_ns = clock__mono_ns();
	char line[PROGRESS_LINE];

	if (now_ns < p->next_ns)
		return;
	p->next_ns = now_ns + progress_interval_ns;
	p->is_shown = true;
	progress__line(line, at, all, (double)(now_ns - p->start_ns) / 1e9,
		       terminal__columns(STDERR_FILENO) ?: PROGRESS_COLUMNS);
	fprintf(stderr, "\r\033[K%s", line);
}

void progress__clear(struct progress *p)
{
	if (p->is_shown)
		fputs("\r\033[K", stderr);
	p->is_shown = false;
}
