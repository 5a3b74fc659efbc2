/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * yardstick.h: how fast is this machine now? A shared machine can be three times slower than an
 * hour ago. So a test states a cost as a multiple of a fixed piece of work that it measures beside
 * it: a hash of 192 bytes, one after the other, about 0.25 us on a quiet CPU of 3 GHz.
 */
#ifndef TESTS_YARDSTICK_H
#define TESTS_YARDSTICK_H

#include <stdint.h>
#include <time.h>

/* Of this thread: what others do on the machine counts little. */
static inline double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* CPU seconds of one piece of work. Each byte waits for the one before it: no compiler folds it. */
static inline double yardstick_s(void)
{
	enum { PIECES = 50000, BYTES = 192 };
	double began_s = cpu_s();
	uint64_t hash = 14695981039346656037ull;

	for (uint32_t i = 0; i < PIECES * BYTES; i++)
		hash = (hash ^ (i & 0xff)) * 1099511628211ull;
	__asm__ volatile("" : : "r"(hash)); /* wanted, as far as the compiler knows */
	return (cpu_s() - began_s) / PIECES;
}

#endif
