/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recorder.c: does a capture say all that the run knew? One file, parts of a size, memory; devices
 * that appear late; and what keeping a record costs, from the window in which it is put in order to
 * the encoded block. Cost is asserted of a build without sanitizers, which `./check`
 * runs, too.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "analyse/order.h"
#include "capture/merge.h"
#include "counts.h"
#include "session/recorder.h"
#include "tap.h"
#include "yardstick.h"
#include "wire/io_tables.h"
#include "wire/io_stages.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { START_NS = 5000000 };

static char dir[] = "/tmp/iosonar-recorder.XXXXXX";
static struct device devices[8] = {
	{ .name = "nvme0", .kind = DEVICE_NVME_CTRL },
	{ .name = "nvme0n1", .kind = DEVICE_NVME_NS, .nsid = 1, .diskseq = 7, .block_size = 512 },
	{ .name = "sda", .kind = DEVICE_REQUEST, .ctrl = -1, .diskseq = 9, .block_size = 4096 },
};
static struct device_list list = { .devices = devices, .nr = 2 };
static char *op_names[256] = { [0] = "read", [255] = "last" };

/* Numbers 10 and 11 are two cells of one disk, as two CPUs may have claimed them. */
static int device_of(void *arg, const struct io_record *record)
{
	(void)arg;
	switch (record->device) {
	case 10:
	case 11: return 1;
	case 20: return list.nr > 2 ? 2 : -1;
	}
	return -1;
}

/* No id above 100 has a text. */
static const char *text(void *arg, enum glossary_kind kind, struct glossary_id id)
{
	static char buf[64];

	(void)arg;
	snprintf(buf, sizeof(buf), "%d:%llu:%llu", (int)kind, (unsigned long long)id.words[0],
		 (unsigned long long)id.words[1]);
	return id.words[0] > 100 ? NULL : buf;
}

static const char *path(const char *name)
{
	static char buf[256];

	snprintf(buf, sizeof(buf), "%s/%s", dir, name);
	return buf;
}

static struct recorder *begin(struct file_options *options, const char *name)
{
	struct recorder *recorder;
	struct recorder_run run = { .options = options,
				    .devices = &list,
				    .device_of = device_of,
				    .text = text,
				    .op_names = op_names,
				    .start_ns = START_NS };

	options->write = strdup(path(name));
	if (recorder__new(&run, &recorder)) {
		recorder__free(recorder);
		return NULL;
	}
	return recorder;
}

static uint64_t noise = 88172645463325252ULL;

static uint64_t draw(uint64_t most)
{
	noise ^= noise << 13;
	noise ^= noise >> 7;
	noise ^= noise << 17;
	return noise % most;
}

/* Random reads of several queues, a microsecond apart. */
static struct io_record make(uint32_t nr, uint16_t device)
{
	uint64_t end_ns = START_NS + 1000 * (uint64_t)nr + draw(900);
	struct io_record record = {
		.first_ns = end_ns - 60000 - draw(30000),
		.end_ns = end_ns,
		.cdw10 = { (uint32_t)draw(1 << 30), 0, 7 },
		.nsid = 1,
		.bytes = 4096,
		.pid = 100 + nr % 4,
		.comm = "fio",
		.seq = nr / 4,
		.device = device,
		.qid = (uint16_t)(nr % 4 + 1),
		.cid = (uint16_t)draw(64),
		.cpu = (uint16_t)(nr % 4),
		.op = 2,
		.attempts = 1,
	};

	record.last_ns = record.first_ns;
	return record;
}

struct staged {
	struct io_record record;
	struct io_stages stages;
};

/* One in three has stages. */
static struct staged make_staged(uint32_t nr)
{
	static const uint16_t numbers[] = { 10, 11, 20, 4000 };
	struct staged staged = { .record = make(nr, numbers[nr % 4]) };

	if (nr % 3 == 0) {
		staged.record.flags |= RECORD_STAGES;
		staged.stages.queued_ns = staged.record.first_ns - draw(3000);
		staged.stages.cgroup = nr % 5;
	}
	return staged;
}

static const struct ledger ledger = { .issued = 1010,
				      .completed = 1009,
				      .in_flight = 1,
				      .lost[LOST_RING] = 5,
				      .counted = 1009,
				      .counted_known = true,
				      .oldest_ns = 77 };

static void check_ledger(const struct capture_about *about)
{
	struct ledger back = { 0 };

	for (size_t i = 0; i < about->trailer.ledger.nr; i++)
		ledger__add_term(&back,
				 &(struct ledger_term){ about->trailer.ledger.counts[i].name,
							about->trailer.ledger.counts[i].value });
	ok(!memcmp(&back, &ledger, sizeof(back)), "the ledger comes back, every term");
}

