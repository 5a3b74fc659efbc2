/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why.c: is a planted cause of slow I/O found and ranked first, and is nothing found in healthy
 * loads? Records of simulated devices with a cause each, 20 seeds of each, and 200 healthy runs of
 * varied loads. The rows of docs/verdicts.md are what was measured here. `why.t --make DIR` makes
 * tests/data/why.cap, `why.t --large FILE N` a capture of N commands.
 */
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "capture/write.h"
#include "device_model.h"
#include "tap.h"
#include "why/rules.h"
#include "why/why.h"
#include "wire/io_tables.h"

enum { SEEDS = 20, COMMANDS = 3000, HEALTHY = 200, LOADS = MODEL_LOADS };
enum { NVME_FLUSH = 0, NVME_WRITE = 1, NVME_READ = 2, NVME_DSM = 9 };
enum where { INSIDE, FOR_TAG, IN_SCHEDULER };

struct load {
	struct model_load model;
	const char *comm;
	uint32_t bytes;
	uint8_t op;
	uint8_t flags; /* enum fact_flag: FUA, ODD, SWAP, IN_ORDER */
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
	uint64_t stall_ns;   /* nothing is answered for this long, 5 times */
	bool fails, two_paths;
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
	uint64_t issue_ns = p->where == INSIDE ? from_ns + 2000 : start_ns + io->issue_ns + 2000;

	one->stages.queued_ns = from_ns;
	one->stages.got_ns = p->where == FOR_TAG ? issue_ns - 900 : from_ns + 600;
	one->stages.waits[0] = p->where == FOR_TAG && p->wait ? 600 << 8 | (uint64_t)p->wait : 0;
	if (p->wait == IO_WAIT_HELD) { /* before it was submitted */
		one->stages.queued_ns = one->stages.got_ns - 600;
		one->stages.waits[0] = (one->stages.queued_ns - from_ns) << 8 | IO_WAIT_HELD;
	}
	one->stages.inserted_ns = p->where == IN_SCHEDULER ? from_ns + 1000 : 0;
	one->record.first_ns = one->record.last_ns = issue_ns;
	one->stages.issued_ns = issue_ns + 300;
	one->record.end_ns = start_ns + io->end_ns + 3000;
	one->stages.reaped_ns = one->record.end_ns - 200;
	one->stages.done_ns = one->record.end_ns + 900 + p->late_ns;
	one->stages.nr_bios = 1;
}

static void set_place(struct run *r, const struct load *load, uint64_t *next, struct one *one)
{
	uint64_t block = load->flags & FACT_IN_ORDER ? *next : run_draw(r, 1 << 24) * 8;

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
	one->stages.cpu = (uint16_t)run_draw(r, 8);
	one->record.cpu = p->late_ns ? 0 : one->stages.cpu;
	set_stages(p, io, one);
	set_place(r, load, next, one);
	set_trouble(r, p, one);
}

