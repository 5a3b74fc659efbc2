/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blame.c: are the parts of every latency complete, is a planted culprit found, is none found where
 * there is none, and does the prediction agree with a run without the culprit? Devices with 1, 4
 * and 32 servers are simulated; nothing tells the analysis their number. What was measured is in
 * docs/verdicts.md. `blame.t --make DIR` makes
 * tests/data/blame.cap: a drive with 4 servers, a database, a backup and discards; blame-paths.cap:
 * two paths to a drive, both with the database, one with the backup; and blame-flush.cap: a drive
 * with one server, the database, flushes of a journal and write zeroes of mkfs, in units of
 * systemd.
 */
#include <stdlib.h>
#include <string.h>
#include "analyse/blame.h"
#include "analyse/servers.h"
#include "capture/write.h"
#include "device_model.h"
#include "draw.h"
#include "tap.h"
#include "verdicts.h"
#include "wire/io_stages.h"
#include "wire/io_tables.h"

enum { A, B, C, SEEDS = 20, COMMANDS = 4000 };

static bool leaves_out_b(const void *arg, const struct blame_tags *tags)
{
	(void)arg;
	return tags->op == B;
}

static struct blame *blame_new(void)
{
	struct blame *b = calloc(1, sizeof(*b));

	b->leaves_out = leaves_out_b;
	blame__init(b);
	return b;
}

static void blame_delete(struct blame *b)
{
	blame__free(b);
	free(b);
}

static size_t party_of(const struct blame *b, uint8_t op)
{
	size_t i = 0;

	while (i < b->nr - 1 && b->parties[i].tags.op != op)
		i++;
	return i;
}

/* Waits by interval and waits by command are added up separately, and have to agree. */
static bool adds_up(const struct blame *b)
{
	if (b->unaccounted_ns)
		return false;
	for (size_t i = 0; i < b->nr; i++) {
		uint64_t waits = 0, all = blame__device(b, i);

		for (size_t j = 0; j < b->nr; j++) {
			waits += b->sums[i].cells->wait_ns[j];
			all += blame__between(b, i, j);
		}
		if (waits != b->sums[i].wait_ns || all != b->parties[i].latency_ns)
			return false;
	}
	return true;
}

static bool knows_issue;

static void add(struct blame *b, const struct blame_tags *tags, const struct model_io *io)
{
	const struct blame_times times = { io->from_ns, knows_issue ? io->issue_ns : io->from_ns,
					   io->end_ns };

	blame__add(b, 0, tags, &times);
}

/* ---- by hand ---- */

static void check_queue(void)
{
	struct blame_queue *q = calloc(1, sizeof(*q));
	struct blame_sum sums[3] = { 0 };
	uint16_t b, c, a;

	for (int i = 0; i < 3; i++)
		sums[i].cells = calloc(1, sizeof(struct blame_cells));
	blame_queue__init(q, sums, false);
	blame_queue__set_servers(q, 2);
	b = blame_queue__submit_issued(q, B);
	c = blame_queue__submit_issued(q, C);
	blame_queue__advance(q, 10);
	a = blame_queue__submit_issued(q, A);
	blame_queue__advance(q, 21);
	blame_queue__end(q, c);
	blame_queue__advance(q, 100);
	blame_queue__end(q, a);
	blame_queue__end(q, b);
	is_u64(sums[A].wait_ns, 11, "it waits for a free server");
	is_u64(sums[A].service_ns, 79, "and then it is served");
	ok(blame_sum__waited(sums, A, B) == 5.5 && blame_sum__waited(sums, A, C) == 5.5,
	   "its wait is of both that are served");
	is_u64(sums[B].wait_ns, 0, "those before it do not wait");
	ok(blame_sum__beside(sums, B, C) == 21 && blame_sum__beside(sums, B, A) == 79,
	   "service beside others is divided");
	a = blame_queue__submit(q, A);
	blame_queue__advance(q, 150);
	b = blame_queue__submit_issued(q, B);
	blame_queue__advance(q, 170);
	blame_queue__issue(q, a);
	blame_queue__end(q, a);
	blame_queue__end(q, b);
	is_u64(sums[A].wait_ns, 11 + 20, "it waits before its issue, too");
	is_u64(sums[A].idle_ns, 50, "but for nobody while nothing is served");
	ok(blame_sum__waited(sums, A, B) == 5.5 + 20, "and for those that are served");
	for (int i = 0; i < 3; i++)
		free(sums[i].cells);
	free(q);
}

