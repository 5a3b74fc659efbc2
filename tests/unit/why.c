/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * why.c: is a planted cause of slow I/O found and ranked first, and is nothing found in healthy
 * loads and near misses? Records of simulated devices with a cause each, 20 seeds of each, 200
 * healthy runs of varied loads, and 540 that have a little of a cause, too. The rows of
 * docs/verdicts.md are what was measured here, but for their last columns.
 */
#include <stdlib.h>
#include <string.h>
#include "near_miss.h"
#include "planted.h"
#include "tap.h"
#include "verdicts.h"
#include "why/rules.h"
#include "why/why.h"

enum { SEEDS = 20, HEALTHY = 200, MISSES = 540 };

/* ---- the page cache ---- */

static struct pages *make_pages(const struct plant *p, const struct run *r)
{
	struct pages *pages = calloc(1, sizeof(*pages));
	const struct cache_key key = { .dev = PARTITION };
	uint64_t counts[NR_CACHE_COUNTS] = { 0 };
	int err = 0;

	pages->page_bytes = PAGE_BYTES;
	for (size_t i = 0; i < r->nr && !err; i++) {
		const struct cache_command command = page_command(&r->ones[i].record);

		if (page_is_filled(p, &r->ones[i].record))
			err = pages__add_command(pages, 0, &command);
	}
	page_counts(p, r, counts);
	pages__add_row(pages, 0, &key, counts);
	if (err)
		abort();
	pages__finish(pages);
	return pages;
}

static struct dirty *make_dirty(const struct plant *p)
{
	static const char comm[16] = "cp";
	struct dirty *dirty = calloc(1, sizeof(*dirty));

	for (uint32_t i = 0; i < CALLS; i++)
		dirty__add(dirty, 0, comm, CALL_NS + call_dirty_ns(p, i), call_dirty_ns(p, i));
	dirty__finish(dirty);
	return dirty;
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
				      .block_bytes = 512,
				      .number = p->two_disks && device ? 0 : DISK,
				      .has_poll_queues = p->has_poll_queues };
}

static enum fact_class class_of(uint8_t op)
{
	return op == NVME_READ	  ? FACT_READ
	       : op == NVME_WRITE ? FACT_WRITE
	       : op == NVME_FLUSH ? FACT_FLUSH
				  : FACT_DISCARD;
}

static int add_record(struct facts *facts, const struct io_record *r)
{
	const struct plant *p = facts->arg;

	return !p->asked_pid || r->pid == p->asked_pid
		       ? facts__add(facts, r->device, class_of(r->op), r)
		       : facts__add_bystander(facts, r->device, class_of(r->op), r);
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
		err = add_record(facts, &timeout);
	}
	return err ?: add_record(facts, r);
}

static struct why *judge_with(const struct plant *p, const struct run *r,
			      const struct mounts *mounts)
{
	struct facts *facts = calloc(1, sizeof(*facts));
	struct why *why = calloc(1, sizeof(*why));
	struct pages *pages = make_pages(p, r);
	struct dirty *dirty = make_dirty(p);
	int err;

	facts->describe = describe;
	facts->arg = p;
	facts->pages = pages;
	facts->dirty = dirty;
	facts->mounts = mounts;
	err = facts__init(facts);
	for (size_t i = 0; i < r->nr && !err; i++)
		err = add(facts, &r->ones[i]);
	if (p->own)
		facts->own = (struct fact_own){ 10000 * MS, 10 * MS * p->own, 1 };
	facts__finish(facts);
	if (err || why__judge(why, facts, 0.2))
		abort();
	facts__free(facts);
	free(facts);
	pages__free(pages);
	free(pages);
	free(dirty);
	return why;
}

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

