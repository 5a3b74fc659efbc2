/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * condition.c: an expression about the columns of a command's row: names, units, texts, what a row
 * does not have, and what is refused.
 */
#include <errno.h>
#include "session/condition.h"
#include "decode/row.h"
#include "tap.h"
#include "wire/io_tables.h"

static const struct column *columns[COMMAND_COLUMNS];
static char *op_names[256] = { [0] = "read" };

static const struct io_record read_4k = {
	.first_ns = 5000000,
	.last_ns = 5000100,
	.end_ns = 6500000,
	.nsid = 1,
	.bytes = 4096,
	.cdw10 = { 2048, 0, 7 },
	.pid = 42,
	.comm = "fio\033",
	.qid = 3,
	.cid = 0x1002,
	.kind = IO_NVME,
	.op = 2,
	.attempts = 1,
};

static bool holds(const char *text, struct io_record record)
{
	const struct command_context context = {
		.dev = "nvme0n1",
		.block_size = 512,
		.op_names = op_names,
		.start_ns = 4000000,
		.cdw = true,
	};
	struct condition *condition;
	struct command_row row;
	bool truth;

	if (condition__parse("--if", text, columns, COMMAND_COLUMNS, &condition))
		return false;
	command_row__fill(&row, &record, &context);
	truth = condition__is_true(condition, &row);
	condition__free(condition);
	return truth;
}

static void check_row(void)
{
	static const char *const true_ones[] = {
		"lat == 1500us",
		"lat > 1ms && lat < 2ms",
		"op == read",
		"dev == nvme0n1",
		"lba == 2048",
		"bytes == 4Ki",
		"status == ok",
		"pid == 42",
		"comm =~ 'fio*'",
		"qid == 3",
		"cid == 4098",
		"nsid == 1",
		"attempts == 1",
		"event == 'end'",
		"time == 2500us",
		"start == 5000000",
		"end - start == 1500000",
		"cdw =~ '00000800 *'",
		"command =~ 'lba=*'",
	};

	for (size_t i = 0; i < sizeof(true_ones) / sizeof(true_ones[0]); i++)
		ok(holds(true_ones[i], read_4k), "%s", true_ones[i]);
	ok(!holds("lat > 1500us", read_4k), "not lat > 1500us");
	ok(!holds("op == write", read_4k), "not op == write");
}

static void check_absent(void)
{
	struct io_record block = { .kind = IO_BLOCK, .bytes = 512, .end_ns = 10 };
	struct io_record submit = read_4k;

	submit.what = RECORD_SUBMIT;
	submit.end_ns = 0;
	ok(holds("event == submit", submit), "a submit");
	ok(!holds("lat >= 0us", submit) && !holds("lat < 1s", submit), "has no latency");
	ok(!holds("nsid >= 0", block) && !holds("cid >= 0", block), "no namespace but NVMe's");
	ok(holds("op == read && bytes == 512", block), "other disks' operations by their names");
}

static void check_exact(void)
{
	struct io_record far = read_4k;

	far.cdw10[0] = 1;
	far.cdw10[1] = 0x80000000;
	ok(holds("lba == 0x8000000000000001", far), "64 bits of a number are compared");
	ok(!holds("lba == 0x8000000000000000", far), "to the last one");
	ok(holds("lba & 7 == 1 && lba >> 63 == 1", far), "and each of them is there");
}

static void check_refused(void)
{
	struct condition *condition = NULL;

	is_u64((uint64_t)condition__parse("--if", NULL, columns, COMMAND_COLUMNS, &condition), 0,
	       "no text is no condition");
	ok(!condition, "which is NULL");
	ok(condition__parse("--if", "duration > 1ms", columns, COMMAND_COLUMNS, &condition) ==
		   -EINVAL,
	   "an unknown field is refused");
	ok(condition__parse("--if", "hex(lba) == 1", columns, COMMAND_COLUMNS, &condition) ==
		   -EINVAL,
	   "so is a call");
	ok(condition__parse("--if", "lat > ", columns, COMMAND_COLUMNS, &condition) == -EINVAL,
	   "so is half an expression");
	condition__free(NULL);
}

int main(void)
{
	for (size_t i = 0; i < COMMAND_COLUMNS; i++)
		columns[i] = &command_columns[i];
	ok(!command_columns[COMMAND_COLUMNS].key, "as many columns as there are");
	check_row();
	check_absent();
	check_exact();
	check_refused();
	return done_testing();
}
