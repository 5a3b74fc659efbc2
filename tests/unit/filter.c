/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.c: does a filter let the same records through as the programs in the kernel would? Each
 * alone with a record at its border on either side, all together, and every word that is refused.
 * Partitions and cgroups: those of the capture.
 */
#include <errno.h>
#include <stdlib.h>
#include "capture/filter.h"
#include "tap.h"
#include "wire/io_tables.h"
#include "wire/io_stages.h"

static struct device_partition nvme_partitions[] = {
	{ "nvme0n1p1", 2048, 1000 },
	{ "nvme0n1p2", 4096, 8 },
	{ "nvme0n1p3", 5000, 0 },
};
static struct device_partition head_partitions[] = { { "nvme1n1p1", 64, 64 } };
static struct device_partition block_partitions[] = { { "sdb1", 2048, 1000 } };

static struct device devices[] = {
	{ .name = "nvme0n1",
	  .block_size = 4096,
	  .knows_partitions = true,
	  .nr_partitions = 3,
	  .partitions = nvme_partitions,
	  .kind = DEVICE_NVME_NS,
	  .ctrl = 0,
	  .nsid = 1,
	  .major = 259,
	  .size_bytes = 1 << 20 },
	{ .name = "nvme0", .kind = DEVICE_NVME_CTRL, .ctrl = 0 },
	{ .name = "nvme1c2n1",
	  .kind = DEVICE_NVME_NS,
	  .ctrl = 2,
	  .nsid = 1,
	  .major = 259,
	  .minor = 4,
	  .size_bytes = 1 << 20 },
	{ .name = "nvme1n1",
	  .kind = DEVICE_NVME_HEAD,
	  .ctrl = -1,
	  .knows_partitions = true,
	  .nr_partitions = 1,
	  .partitions = head_partitions,
	  .major = 259,
	  .minor = 5,
	  .size_bytes = 1 << 20 },
	{ .name = "sda", .kind = DEVICE_REQUEST, .ctrl = -1, .major = 8, .size_bytes = 1 << 20 },
	{ .name = "dm-0", .kind = DEVICE_BIO, .ctrl = -1, .major = 253, .size_bytes = 1 << 20 },
	{ .name = "sdb",
	  .kind = DEVICE_REQUEST,
	  .ctrl = -1,
	  .knows_partitions = true,
	  .nr_partitions = 1,
	  .partitions = block_partitions,
	  .major = 8,
	  .minor = 16,
	  .size_bytes = 1 << 20 },
};
static const struct device_list list = { .devices = devices, .nr = 7 };
/* In no order. */
static struct glossary_entry cgroup_entries[] = {
	{ { { 13 } }, "/c" },  { { { 7 } }, "/a" },   { { { 5 } }, "/" },
	{ { { 11 } }, "/ab" }, { { { 9 } }, "/a/b" },
};
static const struct glossary cgroups = { .entries = cgroup_entries, .nr = 5 };
static char *op_names[256] = { [0] = "read", [1] = "write", [2] = "flush" };

static const struct io_record nvme_read = {
	.first_ns = 1000,
	.last_ns = 1500,
	.end_ns = 3000,
	.nsid = 1,
	.pid = 42,
	.comm = "fio",
	.qid = 3,
	.kind = IO_NVME,
	.op = 2,
};

static const struct capture_filter_names names = {
	.devices = &list,
	.op_names = op_names,
	.cgroups = &cgroups,
};

/* Does the record pass, of this device? */
static bool passes_kinds(const struct filter_options *options, uint32_t kinds, bool submits,
			 struct io_record record, int device)
{
	struct capture_filter filter;
	bool passes;
	int err = capture_filter__init(&filter, options, kinds, &names);

	filter.submits = submits;
	passes = !err &&
		 capture_filter__passes(&filter, &record, device < 0 ? NULL : &devices[device]);
	capture_filter__free(&filter);
	return passes;
}

static bool passes(const struct filter_options *options, struct io_record record, int device)
{
	return passes_kinds(options, 0, false, record, device);
}

static int refuses(const struct filter_options *options)
{
	struct capture_filter filter;
	int err = capture_filter__init(&filter, options, 0, &names);

	capture_filter__free(&filter);
	return err;
}

#define WORDS(...) ((const char *[]){ __VA_ARGS__ })
#define GIVEN(n)                            \
	{                                   \
		.value = (n), .given = true \
	}

static bool passes_device(const char *name, int device)
{
	const struct filter_options options = { .devices = { WORDS(name), 1 } };

	return passes(&options, nvme_read, device);
}

