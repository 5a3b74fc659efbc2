/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay.c: how many records a second does -r show? Makes a capture of random 4 KiB reads, as fio
 * does them on two NVMe drives and two others, and has iosonar show it to /dev/null: CPU time of
 * the whole process, best of nine. Views that divide latencies among tasks are also shown 500 tasks
 * on drives with queues, and the same reads with stages, as `record --stages` has them. Views that
 * only add up are also measured by the clock, with -j 2 and -j 1, of six times as many records: the
 * best of five. `replay IOSONAR...` measures several builds, turn by turn, so that what else the
 * machine does disturbs them alike; the ratio is that to the first. `replay -w FILE` keeps the
 * capture and measures nothing, with TASKS=500 that of 500 tasks, with STAGES=1 that with stages;
 * VIEW=blame,sql measures views of these names only, TURNS=3 the best of three,
 * RECORDS=20000 a capture of this many records.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "capture/write.h"
#include "wire/io_stages.h"
#include "wire/io_tables.h"
#include "../device_model.h"

enum { RECORDS = 2000000, JOBS = 8, TURNS = 9, BUILDS = 8, BENCH_WORDS = 10, MANY_TASKS = 500 };
enum { SHARED_TIMES = 6, SHARED_TURNS = 5 };

static uint64_t noise = 88172645463325252ULL;

/* What the environment says, or the usual number. */
static uint64_t bench_number(const char *name, uint64_t usual)
{
	const char *given = getenv(name);

	return given ? strtoull(given, NULL, 10) : usual;
}

static uint64_t draw(uint64_t most)
{
	noise ^= noise << 13;
	noise ^= noise >> 7;
	noise ^= noise << 17;
	return (noise * 0x2545f4914f6cdd1dULL >> 16) % most;
}

/* The next end of a command, of one job of several; it took 60 us and a tail. */
static void bench_next(struct io_record *r, uint64_t i)
{
	static uint32_t seq[JOBS];
	uint16_t job = (uint16_t)draw(JOBS);
	uint64_t block = draw(1 << 28), tail = 14000;

	while (!draw(2))
		tail += 14000;
	r->end_ns += 200 + draw(1300);
	r->first_ns = r->last_ns = r->end_ns - 60000 - draw(tail);
	r->cdw10[0] = (uint32_t)(block * 8);
	r->device = job % 4;
	r->kind = job % 4 < 2 ? 0 : 3;
	r->op = job % 4 < 2 ? 2 : 0;
	r->nsid = job % 4 < 2;
	r->qid = job + 1;
	r->cpu = job;
	r->pid = 4000u + job;
	r->cid = (uint16_t)((job % 4 < 2 ? i / 64 % 16 << 12 : 0) | draw(64));
	r->seq = seq[job]++;
}

/* The same drives with queues: as many commands in flight, of which as many are served at once. */
static const struct {
	uint32_t in_flight, served;
} bench_queues[] = { { 128, 32 }, { 16, 1 }, { 64, 64 }, { 32, 4 } };
enum { QUEUES = 4 };

static struct model bench_models[QUEUES];
static struct model_io bench_coming[QUEUES];

static void bench_start_queues(void)
{
	for (int i = 0; i < QUEUES; i++) {
		bench_models[i] = (struct model){ .servers = bench_queues[i].served,
						  .seed = 1 + (uint64_t)i };
		bench_models[i].loads[0] = (struct model_load){
			bench_queues[i].in_flight, 50000, MODEL_UNIFORM, 1000, 0, 0
		};
		model_start(&bench_models[i]);
		model_next(&bench_models[i], UINT64_MAX / 4, &bench_coming[i]);
	}
}