enum { PLAIN = 9, PLAIN_STEPS = 20000 };

/* What the queue adds up now and then, moment by moment. */
static void plainly_advance(struct blame_queue *q, uint64_t ns, double waited[PLAIN][PLAIN],
			    double beside[PLAIN][PLAIN])
{
	const uint32_t all = q->served.all;

	blame_queue__advance(q, q->now_ns + ns);
	for (int i = 0; i < PLAIN && all; i++)
		for (int j = 0; j < PLAIN; j++) {
			const uint32_t served = q->served.counts[j];

			waited[i][j] += (double)ns * q->waiting.counts[i] * served / all;
			if (all > 1 && served)
				beside[i][j] += (double)ns * q->served.counts[i] *
						(served - (i == j)) / (all - 1);
		}
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b)) + 1e-3;
}

static void check_plainly(void)
{
	static double waited[PLAIN][PLAIN], beside[PLAIN][PLAIN];
	struct blame_queue *q = calloc(1, sizeof(*q));
	struct blame_sum sums[PLAIN] = { 0 };
	uint16_t held[64], issued[64];
	uint32_t nr_held = 0, nr_issued = 0, wrong = 0;

	for (int i = 0; i < PLAIN; i++)
		sums[i].cells = calloc(1, sizeof(struct blame_cells));
	blame_queue__init(q, sums, false);
	for (int step = 0; step < PLAIN_STEPS; step++) {
		const uint64_t what = draw(100);

		plainly_advance(q, draw(50), waited, beside);
		if (!what) {
			blame_queue__set_servers(q, 1 + (uint32_t)draw(12));
		} else if (what < 50 && nr_held + nr_issued < 24) {
			if (draw(2))
				held[nr_held++] = blame_queue__submit(q, (uint16_t)draw(PLAIN));
			else
				issued[nr_issued++] =
					blame_queue__submit_issued(q, (uint16_t)draw(PLAIN));
		} else if (what < 70 && nr_held) {
			blame_queue__issue(q, issued[nr_issued++] = held[--nr_held]);
		} else if (nr_issued) {
			const uint32_t at = (uint32_t)draw(nr_issued);

			blame_queue__end(q, issued[at]);
			issued[at] = issued[--nr_issued];
		}
	}
	while (nr_held)
		blame_queue__issue(q, issued[nr_issued++] = held[--nr_held]);
	while (nr_issued)
		blame_queue__end(q, issued[--nr_issued]);
	for (size_t i = 0; i < PLAIN; i++)
		for (size_t j = 0; j < PLAIN; j++)
			wrong += !is_near(waited[i][j], blame_sum__waited(sums, i, j)) +
				 !is_near(beside[i][j], blame_sum__beside(sums, i, j));
	is_u64(wrong, 0, "who waits for whom, and is beside whom, as counted moment by moment");
	ok(waited[0][0] > 0 && waited[0][1] > 0 && beside[0][0] > 0 && beside[0][1] > 0,
	   "and they do");
	for (int i = 0; i < PLAIN; i++)
		free(sums[i].cells);
	free(q);
}

/* ---- planted culprits ---- */

struct outcome {
	struct blame *blame;
	double mean_ns; /* of A */
};

static struct outcome simulate(struct model model)
{
	struct outcome out = { .blame = blame_new() };
	struct model_io io;
	size_t a;

	model_start(&model);
	for (int i = 0; i < COMMANDS && model_next(&model, UINT64_MAX / 4, &io); i++) {
		struct blame_tags tags = { .op = (uint8_t)io.load };

		add(out.blame, &tags, &io);
	}
	blame__finish(out.blame);
	a = party_of(out.blame, A);
	out.mean_ns =
		(double)out.blame->parties[a].latency_ns / (double)out.blame->parties[a].count;
	return out;
}

struct marks {
	int uneven, hurt, unranked, wrong;
	double worst;
};

static bool is_first(const struct blame *b)
{
	size_t a = party_of(b, A), culprit = party_of(b, B);

	for (size_t i = 0; i < b->nr; i++)
		if (i != a && i != culprit &&
		    blame__between(b, a, i) >= blame__between(b, a, culprit))
			return false;
	return true;
}