/* What is not over then is over later, and all that follows as well. */
static void stall(struct run *r, uint64_t at_ns, uint64_t ns)
{
	for (size_t i = 0; i < r->nr; i++) {
		struct io_record *record = &r->ones[i].record;
		struct io_stages *s = &r->ones[i].stages;
		__u64 *times[] = { &record->first_ns, &record->last_ns, &record->end_ns,
				   &s->queued_ns,     &s->got_ns,	&s->inserted_ns,
				   &s->issued_ns,     &s->reaped_ns,	&s->done_ns };

		for (size_t j = 0; j < sizeof(times) / sizeof(*times); j++)
			if (*times[j] > at_ns)
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
	uint64_t next[LOADS] = { 8, 1 << 26, 1 << 27, 1 << 28 };
	struct model_io io;

	model->servers = p->servers;
	model->seed = r->seed;
	for (int i = 0; i < LOADS; i++) {
		model->loads[i] = p->loads[i].model;
		if (p->two_paths && device)
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
	if (p->two_paths)
		run_model(&r, p, 1, nr);
	qsort(r.ones, r.nr, sizeof(*r.ones), by_end);
	for (size_t i = 1; p->stall_ns && i <= 5; i++)
		stall(&r, r.ones[i * r.nr / 6].record.end_ns + 1, p->stall_ns);
	qsort(r.ones, r.nr, sizeof(*r.ones), by_end);
	set_depths(&r, 0);
	set_depths(&r, 1);
	return r;
}

/* ---- verdicts ---- */

static void describe(const void *arg, int32_t device, struct fact_place *place)
{
	const struct plant *p = arg;

	*place = (struct fact_place){ .station = device,
				      .head = p->two_paths ? 9 : device,
				      .is_path = p->two_paths,
				      .is_nvme = true,
				      .limit = p->where == FOR_TAG ? p->servers : 1023,
				      .unit_bytes = 4096,
				      .block_bytes = 512 };
}

static enum fact_class class_of(uint8_t op)
{
	return op == NVME_READ	  ? FACT_READ
	       : op == NVME_WRITE ? FACT_WRITE
	       : op == NVME_FLUSH ? FACT_FLUSH
				  : FACT_DISCARD;
}

static int add(struct facts *facts, const struct one *one)
{
	const struct io_record *r = &one->record;
	int err = 0;

	if (one->timed_out_ns) {
		struct io_record timeout = *r;

		timeout.what = RECORD_TIMEOUT;
		timeout.flags = 0;
		timeout.end_ns = one->timed_out_ns;
		err = facts__add(facts, r->device, class_of(r->op), &timeout);
	}
	return err ?: facts__add(facts, r->device, class_of(r->op), r);
}

static struct why *judge(const struct plant *p, const struct run *r)
{
	struct facts *facts = calloc(1, sizeof(*facts));
	struct why *why = calloc(1, sizeof(*why));
	int err;

	facts->describe = describe;
	facts->arg = p;
	err = facts__init(facts);
	for (size_t i = 0; i < r->nr && !err; i++)
		err = add(facts, &r->ones[i]);
	facts__finish(facts);
	if (err || why__judge(why, facts, 0.2))
		abort();
	facts__free(facts);
	free(facts);
	return why;
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
	{ .name = "stalls", .servers = 32, .loads = { READS(12, 90, 50) }, .stall_ns = 300 * MS },
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
	{ .name = "path", .servers = 32, .loads = { READS(4, 90, 100) }, .two_paths = true },
	{ .name = "completion",
	  .servers = 32,
	  .loads = { READS(8, 90, 100) },
	  .late_ns = 120 * US },
};
enum { PLANTS = sizeof(plants) / sizeof(plants[0]) };

struct marks {
	int first, second;
	char others[200]; /* what else was found, and how often */
	int counts[PLANTS];
};

static void mark(struct marks *m, const struct plant *p, const struct why *why)
{
	for (size_t i = 0; i < why->nr; i++) {
		const char *name = why->findings[i].rule->name;

		m->first += !i && !strcmp(name, p->name);
		m->second += i == 1 && !strcmp(name, p->name);
		for (int j = 0; j < PLANTS; j++)
			m->counts[j] += !strcmp(name, plants[j].name) && strcmp(name, p->name) != 0;
	}
}

static bool doc_has(const char *line)
{
	FILE *file = fopen("docs/verdicts.md", "r");
	char buf[400];
	bool found = false;

	while (file && !found && fgets(buf, sizeof(buf), file)) {
		buf[strcspn(buf, "\n")] = 0;
		found = !strcmp(buf, line);
	}
	if (file)
		fclose(file);
	return found;
}

static void check_row(const char *name, int runs, const struct marks *m)
{
	char line[300];
	int len = snprintf(line, sizeof(line), "| %s | %d | %d | %d |", name, runs, m->first,
			   m->second);
	bool any = false;

	for (int i = 0; i < PLANTS; i++)
		if (m->counts[i]) {
			len += snprintf(line + len, sizeof(line) - (size_t)len, "%s %s %d",
					any ? "," : "", plants[i].name, m->counts[i]);
			any = true;
		}
	snprintf(line + len, sizeof(line) - (size_t)len, "%s |", any ? "" : " none");
	if (!ok(doc_has(line), "%s: docs/verdicts.md has what was measured", name))
		printf("# measured: %s\n", line);
}

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

static bool is_complete(const struct why_finding *f)
{
	return f->what[0] && f->evidence[0] && f->whose[0] && f->more && f->total >= 0 &&
	       f->total <= 1 && f->tail >= 0 && f->tail <= 1;
}

static void check_planted(const struct plant *p)
{
	struct marks m = { 0 };
	bool complete = true;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct plant varied = vary(p, seed);
		struct run run = run_make(&varied, seed, COMMANDS);
		struct why *why = judge(&varied, &run);

		mark(&m, p, why);
		for (size_t i = 0; i < why->nr; i++)
			complete &= is_complete(&why->findings[i]);
		if (seed == 1)
			for (size_t i = 0; i < why->nr; i++)
				printf("# %s: %.0f %% %.0f %% %d %s: %s [%s]\n", p->name,
				       100 * why->findings[i].tail, 100 * why->findings[i].total,
				       why->findings[i].sure, why->findings[i].rule->name,
				       why->findings[i].what, why->findings[i].evidence);
		free(why);
		free(run.ones);
	}
	if (!ok(m.first + m.second == SEEDS && m.first >= SEEDS * 9 / 10,
		"%s: found, and ranked first", p->name))
		printf("# first %d, second %d\n", m.first, m.second);
	ok(complete, "%s: every finding has its words and shares", p->name);
	check_row(p->name, SEEDS, &m);
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
	return p;
}

static void check_healthy(void)
{
	struct marks m = { 0 };
	int found = 0;

	for (uint64_t seed = 1; seed <= HEALTHY; seed++) {
		const struct plant p = healthy(seed);
		struct run run = run_make(&p, seed, COMMANDS);
		struct why *why = judge(&p, &run);

		mark(&m, &p, why);
		found += why->nr != 0;
		for (size_t i = 0; i < why->nr; i++)
			printf("# healthy %d: %s %.0f %% %.0f %%: %s [%s]\n", (int)seed,
			       why->findings[i].rule->name, 100 * why->findings[i].tail,
			       100 * why->findings[i].total, why->findings[i].what,
			       why->findings[i].evidence);
		free(why);
		free(run.ones);
	}
	ok(found * 100 <= HEALTHY, "healthy loads: at most 1 of 100 has a finding (%d of %d)",
	   found, HEALTHY);
	check_row("healthy", HEALTHY, &m);
}

static void check_none(void)
{
	const struct plant p = healthy(3);
	struct run run = run_make(&p, 3, COMMANDS);
	struct facts *facts = calloc(1, sizeof(*facts));
	struct why_finding f;
	uint64_t count = 0, parts = 0, total = 0;

	facts->describe = describe;
	facts->arg = &p;
	facts__init(facts);
	for (size_t i = 0; i < run.nr; i++)
		add(facts, &run.ones[i]);
	facts__finish(facts);
	for (size_t i = 0; i < facts->nr; i++) {
		count += facts->groups[i]->all.nr;
		total += facts->groups[i]->all.total_ns;
		for (int j = 0; j < NR_PARTS; j++)
			parts += facts->groups[i]->all.parts_ns[j];
	}
	is_u64(count, run.nr, "every command is in a group");
	ok(parts <= total && parts * 100 >= total * 90, "parts do not exceed the time");
	why__explain_none(facts, why__busiest(facts), &f);
	is_str(f.what, "nothing is wrong", "it says that nothing is wrong");
	ok(strstr(f.evidence, "3000 commands, median "), "and why: %s", f.evidence);
	facts__free(facts);
	free(facts);
	free(run.ones);
}

/* Every rule is planted. */
static void check_rules(void)
{
	for (size_t i = 0; why_rules[i]; i++) {
		int nr = 0;

		for (int j = 0; j < PLANTS; j++)
			nr += !strcmp(plants[j].name, why_rules[i]->name);
		ok(nr == 1, "%s is planted", why_rules[i]->name);
		for (const char *const *name = why_rules[i]->yields; *name; name++) {
			bool known = false;

			for (size_t j = 0; why_rules[j]; j++)
				known |= !strcmp(why_rules[j]->name, *name);
			ok(known, "%s yields to a rule: %s", why_rules[i]->name, *name);
		}
	}
}

/* ---- what nobody would send ---- */

static void check_hostile(void)
{
	struct run r = { .seed = 271 };
	struct facts *facts = calloc(1, sizeof(*facts));
	struct why *why = calloc(1, sizeof(*why));
	const struct plant p = { .name = "hostile" };
	struct one one;
	int err;

	facts->describe = describe;
	facts->arg = &p;
	err = facts__init(facts);
	for (int i = 0; i < 60000 && !err; i++) {
		uint64_t *words = (uint64_t *)&one;

		for (size_t j = 0; j < sizeof(one) / 8; j++)
			words[j] = run_draw(&r, 3) ? run_draw(&r, 1 << 20) << run_draw(&r, 44) : 0;
		one.record.kind = run_draw(&r, 2) ? IO_NVME : IO_BLOCK;
		one.record.what = (uint8_t)run_draw(&r, 7);
		one.record.flags = RECORD_STAGES;
		if (run_draw(&r, 2)) {
			one.record.last_ns = one.record.first_ns + run_draw(&r, 1000);
			one.record.end_ns =
				one.record.last_ns + (run_draw(&r, 1 << 30) << run_draw(&r, 33));
		}
		err = facts__add(facts, (int32_t)run_draw(&r, 300),
				 (enum fact_class)run_draw(&r, 5), &one.record);
	}
	facts__finish(facts);
	ok(!err && !why__judge(why, facts, 0.2), "whatever comes is judged");
	ok(facts->left_out > 0, "what is beyond its bounds is counted");
	ok(facts->nr <= FACT_GROUPS && facts->nr_devices <= FACT_DEVICES, "memory is bounded");
	facts__free(facts);
	free(facts);
	free(why);
}

/* ---- captures ---- */

static int put_capture(const char *path, const struct run *r)
{
	struct capture_options options = { .path = path };
	char end[32];
	const struct capture_info info[] = {
		{ CAPTURE_INFO_VERSION, "0.20" },
		{ CAPTURE_INFO_KERNEL, "6.12.38" },
		{ CAPTURE_INFO_START, "999999000000" },
		{ CAPTURE_INFO_END, end },
	};
	const struct capture_count ledger[] = { { "issued", r->nr }, { "completed", r->nr } };
	static const struct device device = { .name = "nvme0n1",
					      .kind = DEVICE_NVME_NS,
					      .diskseq = 9,
					      .size_bytes = 1ULL << 40,
					      .block_size = 512,
					      .unit_bytes = 4096,
					      .major = 259,
					      .nsid = 1,
					      .nr_queues = 1,
					      .depth = 1023,
					      .model = "example",
					      .serial = "WHY00001" };
	struct capture_writer *writer;
	int err = capture_writer__new(&options, &writer);

	snprintf(end, sizeof(end), "%llu", r->ones[r->nr - 1].record.end_ns + 100000);
	if (err)
		return err;
	err |= capture_writer__info(writer, info, sizeof(info) / sizeof(*info));
	err |= capture_writer__device(writer, 0, &device);
	for (size_t i = 0; i < r->nr; i++) {
		r->ones[i].record.seq = (uint32_t)i;
		r->ones[i].record.cpu = 0;
		err |= capture_writer__records(writer, &r->ones[i].record, 1);
	}
	err |= capture_writer__finish(writer, "done", ledger, 2);
	capture_writer__free(writer);
	return err;
}

static int make_capture(const char *path, size_t nr)
{
	static const struct plant p = {
		.name = "capture",
		.servers = 4,
		.loads = { READS(2, 90, 50), LOAD(16, 900, 5, "backup", 1 << 17, NVME_WRITE, 0),
			   LOAD(1, 90, 900, "cron; rm -r", 4096, NVME_READ, 0) },
		.one_of = 60,
		.fails = true,
	};
	struct run run = run_make(&p, 4711, nr);
	int err = put_capture(path, &run);

	free(run.ones);
	return err != 0;
}

int main(int argc, char **argv)
{
	char path[256];

	if (argc == 3 && !strcmp(argv[1], "--make")) {
		snprintf(path, sizeof(path), "%s/why.cap", argv[2]);
		return make_capture(path, 1511);
	}
	if (argc == 4 && !strcmp(argv[1], "--large"))
		return make_capture(argv[2], strtoul(argv[3], NULL, 10));
	check_rules();
	for (int i = 0; i < PLANTS; i++)
		check_planted(&plants[i]);
	check_healthy();
	check_none();
	check_hostile();
	return done_testing();
}
