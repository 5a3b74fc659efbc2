/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * diff.c: two captures, from the files to the verdicts. They are made here (`diff.t --make DIR` for
 * tests/data): the same drive under another name, whose reads take 20 % longer and fail 2 times in
 * 100, wait longer for a request, and whose writes are as before.
 */
#include "diff/diff.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include "capture/write.h"
#include "tap.h"
#include "wire/io_tables.h"
#include "wire/io_stages.h"

enum { NR_COMMANDS = 1511, NVME_WRITE = 1, NVME_READ = 2 };

struct staged {
	struct io_record record;
	struct io_stages stages;
};

static uint64_t random_state;

/* Integers only: the files have to be the same everywhere. */
static uint64_t random_below(uint64_t limit)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (random_state >> 33) % limit;
}

static uint64_t random_latency(void)
{
	uint64_t ns = 80000 + random_below(20000) + random_below(20000);

	return random_below(100) ? ns : 5 * ns;
}

static void fill(struct staged *s, uint32_t i, bool is_after)
{
	const bool is_read = i % 5 != 4;
	uint64_t ns = random_latency(), start_ns = 1000000000000 + i * 400000ULL;
	uint64_t wait_ns = 2000 + random_below(500) + (is_after && is_read ? 18000 : 0);

	memset(s, 0, sizeof(*s));
	if (is_after && is_read)
		ns = ns * 6 / 5;
	s->record = (struct io_record){
		.first_ns = start_ns,
		.last_ns = start_ns,
		.end_ns = start_ns + ns,
		.nsid = 1,
		.bytes = is_read && random_below(5) == 0 ? 16384 : 4096,
		.pid = 77,
		.seq = i,
		.comm = "fio",
		.qid = 1,
		.op = is_read ? NVME_READ : NVME_WRITE,
		.kind = IO_NVME,
		.attempts = 1,
		.flags = RECORD_STAGES,
		.status = is_after && is_read && random_below(50) == 0 ? 0x281 : 0,
	};
	s->stages = (struct io_stages){
		.queued_ns = start_ns - wait_ns - 3000,
		.got_ns = start_ns - 3000,
		.issued_ns = start_ns + 700,
		.reaped_ns = start_ns + ns - 400,
		.done_ns = start_ns + ns + 900,
		.cpu = 0,
		.nr_bios = 1,
	};
}

static int put_records(struct capture_writer *writer, bool is_after)
{
	struct staged staged;
	int err = 0;

	random_state = is_after ? 4711 : 42;
	for (uint32_t i = 0; i < NR_COMMANDS; i++) {
		fill(&staged, i, is_after);
		err |= capture_writer__records(writer, &staged.record, 1);
		if (i % 500 == 499)
			err |= capture_writer__flush(writer);
	}
	return err;
}

static int make_capture(const char *file, bool is_after)
{
	struct capture_options options = { .path = file };
	static const struct capture_info info[] = {
		{ CAPTURE_INFO_VERSION, "0.10" },
		{ CAPTURE_INFO_KERNEL, "6.12.38" },
		{ CAPTURE_INFO_START, "999999000000" },
		{ CAPTURE_INFO_END, "1000604900000" },
	};
	static const struct capture_count ledger[] = { { "issued", NR_COMMANDS },
						       { "completed", NR_COMMANDS } };
	struct device device = { .kind = DEVICE_NVME_NS,
				 .diskseq = 9,
				 .size_bytes = 1ULL << 40,
				 .block_size = 512,
				 .major = 259,
				 .nsid = 1,
				 .nr_queues = 1,
				 .depth = 1023,
				 .model = "example",
				 .serial = "DIFF0001" };
	struct capture_writer *writer;
	int err = capture_writer__new(&options, &writer);

	if (err)
		return err;
	snprintf(device.name, sizeof(device.name), "nvme%dn1", is_after);
	device.ctrl = is_after;
	err |= capture_writer__info(writer, info, sizeof(info) / sizeof(*info));
	err |= capture_writer__device(writer, 0, &device);
	err |= put_records(writer, is_after);
	err |= capture_writer__finish(writer, "done", ledger, 2);
	capture_writer__free(writer);
	return err;
}

/* ---- the same, and what is found ---- */

static bool same_file(const char *one, const char *other)
{
	static char bytes[2][1 << 17];
	size_t nr[2] = { 0 };

	for (int i = 0; i < 2; i++) {
		FILE *in = fopen(i ? other : one, "re");

		nr[i] = in ? fread(bytes[i], 1, sizeof(bytes[i]), in) : 0;
		if (in)
			fclose(in);
	}
	return nr[0] && nr[0] == nr[1] && !memcmp(bytes[0], bytes[1], nr[0]);
}

