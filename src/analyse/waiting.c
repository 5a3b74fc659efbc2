/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/waiting.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

static bool waiter_is_before(const struct waiter *a, const struct waiter *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->from_byte < b->from_byte;
}

int waiting__add(struct waiting *waiting, const struct waiter *waiter)
{
	size_t at = waiting->nr;

	if (GROW(waiting->waiters, waiting->room, waiting->nr + 1))
		return -ENOMEM;
	for (waiting->nr++; at && waiter_is_before(waiter, &waiting->waiters[(at - 1) / 2]);
	     at = (at - 1) / 2)
		waiting->waiters[at] = waiting->waiters[(at - 1) / 2];
	waiting->waiters[at] = *waiter;
	return 0;
}

struct waiter waiting__take(struct waiting *waiting)
{
	struct waiter *waiters = waiting->waiters, first = waiters[0];
	const struct waiter last = waiters[--waiting->nr];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < waiting->nr) {
		if (child + 1 < waiting->nr &&
		    waiter_is_before(&waiters[child + 1], &waiters[child]))
			child++;
		if (!waiter_is_before(&waiters[child], &last))
			break;
		waiters[at] = waiters[child];
		at = child;
	}
	waiters[at] = last;
	return first;
}

void waiting__free(struct waiting *waiting)
{
	free(waiting->waiters);
	memset(waiting, 0, sizeof(*waiting));
}
