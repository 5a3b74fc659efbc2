/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record.c: does a record of any kind say where it went, how, and how it ended? Errors of the block
 * layer are those of the kernel's table, written down again here.
 */
#define _GNU_SOURCE
#include "decode/record.h"

#include <errno.h>
#include <stdlib.h>
#include "decode/errno.h"
#include "tap.h"
#include "wire/io_tables.h"

/* As Linux 6.12 has them. */
static char *const block_names[256] = {
	[0] = (char *)"read",
	[1] = (char *)"write",
	[2] = (char *)"flush",
	[3] = (char *)"discard",
	[34] = (char *)"drv-in",
	[35] = (char *)"drv-out",
	[17] = (char *)"zone-reset-all",
};

static const struct {
	struct io_record r;
	uint32_t block_size;
	const char *describe, *status;
} cases[] = {
	{ { .kind = IO_BLOCK, .op = 0, .cdw10 = { 2048 }, .bytes = 4096 },
	  512,
	  "sector=2048 len=4Ki",
	  "ok" },
	{ { .kind = IO_BLOCK, .op = 1, .cdw10 = { 1, 2 }, .bytes = 1536, .status = EIO },
	  0,
	  "sector=8589934593 len=1536",
	  "I/O error (EIO)" },
	{ { .kind = IO_BLOCK, .op = 2 }, 0, "", "ok" },
	{ { .kind = IO_BLOCK, .op = 3, .cdw10 = { 8 }, .bytes = 1 << 20, .status = ENODATA },
	  0,
	  "sector=8 len=1Mi",
	  "medium error (ENODATA)" },
	{ { .kind = IO_BLOCK, .op = 17 }, 0, "", "ok" },
	{ { .kind = IO_BLOCK, .op = 34, .bytes = 96, .flags = RECORD_PASSTHROUGH | RECORD_USER },
	  0,
	  "len=96 passthrough",
	  "ok" },
	{ { .kind = IO_BLOCK, .op = 99, .cdw10 = { 5 }, .status = 200 },
	  0,
	  "sector=5",
	  "error 200" },
	{ { .kind = IO_NVME, .op = 2, .cdw10 = { 2048, 0, 7 } },
	  512,
	  "lba=2048 nlb=8 len=4Ki",
	  "ok" },
	{ { .kind = IO_NVME, .op = 1, .cdw10 = { 0, 1, 1u << 30 }, .status = 0x4281 },
	  0,
	  "lba=4294967296 nlb=1 fua",
	  "unrecovered read error (2/81) DNR" },
	{ { .kind = IO_NVME, .op = 2, .cdw10 = { 9, 0, 0 }, .flags = 7 },
	  4096,
	  "lba=9 nlb=1 len=4Ki metadata passthrough",
	  "ok" },
	{ { .kind = IO_NVME, .op = 2, .cdw10 = { 9 }, .flags = RECORD_POLLED },
	  4096,
	  "lba=9 nlb=1 len=4Ki polled",
	  "ok" },
	{ { .kind = IO_ADMIN, .op = 6, .cdw10 = { 1 }, .flags = RECORD_PASSTHROUGH },
	  0,
	  "cns=controller by-driver",
	  "ok" },
	{ { .kind = IO_NVME, .op = 2, .what = RECORD_SUBMIT }, 0, "lba=0 nlb=1", "-" },
	{ { .kind = IO_NVME, .op = 2, .flags = RECORD_NO_STATUS, .status = 1 },
	  0,
	  "lba=0 nlb=1",
	  "failed" },
	{ { .kind = IO_NVME, .op = 2, .flags = RECORD_NO_STATUS }, 0, "lba=0 nlb=1", "ok" },
	{ { .kind = IO_FABRICS, .op = 1, .cdw10 = { 1 << 16, 127 }, .status = 0x182 },
	  0,
	  "qid=1 sqsize=128 kato=0s",
	  "invalid connect parameters (1/82)" },
	{ { .kind = 77, .op = 2, .cdw10 = { 1 } }, 0, "cdw10=0x1", "ok" },
};

static void check_cases(void)
{
	char buf[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct words w = words__on(buf, sizeof(buf));

		record__describe(&w, &cases[i].r, cases[i].block_size, block_names);
		is_str(words__done(&w), cases[i].describe, cases[i].describe);
		w = words__on(buf, sizeof(buf));
		record__status(&w, &cases[i].r);
		is_str(words__done(&w), cases[i].status, cases[i].status);
	}
}

/* A start of 2^33 + 1 for the operations that have one. */
static void check_start(void)
{
	static const struct {
		uint8_t kind, op;
		bool has;
	} starts[] = {
		{ IO_BLOCK, 0, true },	  { IO_BLOCK, 2, false },   { IO_BLOCK, 34, false },
		{ IO_NVME, 0x00, false }, { IO_NVME, 0x02, true },  { IO_NVME, 0x09, false },
		{ IO_NVME, 0x19, true },  { IO_NVME, 0x7d, true },  { IO_ADMIN, 0x02, false },
		{ IO_ADMIN, 0x86, true }, { IO_FABRICS, 1, false }, { IO_NVME, 0x93, false },
	};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		struct io_record r = { .kind = starts[i].kind, .op = starts[i].op };
		uint64_t start = 0;
		bool has;

		r.cdw10[0] = 1;
		r.cdw10[1] = 2;
		has = record__start(&r, block_names, &start);
		ok(has == starts[i].has && start == (has ? (2ULL << 32 | 1) : 0),
		   "kind %u, operation %#x: %s", r.kind, r.op, has ? "a start" : "none");
	}
}