/* Likewise, from one of these; each has tasks of its own, and any of them has a command. */
static void bench_next_of_many(struct io_record *r, uint64_t i)
{
	struct model_io *io = &bench_coming[0];
	unsigned int task;
	const uint64_t start_ns = 1000000000;

	for (int q = 1; q < QUEUES; q++)
		if (bench_coming[q].end_ns < io->end_ns)
			io = &bench_coming[q];
	bench_next(r, i);
	r->device = (uint16_t)(io - bench_coming);
	r->kind = r->device < 2 ? 0 : 3;
	r->op = r->device < 2 ? 2 : 0;
	r->nsid = r->device < 2;
	r->first_ns = r->last_ns = start_ns + io->from_ns;
	r->end_ns = start_ns + io->end_ns;
	task = r->device * (MANY_TASKS / QUEUES) + (unsigned int)draw(MANY_TASKS / QUEUES);
	r->pid = 4000u + task;
	snprintf(r->comm, sizeof(r->comm), "task-%u", task);
	model_next(&bench_models[r->device], UINT64_MAX / 4, io);
}

enum bench_capture { BENCH_PLAIN, BENCH_MANY, BENCH_STAGED, NR_BENCH_CAPTURES };

/* What it has with stages: submission, request, ends, depth and owner. */
static void bench_set_stages(struct record_with_stages *r)
{
	const struct io_record *record = &r->record;

	r->record.flags |= RECORD_STAGES;
	r->stages = (struct io_stages){
		.queued_ns = record->first_ns - 1200 - draw(500),
		.got_ns = record->first_ns - 700,
		.issued_ns = record->first_ns + 300,
		.reaped_ns = record->end_ns - 200,
		.done_ns = record->end_ns + 500 + draw(500),
		.cgroup = 4242,
		.tid = record->pid,
		.depth = 8 + (uint32_t)draw(16),
		.cpu = record->cpu,
		.nr_bios = 1,
	};
}

static int bench_devices(struct capture_writer *writer)
{
	char *names[CAPTURE_NR_NAMES] = { "read", "write", "flush", "discard" };
	int err = capture_writer__names(writer, CAPTURE_NAMES_BLOCK, names);

	for (uint16_t i = 0; i < 4 && !err; i++) {
		struct device device = { .kind = i < 2 ? DEVICE_NVME_NS : DEVICE_REQUEST,
					 .diskseq = i + 1,
					 .size_bytes = 1ULL << 40,
					 .block_size = 512,
					 .ctrl = i < 2 ? i : -1,
					 .nsid = i < 2,
					 .model = "example" };

		snprintf(device.name, sizeof(device.name), i < 2 ? "nvme%dn1" : "sd%c",
			 i < 2 ? i : 'a' + i - 2);
		err = capture_writer__device(writer, i, &device);
	}
	return err;
}

static int bench_make(const char *path, enum bench_capture capture, uint64_t nr)
{
	struct capture_options options = { .path = path };
	struct capture_clock clock = { 1000000000, 1000000000, 1700000000000000000 };
	struct record_with_stages staged = {
		{ .end_ns = 1000000000, .cdw10[2] = 7, .bytes = 4096, .comm = "fio", .attempts = 1 }
	};
	struct capture_writer *writer;
	int err = capture_writer__new(&options, &writer);

	if (err)
		return err;
	err = bench_devices(writer);
	err = err ? err : capture_writer__clock(writer, &clock);
	bench_start_queues();
	for (uint64_t i = 0; i < nr && !err; i++) {
		(capture == BENCH_MANY ? bench_next_of_many : bench_next)(&staged.record, i);
		if (capture == BENCH_STAGED)
			bench_set_stages(&staged);
		err = capture_writer__records(writer, &staged.record, 1);
	}
	err = err ? err : capture_writer__finish(writer, "done", NULL, 0);
	capture_writer__free(writer);
	return err;
}

static double bench_children_s(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double bench_wall_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Seconds that passed on this clock; 0: it failed. */
static double bench_run(char *const *argv, double (*now_s)(void))
{
	double began_s = now_s();
	pid_t child = fork();
	int status = 1;

	if (!child) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execv(argv[0], argv);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || status)
		return 0;
	return now_s() - began_s;
}

