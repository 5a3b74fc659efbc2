/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compare.h: which of two values comes first, as qsort asks? Below 0, 0 or above 0. A tie-breaker
 * follows "?:".
 */
#ifndef IOSONAR_BASE_COMPARE_H
#define IOSONAR_BASE_COMPARE_H

#include <stdint.h>

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Compares numbers, or structs that begin with a number: the smallest first. */
static inline int compare__u64(const void *a, const void *b)
{
	return COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

#endif
