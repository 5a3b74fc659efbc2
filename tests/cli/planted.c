/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * planted.c: captures for `iosonar why`. `planted DIR` writes, for each cause, the run of the first
 * seed: its commands to DIR/NAME.cap, what they read into the page cache to DIR/NAME.cache, and
 * calls that waited to DIR/NAME.waits; and of healthy loads DIR/healthy-SEED.cap. With `planted DIR
 * HOST` they are of that machine; its drive has the numbers and places that it has on others.
 * `planted FILE N` writes one of N commands with several causes; tests/data/why.cap has 1511.
 */
#include "capture/write.h"
#include "planted.h"

enum { HEALTHY_SEEDS = 10, CPUS = 8 };

/* ---- what a capture says of itself ---- */

static const struct device disk = { .name = "nvme0n1",
				    .kind = DEVICE_NVME_NS,
				    .diskseq = 9,
				    .size_bytes = 1ULL << 40,
				    .block_size = 512,
				    .unit_bytes = 4096,
				    .knows_partitions = true,
				    .major = 259,
				    .nsid = 1,
				    .nr_queues = 1,
				    .depth = 1023,
				    .model = "example",
				    .serial = "WHY00001" };

static const char *host; /* NULL: captures do not name one */

static int put_about(struct capture_writer *w, const struct run *r)
{
	char end[32];
	const struct capture_info info[] = {
		{ CAPTURE_INFO_VERSION, "0.20" },
		{ CAPTURE_INFO_KERNEL, "6.12.38" },
		{ CAPTURE_INFO_START, "999999000000" },
		{ CAPTURE_INFO_END, end },
		{ CAPTURE_INFO_HOST, host },
	};

	snprintf(end, sizeof(end), "%llu", r->ones[r->nr - 1].record.end_ns + 100000);
	return capture_writer__info(w, info, sizeof(info) / sizeof(*info) - !host);
}

static int put_device(struct capture_writer *w, const struct plant *p)
{
	struct device device = disk;

	device.depth = p->where == FOR_TAG ? p->servers : disk.depth;
	device.has_poll_queues = p->has_poll_queues;
	return capture_writer__device(w, 0, &device);
}

/* Two paths, which commands name, and their head. */
static int put_paths(struct capture_writer *w)
{
	const struct device head = { .name = "nvme0n1", .kind = DEVICE_NVME_HEAD, .ctrl = -1 };
	struct device device = disk;
	int err = 0;

	for (uint32_t i = 0; i < 2; i++) {
		snprintf(device.name, sizeof(device.name), "nvme0c%un1", i);
		device.ctrl = (int)i;
		device.minor = i + 1;
		err |= capture_writer__device(w, (uint16_t)i, &device);
	}
	return err | capture_writer__device(w, 2, &head);
}

/* ---- commands ---- */

static int by_end_of_record(const void *a, const void *b)
{
	const struct record_with_stages *x = a, *y = b;

	return COMPARE(x->record.end_ns, y->record.end_ns);
}

/* Also time-outs, in order of time. */
static size_t list_records(const struct run *r, struct record_with_stages *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->nr; i++) {
		const struct one *one = &r->ones[i];

		list[nr++] = (struct record_with_stages){ one->record, one->stages };
		if (!one->timed_out_ns)
			continue;
		list[nr].record = one->record;
		list[nr].record.what = RECORD_TIMEOUT;
		list[nr].record.flags = 0;
		list[nr++].record.end_ns = one->timed_out_ns;
	}
	qsort(list, nr, sizeof(*list), by_end_of_record);
	return nr;
}

static int put_records(struct capture_writer *w, const struct run *r)
{
	struct record_with_stages *list = calloc(2 * r->nr, sizeof(*list));
	const size_t nr = list_records(r, list);
	uint32_t seqs[CPUS] = { 0 };
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		list[i].record.seq = seqs[list[i].record.cpu % CPUS]++;
		err = capture_writer__records(w, &list[i].record, 1);
	}
	free(list);
	return err;
}

static int put_capture(const char *path, const struct plant *p, const struct run *r)
{
	const struct capture_options options = { .path = path };
	const struct capture_count ledger[] = { { "issued", r->nr }, { "completed", r->nr } };
	struct capture_writer *w;
	int err = capture_writer__new(&options, &w);

	if (err)
		return err;
	err = put_about(w, r) | (p->two_paths ? put_paths(w) : put_device(w, p));
	err |= put_records(w, r);
	err |= capture_writer__finish(w, "done", ledger, 2);
	capture_writer__free(w);
	return err;
}

/* ---- the page cache ---- */

static int put_pages(struct capture_writer *w, const struct plant *p, const struct run *r)
{
	struct capture_cache_row row = { .key = { .dev = PARTITION } };
	int err = 0;

	for (size_t i = 0; i < r->nr && !err; i++) {
		struct cache_command command = page_command(&r->ones[i].record);

		command.event.start_ns = r->ones[i].stages.queued_ns;
		command.event.end_ns = r->ones[i].record.end_ns;
		if (page_is_filled(p, &r->ones[i].record))
			err = capture_writer__cache_events(w, &command, 1);
	}
	page_counts(p, r, row.counts);
	return err | capture_writer__cache_rows(w, r->ones[r->nr - 1].record.end_ns, &row, 1);
}