/* Blocks of the namespace, and sectors of 512 bytes. */
static void check_places(void)
{
	static const struct {
		uint32_t kind, op, block_size;
		uint64_t start, lba, sector;
	} places[] = {
		{ IO_NVME, 2, 512, 24, 24, 24 },
		{ IO_NVME, 2, 4096, 24, 24, 192 },
		{ IO_NVME, 2, 0, 24, 24, UINT64_MAX },
		{ IO_NVME, 2, 4096, 1ULL << 61, 1ULL << 61, UINT64_MAX },
		{ IO_NVME, 0, 4096, 24, UINT64_MAX, UINT64_MAX },
		{ IO_BLOCK, 0, 4096, 24, UINT64_MAX, 24 },
		{ IO_BLOCK, 2, 4096, 24, UINT64_MAX, UINT64_MAX },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct io_record r = { .kind = (uint8_t)places[i].kind,
				       .op = (uint8_t)places[i].op };
		struct record_place place;

		r.cdw10[0] = (uint32_t)places[i].start;
		r.cdw10[1] = (uint32_t)(places[i].start >> 32);
		place = record__place(&r, block_names, places[i].block_size);
		ok(place.lba == places[i].lba && place.sector == places[i].sector,
		   "kind %u, operation %#x, blocks of %u: lba and sector", r.kind, r.op,
		   places[i].block_size);
	}
}

/* Of block/blk-core.c: what each BLK_STS_* becomes. */
static const int block_errors[] = {
	EOPNOTSUPP, ETIMEDOUT, ENOSPC, ENOLINK, EREMOTEIO,    EBADE,	 ENODATA, EILSEQ, ENOMEM,
	EBUSY,	    EAGAIN,    ENODEV, EREMCHG, ETOOMANYREFS, EOVERFLOW, ETIME,	  EINVAL, EIO,
};

static void check_errno(void)
{
	char buf[64], want[64];

	for (size_t i = 0; i < sizeof(block_errors) / sizeof(block_errors[0]); i++) {
		int err = block_errors[i];
		struct words w = words__on(buf, sizeof(buf));

		errno__describe(&w, err);
		words__done(&w);
		snprintf(want, sizeof(want), " (%s)", strerrorname_np(err));
		ok(strlen(buf) > strlen(want) + 3 && strstr(buf, want), "%d: %s", err, buf);
	}
}

/* Of include/linux/blk_types.h: the number of each BLK_STS_* until Linux 6.9, and since. */
static const struct {
	const char *name;
	int until, since; /* -1: the kernel has none */
	int err;
} block_statuses[] = {
	{ "OK", 0, 0, 0 },
	{ "NOTSUPP", 1, 1, EOPNOTSUPP },
	{ "TIMEOUT", 2, 2, ETIMEDOUT },
	{ "NOSPC", 3, 3, ENOSPC },
	{ "TRANSPORT", 4, 4, ENOLINK },
	{ "TARGET", 5, 5, EREMOTEIO },
	{ "RESV_CONFLICT", 6, 6, EBADE },
	{ "MEDIUM", 7, 7, ENODATA },
	{ "PROTECTION", 8, 8, EILSEQ },
	{ "RESOURCE", 9, 9, ENOMEM },
	{ "IOERR", 10, 10, EIO },
	{ "DM_REQUEUE", 11, 11, EREMCHG },
	{ "AGAIN", 12, 12, EAGAIN },
	{ "DEV_RESOURCE", 13, 13, EBUSY },
	{ "ZONE_RESOURCE", 14, -1, EBUSY },
	{ "ZONE_OPEN_RESOURCE", 15, 14, ETOOMANYREFS },
	{ "ZONE_ACTIVE_RESOURCE", 16, 15, EOVERFLOW },
	{ "OFFLINE", 17, 16, ENODEV },
	{ "DURATION_LIMIT", 18, 17, ETIME },
	{ "INVAL", -1, 19, EINVAL },
	{ "that will come", 20, 20, EIO },
	{ "of the highest number", 255, 255, EIO },
};

static void check_block_status(void)
{
	for (size_t i = 0; i < sizeof(block_statuses) / sizeof(block_statuses[0]); i++) {
		int until = block_statuses[i].until, since = block_statuses[i].since;
		int before = until < 0 ? -1 : errno__of_block((uint32_t)until, true);
		int after = since < 0 ? -1 : errno__of_block((uint32_t)since, false);
		int want = block_statuses[i].err;

		ok(before == (until < 0 ? -1 : want) && after == (since < 0 ? -1 : want),
		   "BLK_STS_%s: errno %d, until 6.9 %d, since %d", block_statuses[i].name, want,
		   before, after);
	}
}

static void check_cut(void)
{
	const struct io_record *r = &cases[9].r;
	char whole[128];
	struct words all = words__on(whole, sizeof(whole));
	bool good = true;
	size_t len;

	record__describe(&all, r, 4096, block_names);
	len = strlen(words__done(&all));
	for (size_t size = 1; size <= len + 2; size++) {
		char *buf = malloc(size);
		struct words w = words__on(buf, size);
		size_t fits = size - 1 < len ? size - 1 : len;

		record__describe(&w, r, 4096, block_names);
		words__done(&w);
		good = good && strlen(buf) == fits && !strncmp(buf, whole, fits);
		free(buf);
	}
	ok(good, "cut at every size: terminated, and a prefix of the whole");
}

int main(void)
{
	check_cases();
	check_start();
	check_places();
	check_errno();
	check_block_status();
	check_cut();
	return done_testing();
}
