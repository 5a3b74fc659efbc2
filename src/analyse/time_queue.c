/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/time_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

/* Commands overtake about as many as the device has in flight. Beyond that a heap is faster. */
enum { QUEUE_NEAR = 64 };

/* ---- the heap ---- */

static int heap_add(struct time_queue *q, const struct waiter *waiter)
{
	size_t at = q->nr_heap;

	if (GROW(q->heap, q->room_heap, q->nr_heap + 1))
		return -ENOMEM;
	for (q->nr_heap++; at && waiter_is_before(waiter, &q->heap[(at - 1) / 2]);
	     at = (at - 1) / 2)
		q->heap[at] = q->heap[(at - 1) / 2];
	q->heap[at] = *waiter;
	return 0;
}

static struct waiter heap_take(struct time_queue *q)
{
	struct waiter *heap = q->heap, first = heap[0];
	const struct waiter last = heap[--q->nr_heap];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < q->nr_heap) {
		if (child + 1 < q->nr_heap && waiter_is_before(&heap[child + 1], &heap[child]))
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
static int ordered_make_room(struct time_queue *q)
{
	if (q->after < q->room)
		return 0;
	if (q->first <= q->room / 2)
		return GROW(q->ordered, q->room, q->room + 1);
	memmove(q->ordered, q->ordered + q->first, (q->after - q->first) * sizeof(*q->ordered));
	q->after -= q->first;
	q->first = 0;
	return 0;
}

/* How many of them it overtakes; QUEUE_NEAR: as many, or more. */
static size_t ordered_overtaken(const struct time_queue *q, const struct waiter *waiter)
{
	const struct waiter *after = q->ordered + q->after;
	size_t nr = 0, most = q->after - q->first;

	most = most < QUEUE_NEAR ? most : QUEUE_NEAR;
	while (nr < most && waiter_is_before(waiter, after - nr - 1))
		nr++;
	return nr;
}

static void ordered_insert(struct time_queue *q, const struct waiter *waiter, size_t overtaken)
{
	struct waiter *at = q->ordered + q->after++;

	for (; overtaken; overtaken--, at--)
		*at = at[-1];
	*at = *waiter;
}

/* ---- both ---- */

int time_queue__add(struct time_queue *queue, const struct waiter *waiter)
{
	size_t overtaken;
	int err = ordered_make_room(queue);

	if (err)
		return err;
	overtaken = ordered_overtaken(queue, waiter);
	if (overtaken < QUEUE_NEAR)
		ordered_insert(queue, waiter, overtaken);
	else
		err = heap_add(queue, waiter);
	queue->nr += !err;
	return err;
}

struct waiter time_queue__take(struct time_queue *queue)
{
	queue->nr--;
	if (time_queue__first(queue) == queue->heap)
		return heap_take(queue);
	return queue->ordered[queue->first++];
}

void time_queue__free(struct time_queue *queue)
{
	free(queue->ordered);
	free(queue->heap);
	memset(queue, 0, sizeof(*queue));
}