static struct why *judge(const struct plant *p, const struct run *r)
{
	return judge_with(p, r, NULL);
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
	if (!ok(verdicts__have(line), "%s: docs/verdicts.md has what was measured", name))
		printf("# measured: %s\n", line);
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

static void check_healthy(const char *name, struct plant (*make)(uint64_t seed), int runs)
{
	struct marks m = { 0 };
	int found = 0;

	for (uint64_t seed = 1; seed <= (uint64_t)runs; seed++) {
		const struct plant p = make(seed);
		struct run run = run_make(&p, seed, COMMANDS);
		struct why *why = judge(&p, &run);

		mark(&m, &p, why);
		found += why->nr != 0;
		for (size_t i = 0; i < why->nr; i++)
			printf("# %s %d: %s %.0f %% %.0f %%: %s [%s]\n", name, (int)seed,
			       why->findings[i].rule->name, 100 * why->findings[i].tail,
			       100 * why->findings[i].total, why->findings[i].what,
			       why->findings[i].evidence);
		free(why);
		free(run.ones);
	}
	ok(found * 100 <= runs, "%s: at most 1 of 100 has a finding (%d of %d)", name, found, runs);
	check_row(name, runs, &m);
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

/* ---- a process that is asked about ---- */

static const struct plant *plant_of(const char *name)
{
	for (int i = 0; i < PLANTS; i++)
		if (!strcmp(plants[i].name, name))
			return &plants[i];
	abort();
}

/* In how many runs is this the first finding, with this in its words? None: nothing is found. */
static int count_asked(const char *plant, uint32_t pid, const char *finding, const char *words)
{
	int nr = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct plant p = vary(plant_of(plant), seed);
		struct run run = run_make(&p, seed, COMMANDS);
		const struct why_finding *first;
		struct why *why;

		p.asked_pid = pid;
		why = judge(&p, &run);
		first = &why->findings[0];
		nr += finding ? why->nr && !strcmp(first->rule->name, finding) &&
					strstr(first->what, words)
			      : !why->nr;
		if (seed == 1 && why->nr)
			printf("# %s for %u: %.0f %% %.0f %% %s: %s [%s]\n", plant, pid,
			       100 * first->tail, 100 * first->total, first->rule->name,
			       first->what, first->evidence);
		free(why);
		free(run.ones);
	}
	return nr;
}

/* ---- whose flushes they are ---- */

/* The first finding of this run is about flushes, with these words, and shows this victim. */
static void check_whose(const struct plant *p, const struct mounts *mounts, const char *what,
			const char *evidence, const char *more)
{
	struct run run = run_make(p, 1, COMMANDS);
	struct why *why = judge_with(p, &run, mounts);
	const struct why_finding *first = &why->findings[0];

	ok(why->nr && !strcmp(first->rule->name, "flushes"), "flushes: %s", what);
	is_str(first->what, what, "whose they are");
	ok(strstr(first->evidence, evidence), "and why: %s", first->evidence);
	is_str(first->more, "blame", "blame shows more");
	is_str(first->more_args, more, "of those who wait");
	free(why);
	free(run.ones);
}

static void check_flushes(void)
{
	struct mount mount = { .source = "/dev/sda1", .at = "/var/lib/x" };
	const struct mounts mounts = { &mount, 1 };
	struct plant p = vary(plant_of("flushes"), 1);

	check_whose(&p, NULL, "flushes of postgres take the time", "flushes are sent by postgres",
		    " --victim postgres");
	p.loads[2].comm = "kworker/0:1H";
	check_whose(&p, NULL, "flushes of kworker/0:1H take the time",
		    ", for an fsync of some task", " --victim kworker/0:1H");
	p.loads[1].comm = "jbd2/sda1-8";
	p.loads[1].flushes = true;
	check_whose(&p, &mounts, "flushes of jbd2/sda1-8 (journal of sda1) take the time",
		    "writes of jbd2/sda1-8 flush before or after themselves;"
		    "sda1 is mounted at /var/lib/x;",
		    " --victim jbd2/sda1-8");
	p.loads[1].flushes = false;
	p.loads[2].comm = "jbd2/sda1-8";
	p.servers = 1;
	check_whose(&p, &mounts,
		    "reads of postgres wait for flushes of jbd2/sda1-8 (journal of sda1)",
		    "sda1 is mounted at /var/lib/x;", " --victim postgres");
}

/* Only its own time is judged: as in a run of its records alone, but the waits are for all. */
static void check_asked_sums(void)
{
	struct plant p = *plant_of("culprit");
	struct run run = run_make(&p, 5, COMMANDS);
	struct facts *facts = calloc(2, sizeof(*facts));
	struct fact_sums all[2], tail[2];

	p.asked_pid = 100;
	for (int i = 0; i < 2; i++) {
		facts[i].describe = describe;
		facts[i].arg = &p;
		facts__init(&facts[i]);
		for (size_t j = 0; j < run.nr; j++)
			if (!i || run.ones[j].record.pid == 100)
				add(&facts[i], &run.ones[j]);
		facts__finish(&facts[i]);
		facts__sum(&facts[i], (struct fact_choice){ .classes = FACT_ALL_CLASSES }, &all[i],
			   &tail[i]);
	}
	ok(!memcmp(&all[0], &all[1], sizeof(all[0])) && !memcmp(&tail[0], &tail[1], sizeof(*tail)),
	   "time and tail of a process do not depend on others");
	is_u64(facts[0].devices[0]->count, run.nr, "its device has the commands of all");
	ok(all[0].nr < run.nr && all[0].nr > 0, "of which some are its own");
	facts__free(&facts[0]);
	facts__free(&facts[1]);
	free(facts);
	free(run.ones);
}

static void check_asked(void)
{
	is_u64((uint64_t)count_asked("culprit", 100, "culprit", "writes of backup"), SEEDS,
	       "a process waits for another one");
	is_u64((uint64_t)count_asked("culprit", 101, "saturated", ""), SEEDS,
	       "and that one for itself: what others wait is not its own");
	is_u64((uint64_t)count_asked("own-writes", 100, "culprit", "writes of other postgres"),
	       SEEDS, "a process waits for another of its name");
	is_u64((uint64_t)count_asked("flushes", 101, NULL, ""), SEEDS,
	       "a writer without flushes does not wait for those of others");
	is_u64((uint64_t)count_asked("discards", 100, "discards", "of fstrim"), SEEDS,
	       "a reader waits for discards");
	is_u64((uint64_t)count_asked("culprit", 7, NULL, ""), SEEDS,
	       "a process without I/O has no finding");
	check_asked_sums();
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

/* A task that gets no turn between the submission and its request: its wait is most of all time. */
static void check_one_wait(void)
{
	struct plant p = *plant_of("own-cost");
	struct run run;
	struct why *why;

	p.own = 0;
	run = run_make(&p, 7, COMMANDS);
	run.ones[run.nr / 2].stages.queued_ns -= 1000 * MS;
	why = judge_with(&p, &run, NULL);
	is_u64(why->nr, 0, "one command that waited for a second is no cause");
	free(why);
	free(run.ones);
}

/* The same to each command of a task with one in flight, as on a machine that is busy otherwise. */
static void check_each_waits(void)
{
	const struct plant p = { .servers = 32,
				 .loads = { READS(1, 90, 50) },
				 .brief = { .one_of = 1, .ns = 60 * US, .where = FOR_TAG } };
	struct run run = run_make(&p, 7, COMMANDS);
	struct why *why = judge(&p, &run);

	if (!is_u64(why->nr, 0, "with one command in flight none waits for a request"))
		printf("# %s %s\n", why->findings[0].rule->name, why->findings[0].evidence);
	free(why);
	free(run.ones);
}

/* A stall of which the slowest have most of their time does not hide what all wait for. */
static void check_stall_of_few(void)
{
	struct plant p = vary(plant_of("saturated"), 3);
	struct run run;
	struct why *why;
	bool found = false;

	p.stalls = 1;
	p.stall_ns = 21 * MS;
	run = run_make(&p, 3, COMMANDS);
	why = judge(&p, &run);
	for (size_t i = 0; i < why->nr && i < 2; i++) {
		found |= !strcmp(why->findings[i].rule->name, "saturated");
		printf("# a stall: %s %.0f %% %.0f %%\n", why->findings[i].rule->name,
		       100 * why->findings[i].tail, 100 * why->findings[i].total);
	}
	ok(found, "one stall does not hide that the device is saturated");
	free(why);
	free(run.ones);
}

/* ---- polling ---- */

static int count_polling(const struct plant *p)
{
	int nr = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct plant varied = vary(p, seed);
		struct run run = run_make(&varied, seed, COMMANDS);
		struct why *why = judge(&varied, &run);

		for (size_t i = 0; i < why->nr; i++)
			nr += !strcmp(why->findings[i].rule->name, "polling");
		free(why);
		free(run.ones);
	}
	return nr;
}

/* The plant but for one thing that makes polling no remedy, or is not known. */
static void check_polling(void)
{
	const struct plant *planted = plant_of("polling");
	struct plant p = *planted;

	is_u64((uint64_t)count_polling(&p), SEEDS, "polling is not used");
	p.has_poll_queues = false;
	is_u64((uint64_t)count_polling(&p), 0, "a device without queues for it, or not known");
	p = *planted;
	p.polled = true;
	is_u64((uint64_t)count_polling(&p), 0, "commands are polled");
	p = *planted;
	p.quick = false;
	is_u64((uint64_t)count_polling(&p), 0, "threads are not known");
	p = *planted;
	for (int i = 0; i < LOADS; i++)
		p.loads[i].model.service_ns *= 10;
	is_u64((uint64_t)count_polling(&p), 0, "the commands are not short");
	p = *planted;
	for (int i = 0; i < LOADS; i++)
		p.loads[i].model.think_ns *= 30;
	is_u64((uint64_t)count_polling(&p), 0, "the threads have other work");
	p = *planted;
	for (int i = 0; i < LOADS; i++)
		p.loads[i].model.think_ns = 900;
	is_u64((uint64_t)count_polling(&p), 0, "the wake-up takes next to nothing");
	p = *planted;
	for (int i = 0; i < LOADS; i++)
		p.loads[i].model.depth *= 8;
	is_u64((uint64_t)count_polling(&p), 0, "a thread has several in flight");
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

/* Further writers are counted; a length that is impossible changes nothing. */
static void check_dirty(void)
{
	struct dirty *d = calloc(1, sizeof(*d));
	char comm[16] = { 0 };

	ok(!dirty__worst(d, 0), "nobody waits");
	for (int i = 0; i < 2 * DIRTY_WRITERS; i++) {
		snprintf(comm, sizeof(comm), "writer%d", i);
		dirty__add(d, 0, comm, 1000, i == 3 ? 2000 : 0);
	}
	for (int i = 0; i < 198; i++)
		dirty__add(d, 0, "writer3\0\0\0\0\0\0\0\0", i < 2 ? 1 * MS : 1000,
			   i < 2 ? 1 * MS : 0);
	dirty__finish(d);
	is_u64(d->nr, DIRTY_WRITERS, "the number of writers is bounded");
	is_u64(d->left_out, DIRTY_WRITERS, "and others are counted");
	is_str(dirty__worst(d, 0)->comm, "writer3", "who waits most");
	is_u64(dirty__worst(d, 0)->all.dirty_ns, 2 * MS + 1000,
	       "no call waits longer than it takes");
	is_u64(dirty__worst(d, 0)->tail.ns, 2 * MS, "the slowest of 200 are two");
	free(d);
}

/* Few units are known of much data; what is read twice is estimated from them. */
static void check_pages(void)
{
	struct run r = { .seed = 42 };
	struct pages pages = { .page_bytes = PAGE_BYTES };
	const struct pages_disk *disk;
	struct cache_command command;
	struct io_record record = { .bytes = 1 << 20 };
	int err = 0;

	for (int i = 0; i < 8000 && !err; i++) { /* 4 GiB, then 2 GiB of it, then others */
		record.cdw10[0] = (uint32_t)(i < 4096 ? i : i < 6144 ? i - 4096 : i) * 2048;
		command = page_command(&record);
		err = pages__add_command(&pages, 0, &command);
	}
	pages__finish(&pages);
	disk = pages__disk(&pages, 0, DISK);
	ok(!err && pages.index.nr <= PAGES_SEEN, "memory for pages is bounded: %zu units",
	   pages.index.nr);
	is_u64(disk->bytes, 8000ULL << 20, "all bytes are counted");
	ok(disk->again_bytes > 1.9 * (1ULL << 30) && disk->again_bytes < 2.1 * (1ULL << 30),
	   "2 GiB are read again: %.0f", disk->again_bytes);
	ok(!pages__disk(&pages, 0, DISK + 16), "a disk without pages has none");
	for (int i = 0; i < 20000 && !err; i++) {
		uint32_t *words = (uint32_t *)&command;

		for (size_t j = 0; j < sizeof(command) / 4; j++)
			words[j] = (uint32_t)run_draw(&r, 1ULL << run_draw(&r, 33));
		err = pages__add_command(&pages, 0, &command);
	}
	pages__finish(&pages);
	ok(!err && pages.left_out > 0, "what is beyond its bounds is counted");
	pages__free(&pages);
}

int main(void)
{
	check_rules();
	for (int i = 0; i < PLANTS; i++)
		check_planted(&plants[i]);
	check_healthy("healthy", healthy, HEALTHY);
	check_healthy("near-misses", near_miss, MISSES);
	check_asked();
	check_flushes();
	check_none();
	check_one_wait();
	check_each_waits();
	check_stall_of_few();
	check_polling();
	check_hostile();
	check_pages();
	check_dirty();
	return done_testing();
}
