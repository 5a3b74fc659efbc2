/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/wait_busy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

/* What it touches becomes a part of it. */
int wait_busy__add(struct wait_busy *b, uint64_t from_ns, uint64_t to_ns)
{
	struct wait_span all = { from_ns, to_ns };
	size_t end = b->nr, at;

	if (to_ns <= from_ns)
		return 0;
	while (end && b->spans[end - 1].from_ns > all.to_ns)
		end--;
	for (at = end; at && b->spans[at - 1].to_ns >= all.from_ns; at--) {
		if (b->spans[at - 1].from_ns < all.from_ns)
			all.from_ns = b->spans[at - 1].from_ns;
		if (b->spans[at - 1].to_ns > all.to_ns)
			all.to_ns = b->spans[at - 1].to_ns;
	}
	if (GROW(b->spans, b->room, b->nr + 1))
		return -ENOMEM;
	memmove(&b->spans[at + 1], &b->spans[end], (b->nr - end) * sizeof(b->spans[0]));
	b->spans[at] = all;
	b->nr = b->nr - (end - at) + 1;
	return 0;
}

uint64_t wait_busy__within(const struct wait_busy *b, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < b->nr; i++) {
		uint64_t from = b->spans[i].from_ns > from_ns ? b->spans[i].from_ns : from_ns;
		uint64_t to = b->spans[i].to_ns < to_ns ? b->spans[i].to_ns : to_ns;

		sum += to > from ? to - from : 0;
	}
	return sum;
}

void wait_busy__clear(struct wait_busy *b)
{
	b->nr = 0;
}

void wait_busy__free(struct wait_busy *b)
{
	free(b->spans);
	*b = (struct wait_busy){ 0 };
}
