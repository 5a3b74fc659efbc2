/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * time_queue.h: a queue by time; the earliest entry leaves first, of equal times the one that is
 * lowest on the device. Entries that come nearly in order cost a step for each that they overtake;
 * others go to a heap, at as many steps as the number of those has bits.
 */
#ifndef IOSONAR_ANALYSE_TIME_QUEUE_H
#define IOSONAR_ANALYSE_TIME_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct waiter {
	uint64_t at_ns;
	uint64_t from_byte;
	uint64_t end_ns;
	uint32_t bytes;
	uint16_t row;
	uint8_t kind;
};

struct time_queue {
	size_t nr;		/* of both: */
	struct waiter *ordered; /* in order, from `first` to before `after`; */
	size_t first, after, room;
	struct waiter *heap; /* those that overtake too many of these */
	size_t nr_heap, room_heap;
};

static inline bool waiter_is_before(const struct waiter *a, const struct waiter *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->from_byte < b->from_byte;
}

int time_queue__add(struct time_queue *queue, const struct waiter *waiter); /* -ENOMEM */
/* The earliest; the queue must not be empty. */
static inline const struct waiter *time_queue__first(const struct time_queue *q)
{
	const struct waiter *ordered = q->ordered + q->first;

	if (q->nr_heap && (q->first == q->after || waiter_is_before(q->heap, ordered)))
		return q->heap;
	return ordered;
}

struct waiter time_queue__take(struct time_queue *queue);
void time_queue__free(struct time_queue *queue);

#endif
