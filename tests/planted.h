/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * planted.h: records of simulated devices with a cause of slow I/O each, and of healthy loads: what
 * tests/unit/why.c judges in memory, and tests/cli/planted.c writes to captures. The same seed
 * gives the same records.
 */
#ifndef IOSONAR_TESTS_PLANTED_H
#define IOSONAR_TESTS_PLANTED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "device_model.h"
#include "why/facts.h"
#include "wire/io_tables.h"

enum { COMMANDS = 3000, LOADS = MODEL_LOADS };
enum { NVME_FLUSH = 0, NVME_WRITE = 1, NVME_READ = 2, NVME_DSM = 9 };
enum where { INSIDE, FOR_TAG, IN_SCHEDULER };

struct load {
	struct model_load model;
	const char *comm;
	uint32_t bytes;
	uint8_t op;
	uint8_t flags; /* enum fact_flag: FUA, ODD, SWAP, IN_ORDER */
	bool flushes;  /* before each of its commands */
};

/* A wait of a few commands, before they are at the device. */
struct brief {
	uint32_t one_of; /* 0: nobody waits */
	uint64_t ns;
	enum where where;
	enum io_wait wait;
	bool writes; /* only they wait */
};

/* What happens to commands beside the queue of the model. */
struct plant {
	const char *name;
	enum where where;
	enum io_wait wait; /* FOR_TAG: what the kernel calls it */
	uint32_t servers;
	struct load loads[LOADS];
	uint32_t one_of;     /* one of so many is hit by what follows */
	uint64_t extra_ns;   /* longer at the device */
	uint64_t retry_ns;   /* another attempt before it */
	uint64_t timeout_ns; /* it times out after this */
	uint64_t late_ns;    /* its end comes later than its answer, of all commands */
	uint64_t stall_ns;   /* nothing is answered for this long, */
	size_t stalls;	     /* how often */
	struct brief brief;
	bool fails, two_paths, slow_path, two_disks;
	bool quick; /* a kernel and its tasks that need little time; threads have numbers */
	bool has_poll_queues, polled;
	uint32_t asked_pid; /* whose I/O is judged; 0: all */
	uint32_t units;	    /* of 4 KiB in which places are drawn; 0: 1 << 24 */
	uint32_t own;	    /* per mille of the only CPU that the observer takes for itself */
	uint32_t dirty;	 /* percent of the time of calls that write, slowed down for dirty pages */
	uint32_t unused; /* percent of the pages that reads bring are read ahead and not used */
};

struct one {
	struct io_record record; /* followed by its stages */
	struct io_stages stages;
	uint64_t timed_out_ns;
};

struct run {
	struct one *ones;
	size_t nr;
	uint64_t seed;
};

static uint64_t run_draw(struct run *r, uint64_t nr)
{
	r->seed = r->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (r->seed >> 33) % nr;
}

/* ---- records ---- */

static void set_stages(const struct plant *p, const struct model_io *io, struct one *one)
{
	const uint64_t start_ns = 1000000000000, from_ns = start_ns + io->from_ns;
	const uint64_t ready_ns = p->quick ? 800 : 2000;
	uint64_t issue_ns = (p->where == INSIDE ? from_ns : start_ns + io->issue_ns) + ready_ns;

	one->stages.queued_ns = from_ns;
	one->stages.got_ns = p->where == FOR_TAG ? issue_ns - 900 : from_ns + 600;
	one->stages.waits[0] = p->where == FOR_TAG && p->wait ? 600 << 8 | (uint64_t)p->wait : 0;
	if (p->wait == IO_WAIT_HELD) { /* before it was submitted */
		one->stages.queued_ns = one->stages.got_ns - 600;
		one->stages.waits[0] = (one->stages.queued_ns - from_ns) << 8 | IO_WAIT_HELD;
	}
	one->stages.flushed_ns = p->loads[io->load].flushes ? one->stages.got_ns + 600 : 0;
	one->stages.inserted_ns = p->where == IN_SCHEDULER ? from_ns + 1000 : 0;
	one->record.first_ns = one->record.last_ns = issue_ns;
	one->stages.issued_ns = issue_ns + 300;
	one->record.end_ns = start_ns + io->end_ns + (p->quick ? 850 : 3000);
	one->stages.reaped_ns = one->record.end_ns - (p->quick ? 20 : 200);
	one->stages.done_ns = one->record.end_ns + (p->quick ? 50 : 900) + p->late_ns;
	one->stages.nr_bios = 1;
}

