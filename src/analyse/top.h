/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top.h: who has most of it? Sums by any key, of as many keys as there is room for; those that come
 * when it is full share one place, which says how much is in it. What is kept is exact.
 */
#ifndef IOSONAR_ANALYSE_TOP_H
#define IOSONAR_ANALYSE_TOP_H

#include <stddef.h>
#include <stdint.h>
#include "base/index.h"

enum { TOP_ROOM = 16384, TOP_WORDS = 3 };

struct top_sum {
	uint64_t key[TOP_WORDS]; /* the caller's; of the rest zeros */
	uint64_t count, bytes, failed;
	uint64_t sum_ns, max_ns;
};

struct top {
	struct top_sum *sums; /* in the order in which they came */
	size_t nr;
	struct index index;
	struct top_sum rest; /* of keys that did not fit */
};

/* One command: what it adds, under its key. */
struct top_io {
	uint64_t ns, bytes;
	uint64_t failed; /* 0 or 1 */
};

int top__init(struct top *top); /* -ENOMEM */
void top__add(struct top *top, const uint64_t key[TOP_WORDS], const struct top_io *io);
/* Most of the time first; nothing may be added after it. */
void top__sort(struct top *top);
void top__free(struct top *top);

#endif