static void check_devices(void)
{
	const struct filter_options two = { .devices = { WORDS("sda", "nvme0n1"), 2 } };

	ok(passes(&(struct filter_options){ 0 }, nvme_read, -1),
	   "no filter: a device nobody knows");
	ok(passes_device("nvme0n1", 0) && !passes_device("nvme0n1", 4), "-d nvme0n1");
	ok(!passes_device("nvme0n1", 1), "-d nvme0n1: not its controller's admin commands");
	ok(!passes_device("nvme0n1", -1), "-d nvme0n1: not what nobody knows");
	ok(passes_device("nvme0", 0) && passes_device("nvme0", 1) && !passes_device("nvme0", 2),
	   "-d nvme0: disk and controller, no other's");
	ok(passes_device("nvme1n1", 2) && !passes_device("nvme1n1", 0), "a head means its legs");
	ok(passes_device("nvme2", 2), "a controller that only a leg names");
	ok(passes_device("/dev/sda", 4) && passes_device("8:0", 4), "-d by path and by number");
	ok(passes(&two, nvme_read, 4) && passes(&two, nvme_read, 0) && !passes(&two, nvme_read, 2),
	   "two -d: either");
	ok(refuses(&(struct filter_options){ .devices = { WORDS("sdc"), 1 } }) == -ENODEV,
	   "an unknown device is refused");
	ok(refuses(&(struct filter_options){ .devices = { WORDS("sda1"), 1 } }) == -ENODEV,
	   "so is a partition of a disk whose partitions nobody kept");
	ok(refuses(&(struct filter_options){ .devices = { WORDS("sdb2"), 1 } }) == -ENODEV &&
		   refuses(&(struct filter_options){ .devices = { WORDS("nvme0n1p"), 1 } }) ==
			   -ENODEV,
	   "one that is not there");
	ok(refuses(&(struct filter_options){ .devices = { WORDS("nvme0n1p3"), 1 } }) == -ENODEV,
	   "one without sectors");
	ok(refuses(&(struct filter_options){ .devices = { WORDS("dm-0"), 1 } }) == -ENODEV,
	   "and what passes bios on");
}

/* An NVMe read of 4096-byte block `lba`: eight sectors a block. */
static struct io_record read_at(uint64_t lba)
{
	struct io_record record = nvme_read;

	record.cdw10[0] = (uint32_t)lba;
	record.cdw10[1] = (uint32_t)(lba >> 32);
	return record;
}

static bool passes_partition(const char *name, struct io_record record, int device)
{
	const struct filter_options options = { .devices = { WORDS(name), 1 } };

	return passes(&options, record, device);
}

static void check_partitions(void)
{
	const struct filter_options both = { .devices = { WORDS("nvme0n1p1", "nvme0n1p2"), 2 } };
	const struct filter_options all = { .devices = { WORDS("nvme0n1p1", "nvme0n1"), 2 } };
	struct io_record record = read_at(256), block = { .kind = IO_BLOCK, .op = 2 };

	ok(passes_partition("nvme0n1p1", read_at(256), 0) &&
		   passes_partition("/dev/nvme0n1p1", read_at(380), 0),
	   "-d PARTITION: its first and last block");
	ok(!passes_partition("nvme0n1p1", read_at(255), 0) &&
		   !passes_partition("nvme0n1p1", read_at(381), 0),
	   "and not those beside them");
	ok(!passes_partition("nvme0n1p1", read_at(256 + (1ULL << 32)), 0),
	   "the upper half of an address counts");
	ok(!passes_partition("nvme0n1p1", read_at(256), 4), "nor another disk's");
	ok(passes(&both, read_at(256), 0) && passes(&both, read_at(512), 0) &&
		   !passes(&both, read_at(513), 0),
	   "two partitions add up");
	ok(passes(&all, read_at(513), 0), "a disk includes its partitions");
	ok(passes_partition("nvme1n1p1", read_at(64), 2) &&
		   !passes_partition("nvme1n1p1", read_at(128), 2),
	   "a head's partition is on its legs, in sectors if blocks are not known");
	record.op = 0;
	ok(!passes_partition("nvme0n1p1", record, 0), "a flush is in none");
	record = read_at(256);
	record.flags = RECORD_PASSTHROUGH;
	ok(!passes_partition("nvme0n1p1", record, 0), "nor is what a user sent past them");
	block.cdw10[0] = 2048;
	ok(passes_partition("sdb1", block, 6), "another disk's sector is in its record");
	block.cdw10[0] = block.cdw10[1] = UINT32_MAX;
	ok(!passes_partition("sdb1", block, 6), "and a flush's is none");
}

