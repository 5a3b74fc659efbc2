/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/sampled.h"

/* a * b / c, without overflow. */
static uint64_t sampled_scale(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)((unsigned __int128)a * b / c);
}

/* Spreads `nr` values over the buckets of `into` as those of `like` are, `nr_like` in all. The
 * rounding error is carried on to the next bucket, so that the sum is exact. */
static void sampled_spread(struct hist *into, const struct hist *like, uint64_t nr_like,
			   uint64_t nr)
{
	uint64_t seen = 0, placed = 0;

	for (int i = 0; i < HIST_CELLS; i++) {
		uint64_t until;

		if (!like->slots[i])
			continue;
		seen += like->slots[i];
		until = sampled_scale(seen, nr, nr_like);
		into->slots[i] += until - placed;
		placed = until;
	}
}

_Bool sampled__fold(struct sampled *s, const struct hist *now)
{
	struct hist span;
	uint64_t timed, as_one; /* how many commands one value stands for, at most */

	hist__difference(&span, now, &s->before);
	timed = span.count - span.untimed;
	if (!timed && !s->all.count)
		return !span.count;
	if (timed) {
		sampled_spread(&s->all, &span, timed, span.count);
		s->all.sum_ns += sampled_scale(span.sum_ns, span.count, timed);
		as_one = span.untimed;
	} else {
		struct hist like = s->all;

		sampled_spread(&s->all, &like, like.count, span.count);
		s->all.sum_ns += sampled_scale(like.sum_ns, span.count, like.count);
		timed = 1;
		as_one = span.count;
	}
	s->all.doubt += sampled_scale(span.count, as_one, timed);
	s->all.count += span.count;
	s->all.untimed += span.untimed;
	s->all.bytes += span.bytes;
	s->before = *now;
	return 1;
}
