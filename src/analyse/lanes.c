/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/lanes.h"

#include <errno.h>
#include <stdlib.h>
#include "base/grow.h"

int lanes__take(struct lanes *l, uint64_t begin_ns, uint64_t end_ns)
{
	size_t lane = l->nr; /* a new lane, if none is free */

	for (size_t i = 0; i < l->nr; i++)
		if (l->ends[i] <= begin_ns && (lane == l->nr || l->ends[i] > l->ends[lane]))
			lane = i;
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