/* What is measured: the words of a command; @ stands for the capture. */
static const struct bench_view {
	const char *name;
	const char *words[BENCH_WORDS];
	enum bench_capture capture;
} bench_views[] = {
	{ "latency", { "latency", "-r", "@" } },
	{ "latency --by comm,size", { "latency", "-r", "@", "--by", "comm,size" } },
	{ "trace -o text", { "trace", "-r", "@" } },
	{ "trace -o csv", { "trace", "-r", "@", "-o", "csv" } },
	{ "trace -o json", { "trace", "-r", "@", "-o", "json" } },
	{ "trace, 3 columns", { "trace", "-r", "@", "-o", "csv", "--columns", "dev,op,lat_ns" } },
	{ "trace --if", { "trace", "-r", "@", "--if", "lat > 1s" } },
	{ "export -o csv", { "export", "-r", "@", "-o", "csv" } },
	{ "errors", { "errors", "-r", "@" } },
	{ "pattern", { "pattern", "-r", "@" } },
	{ "report", { "report", "-r", "@" } },
	{ "blame", { "blame", "-r", "@" } },
	{ "why", { "why", "-r", "@" } },
	{ "drives", { "drives", "-r", "@" } },
	{ "blame, 500 tasks", { "blame", "-r", "@" }, BENCH_MANY },
	{ "why, 500 tasks", { "why", "-r", "@" }, BENCH_MANY },
	{ "drives, 500 tasks", { "drives", "-r", "@" }, BENCH_MANY },
	{ "blame, stages", { "blame", "-r", "@" }, BENCH_STAGED },
	{ "why, stages", { "why", "-r", "@" }, BENCH_STAGED },
	{ "drives, stages", { "drives", "-r", "@" }, BENCH_STAGED },
	{ "sql, no column", { "sql", "@", "SELECT count(*) FROM io" } },
	{ "sql, 2 columns", { "sql", "@", "SELECT dev, max(lat_ns) FROM io GROUP BY dev" } },
	{ "sql, 4 columns",
	  { "sql", "@",
	    "SELECT dev, op, sum(bytes), avg(lat_ns) FROM io WHERE lat_ns > 0 GROUP BY dev, op" } },
};

static void bench_print(const char *name, const double *best_s, char *const *builds, int nr)
{
	const double records = (double)bench_number("RECORDS", RECORDS);

	for (int i = 0; i < nr; i++)
		printf("%-22s %6.2f M records/s %5.0f ns/record %5.2f  %s\n", i ? "" : name,
		       records / best_s[i] / 1e6, best_s[i] / records * 1e9, best_s[0] / best_s[i],
		       builds[i]);
	fflush(stdout);
}

static int bench_measure(const char *path, char *const *builds, int nr,
			 const struct bench_view *view)
{
	double best_s[BUILDS] = { 0 };
	const int turns = (int)bench_number("TURNS", TURNS);

	for (int turn = 0; turn < turns; turn++) {
		for (int i = 0; i < nr; i++) {
			char *argv[BENCH_WORDS + 2] = { builds[i] };
			double took_s;

			for (int w = 0; w < BENCH_WORDS && view->words[w]; w++)
				argv[w + 1] =
					(char *)(*view->words[w] == '@' ? path : view->words[w]);
			took_s = bench_run(argv, bench_children_s);
			if (!took_s)
				return fprintf(stderr, "%s %s failed\n", builds[i], view->name);
			best_s[i] = !turn || took_s < best_s[i] ? took_s : best_s[i];
		}
	}
	bench_print(view->name, best_s, builds, nr);
	return 0;
}

/* Of all views, or of those whose names have a word of VIEW. */
static bool bench_is_asked(const struct bench_view *view)
{
	const char *given = getenv("VIEW");
	char words[256], *rest = words, *word;

	if (!given)
		return true;
	snprintf(words, sizeof(words), "%s", given);
	while ((word = strsep(&rest, ",")))
		if (strstr(view->name, word))
			return true;
	return false;
}

static int bench_all(char *const *builds, int nr, enum bench_capture capture)
{
	char path[] = "/tmp/iosonar-bench-XXXXXX";
	int fd = mkstemp(path), err;

	if (fd < 0)
		return 1;
	close(fd);
	err = bench_make(path, capture, bench_number("RECORDS", RECORDS));
	for (size_t i = 0; !err && i < sizeof(bench_views) / sizeof(bench_views[0]); i++)
		if (bench_views[i].capture == capture && bench_is_asked(&bench_views[i]))
			err = bench_measure(path, builds, nr, &bench_views[i]);
	unlink(path);
	return err;
}

