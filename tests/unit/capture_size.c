/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_size.c: how many bytes and how much time does a record take? The load is fio as a model
 * has it: 8 jobs, 4 devices, random 4 KiB reads over 16 GiB each at queue depths 32 and 64, clocks
 * of 1 ns, every address, time and tag as noisy as in reality. CPU time, best of several: the
 * machine may be busy. Speed is asserted of a build without sanitizers, which `./check` runs, too.
 */
#include "tap.h"
#include "yardstick.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "capture/block.h"
#include "capture/read.h"
#include "capture/write.h"

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

enum { NR_RECORDS = SANITIZED ? 65536 : 262144, JOBS = 8, DEPTH = 64, PASSES = SANITIZED ? 1 : 7 };

struct load {
	const char *name;
	uint32_t gap_ns[4]; /* between completions of a device */
	int address_bits;   /* of 4 KiB blocks */
};

static uint64_t state = 88172645463325252ULL;

static uint64_t draw(uint64_t most)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state * 0x2545f4914f6cdd1dULL >> 16) % most;
}

static uint64_t free_ns[4]; /* of each device: when it can take another command */
static uint8_t generations[JOBS][DEPTH];

static struct io_record issue(const struct load *load, int job, int tag, uint64_t now_ns)
{
	int device = job % 4;
	uint64_t block = draw(1ULL << load->address_bits);
	struct io_record record = {
		.first_ns = now_ns,
		.last_ns = now_ns,
		.cdw10 = { (uint32_t)(block * 8), (uint32_t)(block * 8 >> 32), 7 },
		.nsid = device < 2,
		.bytes = 4096,
		.pid = 4000 + (uint32_t)job,
		.comm = "fio",
		.device = (uint16_t)device,
		.qid = (uint16_t)(job + 1),
		.cpu = (uint16_t)job,
		.kind = device < 2 ? 0 : 3,
		.op = device < 2 ? 2 : 0,
		.attempts = 1,
	};

	if (free_ns[device] < now_ns)
		free_ns[device] = now_ns;
	free_ns[device] += load->gap_ns[device] / 2 + draw(load->gap_ns[device]);
	/* 60 us, and a tail that falls off like an exponential's: the least of few draws. */
	record.end_ns = free_ns[device] + 60000;
	for (uint64_t tail = 14000; tail && !draw(2); tail += 14000)
		record.end_ns += 14000;
	record.end_ns += draw(14000) + (draw(2000) ? 0 : 3000000);
	generations[job][tag]++;
	record.cid = (uint16_t)((device < 2 ? generations[job][tag] << 12 : 0) | tag);
	return record;
}

static struct io_record *make_load(const struct load *load)
{
	struct io_record *records = calloc(NR_RECORDS, sizeof(*records));
	static struct io_record open[JOBS][DEPTH];
	uint32_t seq[JOBS] = { 0 };

	memset(free_ns, 0, sizeof(free_ns));
	for (int job = 0; job < JOBS; job++)
		for (int tag = 0; tag < (job % 2 ? 64 : 32); tag++)
			open[job][tag] = issue(load, job, tag, 5000000000000 + draw(100000));
	for (uint32_t i = 0; i < NR_RECORDS; i++) {
		int job = 0, tag = 0;

		for (int j = 0; j < JOBS; j++)
			for (int t = 0; t < (j % 2 ? 64 : 32); t++)
				if (open[j][t].end_ns < open[job][tag].end_ns) {
					job = j;
					tag = t;
				}
		records[i] = open[job][tag];
		records[i].seq = seq[job]++;
		open[job][tag] = issue(load, job, tag, records[i].end_ns + 1500 + draw(4000));
	}
	return records;
}

struct staged {
	struct io_record record;
	struct io_stages stages;
};

/* The same commands with all that can be seen of them: each stage has a noise of its own. */
static struct staged *make_staged(const struct io_record *records)
{
	struct staged *all = calloc(NR_RECORDS, sizeof(*all));

	for (uint32_t i = 0; all && i < NR_RECORDS; i++) {
		struct io_record *r = &all[i].record;
		struct io_stages *s = &all[i].stages;

		*r = records[i];
		r->flags |= RECORD_STAGES;
		s->queued_ns = r->first_ns - 1500 - draw(1200);
		s->got_ns = s->queued_ns + 80 + draw(150);
		s->inserted_ns = r->device < 2 ? 0 : s->got_ns + 60 + draw(100);
		s->issued_ns = r->device < 2 ? r->last_ns + 200 + draw(150) : 0;
		s->reaped_ns = r->device < 2 ? r->end_ns - 80 - draw(60) : 0;
		s->done_ns = r->device < 2 ? r->end_ns + 250 + draw(250) : 0;
		s->cgroup = 7000 + r->pid % 3;
		s->inode = 131072 + r->pid;
		s->file_dev = 0x800010;
		s->tid = r->pid + 100;
		s->kernel_stack = 1 + (uint32_t)draw(4);
		s->user_stack = 5 + r->pid % 2;
		s->depth = 1 + (uint32_t)draw(64);
		s->cpu = r->cpu;
		s->nr_bios = 1;
	}
	return all;
}