/* It came earlier, and had a request or was issued when it otherwise would. */
static void set_brief(struct run *r, const struct brief *brief, struct one *one)
{
	struct io_stages *s = &one->stages;

	if (!brief->one_of || run_draw(r, brief->one_of) ||
	    (brief->writes && one->record.op != NVME_WRITE))
		return;
	if (brief->where == IN_SCHEDULER) {
		s->inserted_ns = one->record.first_ns - brief->ns;
		s->got_ns = s->inserted_ns - 400;
		s->queued_ns = s->got_ns - 600;
		return;
	}
	if (brief->wait != IO_WAIT_HELD)
		s->queued_ns -= brief->ns;
	s->waits[0] = brief->ns << 8 | (uint64_t)brief->wait;
}

static void set_place(struct run *r, const struct plant *p, const struct load *load, uint64_t *next,
		      struct one *one)
{
	uint64_t block = load->flags & FACT_IN_ORDER ? *next : run_draw(r, p->units ?: 1 << 24) * 8;

	if (load->bytes)
		*next = block + load->bytes / 512;
	block += load->flags & FACT_ODD ? 3 : 0;
	one->record.cdw10[0] = (uint32_t)block;
	one->record.cdw10[2] = load->flags & FACT_FUA ? 1u << 30 : 0;
	one->stages.inode = load->flags & FACT_SWAP ? FILE_SWAP : 0;
}

static void set_trouble(struct run *r, const struct plant *p, struct one *one)
{
	struct io_record *record = &one->record;
	uint64_t ns;

	if (!p->one_of || run_draw(r, p->one_of))
		return;
	ns = p->extra_ns + p->retry_ns + p->timeout_ns;
	record->last_ns += p->retry_ns;
	record->attempts += p->retry_ns != 0;
	record->end_ns += ns;
	one->stages.issued_ns += p->retry_ns;
	one->stages.reaped_ns += ns;
	one->stages.done_ns += ns;
	one->timed_out_ns = p->timeout_ns ? record->first_ns + p->timeout_ns : 0;
	record->status = p->fails ? 0x281 : 0;
}

static void make_one(struct run *r, const struct plant *p, const struct model_io *io,
		     uint64_t *next, struct one *one)
{
	const struct load *load = &p->loads[io->load];

	memset(one, 0, sizeof(*one));
	one->record = (struct io_record){
		.nsid = 1,
		.bytes = load->bytes,
		.pid = 100 + io->load,
		.qid = 1,
		.op = load->op,
		.kind = IO_NVME,
		.attempts = 1,
		.flags = RECORD_STAGES,
	};
	snprintf(one->record.comm, sizeof(one->record.comm), "%s", load->comm);
	if (p->quick)
		one->stages.tid = one->record.pid;
	if (p->polled)
		one->record.flags |= RECORD_POLLED;
	one->stages.cpu = (uint16_t)run_draw(r, 8);
	one->record.cpu = p->late_ns ? 0 : one->stages.cpu;
	set_stages(p, io, one);
	set_brief(r, &p->brief, one);
	set_place(r, p, load, next, one);
	set_trouble(r, p, one);
}

/* What the device has not answered then it answers later, and all that follows as well. */
static void stall(struct run *r, uint64_t at_ns, uint64_t ns)
{
	for (size_t i = 0; i < r->nr; i++) {
		struct io_record *record = &r->ones[i].record;
		struct io_stages *s = &r->ones[i].stages;
		__u64 *times[] = { &record->first_ns, &record->last_ns, &record->end_ns,
				   &s->queued_ns,     &s->got_ns,	&s->inserted_ns,
				   &s->issued_ns,     &s->reaped_ns,	&s->done_ns };

		for (size_t j = 0; j < sizeof(times) / sizeof(*times); j++)
			if (record->end_ns > at_ns && *times[j] > at_ns)
				*times[j] += ns;
	}
}

static int by_end(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	return COMPARE(x->record.end_ns, y->record.end_ns);
}