static int put_cache(const char *path, const struct plant *p, const struct run *r)
{
	const struct capture_options options = { .path = path };
	const struct capture_info info = { "cache_page_bytes", "4096" };
	struct capture_writer *w;
	int err = capture_writer__new(&options, &w);

	if (err)
		return err;
	err = put_about(w, r) | capture_writer__info(w, &info, 1) | put_pages(w, p, r);
	err |= capture_writer__finish(w, "done", NULL, 0);
	capture_writer__free(w);
	return err;
}

/* ---- calls that wait ---- */

static const char *const stacks[] = {
	"schedule;jbd2_log_wait_commit;ext4_sync_file;vfs_fsync_range;__x64_sys_fsync",
	"schedule_timeout;io_schedule_timeout;balance_dirty_pages;generic_perform_write;vfs_write",
};

static int put_call(struct capture_writer *w, uint64_t start_ns, uint64_t dirty_ns)
{
	struct capture_wait wait = { .kind = CAPTURE_WAIT_CALL };

	wait.call = (struct wait_record){
		.start_ns = start_ns,
		.end_ns = start_ns + CALL_NS + dirty_ns,
		.pid = 100,
		.tid = 100,
		.call = WAIT_WRITE,
		.nr_sleeps = 2,
		.comm = "cp",
		.sleeps = { { CALL_NS, 1, 1, WAIT_IO_NONE, 0 },
			    { dirty_ns, 2, dirty_ns != 0, WAIT_IO_NONE, 0 } },
	};
	return capture_writer__waits(w, &wait, 1);
}

static int put_calls(struct capture_writer *w, const struct plant *p, const struct run *r)
{
	uint64_t at_ns = r->ones[0].stages.queued_ns;
	int err = 0;

	for (uint64_t i = 0; i < 2; i++)
		err |= capture_writer__text(w, GLOSSARY_STACKS, (struct glossary_id){ { i + 1 } },
					    stacks[i]);
	for (uint32_t i = 0; i < CALLS && !err; i++) {
		err = put_call(w, at_ns, call_dirty_ns(p, i));
		at_ns += 1000;
	}
	return err;
}

static int put_waits(const char *path, const struct plant *p, const struct run *r)
{
	static const struct capture_info info[] = {
		{ CAPTURE_INFO_WAITS, "1000" }, { "waits_begun", "1000" },
		{ "waits_ended", "1000" },	{ "waits_waited", "1000" },
		{ "waits_sent", "1000" },
	};
	const struct capture_options options = { .path = path };
	struct capture_writer *w;
	int err = capture_writer__new(&options, &w);

	if (err)
		return err;
	err = put_about(w, r) | capture_writer__info(w, info, sizeof(info) / sizeof(*info));
	err |= put_calls(w, p, r);
	err |= capture_writer__finish(w, "done", NULL, 0);
	capture_writer__free(w);
	return err;
}

/* ---- runs ---- */

static int put_plant(const char *dir, const char *name, const struct plant *p, uint64_t seed)
{
	struct run run = run_make(p, seed, COMMANDS);
	char path[300];
	int err;

	snprintf(path, sizeof(path), "%s/%s.cap", dir, name);
	err = put_capture(path, p, &run);
	snprintf(path, sizeof(path), "%s/%s.cache", dir, name);
	err = err ?: put_cache(path, p, &run);
	snprintf(path, sizeof(path), "%s/%s.waits", dir, name);
	err = err ?: put_waits(path, p, &run);
	free(run.ones);
	return err;
}

static int put_all(const char *dir)
{
	struct plant p;
	char name[32];
	int err = 0;

	for (int i = 0; i < PLANTS && !err; i++) {
		p = vary(&plants[i], 1);
		err = put_plant(dir, p.name, &p, 1);
	}
	for (uint64_t seed = 1; seed <= HEALTHY_SEEDS && !err; seed++) {
		p = healthy(seed);
		snprintf(name, sizeof(name), "healthy-%d", (int)seed);
		err = put_plant(dir, name, &p, seed);
	}
	return err;
}

static int put_example(const char *path, size_t nr)
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
	int err;

	for (size_t i = 0; i < run.nr; i++)
		run.ones[i].record.cpu = 0;
	err = put_capture(path, &p, &run);
	free(run.ones);
	return err;
}

int main(int argc, char **argv)
{
	const size_t nr = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (nr)
		return put_example(argv[1], nr) != 0;
	host = argc == 3 ? argv[2] : NULL;
	if (argc == 2 || host)
		return put_all(argv[1]) != 0;
	fputs("usage: planted DIR [HOST]\n       planted FILE N\n", stderr);
	return 2;
}
