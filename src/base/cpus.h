/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpus.h: which CPUs are online? Others may come later. Tables and rings are made for all that are
 * possible, and are large only for those that are online.
 */
#ifndef IOSONAR_BASE_CPUS_H
#define IOSONAR_BASE_CPUS_H

#include <stdbool.h>
#include <stdint.h>

/* Sets is_online[0..nr-1] by the kernel's list, and returns how many are; without it, all are. */
uint32_t cpus__online(bool *is_online, uint32_t nr);

/* The same of a list such as "0-3,6"; 0: it has none below nr, or is not a list. */
uint32_t cpus__parse(const char *list, bool *is_online, uint32_t nr);

/*
 * The size of a ring for each CPU that is online, a power of two: `wanted`, or less to keep the
 * rings of all together below `most`, but not below CPUS_RING_LEAST.
 */
uint32_t cpus__ring_bytes(uint64_t wanted, uint64_t most, uint32_t nr_online);

enum { CPUS_RING_LEAST = 64 << 10 }; /* also the size for a CPU that is not online */

#endif