static void mark(struct model model, struct marks *marks)
{
	struct outcome with = simulate(model), without;
	size_t a = party_of(with.blame, A);
	double predicted[BLAME_PARTIES], off;

	model.loads[B].depth = 0;
	without = simulate(model);
	blame__predict(with.blame, predicted);
	off = fabs(predicted[a] / without.mean_ns - 1);
	marks->uneven += !adds_up(with.blame) + !adds_up(without.blame);
	marks->wrong += off > 0.2;
	marks->worst = off > marks->worst ? off : marks->worst;
	if (with.mean_ns > 1.2 * without.mean_ns) {
		marks->hurt++;
		marks->unranked += !is_first(with.blame);
	}
	blame_delete(with.blame);
	blame_delete(without.blame);
}

/* Whole percents: the last digits differ with the C library. */
static void check_row(const char *device, uint32_t depth, const struct marks *m)
{
	char row[200];

	snprintf(row, sizeof(row), "| %s | %u | %d | %d | %d | %.0f %% |", device, depth, SEEDS,
		 m->hurt, m->hurt - m->unranked, ceil(100 * m->worst));
	if (!ok(verdicts__have(row), "%s, depth %u: docs/verdicts.md has what was measured", device,
		depth))
		printf("# measured: %s\n", row);
}

static const char *servers_text(uint32_t servers, const char *how)
{
	static char text[40];

	snprintf(text, sizeof(text), "%s %u at once", how, servers);
	return text;
}

static const uint32_t sizes[] = { 1, 4, 32 };
static const char *const spreads[] = { "constant", "uniform", "exponential" };

/* A reads a little, B writes a lot, C is a bystander that does little. */
static void check_planted(uint32_t servers, uint32_t depth)
{
	struct marks m = { 0 };

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct model model = { .servers = servers, .seed = seed * 7919 };
		enum model_spread spread = (enum model_spread)(seed % NR_MODEL_SPREADS);

		model.loads[A] = (struct model_load){ depth, 80000, spread, 5000, 0, 0 };
		model.loads[B] = (struct model_load){ 8 + servers, 900000, spread, 2000, 0, 0 };
		model.loads[C] = (struct model_load){ 1, 60000, spread, 2000000, 0, 0 };
		mark(model, &m);
	}
	ok(!m.uneven, "%u servers, depth %u: parts add up", servers, depth);
	ok(m.hurt >= SEEDS / 2 && !m.unranked,
	   "%u servers, depth %u: the culprit is first in all %d runs that it disturbs", servers,
	   depth, m.hurt);
	if (!ok(!m.wrong, "%u servers, depth %u: the mean without it is predicted within 20 %%",
		servers, depth))
		printf("# %d of %d wrong\n", m.wrong, SEEDS);
	printf("# worst prediction: %.1f %% off\n", 100 * m.worst);
	check_row(servers_text(servers, "serves"), depth, &m);
}

/* A queue before the device, which is left in any order: it is known when a command is issued. */
static void check_issued(uint32_t servers)
{
	struct marks m = { 0 };

	knows_issue = true;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct model model = { .servers = servers, .seed = seed * 7907, .shuffles = true };
		enum model_spread spread = (enum model_spread)(seed % NR_MODEL_SPREADS);

		model.loads[A] = (struct model_load){ 1, 80000, spread, 5000, 0, 0 };
		model.loads[B] = (struct model_load){ 8 + servers, 900000, spread, 2000, 0, 0 };
		model.loads[C] = (struct model_load){ 1, 60000, spread, 2000000, 0, 0 };
		mark(model, &m);
	}
	knows_issue = false;
	ok(!m.uneven, "%u issued at once: parts add up", servers);
	ok(m.hurt == SEEDS && !m.unranked, "%u issued at once: the culprit is first", servers);
	ok(!m.wrong, "%u issued at once: the mean without it is predicted within 20 %%", servers);
	printf("# worst prediction: %.1f %% off\n", 100 * m.worst);
	check_row(servers_text(servers, "is given"), 1, &m);
}

/* A device without a queue, whose speed all share: what is known is how fast A was before B. */
static void check_shared(void)
{
	struct marks m = { 0 };

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct model model = { .servers = 4, .seed = seed * 104729, .shares = true };
		enum model_spread spread = (enum model_spread)(seed % NR_MODEL_SPREADS);

		model.loads[A] = (struct model_load){ 4, 80000, spread, 5000, 0, 0 };
		model.loads[B] = (struct model_load){ 16, 900000, spread, 2000, 20000000, 0 };
		model.loads[C] = (struct model_load){ 1, 60000, spread, 2000000, 0, 0 };
		mark(model, &m);
	}
	ok(!m.uneven, "shared speed: parts add up");
	ok(m.hurt == SEEDS && !m.unranked, "shared speed: the culprit is first");
	ok(!m.wrong, "shared speed: the mean without it is predicted within 20 %%");
	printf("# worst prediction: %.1f %% off\n", 100 * m.worst);
	check_row("shares its speed", 4, &m);
}