static void check_one(void)
{
	struct file_options options = { 0 };
	struct recorder *recorder = begin(&options, "one.cap");
	struct capture_clock clock = { START_NS, 1, 1700000000000000000 };
	struct capture_reader *reader = NULL;
	const struct capture_about *about;
	const struct io_record *next;
	uint32_t nr = 0, same = 0;
	int err;

	noise = 1;
	recorder__clock(recorder, &clock);
	for (uint32_t i = 0; i < 1009; i++) {
		struct staged staged = make_staged(i);

		list.nr = i < 500 ? 2 : 3; /* sda appears */
		recorder__record(recorder, &staged.record);
	}
	recorder__lost(recorder, "ring full", 5);
	is_u64((uint64_t)recorder__finish(recorder, START_NS + 2000000, &ledger), 0, "one file");
	is_u64(recorder__nr_records(recorder), 1009, "all are kept");
	recorder__free(recorder);
	if (capture_reader__open(options.write, &reader))
		return;
	about = capture_reader__about(reader);
	is_str(capture_about__info(about, "start_ns"), "5000000", "when it began");
	is_str(capture_about__info(about, "end_ns"), "7000000", "and ended");
	ok(capture_about__info(about, "kernel") && capture_about__info(about, "command") &&
		   capture_about__info(about, "boot_id") && capture_about__info(about, "machine"),
	   "where it was made");
	ok(capture_about__info(about, "capture_id") &&
		   strlen(capture_about__info(about, "capture_id")) == 36,
	   "which recording it is");
	is_str(capture_about__names(about, "block_op")[255], "last", "names of operations");
	is_str(capture_about__device(about, 10)->name, "nvme0n1", "a device");
	is_str(capture_about__device(about, 11)->name, "nvme0n1", "the same under another number");
	is_str(capture_about__device(about, 20)->name, "sda", "one that appeared");
	is_str(capture_about__device(about, 4096)->name, "nvme0", "one without records");
	ok(!capture_about__device(about, 4000), "one that nobody knows");
	is_u64(about->nr_clocks, 1, "the clocks");
	is_u64(count_of(&about->trailer.lost, "ring full"), 5, "what was lost");
	check_ledger(about);
	noise = 1;
	while ((next = capture_reader__next(reader, &err))) {
		struct staged want = make_staged(nr++);

		same += !memcmp(next, &want, io_record__size(&want.record));
	}
	is_u64(same, 1009, "every record as it was");
	capture_reader__free(reader);
	free((char *)options.write);
}

/* One file's device list through a merge: the order of the machine's, each device once. */
static void check_merged(void)
{
	const char *const paths[] = { strdup(path("one.cap")) };
	struct capture_merge *merge = NULL;
	const struct capture_about *about;

	if (capture_merge__open(paths, 1, &merge))
		return;
	about = capture_merge__about(merge);
	is_u64(about->nr_devices, 3, "read back, each device is there once");
	ok(about->nr_devices == 3 && !strcmp(about->devices[0].name, "nvme0") &&
		   !strcmp(about->devices[1].name, "nvme0n1") &&
		   !strcmp(about->devices[2].name, "sda"),
	   "in the order of the machine's list");
	capture_merge__free(merge);
	free((char *)paths[0]);
}

/* Records in all parts that are there; *ledgers: those with a ledger. */
static uint64_t count_parts(const char *first, unsigned int nr, unsigned int *there,
			    unsigned int *ledgers)
{
	uint64_t records = 0;

	*there = *ledgers = 0;
	for (unsigned int i = 0; i < nr; i++) {
		struct capture_reader *reader;
		char *name = NULL;

		if (asprintf(&name, i ? "%s.%u" : "%s", first, i) < 0)
			continue;
		if (!access(name, F_OK) && !capture_reader__open(name, &reader)) {
			records += capture_reader__nr_records(reader);
			*ledgers += capture_reader__about(reader)->trailer.ledger.nr > 0;
			++*there;
			capture_reader__free(reader);
		}
		free(name);
	}
	return records;
}

static void check_parts(uint64_t files)
{
	struct file_options options = { .size_bytes = { 65536, true },
					.files = { files, files > 0 } };
	struct recorder *recorder = begin(&options, files ? "few.cap" : "parts.cap");
	unsigned int there, ledgers;
	uint64_t records;

	for (uint32_t i = 0; i < 60000; i++) {
		struct io_record record = make(i, 10);

		recorder__record(recorder, &record);
	}
	recorder__finish(recorder, START_NS, &ledger);
	records = count_parts(options.write, 100, &there, &ledgers);
	is_u64(recorder__nr_records(recorder), 60000, "parts: all are kept");
	ok(recorder__nr_files(recorder) > 5, "in several files: %u", recorder__nr_files(recorder));
	is_u64(there, files ? files : recorder__nr_files(recorder), "as many are there");
	is_u64(ledgers, 1, "one has the ledger");
	ok(files ? records < 60000 : records == 60000, "they hold %" PRIu64, records);
	recorder__free(recorder);
	free((char *)options.write);
	recorder = begin(&options, files ? "few.cap" : "parts.cap");
	ok(!recorder, "a second run does not mix its parts with these");
	recorder__free(recorder);
	free((char *)options.write);
}

