/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latency_order.h: in which order does `latency` show its rows, and how many? By device and
 * operation, or with --sort the largest first; --top ends the list.
 */
#ifndef IOSONAR_VIEW_LATENCY_ORDER_H
#define IOSONAR_VIEW_LATENCY_ORDER_H

#include <stdbool.h>
#include "analyse/breakdown.h"

/* In the order of latency_sort_words; 0: by device and operation. */
enum latency_sort {
	LATENCY_SORT_KEYS,
	LATENCY_SORT_COUNT,
	LATENCY_SORT_BYTES,
	LATENCY_SORT_TIME,
	LATENCY_SORT_MEAN,
	LATENCY_SORT_P50,
	LATENCY_SORT_P99,
	LATENCY_SORT_MAX,
};
extern const char *const latency_sort_words[], *const latency_sort_also[];

struct latency_rank {
	const struct breakdown_row *row;
	uint64_t value;
};

/*
 * The rows with commands in the whole run, or in the interval: larger values first; equal ones, and
 * all with LATENCY_SORT_KEYS, by device and operation. Returns how many; ranks has room for all.
 */
size_t latency_ranks__make(const struct breakdown *breakdown, bool whole, enum latency_sort sort,
			   struct latency_rank *ranks);

#endif
