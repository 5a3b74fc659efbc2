/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_troubles.c: are failed commands of one kind one row, whoever sent them, and does each count
 * once? Are stuck commands those that are old enough, and gone when they have ended?
 */
#include <math.h>
#include "tap.h"
#include "view/top_troubles.h"

enum { SECOND = 1000000000 };

static struct top_troubles troubles;

/* Status 0x281 is an unrecovered read error. */
static void fail(int device, uint32_t pid, uint16_t status, uint64_t count, double last_s)
{
	top_troubles__add_failed(
		&troubles, &(struct io_failed){ .tags = { .device = device, .op = 2, .pid = pid },
						.status = status,
						.count = count,
						.last_ns = (uint64_t)(last_s * SECOND) });
}

static void test_failed(void)
{
	const struct top_trouble *row;

	top_troubles__begin(&troubles, 1);
	fail(1, 10, 0x281, 2, 0.5);
	fail(1, 11, 0x281, 3, 0.9);
	fail(2, 10, 0x281, 1, 0.7);
	fail(1, 10, 0x280, 1, 0.6);
	top_troubles__end(&troubles);
	is_u64(troubles.nr_failed, 3, "a device, an operation and a status are a kind");
	row = top_troubles__nth(&troubles, 0);
	is_u64(row->count, 5, "of all tasks");
	ok(row->last_s > 0.89 && row->last_s < 0.91, "the one that failed last comes first");
	ok(strstr(row->status, "unrecovered read error") != NULL, "its status in words");
	is_u64(row->recent, 5, "all of them in this interval");
	top_troubles__begin(&troubles, 2);
	fail(1, 10, 0x281, 2, 0.5);
	fail(1, 11, 0x281, 3, 0.9);
	fail(2, 10, 0x281, 2, 1.7);
	fail(1, 10, 0x280, 1, 0.6);
	top_troubles__end(&troubles);
	is_u64(troubles.nr_failed, 3, "no kind comes twice");
	row = top_troubles__nth(&troubles, 0);
	ok(row->tags.device == 2 && row->count == 2 && row->recent == 1, "one more of another");
	row = top_troubles__nth(&troubles, 1);
	ok(row->tags.device == 1 && row->count == 5 && !row->recent, "none of the first");
	ok(row->status == row->status_text, "texts move with their rows");
	for (int i = 0; i < 2 * TOP_TROUBLES; i++)
		fail(3 + i, 1, 1, 1, 2);
	is_u64(troubles.nr_failed, TOP_TROUBLES, "their number is bounded");
}

static void test_stuck(void)
{
	static char *const names[64] = { 0 };
	struct inflight_command commands[3] = {
		{ .age_ns = 3ULL * SECOND, .dev = "nvme0n1", .op_known = true },
		{ .age_ns = 2ULL * SECOND, .dev = "nvme0n1", .op_known = true },
		{ .age_ns = SECOND / 2, .dev = "sda", .op_known = true },
	};
	struct inflight_list list = { .commands = commands, .nr = 3 };
	const struct top_trouble *row;

	for (int i = 0; i < 3; i++)
		commands[i].record.op = 2;
	top_troubles__add_stuck(&troubles, &list, names);
	is_u64(troubles.nr_stuck, 1, "those of one device and operation are a kind");
	row = top_troubles__nth(&troubles, 0);
	ok(isnan(row->last_s) && row->count == 2 && row->recent == 2, "they come first");
	is_u64(row->oldest_ns, 3ULL * SECOND, "with the age of the oldest");
	is_str(row->op, "read", "its operation");
	is_str(row->status, "sent", "and its state");
	list.nr = 0;
	top_troubles__add_stuck(&troubles, &list, names);
	is_u64(troubles.nr_stuck, 0, "none is left when they have ended");
	ok(!top_troubles__nth(&troubles, TOP_TROUBLES), "after the last there is none");
}

int main(void)
{
	test_failed();
	test_stuck();
	return done_testing();
}
