/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

/* Commands overtake about as many as the device has in flight. Beyond that a heap is faster. */
enum { WAITING_NEAR = 64 };

/* ---- the heap ---- */

static int heap_add(struct waiting *w, const struct waiter *waiter)
{
	size_t at = w->nr_heap;

	if (GROW(w->heap, w->room_heap, w->nr_heap + 1))
		return -ENOMEM;
	for (w->nr_heap++; at && waiter_is_before(waiter, &w->heap[(at - 1) / 2]);
	     at = (at - 1) / 2)
		w->heap[at] = w->heap[(at - 1) / 2];
	w->heap[at] = *waiter;
	return 0;
}

static struct waiter heap_take(struct waiting *w)
{
	struct waiter *heap = w->heap, first = heap[0];
	const struct waiter last = heap[--w->nr_heap];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < w->nr_heap) {
		if (child + 1 < w->nr_heap && waiter_is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!waiter_is_before(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

/* ---- those that come nearly in order ---- */

/* Moves them to the start once half of the room is free: each entry moves about once. */
static int ordered_make_room(struct waiting *w)
{
	if (w->after < w->room)
		return 0;
	if (w->first <= w->room / 2)
		return GROW(w->ordered, w->room, w->room + 1);
	memmove(w->ordered, w->ordered + w->first, (w->after - w->first) * sizeof(*w->ordered));
	w->after -= w->first;
	w->first = 0;
	return 0;
}

/* How many of them it overtakes; WAITING_NEAR: as many, or more. */
static size_t ordered_overtaken(const struct waiting *w, const struct waiter *waiter)
{
	const struct waiter *after = w->ordered + w->after;
	size_t nr = 0, most = w->after - w->first;

	most = most < WAITING_NEAR ? most : WAITING_NEAR;
	while (nr < most && waiter_is_before(waiter, after - nr - 1))
		nr++;
	return nr;
}

static void ordered_insert(struct waiting *w, const struct waiter *waiter, size_t overtaken)
{
	struct waiter *at = w->ordered + w->after++;

	for (; overtaken; overtaken--, at--)
		*at = at[-1];
	*at = *waiter;
}

/* ---- both ---- */

int waiting__add(struct waiting *waiting, const struct waiter *waiter)
{
	size_t overtaken;
	int err = ordered_make_room(waiting);

	if (err)
		return err;
	overtaken = ordered_overtaken(waiting, waiter);
	if (overtaken < WAITING_NEAR)
		ordered_insert(waiting, waiter, overtaken);
	else
		err = heap_add(waiting, waiter);
	waiting->nr += !err;
	return err;
}

struct waiter waiting__take(struct waiting *waiting)
{
	waiting->nr--;
	if (waiting__first(waiting) == waiting->heap)
		return heap_take(waiting);
	return waiting->ordered[waiting->first++];
}

void waiting__free(struct waiting *waiting)
{
	free(waiting->ordered);
	free(waiting->heap);
	memset(waiting, 0, sizeof(*waiting));
}
