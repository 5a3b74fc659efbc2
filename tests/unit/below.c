/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * below.c: are the bios found that a volume made of one, and no others? Interleaved, in a ring that
 * ran over, and those of a bio whose time is another's.
 */
#include "analyse/below.h"
#include "tap.h"

struct whole {
	struct io_record r;
	struct io_stages s;
};

static void add(struct below *below, uint64_t above_ns, uint64_t end_ns, uint32_t sector)
{
	const struct io_record record = {
		.what = RECORD_BIO, .result = above_ns, .end_ns = end_ns, .cdw10 = { sector, 1 }
	};

	ok(!below__add(below, &record, 3, 7), "there is memory");
}

static struct whole above(uint64_t queued_ns, uint64_t end_ns)
{
	return (struct whole){
		.r = { .what = RECORD_BIO, .flags = RECORD_STAGES, .end_ns = end_ns },
		.s = { .queued_ns = queued_ns },
	};
}

static void check_interleaved(void)
{
	struct whole one = above(100, 200), other = above(110, 210), none = above(120, 220);
	struct below below = { 0 };
	const struct below_bio *found[4];

	is_u64(below__find(&below, &one.r, found, 4), 0, "nothing yet");
	add(&below, 100, 150, 8);
	add(&below, 110, 160, 16);
	add(&below, 100, 170, 24);
	add(&below, 100, 300, 32); /* of the next bio at that time: it ends later */
	is_u64(below__find(&below, &one.r, found, 4), 2, "two were made of it");
	ok(found[0]->sector == (1ULL << 32) + 8 && found[1]->sector == (1ULL << 32) + 24,
	   "in the order of their ends");
	ok(found[0]->device == 3 && found[0]->ns == 7, "with device and time");
	is_u64(below__find(&below, &one.r, found, 1), 1, "no more than fit");
	is_u64(below__find(&below, &other.r, found, 4), 1, "one of the other");
	is_u64(below__find(&below, &none.r, found, 4), 0, "none of a third");
	one.r.flags = 0;
	is_u64(below__find(&below, &one.r, found, 4), 0, "without stages nothing is known");
	below__free(&below);
}

static void check_others(void)
{
	const struct io_record command = { .what = RECORD_END, .result = 100 };
	const struct io_record bio = { .what = RECORD_BIO };
	struct below below = { 0 };

	below__add(&below, &command, 0, 7);
	below__add(&below, &bio, 0, 7);
	is_u64(below.nr, 0, "commands, and bios of no volume, are not kept");
	below__free(&below);
}

static void check_ring(void)
{
	struct whole first = above(1, BELOW_KEPT + 3), last = above(2, BELOW_KEPT + 3);
	struct io_record record = { .what = RECORD_BIO, .result = 1, .end_ns = 2 };
	struct below below = { 0 };
	const struct below_bio *found[2];

	below__add(&below, &record, 0, 7);
	record.result = 2;
	for (uint64_t i = 0; i < BELOW_KEPT; i++) {
		record.end_ns = 3 + i;
		below__add(&below, &record, 0, 7);
	}
	is_u64(below__find(&below, &first.r, found, 2), 0, "the oldest is gone");
	ok(below__find(&below, &last.r, found, 2) == 2 && found[0]->end_ns == 3,
	   "all others are there");
	below__free(&below);
}

int main(void)
{
	check_interleaved();
	check_others();
	check_ring();
	return done_testing();
}