/* A sink that keeps nothing but what it counts and a copy for the reader. */
static struct byte_out kept;

static int keep(void *arg, const struct capture_chunk *chunk, const uint8_t *bytes, size_t nr)
{
	(void)arg, (void)chunk;
	byte_out__put(&kept, bytes, nr);
	return 0;
}

/* As many as NR_RECORDS, one behind the other. */
static double encode_s(const struct io_record *records, int zstd_level)
{
	struct capture_sink sink = { .put = keep };
	uint8_t header[CAPTURE_FILE_BYTES];
	struct capture_writer *writer;
	double began_s, took_s;

	capture_file__put_header(header, CAPTURE_VERSION);
	kept.len = 0;
	byte_out__put(&kept, header, sizeof(header));
	if (capture_writer__new_sink(&sink, zstd_level, &writer))
		return 0;
	began_s = cpu_s();
	capture_writer__records(writer, records, NR_RECORDS);
	capture_writer__flush(writer);
	took_s = cpu_s() - began_s;
	capture_writer__free(writer);
	return took_s;
}

static double decode_s(const struct io_record *records, uint64_t *same)
{
	struct capture_reader *reader;
	const struct io_record *record;
	double began_s = cpu_s();
	uint64_t nr = 0, sum = 0;
	int err;

	*same = 0;
	if (capture_reader__open_memory(kept.bytes, kept.len, &reader))
		return 0;
	while ((record = capture_reader__next(reader, &err))) {
		sum += record->end_ns ^ record->cdw10[0];
		nr++;
	}
	began_s = cpu_s() - began_s;
	for (uint64_t i = 0; i < nr; i++, records = stages__next_record(records))
		sum -= records->end_ns ^ records->cdw10[0];
	*same = sum ? 0 : nr;
	capture_reader__free(reader);
	return began_s;
}

static void measure(const struct load *load, const struct io_record *records, int zstd_level,
		    double most_bytes)
{
	double encode = 1e9, decode = 1e9, yardstick = 1e9, bytes;
	uint64_t same = 0;

	for (int i = 0; i < PASSES; i++) {
		double took = encode_s(records, zstd_level);

		encode = took < encode ? took : encode;
		took = decode_s(records, &same);
		decode = took < decode ? took : decode;
		took = yardstick_s();
		yardstick = took < yardstick ? took : yardstick;
	}
	bytes = (double)kept.len / NR_RECORDS;
	printf("# %s%s: %.2f bytes per record; encode %.1f ns, decode %.1f ns, %.1f M records/s; "
	       "yardstick %.1f ns\n",
	       load->name, zstd_level ? ", zstd -3" : "", bytes, encode * 1e9 / NR_RECORDS,
	       decode * 1e9 / NR_RECORDS, NR_RECORDS / decode * 1e-6, yardstick * 1e9);
	is_u64(same, NR_RECORDS, "all come back");
	ok(bytes <= most_bytes, "%s: at most %.0f bytes per record", load->name, most_bytes);
	if (SANITIZED)
		return;
	ok(decode / NR_RECORDS <= yardstick * 0.6, "10 M records a second are read, or two in the "
						   "time of a hash of one");
	if (!zstd_level && !(records->flags & RECORD_STAGES))
		ok(encode / NR_RECORDS <= yardstick / 2, "0.05 us to write a record, or two in the "
							 "time of a hash of one");
}

static void measure_staged(const struct io_record *records)
{
	static const struct load load = { .name = "with stages" };
	struct staged *staged = make_staged(records);

	measure(&load, &staged->record, 0, 24);
	free(staged);
}

int main(void)
{
	static const struct load loads[] = {
		{ "NVMe and others, 1.2 M IOPS, 16 GiB", { 1700, 2000, 11000, 25000 }, 22 },
		{ "the same over 1 TiB", { 1700, 2000, 11000, 25000 }, 28 },
		{ "slow disks, 100 us apart, 1 TiB", { 400000, 400000, 400000, 400000 }, 28 },
	};

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		struct io_record *records = make_load(&loads[i]);

		measure(&loads[i], records, 0, 16);
		if (!i)
			measure_staged(records);
		if (capture_zip__is_built_in())
			measure(&loads[i], records, 3, i ? 16 : 8);
		else
			ok(true, "with zstd # skip zstd is not built in");
		free(records);
	}
	byte_out__free(&kept);
	return done_testing();
}
