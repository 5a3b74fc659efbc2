/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/lanes.h"

#include <errno.h>
#include <stdlib.h>

/* nr: none is free. */
static size_t lanes_find(const struct lanes *l, uint64_t begin_ns)
{
	size_t best = l->nr;

	for (size_t i = 0; i < l->nr; i++)
		if (l->ends[i] <= begin_ns && (best == l->nr || l->ends[i] > l->ends[best]))
			best = i;
	return best;
}

static int lanes_grow(struct lanes *l)
{
	size_t room = l->room ? 2 * l->room : 8;
	uint64_t *ends;

	if (l->nr == LANES_MOST)
		return -ENOSPC;
	if (l->nr < l->room)
		return 0;
	ends = reallocarray(l->ends, room, sizeof(*ends));
	if (!ends)
		return -ENOMEM;
	l->ends = ends;
	l->room = room;
	return 0;
}

int lanes__take(struct lanes *l, uint64_t begin_ns, uint64_t end_ns)
{
	size_t lane = lanes_find(l, begin_ns);
	int err = lane == l->nr ? lanes_grow(l) : 0;

	if (err)
		return err;
	l->nr += lane == l->nr;
	l->ends[lane] = end_ns;
	return (int)lane;
}

void lanes__free(struct lanes *l)
{
	free(l->ends);
	*l = (struct lanes){ 0 };
}