/* As many texts of a kind as the part knows, each what `text` says. */
static uint64_t texts_of(const struct capture_about *about, enum glossary_kind kind)
{
	const struct glossary *g = &about->glossaries[kind];
	uint64_t nr = 0;

	for (size_t i = 0; i < g->nr; i++)
		nr += !strcmp(g->entries[i].text, text(NULL, kind, g->entries[i].id));
	return nr;
}

/* What an id stands for is in every part that speaks of it; one that nobody knows has no text. */
static void check_texts(void)
{
	struct file_options options = { .size_bytes = { 65536, true } };
	struct recorder *recorder = begin(&options, "texts.cap");
	unsigned int right = 0, parts;

	for (uint32_t i = 0; i < 30000; i++) {
		struct staged staged = { .record = make(i, 10) };

		staged.record.flags |= RECORD_STAGES;
		staged.record.pid = 7;
		staged.stages.cgroup = i % 2 ? 5 : UINT64_MAX;
		staged.stages.kernel_stack = i % 3;
		staged.stages.user_stack = i % 4;
		staged.stages.inode = i % 5;
		recorder__record(recorder, &staged.record);
	}
	recorder__finish(recorder, START_NS, &ledger);
	parts = recorder__nr_files(recorder);
	recorder__free(recorder);
	for (unsigned int i = 0; i < parts; i++) {
		struct capture_reader *reader;
		const struct capture_about *about;
		char name[300];

		snprintf(name, sizeof(name), i ? "%s.%u" : "%s", options.write, i);
		if (capture_reader__open(name, &reader))
			continue;
		about = capture_reader__about(reader);
		right += texts_of(about, GLOSSARY_CGROUPS) == 1 &&
			 about->glossaries[GLOSSARY_CGROUPS].nr == 1 &&
			 texts_of(about, GLOSSARY_STACKS) == 5 &&
			 texts_of(about, GLOSSARY_FILES) == 4;
		capture_reader__free(reader);
	}
	ok(parts > 2 && right == parts,
	   "a cgroup, five stacks and four files are named in each of %u parts", parts);
	free((char *)options.write);
}

static void check_memory(void)
{
	struct file_options options = { .last_ns = { 20000000, true } };
	struct recorder *recorder = begin(&options, "memory.cap");
	struct capture_reader *reader = NULL;
	uint64_t min_ns = 0, max_ns = 0;
	struct io_record record;

	for (uint32_t i = 0; i < 60000; i++) {
		record = make(i, 10);
		recorder__record(recorder, &record);
	}
	ok(access(options.write, F_OK), "memory: nothing is written by itself");
	is_u64((uint64_t)recorder__save(recorder, "a test"), 0, "until somebody asks");
	recorder__finish(recorder, START_NS, &ledger);
	is_u64(recorder__nr_files(recorder), 1, "one file");
	recorder__free(recorder);
	if (capture_reader__open(options.write, &reader))
		return;
	capture_reader__span(reader, &min_ns, &max_ns);
	is_u64(max_ns, record.end_ns, "up to the last record");
	ok(max_ns - min_ns >= 20000000 && max_ns - min_ns < 40000000, "and as long as was asked");
	is_str(capture_reader__about(reader)->trailer.ended, "a test", "it says why");
	is_str(capture_about__device(capture_reader__about(reader), 10)->name, "nvme0n1",
	       "and knows its devices");
	capture_reader__free(reader);
	free((char *)options.write);
}

/* The number that the machine's device has in all files. */
static const struct device *listed(const struct capture_about *about, uint16_t place)
{
	return capture_about__device(about, (uint16_t)(IO_MAX_DEVICES + place));
}

/*
 * sda goes in the first part. Its commands are in the first two: these name it, and the last one
 * does not.
 */
