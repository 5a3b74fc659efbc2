/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/lanes.h"

#include <errno.h>
#include <stdlib.h>
#include "base/grow.h"

/* nr: none is free. */
static size_t lanes_find(const struct lanes *l, uint64_t begin_ns)
{
	size_t best = l->nr;

	for (size_t i = 0; i < l->nr; i++)
		if (l->ends[i] <= begin_ns && (best == l->nr || l->ends[i] > l->ends[best]))
			best = i;
	return best;
}

int lanes__take(struct lanes *l, uint64_t begin_ns, uint64_t end_ns)
{
	size_t lane = lanes_find(l, begin_ns);

	if (lane == LANES_MOST)
		return -ENOSPC;
	if (GROW(l->ends, l->room, lane + 1))
		return -ENOMEM;
	l->nr += lane == l->nr;
	l->ends[lane] = end_ns;
	return (int)lane;
}

void lanes__free(struct lanes *l)
{
	free(l->ends);
	*l = (struct lanes){ 0 };
}