/* Two machines have a sdb1, which begins elsewhere, and one of them has a sdc. */
static void check_hosts(void)
{
	static struct device_partition later[] = { { "sdb1", 4096, 1000 } };
	struct device of_two[] = { devices[6], devices[6], devices[4] };
	const struct device_list both = { .devices = of_two, .nr = 3 };
	const struct capture_filter_names two = { .devices = &both, .op_names = op_names };
	static const struct {
		const char *word, *what;
		uint32_t sector;
		bool passes[2];
	} cases[] = {
		{ "sdb1", "a partition is each machine's own: the first", 2048, { true, false } },
		{ "sdb1", "the second", 4096, { false, true } },
		{ "sdb", "a disk is of both", 0, { true, true } },
		{ "db8:sdb", "with a machine, of that one", 0, { false, true } },
		{ "db7:/dev/sdb1", "so is a partition", 2048, { true, false } },
		{ "db8:8:16", "and a number", 0, { false, true } },
		{ "db7:sda", "a disk that only the other machine has", 0, { false, false } },
		{ "db9:sdb", "a machine that is not there", 0, { false, false } },
	};

	of_two[0].host = "db7";
	of_two[0].host_number = 1;
	of_two[1].host = of_two[2].host = "db8";
	of_two[1].host_number = of_two[2].host_number = 2;
	of_two[1].partitions = later;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const word = cases[i].word;
		const struct filter_options options = { .devices = { WORDS(word), 1 } };
		struct io_record block = { .kind = IO_BLOCK, .cdw10 = { cases[i].sector } };
		struct capture_filter filter;
		bool is_good = true;
		int err = capture_filter__init(&filter, &options, 0, &two);

		for (int of = 0; of < 2; of++)
			is_good &= (!err && capture_filter__passes(&filter, &block, &of_two[of])) ==
				   cases[i].passes[of];
		ok(is_good, "%s", cases[i].what);
		capture_filter__free(&filter);
	}
}

/* Discards do not say where they begin. */
static void check_unplaced(void)
{
	const struct filter_options options = { .devices = { WORDS("nvme0n1p1"), 1 } };
	struct io_record discard = read_at(256);
	struct capture_filter filter;

	discard.op = 9;
	capture_filter__init(&filter, &options, 0, &names);
	ok(!capture_filter__passes(&filter, &discard, &devices[0]) && filter.nr_unplaced == 1,
	   "a discard is in no partition, and counted");
	ok(!capture_filter__passes(&filter, &discard, &devices[2]) && filter.nr_unplaced == 1,
	   "but not one of another disk");
	capture_filter__free(&filter);
}

struct staged {
	struct io_record record;
	struct io_stages stages;
};

static bool passes_cgroup(const char *path, uint64_t id)
{
	const struct filter_options options = { .cgroup = path };
	struct staged staged = { nvme_read, { .cgroup = id } };
	struct capture_filter filter;
	bool passes;

	staged.record.flags = RECORD_STAGES;
	if (capture_filter__init(&filter, &options, 0, &names)) {
		capture_filter__free(&filter);
		return false;
	}
	passes = capture_filter__passes(&filter, &staged.record, &devices[0]);
	capture_filter__free(&filter);
	return passes;
}

static void check_cgroups(void)
{
	const struct filter_options a = { .cgroup = "/a" };
	struct capture_filter filter;

	ok(passes_cgroup("/a", 7) && passes_cgroup("/a", 9), "--cgroup: it and what is below it");
	ok(!passes_cgroup("/a", 11) && !passes_cgroup("/a", 13) && !passes_cgroup("/a", 5),
	   "not one whose name only begins so, nor what is beside or above");
	ok(passes_cgroup("a/", 9) && passes_cgroup("/sys/fs/cgroup/a", 9) &&
		   !passes_cgroup("/sys/fs/cgroup/a", 13),
	   "as it is named live");
	ok(passes_cgroup("/", 13) && passes_cgroup("/sys/fs/cgroup", 99),
	   "all are below the root, known or not");
	ok(!passes_cgroup("/a", 99), "one whose path is not known is in no other");
	ok(refuses(&(struct filter_options){ .cgroup = "/d" }) == -EINVAL,
	   "a path that nothing came from is refused");
	capture_filter__init(&filter, &a, 0, &names);
	ok(!capture_filter__passes(&filter, &nvme_read, &devices[0]) && filter.nr_stageless == 1,
	   "a record without stages is left out, and counted");
	capture_filter__free(&filter);
}

