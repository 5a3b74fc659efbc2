/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spill.h: small things of one size in order of time, however many they are. A few stay in memory;
 * more go in sorted runs to a temporary file that has no name, below TMPDIR or /tmp, and are merged
 * as they are handed out. Equal times keep the order in which they came.
 */
#ifndef IOSONAR_BASE_SPILL_H
#define IOSONAR_BASE_SPILL_H

#include <stddef.h>
#include <stdint.h>

enum { SPILL_MEMORY = 16 << 20 };

struct spill;

/* item_bytes: of one; memory_bytes: what may be held. NULL: out of memory. */
struct spill *spill__new(size_t item_bytes, size_t memory_bytes);
void spill__free(struct spill *spill);

int spill__add(struct spill *spill, uint64_t time_ns, const void *item); /* -errno, said */
/* All of them; none can be added afterwards. What fn returns but 0 ends it. */
typedef int (*spill_fn)(void *arg, uint64_t time_ns, const void *item);
int spill__each(struct spill *spill, spill_fn fn, void *arg);

#endif