static const struct shift *find(const struct diff *d, const char *op, enum shift_what what)
{
	for (size_t i = 0; i < d->nr_pairs; i++)
		for (size_t j = 0; !strcmp(d->pairs[i].op, op) && j < d->pairs[i].nr; j++)
			if (d->list.shifts[d->pairs[i].first + j].what == what)
				return &d->list.shifts[d->pairs[i].first + j];
	return NULL;
}

static bool make_diff(struct diff *d, const char *a, const char *b)
{
	const struct diff_file files[] = { { a, DIFF_COMMANDS }, { b, DIFF_COMMANDS } };
	static const struct option_list none;
	static const struct options options;
	const struct diff_wants wants = { &options, NULL };

	*d = (struct diff){ 0 };
	return !diff__make(d, files, &none, &wants);
}

static void check_found(const char *before, const char *after)
{
	static const enum shift_what slower[] = { SHIFT_P50, SHIFT_P90, SHIFT_MEAN };
	bool good = true, quiet = true;
	const struct shift *s;
	struct diff d;

	ok(make_diff(&d, before, after), "two captures are compared");
	ok(d.nr_pairs == 2 && d.ends[0].ends[0].by == PAIR_SERIAL,
	   "a drive that has another name is known by its serial number");
	for (size_t i = 0; i < 3; i++) {
		s = find(&d, "read", slower[i]);
		good &= s->verdict == SHIFT_MORE && s->shift > 18 && s->shift < 22 && s->low < 20 &&
			s->high > 20;
	}
	ok(good, "reads are 20 +- 2 %% slower, and the intervals hold 20 %%");
	s = find(&d, "read", SHIFT_ERRORS);
	ok(s->verdict == SHIFT_MORE && s->a == 0 && s->shift > 1, "some fail, and did not before");
	good = false;
	for (size_t i = 0; i < d.pairs[0].nr; i++) {
		s = &d.list.shifts[d.pairs[0].first + i];
		good |= s->what == SHIFT_STEP_SHARE &&
			s->key == sample__step(STAGE_QUEUED, STAGE_GOT) &&
			s->verdict == SHIFT_MORE && s->b > 10;
	}
	ok(good, "and they wait longer for a request: a larger part of the time");
	for (size_t i = 0; i < d.pairs[1].nr; i++) {
		s = &d.list.shifts[d.pairs[1].first + i];
		quiet &= s->verdict == SHIFT_NOISE || s->verdict == SHIFT_TOO_FEW;
	}
	ok(quiet && !strcmp(d.pairs[1].op, "write"), "of writes nothing is found");
	diff__free(&d);
}

static void check_itself(const char *file)
{
	bool exact = true;
	struct diff d;

	ok(make_diff(&d, file, file), "a capture is compared with itself");
	for (size_t i = 0; i < d.list.nr; i++)
		exact &= d.list.shifts[i].shift == 0 && d.list.shifts[i].verdict == SHIFT_NOISE;
	ok(exact && d.list.nr > 20, "every shift is 0, and noise");
	diff__free(&d);
}

static void check_asked(const char *before, const char *after)
{
	const struct diff_file files[] = { { before, DIFF_COMMANDS }, { after, DIFF_COMMANDS } };
	const char *words[] = { "nvme0n1=nvme7n1" }, *good[] = { "nvme0n1=nvme1n1" };
	struct option_list asked = { words, 1 };
	static const struct options options;
	const struct diff_wants wants = { &options, NULL };
	struct diff d = { 0 };

	ok(diff__make(&d, files, &asked, &wants) < 0, "--pair of a device that is not there");
	diff__free(&d);
	d = (struct diff){ 0 };
	asked.words = good;
	ok(!diff__make(&d, files, &asked, &wants) && d.ends[0].ends[0].by == PAIR_ASKED,
	   "and of one that is");
	diff__free(&d);
}

int main(int argc, char **argv)
{
	char dir[64] = "/tmp/iosonar-diff-XXXXXX", before[96], after[96];
	bool make = argc == 3 && !strcmp(argv[1], "--make");

	if (!make && !mkdtemp(dir))
		return 1;
	snprintf(before, sizeof(before), "%s/before.cap", make ? argv[2] : dir);
	snprintf(after, sizeof(after), "%s/after.cap", make ? argv[2] : dir);
	ok(!make_capture(before, false) && !make_capture(after, true), "captures are written");
	if (make)
		return done_testing();
	ok(same_file(before, "tests/data/before.cap") && same_file(after, "tests/data/after.cap"),
	   "those of tests/data are these");
	check_found(before, after);
	check_itself(after);
	check_asked(before, after);
	unlink(before);
	unlink(after);
	rmdir(dir);
	return done_testing();
}