/* ---- healthy loads ---- */

/* What A waited because of others, in percent of its latency. */
static double blamed_percent(const struct blame *b)
{
	size_t a = party_of(b, A);
	uint64_t ns = 0;

	for (size_t i = 0; i < b->nr; i++)
		ns += i == a ? 0 : blame__between(b, a, i);
	return 100 * ((double)ns / (double)b->parties[a].latency_ns);
}

static void check_healthy(enum model_spread spread)
{
	double worst = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct model model = { .servers = 32, .seed = seed * 15485863 };
		struct outcome out;
		double percent;

		model.loads[A] =
			(struct model_load){ 1 + (uint32_t)seed % 8, 80000, spread, 5000, 0, 0 };
		model.loads[B] = (struct model_load){ 1 + (uint32_t)seed % 16, 900000, spread,
						      50000 * (seed % 5),      0,      0 };
		model.loads[C] = (struct model_load){ 2, 60000, spread, 200000, 0, 0 };
		out = simulate(model);
		percent = blamed_percent(out.blame);
		worst = percent > worst ? percent : worst;
		blame_delete(out.blame);
	}
	ok(worst < 5, "healthy loads, %s service: nobody is blamed", spreads[spread]);
	printf("# worst: %.2f %%\n", worst);
}

/* ---- what nobody would send ---- */

static void check_bounds(void)
{
	struct blame *b = blame_new();
	uint64_t unseen = 0, at = 1000000, count = 0;

	/* More parties, devices and commands in flight than there is room for; some out of order.
	 */
	for (uint32_t i = 0; i < 150000; i++, at += draw(3000)) {
		struct blame_tags tags = { .pid = (uint32_t)draw(1500), .op = C };
		uint64_t took = draw(100) ? draw(200000) : draw(300000000);
		uint64_t end = draw(50) ? at : at - draw(100000);

		struct blame_times times = { end > took ? end - took : 0, end - draw(200000),
					     draw(1000) ? end : 0 };

		blame__add(b, (int32_t)draw(draw(100) ? 2 : 300), &tags, &times);
	}
	blame__finish(b);
	for (size_t i = 0; i < b->nr; i++) {
		unseen += b->sums[i].unseen;
		count += b->parties[i].count;
	}
	ok(adds_up(b), "parts add up whatever comes");
	ok(b->nr <= BLAME_PARTIES, "parties are bounded");
	is_u64(count, 150000, "every command is counted");
	ok(b->rest > 0, "more parties are the rest");
	ok(unseen > 0 && unseen < count / 4, "what cannot be followed is counted");
	blame_delete(b);
}

/* A batch ends somewhere: it must not matter where. */
static void check_batches(void)
{
	struct model model = { .servers = 4, .seed = 12345 };
	struct blame *b = blame_new();
	struct model_io io;
	size_t a;

	model.loads[A] = (struct model_load){ 4, 8000, MODEL_UNIFORM, 500, 0, 0 };
	model.loads[B] = (struct model_load){ 8, 90000, MODEL_UNIFORM, 200, 0, 0 };
	model_start(&model);
	for (int i = 0; i < 5 * BLAME_BATCH && model_next(&model, UINT64_MAX / 4, &io); i++) {
		struct blame_tags tags = { .op = (uint8_t)io.load };

		add(b, &tags, &io);
	}
	blame__finish(b);
	a = party_of(b, A);
	ok(adds_up(b), "batches: parts add up");
	is_u64(b->sums[a].unseen + b->sums[party_of(b, B)].unseen, 0, "batches: all is followed");
	is_u64(blame__servers(b, 0), 4, "batches: the device has four servers");
	ok((double)b->sums[a].service_ns / (double)b->parties[a].count < 9000,
	   "batches: service is what it was");
	blame_delete(b);
}

