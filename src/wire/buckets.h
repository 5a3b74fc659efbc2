/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * buckets.h: which bucket does a latency fall into? The kernel programs, the unit tests and the
 * printer all run this code. Two scales: log-linear (32 buckets per octave, error <= 1.6 % at the
 * middle of a bucket) and the zoom of --lat-min-us/--lat-shift, whose buckets can be narrower.
 */
#ifndef IOSONAR_WIRE_BUCKETS_H
#define IOSONAR_WIRE_BUCKETS_H

#include <linux/types.h>

enum {
	HIST_SUB_BITS = 5,
	HIST_SUB = 1 << HIST_SUB_BITS, /* buckets per octave */
	HIST_TOP_BIT = 37, /* values of 2^37 ns (137 s) and more share the last bucket */
	HIST_SLOTS = (HIST_TOP_BIT - HIST_SUB_BITS + 1) * HIST_SUB,
	HIST_OVER = HIST_SLOTS, /* the bucket past the top */
	HIST_CELLS = HIST_SLOTS + 1,

	ZOOM_SLOTS = 27, /* then underflow, then overflow */
	ZOOM_UNDER = ZOOM_SLOTS,
	ZOOM_OVER = ZOOM_SLOTS + 1,
	ZOOM_CELLS = ZOOM_SLOTS + 2,
};

/* One step to the highest set bit: it is above the lowest bits. */
#define HIST_STEP(v, log2, bits)  \
	if ((v) >> (bits)) {      \
		(log2) += (bits); \
		(v) >>= (bits);   \
	}

/* Position of the highest set bit; 0 for 0. Six steps: BPF has no such instruction. */
static inline __u32 hist_log2(__u64 v)
{
	__u32 r = 0;

	HIST_STEP(v, r, 32)
	HIST_STEP(v, r, 16)
	HIST_STEP(v, r, 8)
	HIST_STEP(v, r, 4)
	HIST_STEP(v, r, 2)
	return r + (__u32)(v >> 1);
}

/* The same; keeps a compiler from splitting the branch in two: the programs pay for each. */
#define HIST_STEP_IN_ONE_BRANCH(v, log2, bits) \
	if ((v) >= 1u << (bits)) {             \
		(v) >>= (bits);                \
		(log2) += (bits);              \
		__asm__("" : "+r"(v));         \
	}

/* log2 of what is left of a value without its last five bits; the hot path of every completion. */
static inline __u32 hist_octave(__u32 v)
{
	__u32 e = 0;

	HIST_STEP_IN_ONE_BRANCH(v, e, 16)
	HIST_STEP_IN_ONE_BRANCH(v, e, 8)
	HIST_STEP_IN_ONE_BRANCH(v, e, 4)
	HIST_STEP_IN_ONE_BRANCH(v, e, 2)
	return e + (v >> 1);
}

/* Values below 32 have a bucket each; above, 32 buckets per octave. */
static inline __u32 hist_slot(__u64 ns)
{
	__u32 e;

	if (ns < HIST_SUB)
		return (__u32)ns;
	if (ns >> HIST_TOP_BIT)
		return HIST_OVER;
	e = hist_octave((__u32)(ns >> HIST_SUB_BITS));
	return (e << HIST_SUB_BITS) + (__u32)(ns >> e);
}

/* The smallest value of a bucket; its bucket ends where the next begins. */
static inline __u64 hist_slot_from(__u32 slot)
{
	__u32 e;

	if (slot < 2 * HIST_SUB)
		return slot;
	e = (slot >> HIST_SUB_BITS) - 1;
	return (__u64)(HIST_SUB + (slot & (HIST_SUB - 1))) << e;
}

/* The same buckets without a top, for any 64-bit value. */
enum { HIST_WIDE_SLOTS = (64 - HIST_SUB_BITS + 1) * HIST_SUB };

static inline __u32 hist_wide_slot(__u64 v)
{
	__u32 e;

	if (v < HIST_SUB)
		return (__u32)v;
	e = hist_log2(v) - HIST_SUB_BITS;
	return (e << HIST_SUB_BITS) + (__u32)(v >> e);
}

/*
 * nvme_latency's scale, in whole microseconds: [min, min + 2^shift), then each bucket ends at twice
 * the distance from min. Below min and past the top are buckets of their own, never dropped.
 */
static inline __u32 zoom_slot(__u64 ns, __u64 min_us, __u32 shift)
{
	__u64 us = ns / 1000, x;
	__u32 slot;

	if (us < min_us)
		return ZOOM_UNDER;
	x = (us - min_us) >> (shift & 63);
	slot = x ? hist_log2(x) + 1 : 0;
	return slot < ZOOM_SLOTS ? slot : ZOOM_OVER;
}

/*
 * The smallest microsecond of a zoom bucket. UNDER begins at 0, OVER where the last one ends. A
 * bucket past the end of time begins there: its shift would be undefined.
 */
static inline __u64 zoom_slot_from_us(__u32 slot, __u64 min_us, __u32 shift)
{
	__u64 from_us;

	if (slot == ZOOM_UNDER)
		return 0;
	if (slot == ZOOM_OVER)
		slot = ZOOM_SLOTS;
	if (!slot)
		return min_us;
	shift = (shift & 63) + slot - 1;
	from_us = shift < 64 ? min_us + (1ULL << shift) : 0;
	return from_us > min_us ? from_us : ~0ULL;
}

#endif
