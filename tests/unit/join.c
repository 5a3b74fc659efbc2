/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join.c: is a merged file what its captures are? Machines with clocks of their own, parts of one
 * recording, losses and ledgers, damage before and after: each record comes once, with its own
 * host, in order of the wall clock, exactly as from the files alone, or it is told.
 *
 *	build/unit/join.t --make tests/data/merged.cap
 */
#include "tap.h"
#include "counts.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "capture/clock_step.h"
#include "capture/join.h"
#include "capture/merge.h"
#include "capture/write.h"

#define SECOND 1000000000ULL
enum { EACH = 3, SECONDS = 40, MOST = 8 };

static char dir[] = "/tmp/iosonar-join.XXXXXX";
static const uint64_t wall_ns = 1700000000 * SECOND;

static const char *path(const char *name)
{
	static char paths[16][128];
	static unsigned int at;
	char *to = paths[at++ % 16];

	snprintf(to, sizeof(paths[0]), "%s/%s", dir, name);
	return to;
}

/* A capture of `seconds` from `from` on, by the wall clock; its machine booted `boot` before. */
struct made {
	const char *name, *host, *boot_id, *id;
	uint64_t from, boot, seconds;
	uint64_t lost;
	uint64_t step_at, step; /* the wall clock is set back */
};

/* Three records a second; that of another machine is a little later. The record says whose it is.
 */
static struct io_record record_of(const struct made *m, uint64_t mono_ns, uint32_t nr)
{
	struct io_record record = { .seq = nr, .bytes = 4096, .attempts = 1, .device = 5, .op = 2 };

	snprintf(record.comm, sizeof(record.comm), "%s", m->host);
	record.first_ns = record.last_ns =
		mono_ns + nr % EACH * (SECOND / 4) + (uint64_t)m->host[0] * 1000;
	record.end_ns = record.first_ns + 70000;
	return record;
}

static int put_seconds(const struct made *m, struct capture_writer *writer)
{
	int err = 0;
	uint32_t nr = 0;

	for (uint64_t i = 0; i < m->seconds && !err; i++) {
		uint64_t mono_ns = (m->boot + i) * SECOND;
		struct capture_clock clock = { mono_ns, mono_ns, wall_ns + (m->from + i) * SECOND };

		if (m->step && i >= m->step_at)
			clock.real_ns -= m->step;
		err = capture_writer__clock(writer, &clock);
		for (int k = 0; k < EACH && !err; k++) {
			struct io_record record = record_of(m, mono_ns, nr++);

			err = capture_writer__records(writer, &record, 1);
		}
		if (m->lost && i == 3)
			capture_writer__lost(writer, "ring full", m->lost);
	}
	return err;
}

static const char *make(const struct made *m)
{
	struct capture_options options = { .path = path(m->name), .reserve_bytes = 4096 };
	struct capture_info info[] = { { CAPTURE_INFO_HOST, m->host },
				       { CAPTURE_INFO_BOOT_ID, m->boot_id },
				       { CAPTURE_INFO_ID, m->id } };
	struct device device = { .name = "nvme0n1",
				 .model = "example",
				 .serial = "S",
				 .size_bytes = 1 << 30,
				 .ctrl = -1 };
	const uint64_t nr = m->seconds * EACH + m->lost;
	struct capture_count ledger[] = { { "issued", nr }, { "completed", nr } };
	struct capture_writer *writer;
	int err = capture_writer__new(&options, &writer);

	err = err ? err : capture_writer__info(writer, info, 3);
	err = err ? err : capture_writer__device(writer, 5, &device);
	err = err ? err : put_seconds(m, writer);
	err = err ? err : capture_writer__finish(writer, "done", ledger, 2);
	capture_writer__free(writer);
	if (err)
		ok(false, "%s is written: %s", m->name, strerror(-err));
	return options.path;
}

