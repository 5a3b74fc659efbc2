/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async.c: does each request's time belong to the step that a reader of its moments would name, and
 * do the steps add up, whatever the moments are?
 */
#include <string.h>
#include "analyse/async.h"
#include "draw.h"
#include "tap.h"

static const struct {
	const char *name;
	struct async_record record;
	uint64_t steps[NR_ASYNC_STEPS];
} cases[] = {
	{ "direct I/O",
	  { .submit_ns = 100,
	    .start_ns = 101,
	    .issue_ns = 101,
	    .queued_ns = 105,
	    .return_ns = 110,
	    .ended_ns = 190,
	    .bios = 1,
	    .ended = 1,
	    .post_ns = 200 },
	  { [STEP_SUBMIT] = 5, [STEP_DEVICE] = 85, [STEP_POST] = 10 } },
	{ "direct I/O, punted",
	  { .submit_ns = 100,
	    .punt_ns = 103,
	    .start_ns = 120,
	    .issue_ns = 120,
	    .worker_ns = 120,
	    .queued_ns = 125,
	    .return_ns = 128,
	    .ended_ns = 190,
	    .bios = 2,
	    .ended = 2,
	    .post_ns = 200,
	    .flags = ASYNC_PUNTED },
	  { [STEP_SUBMIT] = 3,
	    [STEP_PUNT] = 17,
	    [STEP_WORKER] = 5,
	    [STEP_DEVICE] = 65,
	    [STEP_POST] = 10 } },
	{ "punted after a first attempt",
	  { .submit_ns = 100,
	    .start_ns = 101,
	    .return_ns = 104,
	    .punt_ns = 106,
	    .issue_ns = 120,
	    .worker_ns = 120,
	    .queued_ns = 125,
	    .ended_ns = 190,
	    .bios = 1,
	    .ended = 1,
	    .post_ns = 200,
	    .flags = ASYNC_PUNTED },
	  { [STEP_SUBMIT] = 6,
	    [STEP_PUNT] = 14,
	    [STEP_WORKER] = 5,
	    [STEP_DEVICE] = 65,
	    [STEP_POST] = 10 } },
	{ "fsync: the worker goes on after its last bio",
	  { .submit_ns = 100,
	    .punt_ns = 101,
	    .start_ns = 110,
	    .issue_ns = 110,
	    .worker_ns = 110,
	    .queued_ns = 120,
	    .ended_ns = 150,
	    .return_ns = 180,
	    .bios = 3,
	    .ended = 3,
	    .post_ns = 185,
	    .flags = ASYNC_PUNTED },
	  { [STEP_SUBMIT] = 1,
	    [STEP_PUNT] = 9,
	    [STEP_WORKER] = 40,
	    [STEP_DEVICE] = 30,
	    [STEP_POST] = 5 } },
	{ "in the cache: posted with its batch",
	  { .submit_ns = 100, .start_ns = 101, .issue_ns = 101, .return_ns = 110, .post_ns = 120 },
	  { [STEP_SUBMIT] = 10, [STEP_REST] = 10 } },
	{ "a buffered read is issued again when its page is there",
	  { .submit_ns = 100,
	    .start_ns = 101,
	    .queued_ns = 105,
	    .ended_ns = 150,
	    .issue_ns = 160,
	    .return_ns = 170,
	    .bios = 1,
	    .ended = 1,
	    .post_ns = 175 },
	  { [STEP_SUBMIT] = 15, [STEP_DEVICE] = 45, [STEP_POST] = 15 } },
	{ "linked: waits for an earlier one",
	  { .submit_ns = 100,
	    .start_ns = 150,
	    .issue_ns = 150,
	    .queued_ns = 155,
	    .return_ns = 158,
	    .ended_ns = 190,
	    .bios = 1,
	    .ended = 1,
	    .post_ns = 200,
	    .flags = ASYNC_LINKED },
	  { [STEP_LINK] = 50, [STEP_SUBMIT] = 5, [STEP_DEVICE] = 35, [STEP_POST] = 10 } },
	{ "linked and cancelled",
	  { .submit_ns = 100, .post_ns = 200, .flags = ASYNC_LINKED },
	  { [STEP_LINK] = 100 } },
	{ "linked and punted",
	  { .submit_ns = 100,
	    .punt_ns = 130,
	    .start_ns = 140,
	    .issue_ns = 140,
	    .worker_ns = 140,
	    .return_ns = 180,
	    .post_ns = 200,
	    .flags = ASYNC_LINKED | ASYNC_PUNTED },
	  { [STEP_LINK] = 30, [STEP_PUNT] = 10, [STEP_WORKER] = 40, [STEP_POST] = 20 } },
	{ "a bio whose end is not seen",
	  { .submit_ns = 100,
	    .start_ns = 101,
	    .issue_ns = 101,
	    .queued_ns = 105,
	    .return_ns = 110,
	    .bios = 1,
	    .post_ns = 200 },
	  { [STEP_SUBMIT] = 5, [STEP_DEVICE] = 95 } },
	{ "one of two is not",
	  { .submit_ns = 100,
	    .start_ns = 101,
	    .issue_ns = 101,
	    .queued_ns = 105,
	    .return_ns = 110,
	    .ended_ns = 120,
	    .bios = 2,
	    .ended = 1,
	    .post_ns = 200 },
	  { [STEP_SUBMIT] = 5, [STEP_DEVICE] = 95 } },
	{ "a command that a driver gets",
	  { .submit_ns = 100,
	    .start_ns = 101,
	    .issue_ns = 101,
	    .queued_ns = 105,
	    .return_ns = 110,
	    .ended_ns = 190,
	    .bios = 1,
	    .ended = 1,
	    .post_ns = 200,
	    .opcode = 46 },
	  { [STEP_SUBMIT] = 5, [STEP_DEVICE] = 85, [STEP_POST] = 10 } },
	{ "handed over before it is issued: it waits for its device",
	  { .submit_ns = 100,
	    .start_ns = 101,
	    .issue_ns = 101,
	    .return_ns = 104,
	    .queued_ns = 110,
	    .ended_ns = 190,
	    .bios = 1,
	    .ended = 1,
	    .post_ns = 200,
	    .opcode = 46 },
	  { [STEP_SUBMIT] = 4, [STEP_DEVICE] = 86, [STEP_POST] = 10 } },
	{ "a command, and functions cannot be probed",
	  { .submit_ns = 100,
	    .queued_ns = 110,
	    .ended_ns = 190,
	    .bios = 1,
	    .ended = 1,
	    .post_ns = 200,
	    .opcode = 46 },
	  { [STEP_REST] = 10, [STEP_DEVICE] = 80, [STEP_POST] = 10 } },
	{ "functions cannot be probed",
	  { .submit_ns = 100, .post_ns = 200 },
	  { [STEP_REST] = 100 } },
	{ "likewise, punted",
	  { .submit_ns = 100, .punt_ns = 105, .post_ns = 200, .flags = ASYNC_PUNTED },
	  { [STEP_SUBMIT] = 5, [STEP_PUNT] = 95 } },
};