static void check_gone(void)
{
	struct file_options options = { .size_bytes = { 65536, true } };
	struct recorder *recorder = begin(&options, "gone.cap");
	unsigned int part = 0, right = 0, parts;
	bool kept = true;

	list.nr = 3;
	for (uint32_t i = 0; i < 60000; i++) {
		struct io_record record = make(i, part < 2 && i % 2 ? 20 : 10);

		devices[2].gone = i > 10;
		recorder__record(recorder, &record);
		part = recorder__nr_files(recorder) - 1;
		if (i > 1 && !part)
			kept &= !recorder__lets_go(recorder, 20, START_NS);
	}
	ok(kept, "a file that names a device keeps its number");
	ok(recorder__lets_go(recorder, 20, START_NS) &&
		   recorder__lets_go(recorder, IO_MAX_DEVICES + 2, START_NS),
	   "a later one lets it go");
	recorder__finish(recorder, START_NS, &ledger);
	parts = recorder__nr_files(recorder);
	recorder__free(recorder);
	for (unsigned int i = 0; i < parts; i++) {
		struct capture_reader *reader;
		const struct capture_about *about;
		char name[300];

		snprintf(name, sizeof(name), i ? "%s.%u" : "%s", options.write, i);
		if (capture_reader__open(name, &reader))
			continue;
		about = capture_reader__about(reader);
		right += (listed(about, 2) != NULL) == (i < 2) && listed(about, 1) &&
			 (capture_about__device(about, 20) != NULL) == (i < 2);
		capture_reader__free(reader);
	}
	ok(parts > 3 && right == parts,
	   "a device that went is in the first two of %u parts, whose records name it", parts);
	list.nr = 2;
	devices[2].gone = false;
	free((char *)options.write);
}

static void check_gone_memory(void)
{
	struct file_options options = { .last_ns = { 20000000, true } };
	struct recorder *recorder = begin(&options, "gone-memory.cap");
	uint64_t gone_ns = 0;
	bool kept = true;

	for (uint32_t i = 0; i < 60000; i++) {
		struct io_record record = make(i, i < 5000 ? 11 : 10);

		gone_ns = i < 5000 ? record.end_ns + 1000 : gone_ns;
		recorder__record(recorder, &record);
		if (i >= 10000 && i < 20000)
			kept &= !recorder__lets_go(recorder, 11, gone_ns);
	}
	ok(kept, "a memory keeps the number as long as it has records of it");
	ok(recorder__lets_go(recorder, 11, gone_ns) && recorder__lets_go(recorder, 12, gone_ns),
	   "and lets it go then");
	ok(!recorder__lets_go(recorder, 10, UINT64_MAX - 1), "but not that of a disk with records");
	recorder__free(recorder);
	free((char *)options.write);
}

/* ---- cost ---- */

static void keep(void *recorder, const struct io_record *record)
{
	recorder__record(recorder, record);
}

enum { BATCH = 20000 };

/* 20 ms of four CPUs' records at a million a second: ring after ring, as a session reads them. */
static void fill_rings(struct io_record *records, uint32_t nr)
{
	uint32_t to = 0;

	for (uint32_t at = 0; at < nr; at += BATCH)
		for (uint32_t cpu = 0; cpu < 4; cpu++)
			for (uint32_t i = at + cpu; i < at + BATCH && i < nr; i += 4)
				records[to++] = make(i, 10);
}

static double feed(struct recorder *recorder, const struct io_record *records, uint32_t nr)
{
	struct order order = { 0 };
	double began_s = cpu_s();

	for (uint32_t i = 0; i < nr; i++) {
		order__add(&order, &records[i]);
		if (i % BATCH == BATCH - 1)
			order__take(&order, records[i].end_ns - 1000000, keep, recorder);
	}
	order__take(&order, UINT64_MAX, keep, recorder);
	began_s = cpu_s() - began_s;
	order__free(&order);
	return began_s;
}

static void check_cost(void)
{
	enum { NR = SANITIZED ? 65536 : 1 << 20, PASSES = SANITIZED ? 1 : 5 };
	struct io_record *records = calloc(NR, sizeof(*records));
	double best_s = 1e9, yardstick = 1e9, bytes = 0;

	if (records)
		fill_rings(records, NR);
	for (int pass = 0; records && pass < PASSES; pass++) {
		struct file_options options = { 0 };
		struct recorder *recorder = begin(&options, "cost.cap");
		double took_s = feed(recorder, records, NR), piece_s = yardstick_s();

		best_s = took_s < best_s ? took_s : best_s;
		yardstick = piece_s < yardstick ? piece_s : yardstick;
		recorder__finish(recorder, START_NS, &ledger);
		is_u64(recorder__nr_records(recorder), NR, "cost: all are kept");
		bytes = (double)recorder__bytes(recorder) / NR;
		recorder__free(recorder);
		free((char *)options.write);
	}
	printf("# %.0f ns of CPU and %.2f bytes for a record, put in order and written; yardstick "
	       "%.0f ns\n",
	       best_s * 1e9 / NR, bytes, yardstick * 1e9);
	if (!SANITIZED)
		ok(best_s / NR <= yardstick, "a record costs no more than a hash of its bytes");
	free(records);
}

static int delete (const char *name, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(name);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	check_one();
	check_merged();
	check_parts(0);
	check_parts(3);
	check_texts();
	check_memory();
	check_gone();
	check_gone_memory();
	check_cost();
	nftw(dir, delete, 8, FTW_DEPTH | FTW_PHYS);
	return done_testing();
}
