/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waiting.h: a queue by time; the earliest entry leaves first, of equal times the one that is
 * lowest on the device. A heap: each operation costs as many steps as the number waiting has bits.
 */
#ifndef IOSONAR_ANALYSE_WAITING_H
#define IOSONAR_ANALYSE_WAITING_H

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

struct waiting {
	struct waiter *waiters; /* the first is the earliest */
	size_t nr, room;
};

int waiting__add(struct waiting *waiting, const struct waiter *waiter); /* -ENOMEM */
/* The earliest; the queue must not be empty. */
struct waiter waiting__take(struct waiting *waiting);
void waiting__free(struct waiting *waiting);

#endif