/* Queues tell parties apart, but not how long a command is served. */
static void check_queues(void)
{
	struct model model = { .servers = 4, .seed = 54321 };
	struct blame *b = blame_new();
	struct model_io io;

	model.loads[A] = (struct model_load){ 4, 80000, MODEL_CONSTANT, 5000, 0, 0 };
	model.loads[B] = (struct model_load){ 12, 900000, MODEL_CONSTANT, 2000, 0, 0 };
	model_start(&model);
	for (int i = 0; i < COMMANDS && model_next(&model, UINT64_MAX / 4, &io); i++) {
		struct blame_tags tags = { .op = (uint8_t)io.load, .qid = (uint16_t)draw(250) };

		add(b, &tags, &io);
	}
	blame__finish(b);
	ok(adds_up(b), "250 queues: parts add up");
	is_u64(blame__servers(b, 0), 4, "250 queues: the device has four servers");
	blame_delete(b);
}

/* ---- captures ---- */

enum { CAPTURED = 1511 };
enum { NVME_FLUSH = 0, NVME_WRITE = 1, NVME_READ = 2, NVME_ZEROES = 8, NVME_DSM = 9 };

struct task {
	const char *comm;
	uint32_t bytes;
	uint8_t op;
	uint64_t cgroup; /* 0: not known */
};

static const struct task tasks[] = {
	[A] = { "postgres", 4096, NVME_READ, 0 },
	[B] = { "backup", 1 << 20, NVME_WRITE, 0 },
	[C] = { "fstrim", 0, NVME_DSM, 0 },
};

static const char *const cgroups[] = { "/system.slice/postgresql.service", "/",
				       "/user.slice/user-1000.slice/session-3.scope" };
static const struct task special_tasks[] = {
	[A] = { "postgres", 4096, NVME_READ, 1 },
	[B] = { "jbd2/nvme0n1p1-", 0, NVME_FLUSH, 2 },
	[C] = { "mkfs.ext4", 0, NVME_ZEROES, 3 },
};

static int put_io(struct capture_writer *writer, const struct model_io *io, const struct task *task,
		  uint16_t device, uint16_t qid)
{
	const uint64_t start_ns = 1000000000000, from_ns = start_ns + io->from_ns;
	static uint32_t seq;
	struct {
		struct io_record record;
		struct io_stages stages;
	} staged = { 0 };

	staged.record = (struct io_record){
		.first_ns = from_ns + 2000,
		.last_ns = from_ns + 2000,
		.end_ns = start_ns + io->end_ns + 3000,
		.nsid = 1,
		.bytes = task->bytes,
		.pid = 100 + io->load,
		.seq = seq++,
		.device = device,
		.qid = qid,
		.op = task->op,
		.kind = IO_NVME,
		.attempts = 1,
		.flags = RECORD_STAGES,
	};
	snprintf(staged.record.comm, sizeof(staged.record.comm), "%s", task->comm);
	staged.stages =
		(struct io_stages){ .queued_ns = from_ns, .cgroup = task->cgroup, .nr_bios = 1 };
	return capture_writer__records(writer, &staged.record, 1);
}

static int put_one_drive(struct capture_writer *writer)
{
	struct model model = { .servers = 4, .seed = 271828 };
	struct model_io io;
	int err = 0;

	model.loads[A] = (struct model_load){ 2, 80000, MODEL_UNIFORM, 5000, 0, 0 };
	model.loads[B] = (struct model_load){ 8, 900000, MODEL_UNIFORM, 0, 20000000, 0 };
	model.loads[C] = (struct model_load){ 4, 3000000, MODEL_UNIFORM, 0, 60000000, 90000000 };
	model_start(&model);
	for (uint32_t i = 0; i < CAPTURED && model_next(&model, UINT64_MAX / 4, &io); i++)
		err |= put_io(writer, &io, &tasks[io.load], 0, 1);
	return err;
}

/* The backup uses the first path alone, and both queues of it. */
static int put_two_paths(struct capture_writer *writer)
{
	struct model models[] = { { .servers = 4, .seed = 31415 },
				  { .servers = 4, .seed = 92653 } };
	struct model_io next[2];
	int err = 0;

	for (int i = 0; i < 2; i++)
		models[i].loads[A] = (struct model_load){ 2, 80000, MODEL_UNIFORM, 5000, 0, 0 };
	models[0].loads[B] = (struct model_load){ 8, 900000, MODEL_UNIFORM, 0, 20000000, 0 };
	for (int i = 0; i < 2; i++) {
		model_start(&models[i]);
		model_next(&models[i], UINT64_MAX / 4, &next[i]);
	}
	for (uint32_t i = 0; i < CAPTURED; i++) {
		const int path = next[1].end_ns < next[0].end_ns;
		const uint16_t qid = next[path].load == A ? 1 : (uint16_t)(1 + i % 2);

		err |= put_io(writer, &next[path], &tasks[next[path].load], (uint16_t)(1 + path),
			      qid);
		model_next(&models[path], UINT64_MAX / 4, &next[path]);
	}
	return err;
}

