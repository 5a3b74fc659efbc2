/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spill.h: items of one size in order of time, in any number. A few stay in memory; more go in
 * sorted runs to an unnamed temporary file below TMPDIR or /tmp, and are merged as they are handed
 * out. Items with equal times keep their order of arrival.
 */
#ifndef IOSONAR_BASE_SPILL_H
#define IOSONAR_BASE_SPILL_H

#include <stddef.h>
#include <stdint.h>

enum { SPILL_MEMORY = 16 << 20 };

struct spill;

/* item_bytes: size of one item; memory_bytes: limit of memory. NULL: out of memory. */
struct spill *spill__new(size_t item_bytes, size_t memory_bytes);
void spill__free(struct spill *spill);

int spill__add(struct spill *spill, uint64_t time_ns, const void *item); /* -errno, said */
/* Visits all items; none can be added afterwards. If fn does not return 0, that ends it. */
typedef int (*spill_fn)(void *arg, uint64_t time_ns, const void *item);
int spill__each(struct spill *spill, spill_fn fn, void *arg);

#endif
