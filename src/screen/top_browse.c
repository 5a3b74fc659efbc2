/* SPDX-License-Identifier: BSD-2-Clause */
#include "screen/top_browse.h"

#include <stdio.h>

static const uint64_t browse_least_ns = 1000, browse_most_ns = 86400ULL * 1000000000;
static const double browse_most_seconds = 0.3; /* that a key may take for the strip */

void top_browse__begin(struct top_browse *b, uint64_t first_ns, uint64_t last_ns,
		       uint64_t window_ns)
{
	b->is_on = true;
	b->first_ns = b->at_ns = first_ns;
	b->last_ns = last_ns;
	b->window_ns = window_ns;
	b->shown_window_ns = 0;
}

/* Hostile times may be anything: no sum of them is trusted. */
static bool browse_ends_here(const struct top_browse *b)
{
	return b->last_ns - b->at_ns <= b->window_ns;
}

bool top_browse__step(struct top_browse *b, int by)
{
	uint64_t before_ns = b->at_ns;

	if (by > 0)
		b->at_ns += browse_ends_here(b) ? 0 : b->window_ns;
	else
		b->at_ns = b->at_ns - b->first_ns < b->window_ns ? b->first_ns
								 : b->at_ns - b->window_ns;
	return b->at_ns != before_ns;
}

void top_browse__to_first(struct top_browse *b)
{
	b->at_ns = b->first_ns;
}

void top_browse__to_last(struct top_browse *b)
{
	uint64_t span_ns = b->last_ns - b->first_ns;

	b->at_ns = b->first_ns + (span_ns ? (span_ns - 1) / b->window_ns * b->window_ns : 0);
}

bool top_browse__lengthen(struct top_browse *b)
{
	if (b->window_ns > browse_most_ns / 2 || b->window_ns > b->last_ns - b->first_ns)
		return false;
	b->window_ns *= 2;
	return true;
}

bool top_browse__shorten(struct top_browse *b)
{
	if (b->window_ns / 2 < browse_least_ns)
		return false;
	b->window_ns /= 2;
	return true;
}

bool top_browse__has_moved(const struct top_browse *b)
{
	return b->at_ns != b->shown_ns || b->window_ns != b->shown_window_ns;
}

bool top_browse__follows(const struct top_browse *b)
{
	return b->window_ns == b->shown_window_ns && b->at_ns - b->shown_ns == b->window_ns;
}

uint64_t top_browse__from(const struct top_browse *b, size_t most)
{
	uint64_t before = (b->at_ns - b->first_ns) / b->window_ns;
	double windows = browse_most_seconds / (b->cost * (double)b->window_ns / 1e9 + 1e-9);

	if (top_browse__follows(b))
		return b->at_ns;
	if (before > most - 1)
		before = most - 1;
	if (windows < (double)before)
		before = (uint64_t)windows;
	return b->at_ns - before * b->window_ns;
}

void top_browse__visited(struct top_browse *b, uint64_t from_ns, double seconds)
{
	b->cost = seconds / ((double)(b->at_ns - from_ns + b->window_ns) / 1e9);
	b->shown_ns = b->at_ns;
	b->shown_window_ns = b->window_ns;
}

/* Enough digits for --from to get the same time. */
static int browse_digits(const struct top_browse *b)
{
	uint64_t from_ns = b->at_ns - b->start_ns;

	if (!(from_ns % 1000000) && !(b->window_ns % 1000000))
		return 3;
	return !(from_ns % 1000) && !(b->window_ns % 1000) ? 6 : 9;
}

char *top_browse__text(const struct top_browse *b, char buf[TOP_BROWSE_TEXT])
{
	uint64_t to_ns = browse_ends_here(b) ? b->last_ns : b->at_ns + b->window_ns;
	int digits = browse_digits(b);

	snprintf(buf, TOP_BROWSE_TEXT, "%.*f s to %.*f s of %.3f s", digits,
		 (double)(b->at_ns - b->start_ns) / 1e9, digits,
		 (double)(to_ns - b->start_ns) / 1e9, (double)(b->last_ns - b->start_ns) / 1e9);
	return buf;
}
