/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order.h: records of several CPUs in the order in which their commands ended. Each CPU's records
 * come almost in order; they are held for a short window, in which those of other CPUs arrive, and
 * are then passed on. Equal times keep the order of arrival. Stages stay with their record. Records
 * that came all at once, as of a process that got no turn, take memory for some time only.
 */
#ifndef IOSONAR_ANALYSE_ORDER_H
#define IOSONAR_ANALYSE_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include "wire/io_stages.h"

enum { ORDER_TAKES = 500 }; /* order__take as often, 10 s of a live run: then it may shrink */

struct order {
	char *held; /* records, back to back */
	size_t bytes, room_bytes;
	struct order_entry *entries, *spare; /* sorted: times and places, not records */
	size_t nr, room;
	size_t most_bytes, most_nr; /* that were held in the last takes */
	unsigned int takes;
};

int order__add(struct order *order, const struct io_record *record); /* -ENOMEM */
/* Hands on, in order, every record that ended before until_ns; UINT64_MAX: all. */
typedef void (*order_fn)(void *arg, const struct io_record *record);
void order__take(struct order *order, uint64_t until_ns, order_fn fn, void *arg);
void order__free(struct order *order);

#endif
