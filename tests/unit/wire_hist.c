/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_hist.c: does every latency fall into the bucket that claims it? Boundaries are checked at
 * 2^k - 1, 2^k, 2^k + 1 for every k, against plain loops that share nothing with the code.
 */
#include "tap.h"
#include "wire/buckets.h"

#define TOP_NS (1ULL << HIST_TOP_BIT)

static uint32_t slow_log2(uint64_t v)
{
	uint32_t r = 0;

	while (v > 1) {
		v /= 2;
		r++;
	}
	return r;
}

/* Walks up octave by octave in plain numbers. */
static uint32_t slow_slot(uint64_t ns)
{
	uint64_t from = 32, width = 1;
	uint32_t slot = 32;

	if (ns < 32)
		return (uint32_t)ns;
	for (; from < 1ULL << HIST_TOP_BIT; from *= 2, width *= 2, slot += 32)
		if (ns < 2 * from)
			return slot + (uint32_t)((ns - from) / width);
	return slot;
}

static void check_log2(void)
{
	bool good = hist_log2(0) == 0;
	int k;

	for (k = 0; k < 64; k++) {
		good = good && hist_log2(1ULL << k) == (uint32_t)k;
		good = good && hist_log2((1ULL << k) - 1) == slow_log2((1ULL << k) - 1);
		good = good && hist_log2((1ULL << k) | 1) == slow_log2((1ULL << k) | 1);
	}
	ok(good, "log2 of 0, 2^k - 1, 2^k and 2^k + 1, k from 0 to 63");
}

static void check_powers(void)
{
	uint64_t v, wrong = 0;
	int k, d;

	for (k = 0; k < 64; k++)
		for (d = -1; d <= 1; d++) {
			v = (1ULL << k) + (uint64_t)(int64_t)d;
			if (hist_slot(v) != slow_slot(v) && ++wrong)
				printf("# %" PRIu64 ": slot %u, want %u\n", v, hist_slot(v),
				       slow_slot(v));
		}
	is_u64(wrong, 0, "slots of 2^k - 1, 2^k, 2^k + 1 are those of a plain loop");
}

static void check_slots(void)
{
	uint64_t from, to, wrong = 0, wide = 0;
	uint32_t slot;

	for (slot = 0; slot < HIST_SLOTS; slot++) {
		from = hist_slot_from(slot);
		to = hist_slot_from(slot + 1);
		wrong += to <= from || hist_slot(from) != slot || hist_slot(to - 1) != slot ||
			 hist_slot(to) != slot + 1;
		/* the middle is at most 1.6 % from either end */
		wide += (to - 1 - from + 1) / 2 * 1000 > 16 * from && from;
	}
	is_u64(wrong, 0, "every bucket holds its first and last value and not the next");
	is_u64(wide, 0, "no bucket is wider than twice 1.6 %");
}

static void check_known_slots(void)
{
	is_u64(hist_slot(0), 0, "0 has bucket 0");
	is_u64(hist_slot(31), 31, "31 is exact");
	is_u64(hist_slot(32), 32, "32 is exact");
	is_u64(hist_slot(63), 63, "63 is exact");
	is_u64(hist_slot(64), 64, "64 begins a bucket of two");
	is_u64(hist_slot(65), 64, "65 shares it");
	is_u64(hist_slot(66), 65, "66 does not");
	is_u64(hist_slot(TOP_NS - 1), HIST_SLOTS - 1, "one below the top is in the last bucket");
	is_u64(hist_slot(TOP_NS), HIST_OVER, "the top is past it");
	is_u64(hist_slot(1ULL << 63), HIST_OVER, "2^63 is past the top");
	is_u64(hist_slot(UINT64_MAX), HIST_OVER, "2^64 - 1 is past the top");
	is_u64(hist_slot_from(HIST_OVER), TOP_NS, "where the last bucket begins");
	ok(TOP_NS > 100000000000, "100 s are not past the top");
}

static void check_zoom_bounds(void)
{
	static const uint64_t want[] = { 20, 21, 22, 24, 28, 36, 52, 84, 148 };
	uint64_t wrong = 0, from, to;
	uint32_t slot;
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		is_u64(zoom_slot_from_us((uint32_t)i, 20, 0), want[i], "min 20, shift 0: bound");
	is_u64(zoom_slot_from_us(ZOOM_OVER, 20, 0), 67108884, "slot 26 ends at 67108884 us");
	is_u64(zoom_slot_from_us(ZOOM_UNDER, 20, 0), 0, "underflow begins at 0");
	for (slot = 0; slot < ZOOM_SLOTS; slot++) {
		from = zoom_slot_from_us(slot, 20, 0) * 1000;
		to = zoom_slot_from_us(slot + 1 < ZOOM_SLOTS ? slot + 1 : ZOOM_OVER, 20, 0) * 1000;
		wrong += zoom_slot(from, 20, 0) != slot || zoom_slot(to - 1, 20, 0) != slot;
	}
	is_u64(wrong, 0, "every zoom bucket holds its first and its last nanosecond");
	is_u64(zoom_slot(0, 20, 0), ZOOM_UNDER, "0 is below");
	is_u64(zoom_slot(19999, 20, 0), ZOOM_UNDER, "19.999 us is below");
	is_u64(zoom_slot(20000, 20, 0), 0, "20 us is not");
	is_u64(zoom_slot(67108883999, 20, 0), 26, "the last nanosecond of slot 26");
	is_u64(zoom_slot(67108884000, 20, 0), ZOOM_OVER, "and the next is past the top");
	is_u64(zoom_slot(UINT64_MAX, 20, 0), ZOOM_OVER, "2^64 - 1 is past the top");
}

static void check_zoom_shift(void)
{
	is_u64(zoom_slot(107999, 100, 3), 0, "min 100, shift 3: [100, 108)");
	is_u64(zoom_slot(108000, 100, 3), 1, "[108, 116)");
	is_u64(zoom_slot(116000, 100, 3), 2, "[116, 132)");
	is_u64(zoom_slot_from_us(2, 100, 3), 116, "which begins at 116");
	is_u64(zoom_slot_from_us(ZOOM_OVER, 0, 37), 1ULL << 63, "the largest bound there is");
	is_u64(zoom_slot_from_us(ZOOM_OVER, 0, 38), UINT64_MAX, "past it: the end of time");
	is_u64(zoom_slot_from_us(1, UINT64_MAX - 1, 4), UINT64_MAX, "no bound wraps around");
	is_u64(zoom_slot(UINT64_MAX, 0, 63), 0, "shift 63: one bucket for all");
}

int main(void)
{
	check_log2();
	check_powers();
	check_slots();
	check_known_slots();
	check_zoom_bounds();
	check_zoom_shift();
	return done_testing();
}
