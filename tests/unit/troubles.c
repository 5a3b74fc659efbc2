/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * troubles.c: does a command get its own attempts, and are they forgotten with it? Bounds are
 * tried; an abort means the command with its number that was in flight then.
 */
#include "analyse/troubles.h"
#include "tap.h"
#include "wire/io_tables.h"

static struct troubles troubles; /* large: not on the stack */

static struct io_record record(uint8_t what, uint64_t first_ns, uint32_t lba)
{
	return (struct io_record){ .first_ns = first_ns,
				   .last_ns = first_ns + 10,
				   .end_ns = first_ns + 30,
				   .cdw10 = { lba },
				   .device = 3,
				   .qid = 1,
				   .cid = 77,
				   .status = 0x281,
				   .kind = IO_NVME,
				   .op = 2,
				   .attempts = 1,
				   .what = what };
}

static void add(uint8_t what, uint64_t first_ns, uint32_t lba)
{
	struct io_record r = record(what, first_ns, lba);

	troubles__add(&troubles, &r);
}

static struct trouble end(uint64_t first_ns, uint32_t lba)
{
	struct io_record r = record(RECORD_END, first_ns, lba);

	return troubles__end(&troubles, &r, 0);
}

static void check_attempts(void)
{
	struct trouble t;

	add(RECORD_ATTEMPT, 100, 8);
	add(RECORD_ATTEMPT, 100, 16);
	add(RECORD_ATTEMPT, 100, 8);
	add(RECORD_SUBMIT, 100, 8);
	t = end(100, 8);
	is_u64(t.nr_tries, 2, "two attempts of one command");
	is_u64(t.tries[1].end_ns - t.tries[1].start_ns, 20, "each with its time");
	is_u64(t.tries[0].status, 0x281, "and its status");
	ok(!t.timed_out, "it was waited for");
	is_u64(end(100, 8).nr_tries, 0, "once it ended it is forgotten");
	is_u64(end(100, 16).nr_tries, 1, "another one of the same moment has its own");
	is_u64(troubles.nr, 0, "nothing is left");
	is_u64(end(5, 5).nr_tries, 0, "of what was never in trouble nothing is known");
}

static void check_patience(void)
{
	add(RECORD_TIMEOUT, 100, 8);
	ok(end(100, 8).timed_out, "a time-out");
	add(RECORD_CANCELLED, 100, 8);
	ok(end(100, 8).timed_out, "a cancellation");
}

static void check_aborts(void)
{
	struct io_record abort = { .first_ns = 115, .cdw10 = { 77 << 16 | 1 }, .kind = IO_ADMIN },
			 r = record(RECORD_END, 100, 8), late = record(RECORD_END, 120, 8);

	troubles__abort(&troubles, &abort, 0);
	ok(!troubles__end(&troubles, &r, 1).timed_out, "an abort of another controller");
	ok(!troubles__end(&troubles, &late, 0).timed_out, "or of a command before this one");
	r.cid++;
	ok(!troubles__end(&troubles, &r, 0).timed_out, "or of another number");
	r.cid--;
	ok(troubles__end(&troubles, &r, 0).timed_out, "is not its own, but this one is");
	add(RECORD_ATTEMPT, 100, 8);
	r.cid++; /* of the next attempt */
	ok(troubles__end(&troubles, &r, 0).timed_out, "also if it meant an attempt before");
	r.cid--;
	for (int i = 0; i < TROUBLE_ABORTS; i++) {
		abort.cdw10[0] = 2;
		troubles__abort(&troubles, &abort, 0);
	}
	ok(!troubles__end(&troubles, &r, 0).timed_out, "old aborts are forgotten");
}

static void check_bounds(void)
{
	for (uint32_t i = 0; i < TROUBLE_TRIES + 5; i++)
		add(RECORD_ATTEMPT, 1, 1);
	is_u64(end(1, 1).nr_tries, TROUBLE_TRIES + 5, "more attempts than are kept are counted");
	for (uint32_t i = 0; i <= TROUBLES_MOST; i++)
		add(RECORD_ATTEMPT, 1000 + i, i);
	is_u64(troubles.nr, TROUBLES_MOST, "no more at once than there is room for");
	is_u64(end(1000, 0).nr_tries, 0, "the oldest is forgotten");
	is_u64(end(1000 + TROUBLES_MOST, TROUBLES_MOST).nr_tries, 1, "the newest is not");
}

int main(void)
{
	check_attempts();
	check_patience();
	check_aborts();
	check_bounds();
	return done_testing();
}