static void check_ops(void)
{
	const struct filter_options reads = { .ops = { WORDS("read"), 1 } };
	const struct filter_options flushes = { .ops = { WORDS("flush", "identify"), 2 } };
	struct io_record block_read = { .kind = IO_BLOCK, .op = 0 };
	struct io_record identify = { .kind = IO_ADMIN, .op = 6 };
	struct io_record nvme_write = { .kind = IO_NVME, .op = 1 };
	const uint32_t admin = 1 << IO_ADMIN | 1 << IO_FABRICS, io = 1 << IO_NVME | 1 << IO_BLOCK;

	ok(passes(&reads, nvme_read, 0) && passes(&reads, block_read, 4),
	   "--op read: of both kinds");
	ok(!passes(&reads, nvme_write, 0) && !passes(&reads, identify, 1), "and nothing else");
	ok(passes(&flushes, identify, 1) && !passes(&flushes, nvme_read, 0), "--op flush,identify");
	ok(passes_kinds(&(struct filter_options){ 0 }, admin, false, identify, 1) &&
		   !passes_kinds(&(struct filter_options){ 0 }, admin, false, nvme_read, 0),
	   "--admin");
	ok(passes_kinds(&(struct filter_options){ 0 }, io, false, block_read, 4) &&
		   !passes_kinds(&(struct filter_options){ 0 }, io, false, identify, 1),
	   "--io");
	ok(!passes_kinds(&flushes, io, false, identify, 1),
	   "--io --op flush,identify: no identify");
	ok(refuses(&(struct filter_options){ .ops = { WORDS("raed"), 1 } }) == -EINVAL,
	   "an unknown operation is refused");
}

static void check_sender(void)
{
	const struct filter_options pid = { .pid = GIVEN(42) }, other = { .pid = GIVEN(43) };
	struct io_record longer = nvme_read;

	memcpy(longer.comm, "fio2", 5);
	ok(passes(&pid, nvme_read, 0) && !passes(&other, nvme_read, 0), "-p");
	ok(passes(&(struct filter_options){ .comm = "fio" }, nvme_read, 0), "--comm");
	ok(!passes(&(struct filter_options){ .comm = "fio" }, longer, 0), "--comm: no longer name");
	ok(!passes(&(struct filter_options){ .comm = "fi" }, nvme_read, 0),
	   "--comm: nor a shorter");
	ok(refuses(&(struct filter_options){ .comm = "" }) == -EINVAL, "--comm '' is refused");
	ok(refuses(&(struct filter_options){ .comm = "0123456789abcdef" }) == -EINVAL,
	   "so is one of 16 characters");
}

static void check_place(void)
{
	struct io_record block = { .kind = IO_BLOCK, .nsid = 1, .qid = 3 };
	struct filter_options o = { .nsid = GIVEN(1) };

	ok(passes(&o, nvme_read, 0) && !passes(&o, block, 4), "--nsid: NVMe only");
	o.nsid.value = 2;
	ok(!passes(&o, nvme_read, 0), "--nsid: not another");
	o = (struct filter_options){ .qid = GIVEN(3) };
	ok(passes(&o, nvme_read, 0) && passes(&o, block, 4), "--qid: of every disk");
	o.qid.value = 0;
	ok(!passes(&o, nvme_read, 0), "--qid 0: only queue 0");
	o.qid.value = 4;
	ok(!passes(&o, nvme_read, 0), "--qid 4: no lower queue");
	o = (struct filter_options){ .ctrl_id = GIVEN(0) };
	ok(passes(&o, nvme_read, 0) && passes(&o, nvme_read, 1), "--ctrl_id 0");
	ok(!passes(&o, nvme_read, 2) && !passes(&o, block, 4) && !passes(&o, nvme_read, -1),
	   "--ctrl_id: nobody else's");
}

static void check_outcome(void)
{
	struct io_record failed = nvme_read, submit = nvme_read;
	struct filter_options o = { .min_ns = GIVEN(2000) };

	failed.status = 0x4080;
	submit.what = RECORD_SUBMIT;
	submit.end_ns = 0;
	ok(passes(&o, nvme_read, 0), "--min: exactly so long");
	o.min_ns.value = 2001;
	ok(!passes(&o, nvme_read, 0), "--min: 1 ns less");
	ok(passes_kinds(&o, 0, true, submit, 0), "--min --split: a submit has no latency yet");
	o = (struct filter_options){ .failed = true };
	ok(passes(&o, failed, 0) && !passes(&o, nvme_read, 0), "--failed");
	ok(passes_kinds(&o, 0, true, submit, 0), "--failed --split: a submit did not fail yet");
	ok(!passes(&(struct filter_options){ 0 }, submit, 0), "without --split no submit");
	submit.what = RECORD_BIO;
	ok(!passes(&(struct filter_options){ 0 }, submit, 0) &&
		   !passes_kinds(&(struct filter_options){ 0 }, 0, true, submit, 0),
	   "a bio is no command");
	o = (struct filter_options){ .failed = true, .pid = GIVEN(43) };
	ok(!passes(&o, failed, 0), "all filters have to hold");
}

int main(void)
{
	check_devices();
	check_partitions();
	check_hosts();
	check_unplaced();
	check_cgroups();
	check_ops();
	check_sender();
	check_place();
	check_outcome();
	return done_testing();
}