static int join(const char *to, const char *const *paths, size_t nr)
{
	struct capture_options options = { .path = to, .reserve_bytes = 4096, .is_merged = true };
	struct capture_writer *writer = NULL;
	struct capture_join *joined;
	int err = capture_join__open(paths, nr, &joined);

	err = err ? err : capture_writer__new(&options, &writer);
	err = err ? err : capture_join__write(joined, writer);
	err = err ? err : capture_writer__finish(writer, "done", NULL, 0);
	capture_writer__free(writer);
	capture_join__free(joined);
	return err;
}

/* ---- reading ---- */

struct outcome {
	int err;
	uint64_t nr, hash, disorder, strangers, wrong_wall;
	uint64_t corrupt, records_corrupt, lost, issued;
	size_t captures, hosts;
	bool whole;
};

static void check_record(struct outcome *o, const struct capture_merge *merge,
			 const struct io_record *r, uint64_t *last_ns)
{
	const struct device *device = capture_about__device(capture_merge__about(merge), r->device);
	uint64_t now_ns = capture_merge__wall_ns(merge, r->end_ns);

	o->nr++;
	o->disorder += now_ns < *last_ns;
	*last_ns = now_ns;
	o->strangers += !device || (o->hosts > 1 && strcmp(device->host, r->comm) != 0);
	o->hash = o->hash * 31 + (r->end_ns ^ r->seq ^ (uint64_t)r->comm[0] << 32);
}

static void check_file(struct outcome *o, const struct capture_reader *reader)
{
	const struct capture_damage *damage = capture_reader__damage(reader);
	const struct capture_trailer *trailer = &capture_reader__about(reader)->trailer;

	o->whole = o->whole && capture_damage__is_whole(damage);
	o->corrupt += damage->blocks_corrupt;
	o->records_corrupt += damage->records_corrupt;
	o->lost += count_of(&trailer->lost, "ring full");
	o->issued += count_of(&trailer->ledger, "issued");
}

static struct outcome read_all(const char *const *paths, size_t nr)
{
	struct outcome o = { .whole = true };
	const struct io_record *record;
	struct capture_merge *merge;
	uint64_t last_ns = 0;

	o.err = capture_merge__open(paths, nr, &merge);
	if (o.err)
		return o;
	o.captures = capture_merge__nr(merge);
	o.hosts = capture_merge__hosts(merge)->nr;
	while ((record = capture_merge__next(merge, &o.err)))
		check_record(&o, merge, record, &last_ns);
	for (size_t i = 0; i < o.captures; i++)
		check_file(&o, capture_merge__reader(merge, i));
	capture_merge__free(merge);
	return o;
}

static struct outcome read_one(const char *file)
{
	return read_all(&file, 1);
}

static void is_same(const struct outcome *got, const struct outcome *want, const char *what)
{
	ok(got->err == want->err && got->nr == want->nr && got->hash == want->hash &&
		   got->lost == want->lost && got->issued == want->issued &&
		   got->captures == want->captures && got->hosts == want->hosts &&
		   got->whole == want->whole && got->corrupt == want->corrupt &&
		   got->records_corrupt == want->records_corrupt,
	   "%s", what);
}

/* ---- tests ---- */

/* a in two parts, b beside it, c a day before the others booted. */
static const struct made all[] = {
	{ "a1.cap", "a", "boot-a", "id-a", 0, 1000, SECONDS, .lost = 7 },
	{ "a2.cap", "a", "boot-a", "id-a", SECONDS, 1000 + SECONDS, SECONDS },
	{ "b.cap", "b", "boot-b", "id-b", 10, 77, SECONDS },
	{ "c.cap", "c", "boot-c", "id-c", -86400ULL, 5000000, SECONDS },
};
enum { ALL = sizeof(all) / sizeof(all[0]), NR = ALL * SECONDS * EACH };

