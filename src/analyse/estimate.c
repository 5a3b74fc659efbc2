/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/estimate.h"

/* a * b / c, without overflow. */
static uint64_t estimate_scale(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)((unsigned __int128)a * b / c);
}

/* Spreads `nr` values over the buckets of `into` as those of `like` are, `nr_like` in all. The
 * rounding error is carried on to the next bucket, so that the sum is exact. */
static void estimate_spread(struct hist *into, const struct hist *like, uint64_t nr_like,
			    uint64_t nr)
{
	uint64_t seen = 0, placed = 0;

	for (int i = 0; i < HIST_CELLS; i++) {
		uint64_t until;

		if (!like->slots[i])
			continue;
		seen += like->slots[i];
		until = estimate_scale(seen, nr, nr_like);
		into->slots[i] += until - placed;
		placed = until;
	}
}

_Bool estimate__fold(struct estimate *e, const struct hist *now)
{
	struct hist span;
	uint64_t timed, as_one; /* how many commands one value stands for, at most */

	hist__difference(&span, now, &e->before);
	timed = span.count - span.untimed;
	if (!timed && !e->all.count)
		return !span.count;
	if (timed) {
		estimate_spread(&e->all, &span, timed, span.count);
		e->all.sum_ns += estimate_scale(span.sum_ns, span.count, timed);
		as_one = span.untimed;
	} else {
		struct hist like = e->all;

		estimate_spread(&e->all, &like, like.count, span.count);
		e->all.sum_ns += estimate_scale(like.sum_ns, span.count, like.count);
		timed = 1;
		as_one = span.count;
	}
	e->all.doubt += estimate_scale(span.count, as_one, timed);
	e->all.count += span.count;
	e->all.untimed += span.untimed;
	e->all.bytes += span.bytes;
	e->before = *now;
	return 1;
}