static int by_number(const void *a, const void *b)
{
	return COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

static size_t upto(const uint64_t *times, size_t nr, uint64_t ns)
{
	size_t from = 0;

	while (nr) {
		size_t half = nr / 2;

		if (times[from + half] <= ns) {
			from += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	return from;
}

/* Commands in flight when each was built, on its device. */
static void set_depths(struct run *r, uint16_t device)
{
	uint64_t *firsts = calloc(r->nr, 8), *ends = calloc(r->nr, 8);
	size_t nr = 0;

	for (size_t i = 0; i < r->nr; i++)
		if (r->ones[i].record.device == device) {
			firsts[nr] = r->ones[i].record.first_ns;
			ends[nr++] = r->ones[i].record.end_ns;
		}
	qsort(firsts, nr, 8, by_number);
	qsort(ends, nr, 8, by_number);
	for (size_t i = 0; i < r->nr; i++)
		if (r->ones[i].record.device == device) {
			uint64_t at = r->ones[i].record.first_ns;

			r->ones[i].stages.depth =
				(uint32_t)(upto(firsts, nr, at) - upto(ends, nr, at));
		}
	free(firsts);
	free(ends);
}

static void run_model(struct run *r, const struct plant *p, uint16_t device, size_t nr)
{
	struct model *model = calloc(1, sizeof(*model));
	const uint64_t from = 8 + ((uint64_t)device << 29);
	uint64_t next[LOADS] = { from, from + (1 << 26), from + (1 << 27), from + (1 << 28) };
	struct model_io io;

	model->servers = p->servers;
	model->seed = r->seed;
	for (int i = 0; i < LOADS; i++) {
		model->loads[i] = p->loads[i].model;
		if (p->slow_path && device)
			model->loads[i].service_ns *= 4;
	}
	model_start(model);
	for (size_t i = 0; i < nr && model_next(model, UINT64_MAX / 4, &io); i++) {
		make_one(r, p, &io, &next[io.load], &r->ones[r->nr]);
		r->ones[r->nr++].record.device = device;
	}
	free(model);
}

static struct run run_make(const struct plant *p, uint64_t seed, size_t nr)
{
	struct run r = { calloc(2 * nr, sizeof(*r.ones)), 0, seed * 7919 + 12345 };

	run_model(&r, p, 0, nr);
	if (p->two_paths || p->two_disks)
		run_model(&r, p, 1, nr);
	qsort(r.ones, r.nr, sizeof(*r.ones), by_end);
	for (size_t i = 1; i <= p->stalls; i++)
		stall(&r, r.ones[i * r.nr / (p->stalls + 1)].record.end_ns + 1, p->stall_ns);
	qsort(r.ones, r.nr, sizeof(*r.ones), by_end);
	set_depths(&r, 0);
	set_depths(&r, 1);
	return r;
}

/* ---- the page cache ---- */

enum { DISK = 259 << 20, PARTITION = DISK + 1, PAGE_BYTES = 4096 };

static struct cache_command page_command(const struct io_record *r)
{
	return (struct cache_command){
		.event = { .dev = PARTITION, .told = CACHE_TOLD_COMMAND },
		.disk = DISK,
		.sector = r->cdw10[0],
		.bytes = r->bytes,
	};
}

/* Nothing of a second disk is in the page cache. */
static bool page_is_filled(const struct plant *p, const struct io_record *r)
{
	return r->op == NVME_READ && !(p->two_disks && r->device);
}

/* What the page cache counts, if all reads fill it. */
static void page_counts(const struct plant *p, const struct run *r,
			uint64_t counts[NR_CACHE_COUNTS])
{
	uint64_t nr = 0;

	for (size_t i = 0; i < r->nr; i++)
		if (page_is_filled(p, &r->ones[i].record))
			nr += r->ones[i].record.bytes / PAGE_BYTES;
	counts[CACHE_RA] = nr / 2 + nr * p->unused / 100;
	counts[CACHE_UNUSED] = nr * p->unused / 100;
	counts[CACHE_DEMANDED] = counts[CACHE_ACCESSES] = counts[CACHE_MISSES] = nr / 2;
	counts[CACHE_ADDED] = counts[CACHE_RA] + counts[CACHE_DEMANDED];
	counts[CACHE_EVICTED] = counts[CACHE_REMOVED] = nr / 3;
}

/* ---- calls that wait ---- */

enum { CALLS = 1000, CALLS_SLOWED = 100, CALL_NS = 100000 };

/* How long a call that writes is slowed down, beside CALL_NS: one of ten. */
static uint64_t call_dirty_ns(const struct plant *p, uint32_t call)
{
	const uint64_t all_ns = (uint64_t)CALLS * CALL_NS * p->dirty / (100 - p->dirty);

	return call % (CALLS / CALLS_SLOWED) ? 0 : all_ns / CALLS_SLOWED;
}

/* ---- planted causes ---- */

#define US 1000ULL
#define MS 1000000ULL
#define READS(depth, us, think_us)                                                        \
	{                                                                                 \
		{ depth, (us)*US, MODEL_UNIFORM, (think_us)*US, 0, 0 }, "postgres", 8192, \
			NVME_READ, 0                                                      \
	}
#define LOAD(depth, us, think_us, comm, bytes, op, flags)                                      \
	{                                                                                      \
		{ depth, (us)*US, MODEL_UNIFORM, (think_us)*US, 0, 0 }, comm, bytes, op, flags \
	}

static const struct plant plants[] = {
	{ .name = "tags", .where = FOR_TAG, .servers = 2, .loads = { READS(24, 90, 50) } },
	{ .name = "throttled",
	  .where = FOR_TAG,
	  .wait = IO_WAIT_HELD,
	  .servers = 2,
	  .loads = { READS(24, 90, 50) } },
	{ .name = "wbt",
	  .where = FOR_TAG,
	  .wait = IO_WAIT_WBT,
	  .servers = 2,
	  .loads = { LOAD(24, 90, 50, "kworker/u8:3", 8192, NVME_WRITE, 0) } },
	{ .name = "frozen",
	  .where = FOR_TAG,
	  .wait = IO_WAIT_FROZEN,
	  .servers = 2,
	  .loads = { READS(24, 90, 50) } },
	{ .name = "scheduler",
	  .where = IN_SCHEDULER,
	  .servers = 4,
	  .loads = { READS(24, 90, 50) } },
	{ .name = "saturated", /* after a calm start */
	  .servers = 4,
	  .loads = { READS(1, 90, 10),
		     { { 48, 90 * US, MODEL_UNIFORM, 10 * US, 6 * MS, 0 },
		       "postgres",
		       8192,
		       NVME_READ,
		       0 } } },
	{ .name = "slow-alone",
	  .servers = 32,
	  .loads = { READS(1, 90, 100) },
	  .one_of = 25,
	  .extra_ns = 4 * MS },
	{ .name = "stalls",
	  .servers = 32,
	  .loads = { READS(12, 90, 50) },
	  .stall_ns = 300 * MS,
	  .stalls = 5 },
	{ .name = "culprit",
	  .servers = 4,
	  .loads = { READS(2, 90, 50), LOAD(24, 900, 5, "backup", 1 << 20, NVME_WRITE, 0) } },
	{ .name = "own-writes",
	  .servers = 4,
	  .loads = { READS(2, 90, 50), LOAD(24, 900, 5, "postgres", 1 << 17, NVME_WRITE, 0) } },
	{ .name = "writeback",
	  .servers = 4,
	  .loads = { READS(2, 90, 50), LOAD(24, 900, 5, "kworker/u8:3", 1 << 19, NVME_WRITE, 0) } },
	{ .name = "discards",
	  .servers = 4,
	  .loads = { READS(4, 90, 50), LOAD(12, 3000, 5, "fstrim", 0, NVME_DSM, 0) } },
	{ .name = "flushes",
	  .servers = 32,
	  .loads = { READS(2, 90, 200), LOAD(2, 60, 400, "postgres", 8192, NVME_WRITE, 0),
		     LOAD(2, 4000, 500, "postgres", 0, NVME_FLUSH, 0) } },
	{ .name = "fua",
	  .servers = 32,
	  .loads = { LOAD(2, 60, 200, "postgres", 8192, NVME_WRITE, 0),
		     LOAD(2, 600, 200, "postgres", 8192, NVME_WRITE, FACT_FUA) } },
	{ .name = "misaligned",
	  .servers = 32,
	  .loads = { LOAD(2, 60, 200, "postgres", 8192, NVME_WRITE, 0),
		     LOAD(2, 200, 200, "postgres", 8192, NVME_WRITE, FACT_ODD) } },
	{ .name = "swap",
	  .servers = 32,
	  .loads = { READS(2, 90, 100), LOAD(4, 90, 100, "kswapd0", 4096, NVME_WRITE, FACT_SWAP),
		     LOAD(2, 90, 100, "java", 4096, NVME_READ, FACT_SWAP) } },
	{ .name = "small",
	  .servers = 32,
	  .loads = { LOAD(1, 60, 5, "cat", 4096, NVME_READ, FACT_IN_ORDER) } },
	{ .name = "retries",
	  .servers = 32,
	  .loads = { READS(4, 90, 100) },
	  .one_of = 20,
	  .retry_ns = 2 * MS },
	{ .name = "errors",
	  .servers = 32,
	  .loads = { READS(4, 90, 100) },
	  .one_of = 25,
	  .fails = true },
	{ .name = "timeouts",
	  .servers = 32,
	  .loads = { READS(4, 90, 100) },
	  .one_of = 500,
	  .timeout_ns = 30000 * MS },
	{ .name = "path",
	  .servers = 32,
	  .loads = { READS(4, 90, 100) },
	  .two_paths = true,
	  .slow_path = true },
	{ .name = "completion",
	  .servers = 32,
	  .loads = { READS(8, 90, 100) },
	  .late_ns = 120 * US },
	{ .name = "readahead",
	  .servers = 32,
	  .loads = { READS(4, 90, 50), LOAD(1, 90, 400, "nginx", 16384, NVME_WRITE, 0) },
	  .unused = 60 },
	{ .name = "dirty",
	  .servers = 32,
	  .loads = { READS(4, 90, 50), LOAD(1, 90, 400, "kworker/u8:3", 16384, NVME_WRITE, 0) },
	  .dirty = 60 },
	{ .name = "polling",
	  .servers = 32,
	  .loads = { READS(1, 8, 5), READS(1, 8, 6), READS(1, 8, 5) },
	  .quick = true,
	  .has_poll_queues = true },
	{ .name = "own-cost", .servers = 32, .loads = { READS(4, 90, 50) }, .own = 30 },
	{ .name = "evicted",
	  .servers = 32,
	  .loads = { READS(4, 90, 50), LOAD(1, 90, 400, "nginx", 16384, NVME_WRITE, 0) },
	  .units = 2000 },
};
enum { PLANTS = sizeof(plants) / sizeof(plants[0]) };

/* Loads of each seed differ in speed, which is what a cause may not depend on. */
static struct plant vary(const struct plant *p, uint64_t seed)
{
	struct plant varied = *p;
	const double times = 0.6 + 0.08 * (double)(seed % 12);

	for (int i = 0; i < LOADS; i++) {
		struct model_load *l = &varied.loads[i].model;

		l->service_ns = (uint64_t)((double)l->service_ns * times);
		l->think_ns = (uint64_t)((double)l->think_ns * times);
		l->spread = p->loads[i].op == NVME_FLUSH ? MODEL_UNIFORM
							 : (enum model_spread)(seed % 3);
	}
	return varied;
}

/* ---- healthy loads ---- */

static struct plant healthy(uint64_t seed)
{
	static const char *const comms[] = { "postgres", "nginx", "backup", "kworker/u8:1" };
	static const uint32_t sizes[] = { 4096, 8192, 16384, 65536, 131072, 524288 };
	struct run r = { .seed = seed * 104729 + 7 };
	struct plant p = { .name = "healthy", .servers = 64, .where = INSIDE };
	const int nr = 1 + (int)run_draw(&r, LOADS);

	for (int i = 0; i < nr; i++) {
		struct load *l = &p.loads[i];
		const uint64_t size = run_draw(&r, 6);

		*l = (struct load)LOAD(1 + (uint32_t)run_draw(&r, 8), 60 + 30 * size,
				       run_draw(&r, 400), comms[i], sizes[size], NVME_READ, 0);
		l->model.spread = (enum model_spread)run_draw(&r, NR_MODEL_SPREADS);
		l->op = run_draw(&r, 2) ? NVME_READ : NVME_WRITE;
		/* What follows the one before is large, or the device has time. */
		if (run_draw(&r, 3) == 0) {
			l->flags |= FACT_IN_ORDER;
			if (l->bytes <= 16384) {
				l->model.depth = 1;
				l->model.think_ns = 10 * l->model.service_ns;
			}
		}
		/* A device with its own power takes FUA as any other write; flushes are short. */
		if (l->op == NVME_WRITE && !run_draw(&r, 4))
			l->flags |= FACT_FUA;
	}
	if (!run_draw(&r, 4))
		p.loads[LOADS - 1] = (struct load)LOAD(1, 90, 4000, "jbd2", 0, NVME_FLUSH, 0);
	if (!run_draw(&r, 5)) {
		p.one_of = 3000;
		p.extra_ns = 2 * MS;
	}
	p.unused = (uint32_t)run_draw(&r, 16);
	p.dirty = (uint32_t)run_draw(&r, 16);
	return p;
}

#endif