static void test_join(void)
{
	const char *paths[ALL], *to = path("all.cap");
	struct capture_report report;
	struct outcome o, alone;

	for (size_t i = 0; i < ALL; i++)
		paths[i] = make(&all[i]);
	is_u64((uint64_t)-join(to, paths, ALL), 0, "four captures are merged");
	o = read_one(to);
	is_u64(o.nr, NR, "every record is there");
	is_u64(o.disorder, 0, "in order of the wall clock");
	is_u64(o.strangers, 0, "each of its own machine");
	is_u64(o.captures, 4, "four captures");
	is_u64(o.hosts, 3, "of three machines");
	is_u64(o.lost, 7, "a loss stays told");
	is_u64(o.issued, NR + 7, "ledgers add up");
	ok(o.whole, "it is whole");
	alone = read_all(paths, ALL);
	is_same(&o, &alone, "as all files give it");
	for (size_t i = 0; i < ALL; i++)
		ok(!capture__verify_part(to, i, &report) &&
			   capture_damage__is_whole(&report.damage) &&
			   report.records == (uint64_t)SECONDS * EACH,
		   "capture %zu: every block is good", i);
}

static void test_again(void)
{
	const char *both[] = { path("all.cap"), path("b.cap"), path("d.cap") };
	const char *twice[] = { path("b.cap"), path("b.cap") }, *more = path("more.cap");
	static const struct made d = { "d.cap", "d", "boot-d", "id-d", 5, 9, SECONDS };
	struct outcome o;

	make(&d);
	is_u64((uint64_t)-join(more, twice, 2), EINVAL, "a file twice is refused");
	is_u64((uint64_t)-join(more, both, 2), EINVAL, "so is one that was merged before");
	both[1] = both[2];
	is_u64((uint64_t)-join(more, both, 2), 0, "a merged file and another are merged");
	o = read_one(more);
	is_u64(o.nr, NR + SECONDS * EACH, "all records");
	is_u64(o.captures, 5, "five captures");
	is_u64(o.disorder + o.strangers, 0, "in order, each of its machine");
	unlink(more);
}

/* Two machines with one name; and one machine that booted again. */
static void test_names(void)
{
	static const struct made made[] = {
		{ "x.cap", "x", "one", "1", 0, 50, SECONDS },
		{ "y.cap", "x", "two", "2", 5, 60, SECONDS },
		{ "z.cap", "x", "three", "3", 900, 70, SECONDS },
	};
	const char *paths[] = { make(&made[0]), make(&made[1]), make(&made[2]) };
	const char *booted[] = { paths[0], paths[2] };
	struct capture_merge *merge;

	if (!ok(!capture_merge__open(paths, 2, &merge), "two boots at once"))
		return;
	is_u64(capture_merge__hosts(merge)->nr, 2, "are two machines");
	is_str(capture_merge__hosts(merge)->hosts[1].label, "x#2", "the second is told apart");
	is_u64(capture_merge__about(merge)->nr_devices, 2, "and so are their equal drives");
	capture_merge__free(merge);
	capture_merge__open(booted, 2, &merge);
	is_u64(capture_merge__hosts(merge)->nr, 1, "one boot after the other is one machine");
	is_u64(capture_merge__about(merge)->nr_devices, 1, "with one drive");
	capture_merge__free(merge);
}

static void test_step(void)
{
	static const struct made made = {
		"step.cap", "s", "boot-s", "id-s", 0, 9, SECONDS, .step_at = 20, .step = 3 * SECOND
	};
	struct capture_clock_step step;
	struct capture_reader *reader;
	size_t nr = 1;

	if (!ok(!capture_reader__open(make(&made), &reader), "a clock that was set"))
		return;
	ok(capture_clock_step__next(capture_reader__about(reader), &nr, &step), "is found");
	is_u64((uint64_t)-step.by_ns, 3 * SECOND, "by how much");
	is_u64(step.wall_ns, wall_ns + 17 * SECOND, "and when");
	ok(!capture_clock_step__next(capture_reader__about(reader), &nr, &step), "once");
	capture_reader__free(reader);
}

/* ---- damage ---- */

static uint8_t *bytes;
static size_t nr_bytes;

static void load(const char *file)
{
	FILE *in = fopen(file, "re");

	free(bytes);
	bytes = malloc(1 << 20);
	nr_bytes = in && bytes ? fread(bytes, 1, 1 << 20, in) : 0;
	if (in)
		fclose(in);
}

static const char *store(const char *name, size_t nr)
{
	const char *file = path(name);
	FILE *out = fopen(file, "we");

	if (!out || fwrite(bytes, 1, nr, out) != nr || fclose(out))
		ok(false, "%s is written", name);
	return file;
}