static void splits(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t steps[NR_WAIT_PARTS], wrong = 0;

		async__split(&cases[i].record, steps);
		for (int step = 0; step < NR_ASYNC_STEPS; step++) {
			if (steps[step] == cases[i].steps[step])
				continue;
			printf("# %s: %" PRIu64 "\n", async_step__name((enum async_step)step),
			       steps[step]);
			wrong++;
		}
		is_u64(wrong, 0, cases[i].name);
	}
}

/* Moments in any order, also before the submission and after the completion. */
static void sums(void)
{
	uint64_t uneven = 0;

	for (int i = 0; i < 100000; i++) {
		uint64_t steps[NR_WAIT_PARTS], sum = 0;
		struct async_record r = {
			.submit_ns = 1000,
			.start_ns = draw(2) * draw(3000),
			.issue_ns = draw(2) * draw(3000),
			.return_ns = draw(2) * draw(3000),
			.punt_ns = draw(2) * draw(3000),
			.worker_ns = draw(2) * draw(3000),
			.queued_ns = draw(2) * draw(3000),
			.ended_ns = draw(2) * draw(3000),
			.post_ns = 1000 + draw(1000),
			.bios = (uint32_t)draw(3),
			.ended = (uint32_t)draw(3),
			.flags = (uint8_t)draw(16),
		};

		async__split(&r, steps);
		for (int step = 0; step < NR_WAIT_PARTS; step++)
			sum += steps[step];
		uneven += sum != async__whole_ns(&r);
	}
	is_u64(uneven, 0, "steps add up, whatever the moments are");
}

static void names(void)
{
	char buf[16];

	is_str(async_op__name(3, buf, sizeof(buf)), "fsync", "3 is fsync");
	is_str(async_op__name(22, buf, sizeof(buf)), "read", "22 is read");
	is_str(async_op__name(46, buf, sizeof(buf)), "uring_cmd", "46 is uring_cmd");
	is_str(async_op__name(64, buf, sizeof(buf)), "uring_cmd128", "64 is the last known one");
	is_str(async_op__name(65, buf, sizeof(buf)), "op-65", "a later one has its number");
	is_str(async_op__name(ASYNC_AIO_READ, buf, sizeof(buf)), "aio_read", "a read of libaio");
	is_str(async_op__name(ASYNC_AIO_WRITE, buf, sizeof(buf)), "aio_write", "and a write");
	is_str(async_op__name(WAIT_OTHER_CALL, buf, sizeof(buf)), "other", "what has no row");
}

int main(void)
{
	splits();
	sums();
	names();
	return done_testing();
}
