/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pattern.c: is a load judged by its submissions? Streams of known kinds, one, several, random,
 * mixed, come in the order in which they might end; what is said of them is compared with what was
 * made. Then what only somebody hostile sends: times at their limits, places beyond the end, more
 * tasks, sizes and depth than there is room for.
 */
#include <math.h>
#include <stdlib.h>
#include "analyse/pattern.h"
#include "tap.h"

enum { CELLS = 64 };
#define DISK (1ULL << 30)
static const uint64_t ms = 1000000, us = 1000;
static const struct pattern_disk disk = { DISK, 512, 65536 };

static struct pattern begin(void)
{
	struct pattern p;

	if (pattern__init(&p, CELLS))
		printf("Bail out! no memory\n");
	return p;
}

static void add(struct pattern *p, const struct pattern_io *io)
{
	static const struct pattern_tags tags = { .device = 0 };

	if (pattern__add(p, &tags, &disk, io))
		printf("Bail out! no memory\n");
}

/* An access that is submitted and ends at these times. */
static struct pattern_io access_at(uint64_t submit_ns, uint64_t end_ns, uint64_t from_byte)
{
	return (struct pattern_io){ .submit_ns = submit_ns,
				    .end_ns = end_ns,
				    .from_byte = from_byte,
				    .bytes = 4096,
				    .kind = PATTERN_READ,
				    .op = 2 };
}