/* ---- two processes beside one ---- */

/* Seconds of wall time, the best of some; 0: it failed. */
static double bench_wall(const char *build, const char *path, const char *jobs,
			 const struct bench_view *view)
{
	const int turns = (int)bench_number("TURNS", SHARED_TURNS);
	char *argv[BENCH_WORDS + 4] = { (char *)build };
	double best_s = 0, took_s;
	int nr = 1;

	for (; nr <= BENCH_WORDS && view->words[nr - 1]; nr++)
		argv[nr] = (char *)(*view->words[nr - 1] == '@' ? path : view->words[nr - 1]);
	argv[nr++] = "-j";
	argv[nr] = (char *)jobs;
	for (int turn = 0; turn < turns; turn++) {
		took_s = bench_run(argv, bench_wall_s);
		if (!took_s)
			return 0;
		best_s = !turn || took_s < best_s ? took_s : best_s;
	}
	return best_s;
}

static const struct bench_view bench_shared[] = {
	{ "latency", { "latency", "-r", "@" } },
	{ "latency --by comm,size", { "latency", "-r", "@", "--by", "comm,size" } },
	{ "trace -o text", { "trace", "-r", "@" } },
	{ "trace -o csv", { "trace", "-r", "@", "-o", "csv" } },
	{ "trace -o json", { "trace", "-r", "@", "-o", "json" } },
	{ "export -o csv", { "export", "-r", "@", "-o", "csv" } },
};

static int bench_jobs(const char *build, const char *path)
{
	for (size_t i = 0; i < sizeof(bench_shared) / sizeof(bench_shared[0]); i++) {
		const struct bench_view *view = &bench_shared[i];
		double one_s, two_s;

		if (!bench_is_asked(view))
			continue;
		one_s = bench_wall(build, path, "1", view);
		two_s = bench_wall(build, path, "2", view);
		if (!one_s || !two_s)
			return fprintf(stderr, "%s -j failed\n", view->name);
		printf("%-22s %5.2f times as fast with -j 2: %.3f s, then %.3f s\n", view->name,
		       one_s / two_s, one_s, two_s);
		fflush(stdout);
	}
	return 0;
}

static bool bench_shares(void)
{
	for (size_t i = 0; i < sizeof(bench_shared) / sizeof(bench_shared[0]); i++)
		if (bench_is_asked(&bench_shared[i]))
			return true;
	return false;
}

static int bench_share(const char *build)
{
	char path[] = "/tmp/iosonar-bench-XXXXXX";
	int fd, err;

	if (!bench_shares())
		return 0;
	fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	err = bench_make(path, BENCH_PLAIN, SHARED_TIMES * bench_number("RECORDS", RECORDS)) ||
	      bench_jobs(build, path);
	unlink(path);
	return err;
}

int main(int argc, char **argv)
{
	char beside[4096];
	char *own[] = { beside };
	char **builds = argc > 1 ? argv + 1 : own;
	const char *slash = strrchr(argv[0], '/');
	int nr = argc > 1 ? argc - 1 : 1, err = 0;

	if (argc == 3 && !strcmp(argv[1], "-w"))
		return bench_make(argv[2],
				  getenv("TASKS")    ? BENCH_MANY
				  : getenv("STAGES") ? BENCH_STAGED
						     : BENCH_PLAIN,
				  bench_number("RECORDS", RECORDS)) != 0;
	snprintf(beside, sizeof(beside), "%.*s../iosonar", slash ? (int)(slash + 1 - argv[0]) : 0,
		 argv[0]);
	if (nr > BUILDS)
		return 1;
	for (int i = 0; !err && i < NR_BENCH_CAPTURES; i++)
		err = bench_all(builds, nr, (enum bench_capture)i);
	return err || bench_share(builds[0]);
}