/* What is damaged in a file stays so when it is merged with another. Its index is not merged. */
static void test_damaged_inputs(void)
{
	char bad[128], other[128], to[128];
	const char *files[2] = { bad, other };
	struct outcome before, after;
	unsigned int differ = 0, nr = 0;

	snprintf(bad, sizeof(bad), "%s/bad.cap", dir);
	snprintf(other, sizeof(other), "%s/c.cap", dir);
	snprintf(to, sizeof(to), "%s/bad-all.cap", dir);
	load(path("b.cap"));
	for (size_t at = 4200; at < nr_bytes * 6 / 7; at += 211, nr++) {
		bytes[at] ^= 0x10;
		store("bad.cap", nr_bytes);
		bytes[at] ^= 0x10;
		before = read_all(files, 2);
		if (join(to, files, 2)) {
			differ++;
			continue;
		}
		after = read_one(to);
		differ += before.nr != after.nr || before.hash != after.hash ||
			  before.records_corrupt != after.records_corrupt ||
			  after.whole > before.whole;
	}
	ok(nr > 30, "%u damaged files", nr);
	is_u64(differ, 0, "merged, they are as damaged as before");
	store("bad.cap", nr_bytes / 2);
	before = read_all(files, 2);
	is_u64((uint64_t)-join(to, files, 2), 0, "a file without its end is merged");
	after = read_one(to);
	ok(!after.whole && after.nr == before.nr, "and what it lacks is told");
	files[1] = path("b.cap");
	is_u64((uint64_t)-join(to, files, 2), EINVAL, "a cut copy of another file is refused");
}

/* Whatever happens to the merged file: all records, or it is told. */
static void test_damaged_file(void)
{
	unsigned int silent = 0, wrong = 0, nr = 0;
	struct outcome good, o;

	good = read_one(path("all.cap"));
	load(path("all.cap"));
	for (size_t at = 0; at < nr_bytes; at += 97, nr++) {
		bytes[at] ^= 0x21;
		o = read_one(store("bad.cap", nr_bytes));
		bytes[at] ^= 0x21;
		silent += !o.err && o.whole && o.hash != good.hash;
		wrong += !o.err && o.strangers && o.hosts > 1 && o.whole;
	}
	for (size_t at = 16; at < nr_bytes; at += 397, nr++) {
		o = read_one(store("bad.cap", at));
		silent += !o.err && o.whole;
		wrong += o.nr > good.nr;
	}
	ok(nr > 300, "%u damaged merged files", nr);
	is_u64(silent, 0, "none lacks anything in silence");
	is_u64(wrong, 0, "or says what was not written");
}

/* Equal drives of two machines, two parts of a recording, a loss, a clock that was set. */
static int make_golden(const char *to)
{
	static const struct made made[] = {
		{ "a1.cap", "db7", "boot-7", "id-7", 0, 1000, 3 },
		{ "a2.cap", "db7", "boot-7", "id-7", 3, 1003, 3 },
		{ "b.cap", "db8", "boot-8", "id-8", 1, 77, 5, .lost = 2, .step_at = 3,
		  .step = 2 * SECOND },
	};
	const char *paths[] = { make(&made[0]), make(&made[1]), make(&made[2]) };

	return join(to, paths, 3) ? 1 : 0;
}

static void clean(void)
{
	static const char *const made[] = { "a1.cap",  "a2.cap",  "b.cap",	 "c.cap",
					    "d.cap",   "x.cap",	  "y.cap",	 "z.cap",
					    "all.cap", "bad.cap", "bad-all.cap", "step.cap" };

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		unlink(path(made[i]));
	rmdir(dir);
	free(bytes);
}

int main(int argc, char **argv)
{
	if (!mkdtemp(dir))
		return 1;
	if (argc == 3 && !strcmp(argv[1], "--make")) {
		int failed = make_golden(argv[2]);

		clean();
		return failed;
	}
	test_join();
	test_again();
	test_names();
	test_step();
	test_damaged_inputs();
	test_damaged_file();
	clean();
	return done_testing();
}