/* First the journal commits, then a file system is made beside. */
static int put_flushes(struct capture_writer *writer)
{
	struct model model = { .servers = 1, .seed = 141421 };
	struct model_io io;
	int err = 0;

	for (uint64_t i = 0; i < 3; i++)
		err |= capture_writer__text(writer, GLOSSARY_CGROUPS,
					    (struct glossary_id){ { i + 1 } }, cgroups[i]);
	model.loads[A] = (struct model_load){ 1, 80000, MODEL_UNIFORM, 300000, 0, 0 };
	model.loads[B] = (struct model_load){ 1, 900000, MODEL_UNIFORM, 1000000, 0, 250000000 };
	model.loads[C] = (struct model_load){ 2, 1500000, MODEL_UNIFORM, 500000, 300000000, 0 };
	model_start(&model);
	for (uint32_t i = 0; i < CAPTURED && model_next(&model, UINT64_MAX / 4, &io); i++)
		err |= put_io(writer, &io, &special_tasks[io.load], 0, 1);
	return err;
}

static const struct device one_drive[] = {
	{ .name = "nvme0n1",
	  .kind = DEVICE_NVME_NS,
	  .diskseq = 9,
	  .size_bytes = 1ULL << 40,
	  .block_size = 512,
	  .major = 259,
	  .nsid = 1,
	  .nr_queues = 1,
	  .depth = 1023,
	  .model = "example",
	  .serial = "BLAME001" },
};

#define DEVICE_OF(named, of_kind, of_ctrl)                                                   \
	{                                                                                    \
		.name = named, .kind = of_kind, .diskseq = 9, .size_bytes = 1ULL << 40,      \
		.block_size = 512, .major = 259, .ctrl = of_ctrl, .nsid = 1, .nr_queues = 2, \
		.depth = 1023, .model = "example", .serial = "BLAME002"                      \
	}
static const struct device two_paths[] = {
	DEVICE_OF("nvme0n1", DEVICE_NVME_HEAD, -1),
	DEVICE_OF("nvme0c0n1", DEVICE_NVME_NS, 0),
	DEVICE_OF("nvme0c1n1", DEVICE_NVME_NS, 1),
};

static int make_capture(const char *dir, const char *name, const struct device *devices, size_t nr,
			int (*put)(struct capture_writer *writer))
{
	char path[256];
	struct capture_options options = { .path = path };
	static const struct capture_info info[] = {
		{ CAPTURE_INFO_VERSION, "0.20" },
		{ CAPTURE_INFO_KERNEL, "6.12.38" },
		{ CAPTURE_INFO_START, "999999000000" },
		{ CAPTURE_INFO_END, "1000604900000" },
	};
	static const struct capture_count ledger[] = { { "issued", CAPTURED },
						       { "completed", CAPTURED } };
	struct capture_writer *writer;
	int err;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	err = capture_writer__new(&options, &writer);
	if (err)
		return err;
	err |= capture_writer__info(writer, info, sizeof(info) / sizeof(*info));
	for (size_t i = 0; i < nr; i++)
		err |= capture_writer__device(writer, (uint16_t)i, &devices[i]);
	err |= put(writer);
	err |= capture_writer__finish(writer, "done", ledger, 2);
	capture_writer__free(writer);
	return err;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--make"))
		return make_capture(argv[2], "blame.cap", one_drive, 1, put_one_drive) ||
		       make_capture(argv[2], "blame-paths.cap", two_paths, 3, put_two_paths) ||
		       make_capture(argv[2], "blame-flush.cap", one_drive, 1, put_flushes);
	check_queue();
	check_plainly();
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++)
			check_planted(sizes[i], sizes[j]);
	for (size_t i = 0; i < 3; i++)
		check_issued(sizes[i]);
	check_shared();
	for (int spread = 0; spread < NR_MODEL_SPREADS; spread++)
		check_healthy((enum model_spread)spread);
	check_bounds();
	check_batches();
	check_queues();
	return done_testing();
}
