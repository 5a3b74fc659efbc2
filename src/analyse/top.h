/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top.h: which keys have the largest sums? Sums by any key, for as many keys as fit; later keys
 * share one entry, which says how much is in it. Sums that are kept are exact.
 */
#ifndef IOSONAR_ANALYSE_TOP_H
#define IOSONAR_ANALYSE_TOP_H

#include <stddef.h>
#include <stdint.h>
#include "base/index.h"

enum {
	TOP_ROOM = 16384,
	TOP_WORDS = 3,
	TOP_RECENT = 64, /* sums that are found without the index */
};

struct top_sum {
	uint64_t key[TOP_WORDS]; /* the caller's; zeros in `rest` */
	uint64_t count, bytes, failed;
	uint64_t sum_ns, max_ns;
};

struct top {
	struct top_sum *sums; /* in order of arrival */
	size_t nr;
	struct index index;
	uint16_t recent[TOP_RECENT]; /* sums by a short hash of their keys */
	struct top_sum rest;	     /* of keys that did not fit */
};

/* One command: its key and what it adds. */
struct top_io {
	uint64_t ns, bytes;
	uint64_t failed; /* 0 or 1 */
};

int top__init(struct top *top); /* -ENOMEM */
void top__add(struct top *top, const uint64_t key[TOP_WORDS], const struct top_io *io);
/* Longest time first; nothing may be added afterwards. */
void top__sort(struct top *top);
void top__free(struct top *top);

#endif