static const struct pattern_sum *total(struct pattern *p)
{
	pattern__finish(p);
	return &p->rows[0]->total;
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static bool near(double got, double want, double by)
{
	bool good = fabs(got - want) <= by;

	if (!good)
		printf("# got %f, want %f\n", got, want);
	return good;
}

/* ---- streams ---- */

static void check_streams(uint32_t nr, uint32_t each)
{
	struct streams s = { 0 };
	uint64_t sequential = 0;

	for (uint32_t i = 0; i < each; i++)
		for (uint32_t j = 0; j < nr; j++)
			sequential += streams__access(&s, ((uint64_t)j << 30) + i * 4096, 4096);
	ok(sequential == (uint64_t)nr * (each - 1), "%u streams in turn: all but each first", nr);
	ok(streams__at_once(&s) == nr, "and are known to be %u", nr);
}

static void check_bursts(void)
{
	struct streams s = { 0 };
	uint64_t at[3] = { 0, 1 << 30, 2ULL << 30 }, sequential = 0;

	for (uint32_t i = 0; i < 300; i++)
		for (uint32_t j = 0; j < 16; j++, at[i % 3] += 4096)
			sequential += streams__access(&s, at[i % 3], 4096);
	is_u64(sequential, 300 * 16 - 3, "streams that take turns by sixteen");
	is_u64(streams__at_once(&s), 3, "are still three");
}

/* A slow stream among a hundred times as many random accesses. */
static void check_stream_in_noise(void)
{
	struct streams s = { 0 };
	uint64_t sequential = 0, at = 7ULL << 40;
	uint32_t state = 7;

	for (uint32_t i = 0; i < 3; i++, at += 4096)
		streams__access(&s, at, 4096);
	for (uint32_t i = 0; i < 1009; i++, at += 4096) {
		for (uint32_t j = 0; j < 100; j++)
			streams__access(&s, (uint64_t)next_random(&state) * 8192, 4096);
		sequential += streams__access(&s, at, 4096);
	}
	is_u64(sequential, 1009, "a slow stream is not forgotten for random accesses");
}

static void check_random_places(void)
{
	struct streams s = { 0 };
	uint64_t sequential = 0, blocks = 65536; /* 256 MiB */
	uint32_t state = 3;

	for (uint32_t i = 0; i < 100000; i++)
		sequential += streams__access(&s, next_random(&state) % blocks * 4096, 4096);
	ok(sequential > 0 && sequential < 200, "random: one in a thousand goes on by chance");
	is_u64(streams__at_once(&s), 0, "and makes no stream");
}

static void check_too_many_streams(void)
{
	struct streams s = { 0 };
	uint64_t sequential = 0;

	for (uint32_t i = 0; i < 100; i++)
		for (uint32_t j = 0; j < STREAMS + 8; j++)
			sequential += streams__access(&s, ((uint64_t)j << 30) + i * 4096, 4096);
	ok(sequential < 100 * STREAMS, "more streams than there are places are not all seen");
	ok(streams__at_once(&s) <= STREAMS, "nor are they more than there are places");
	memset(&s, 0, sizeof(s));
	ok(!streams__access(&s, UINT64_MAX - 4095, 4096), "the end of all numbers");
	ok(streams__access(&s, 0, 4096), "goes on at the first, as numbers do");
}

/* ---- order ---- */

/* Three streams at a depth of 8 each; every 8 end backwards. */
static void check_reversed_ends(void)
{
	struct pattern p = begin();
	const struct pattern_sum *sum;

	for (uint64_t i = 0; i < 200; i++)
		for (uint64_t j = 0; j < 8; j++)
			for (uint64_t k = 0; k < 3; k++) {
				uint64_t nth = i * 8 + 7 - j;
				struct pattern_io io =
					access_at(ms + i * ms + (7 - j) * 3 * us + k * us,
						  ms + i * ms + 500 * us + j * us, 0);

				io.from_byte = (k << 28) + nth * 4096;
				add(&p, &io);
			}
	sum = total(&p);
	is_u64(sum->count, 4800, "every command");
	is_u64(sum->moves[PATTERN_READ].judged, 4800, "is judged");
	is_u64(sum->moves[PATTERN_READ].sequential, 4797, "by submission, not by its end");
	is_u64(sum->late, 0, "none was late");
	is_u64(sum->depths.max_ns, 24, "the deepest");
	is_u64(streams__at_once(&p.rows[0]->streams[PATTERN_READ]), 3, "in three streams");
	pattern__free(&p);
}

/* The parts of a bio have its time; of these the lowest comes first. */
static void check_split_bios(void)
{
	struct pattern p = begin();

	for (uint64_t i = 0; i < 100; i++)
		for (uint64_t j = 4; j-- > 0;) {
			struct pattern_io io = access_at(ms + i * ms, ms + i * ms + 9 * us, 0);

			io.from_byte = (i * 4 + j) * 4096;
			add(&p, &io);
		}
	is_u64(total(&p)->moves[PATTERN_READ].sequential, 399, "parts of a bio are in order");
	pattern__free(&p);
}

static void check_late(void)
{
	struct pattern p = begin();
	const struct pattern_sum *sum;
	struct pattern_io io;

	for (uint64_t i = 0; i < 1000; i++) {
		if (i == 100)
			continue; /* it takes three seconds */
		io = access_at(ms + i * ms, ms + i * ms + 100 * us, i * 4096);
		add(&p, &io);
	}
	io = access_at(101 * ms, 3101 * ms, 100 * 4096);
	add(&p, &io);
	io = access_at(3110 * ms, 3111 * ms, 1000 * 4096);
	add(&p, &io);
	sum = total(&p);
	is_u64(sum->count, 1001, "one that ends seconds later counts");
	is_u64(sum->late, 1, "and is told as late");
	is_u64(sum->moves[PATTERN_READ].judged, 1000, "it is not judged");
	is_u64(sum->moves[PATTERN_READ].sequential, 998, "the one behind it is, without it");
	is_u64(sum->kinds[PATTERN_READ], 1001, "its size and kind are known");
	pattern__free(&p);
}

/* The same device is slow for good: after the first, nothing is late. */
static void check_slow_device(void)
{
	struct pattern p = begin();

	for (uint64_t i = 0; i < 2000; i++) {
		uint64_t submit = ms + i * 10 * ms, took = i % 7 ? 900 * ms : 1500 * ms;
		struct pattern_io io = access_at(submit, submit + took, i * 4096);

		add(&p, &io);
	}
	ok(total(&p)->late <= 1, "who is always slow is waited for");
	pattern__free(&p);
}

/* More than may wait: the earliest is judged at once, in order still. */
static void check_held_is_bounded(void)
{
	struct pattern p = begin();
	size_t most = 0;

	for (uint64_t i = 0; i < PATTERN_HELD + 5000; i++) {
		struct pattern_io io = access_at(ms + i, ms + i + 500, i * 4096 % DISK);

		add(&p, &io);
		most = p.held.nr > most ? p.held.nr : most;
	}
	ok(most <= PATTERN_HELD, "no more wait than there is room for");
	is_u64(total(&p)->late, 0, "and they are in order");
	pattern__free(&p);
}

/* ---- depth and gaps ---- */

static void check_depth(void)
{
	struct pattern p = begin();
	const struct pattern_sum *sum;

	/* at 1, 2, 3 ms; the first ends between, at 2.5; one when all have ended */
	add(&p, (struct pattern_io[]){ access_at(1 * ms, 2500 * us, 0) });
	add(&p, (struct pattern_io[]){ access_at(3 * ms, 4 * ms, 0) });
	add(&p, (struct pattern_io[]){ access_at(2 * ms, 5 * ms, 0) });
	add(&p, (struct pattern_io[]){ access_at(5 * ms, 6 * ms, 0) });
	sum = total(&p);
	is_u64(sum->depths.count, 4, "a depth for each");
	is_u64(sum->depths.slots[1], 2, "alone: the first, and the last, at the end of another");
	is_u64(sum->depths.slots[2], 2, "two at once: the second and the third");
	is_u64(sum->gaps.count, 3, "three gaps between four");
	is_u64(sum->gaps.sum_ns, 4 * ms, "as long as they are");
	is_u64(sum->gaps.max_ns, 2 * ms, "the longest");
	pattern__free(&p);
}

static void check_depth_is_bounded(void)
{
	struct pattern p = begin();

	for (uint64_t i = 0; i < PATTERN_DEEPEST + 10; i++) {
		struct pattern_io io = access_at(i, 1000 * ms + i, 0);

		add(&p, &io);
	}
	is_u64(total(&p)->depths.max_ns, PATTERN_DEEPEST, "no deeper than there is room for");
	pattern__free(&p);
}

/* ---- mix, sizes, alignment, heat ---- */

static void check_alignment(void)
{
	struct pattern p = begin();
	const struct pattern_sum *sum;

	for (uint64_t i = 0; i < 101; i++) {
		struct pattern_io io = access_at(ms + i * ms, ms + i * ms + us, i * 65536);

		io.kind = PATTERN_WRITE;
		io.bytes = i % 2 ? 65536 : 4096;
		io.from_byte += i < 7 ? 512 : 0;
		if (i >= 7 && i < 10)
			io.bytes = 512; /* begins well, ends badly */
		add(&p, &io);
	}
	sum = total(&p);
	is_u64(sum->moves[PATTERN_WRITE].misaligned, 10, "misaligned writes, exactly");
	is_u64(sum->moves[PATTERN_READ].misaligned, 0, "no reads");
	is_u64(sum->moves[PATTERN_WRITE].off_unit, 101 - 45, "whole units of the device");
	ok(near(pattern_sum__aligned(sum), 100.0 * 91 / 101, 0.001), "the share that is aligned");
	ok(near(pattern_sum__in_units(sum), 100.0 * 45 / 101, 0.001), "and that is in units");
	pattern__free(&p);
}

static void check_mix(void)
{
	static const enum pattern_kind kinds[] = { PATTERN_READ,    PATTERN_READ,  PATTERN_WRITE,
						   PATTERN_DISCARD, PATTERN_FLUSH, PATTERN_OTHER };
	struct pattern p = begin();
	const struct pattern_sum *sum;

	for (uint64_t i = 0; i < 600; i++) {
		struct pattern_io io = access_at(ms + i * ms, ms + i * ms + us, i * 4096);

		io.kind = kinds[i % 6];
		io.op = (uint8_t)(i % 6);
		io.from_byte = io.kind < PATTERN_MOVES ? io.from_byte : PATTERN_NOWHERE;
		add(&p, &io);
	}
	sum = total(&p);
	is_u64(sum->kinds[PATTERN_READ], 200, "reads");
	is_u64(sum->kinds[PATTERN_FLUSH], 100, "flushes");
	ok(near(pattern_sum__share(sum, PATTERN_DISCARD), 100.0 / 6, 0.001), "discards, a sixth");
	is_u64(p.rows[0]->ops[0][4], 100, "each operation by its number");
	is_u64(sum->moves[PATTERN_READ].judged + sum->moves[PATTERN_WRITE].judged, 300,
	       "only reads and writes have a place");
	is_u64(p.rows[0]->sizes[PATTERN_WRITE].classes[13], 100, "and a size: up to 4 KiB");
	is_u64(sum->depths.count, 600, "all have their turn");
	pattern__free(&p);
}

static void check_sizes(void)
{
	struct sizes s = { 0 };

	for (uint32_t i = 1; i <= SIZES + 10; i++)
		for (uint32_t j = 0; j < 3; j++)
			sizes__add(&s, (SIZES + 11 - i) * 512);
	sizes__sort(&s);
	is_u64(s.nr, SIZES, "as many sizes as there are places");
	is_u64(s.others, 30, "the rest is counted together");
	is_u64(s.exact[0].bytes, 11 * 512, "the smallest first");
	is_u64(s.exact[0].count, 3, "with its count");
	is_u64(s.classes[10] + s.classes[11], 6, "by power of two all are there");
	sizes__add(&s, UINT32_MAX);
	sizes__add(&s, 0);
	is_u64(s.classes[33], 1, "the largest there is");
	is_u64(s.classes[0], 1, "and none at all");
}

static void check_heat(void)
{
	struct pattern p = begin();
	struct pattern_io io = access_at(ms, 2 * ms, 0);
	const struct pattern_row *row;

	add(&p, &io);
	io.from_byte = DISK - 4096;
	add(&p, &io);
	io.from_byte = DISK / CELLS - 512;
	add(&p, &io);
	io.from_byte = DISK - 512; /* and 4096 bytes: across the end */
	add(&p, &io);
	row = p.rows[0];
	is_u64(pattern__cell_bytes(&p, row), DISK / CELLS, "a cell");
	is_u64(row->heat[PATTERN_READ][0], 2, "the first, up to its last sector");
	is_u64(row->heat[PATTERN_READ][CELLS - 1], 1, "the last");
	ok(!row->heat[PATTERN_WRITE], "nothing was written");
	is_u64(row->first_byte, 0, "touched from");
	is_u64(row->after_byte, DISK, "to");
	pattern__free(&p);
}

/* ---- intervals ---- */

static void check_intervals(void)
{
	struct pattern p = begin();
	struct pattern_row *row;

	for (uint64_t i = 0; i < 1000; i++) {
		struct pattern_io io = access_at(ms + i * ms, ms + i * ms + us, i * 4096);

		add(&p, &io);
		if (i % 300 == 299)
			pattern_row__end_interval(p.rows[0]);
	}
	row = p.rows[0];
	is_u64(row->interval.count, 100, "an interval has what came in it");
	is_u64(row->total.count, 900, "the total what came before");
	pattern__finish(&p);
	is_u64(row->total.count, 1000, "at the end all");
	is_u64(row->total.moves[PATTERN_READ].sequential, 999, "across intervals");
	is_u64(row->total.gaps.count, 999, "gaps too");
	pattern__free(&p);
}

/* ---- hostile ---- */

static void check_limits(void)
{
	static const uint64_t times[] = { 0, 1, ms, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX };
	static const uint64_t places[] = { 0, 511, DISK - 1, DISK, UINT64_MAX - 1 };
	struct pattern p = begin();
	const struct pattern_sum *sum;
	uint64_t nr = 0;

	for (size_t i = 0; i < 6; i++)
		for (size_t j = 0; j < 6; j++)
			for (size_t k = 0; k < 5; k++, nr++) {
				struct pattern_io io = access_at(times[i], times[j], places[k]);

				io.bytes = k % 2 ? UINT32_MAX : 1;
				io.kind = (enum pattern_kind)(nr % NR_PATTERN_KINDS);
				io.op = 255;
				io.io_kind = (uint8_t)nr;
				add(&p, &io);
			}
	sum = total(&p);
	is_u64(sum->count, nr, "times and places at their limits: all are counted");
	is_u64(sum->depths.count + sum->late, nr, "and judged, or late");
	ok(p.rows[0]->after_byte <= DISK, "nothing is touched beyond the end");
	pattern__free(&p);
}

static void check_unknown_disk(void)
{
	static const struct pattern_disk unknown;
	const struct pattern_tags tags = { .device = -1 };
	struct pattern_io io = access_at(ms, 2 * ms, 4096);
	struct pattern p = begin();

	pattern__add(&p, &tags, &unknown, &io);
	pattern__finish(&p);
	ok(!p.rows[0]->heat[PATTERN_READ] && p.rows[0]->after_byte == 0,
	   "of an unknown disk: no map");
	is_u64(p.rows[0]->total.moves[PATTERN_READ].judged, 1, "but an order");
	is_u64(p.rows[0]->total.moves[PATTERN_READ].off_unit, 0, "and no unit");
	pattern__free(&p);
}

static void check_rows_are_bounded(void)
{
	struct pattern p = begin();
	uint64_t counted = 0, rest = 0;

	for (uint32_t i = 0; i < 5003; i++) {
		const struct pattern_tags tags = { .device = (int32_t)(i % 2), .pid = i };
		struct pattern_io io = access_at(ms + i * ms, ms + i * ms + us, i * 4096ULL);

		pattern__add(&p, &tags, &disk, &io);
	}
	pattern__finish(&p);
	qsort(p.rows, p.nr, sizeof(*p.rows), pattern_row__compare);
	for (size_t i = 0; i < p.nr; i++)
		counted += p.rows[i]->total.count;
	is_u64(p.nr, PATTERN_ROWS, "as many rows as there is room for");
	is_u64(counted, 5003, "and no command is lost");
	rest = p.rows[p.nr - 1]->total.count;
	ok(p.rows[p.nr - 1]->tags.device == PATTERN_REST, "the last row is that of the rest");
	is_u64(rest, 5003 - (PATTERN_ROWS - 1), "with all that found no other");
	is_u64(p.rest, rest, "which is told");
	is_u64(p.rows[p.nr - 1]->total.depths.count, 0, "and has no order");
	pattern__free(&p);
}

static void check_tags(void)
{
	const struct pattern_tags tags[] = {
		{ .device = 1, .comm = "b" },
		{ .device = 0, .pid = 9 },
		{ .device = 1, .comm = "a" },
		{ .device = 0, .cgroup = 7 },
	};
	struct pattern p = begin();

	for (uint32_t i = 0; i < 400; i++) {
		struct pattern_io io =
			access_at(ms + i * ms, ms + i * ms + us, i / 4 * 4096ULL + (i % 4) * 4096);

		pattern__add(&p, &tags[i % 4], &disk, &io);
	}
	pattern__finish(&p);
	is_u64(p.nr, 4, "a row for each");
	qsort(p.rows, p.nr, sizeof(*p.rows), pattern_row__compare);
	ok(p.rows[0]->tags.cgroup == 7 && p.rows[1]->tags.pid == 9 &&
		   p.rows[2]->tags.comm[0] == 'a' && p.rows[3]->tags.comm[0] == 'b',
	   "by device, then by the rest");
	for (size_t i = 0; i < 4; i++)
		is_u64(p.rows[i]->total.moves[PATTERN_READ].sequential, 99,
		       "each is sequential by itself");
	pattern__free(&p);
}

int main(void)
{
	check_streams(1, 1009);
	check_streams(3, 1009);
	check_streams(32, 101);
	check_bursts();
	check_stream_in_noise();
	check_random_places();
	check_too_many_streams();
	check_reversed_ends();
	check_split_bios();
	check_late();
	check_slow_device();
	check_held_is_bounded();
	check_depth();
	check_depth_is_bounded();
	check_alignment();
	check_mix();
	check_sizes();
	check_heat();
	check_intervals();
	check_limits();
	check_unknown_disk();
	check_rows_are_bounded();
	check_tags();
	return done_testing();
}
