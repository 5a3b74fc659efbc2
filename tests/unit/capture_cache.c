/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_cache.c: does a capture give back the page cache's rows and events to the last bit?
 * Random ones round trip; fixed files, tests/data/cache*.cap (`capture_cache.t --make DIR`), must
 * be written and read the same as long as iosonar lives; what is damaged is skipped and counted;
 * two machines' captures are one, with the names of both.
 */
#include "tap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>
#include "session/cache_info.h"
#include "capture/cache_merge.h"
#include "capture/read.h"
#include "capture/write.h"
#include "wire/file_id.h"

enum { DISK = 259 << 20, PART = DISK | 1, LOADS = 300 };
static uint64_t start_ns = 1000000000000;
static char dir[64] = "/tmp/iosonar-capture-cache-XXXXXX";

static const char *path(const char *name)
{
	static char at[128];

	snprintf(at, sizeof(at), "%s/%s", dir, name);
	return at;
}

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dULL >> (*state % 61);
}

/* ---- random ---- */

static struct capture_cache_row random_row(uint64_t *seed)
{
	struct capture_cache_row row = { 0 };

	row.key.what =
		cache_key_what((uint32_t)draw(seed) % (NR_CACHE_OPS + 1),
			       draw(seed) % 3 ? 0 : (uint32_t)draw(seed) % (FILE_UNNAMED + 1));
	row.key.pid = (uint32_t)draw(seed);
	row.key.dev = (uint32_t)draw(seed);
	row.key.inode = draw(seed);
	row.key.cgroup = draw(seed);
	snprintf(row.key.comm, sizeof(row.key.comm), "task-%u", row.key.pid % 1000);
	for (int i = 0; i < NR_CACHE_COUNTS; i++)
		row.counts[i] = draw(seed) % 3 ? 0 : draw(seed);
	return row;
}

static struct cache_command random_event(uint64_t *seed)
{
	struct cache_command c = { 0 };

	c.event = (struct cache_event){
		.told = (uint16_t)(draw(seed) % 2),
		.nth = (uint16_t)(draw(seed) % 3 ? 0 : draw(seed) % (FILE_UNNAMED + 1)),
		.start_ns = start_ns + (uint32_t)draw(seed),
		.inode = draw(seed),
		.dev = (uint32_t)draw(seed),
		.page = draw(seed),
		.pages = (uint32_t)draw(seed),
		.pid = (uint32_t)draw(seed),
		.tid = (uint32_t)draw(seed),
		.op = (uint32_t)draw(seed) % NR_CACHE_OPS,
		.comm = "sixteen letters.",
	};
	c.event.end_ns = draw(seed) % 4 ? c.event.start_ns + (uint32_t)draw(seed) : 0;
	if (c.event.told != CACHE_TOLD_COMMAND)
		return c;
	c.sector = draw(seed);
	c.command_sector = draw(seed);
	c.issued_ns = draw(seed) % 4 ? c.event.start_ns + 7 : 0;
	c.disk = (uint32_t)draw(seed);
	c.bytes = (uint32_t)draw(seed);
	c.command_bytes = (uint32_t)draw(seed);
	c.missed = (uint32_t)draw(seed);
	c.failed = draw(seed) % 2;
	return c;
}

static struct capture_writer *writer_of(const char *file)
{
	const struct capture_options options = { .path = file };
	struct capture_writer *writer = NULL;

	if (capture_writer__new(&options, &writer))
		exit(1);
	return writer;
}

static void test_round_trip(void)
{
	static struct capture_cache_row rows[LOADS];
	static struct cache_command events[LOADS];
	struct capture_writer *writer = writer_of(path("random.cap"));
	struct capture_reader *reader = NULL;
	struct capture_cache chunk = { 0 };
	uint64_t seed = 42;

	for (int i = 0; i < LOADS; i++) {
		rows[i] = random_row(&seed);
		events[i] = random_event(&seed);
	}
	ok(!capture_writer__cache_rows(writer, start_ns + 5, rows, LOADS) &&
		   !capture_writer__cache_events(writer, events, LOADS) &&
		   !capture_writer__cache_rows(writer, start_ns + 9, NULL, 0) &&
		   !capture_writer__finish(writer, "done", NULL, 0),
	   "rows and events are written");
	capture_writer__free(writer);
	ok(!capture_reader__open(path("random.cap"), &reader), "and opened");
	is_u64((uint64_t)capture_reader__next_cache(reader, &chunk), 1, "a reading");
	ok(chunk.is_reading && chunk.nr_rows == LOADS && chunk.time_ns == start_ns + 5 &&
		   !memcmp(chunk.rows, rows, sizeof(rows)),
	   "has its time, and every row to the last bit");
	is_u64((uint64_t)capture_reader__next_cache(reader, &chunk), 1, "events");
	ok(!chunk.is_reading && chunk.nr_events == LOADS &&
		   !memcmp(chunk.events, events, sizeof(events)),
	   "are what they were");
	ok(capture_reader__next_cache(reader, &chunk) == 1 && chunk.is_reading && !chunk.nr_rows,
	   "a reading of nothing is one, too");
	ok(!capture_reader__next_cache(reader, &chunk), "there are no more");
	ok(capture_damage__is_whole(capture_reader__damage(reader)), "and nothing is damaged");
	capture_cache__free(&chunk);
	capture_reader__free(reader);
}

/* One byte of the payload at 16 + 64 is another, and its CRC does not fit: of any chunk. */
static void test_damage(void)
{
	struct capture_writer *writer = writer_of(path("damaged.cap"));
	struct capture_reader *reader = NULL;
	struct capture_cache chunk = { 0 };
	uint64_t seed = 7;
	struct capture_cache_row row = random_row(&seed);
	FILE *file;

	capture_writer__cache_rows(writer, start_ns + 1, &row, 1);
	capture_writer__cache_rows(writer, start_ns + 2, &row, 1);
	capture_writer__finish(writer, "done", NULL, 0);
	capture_writer__free(writer);
	file = fopen(path("damaged.cap"), "r+");
	if (!file)
		exit(1);
	fseek(file, 16 + 64 + 3, SEEK_SET);
	fputc(0xee, file);
	fclose(file);
	ok(!capture_reader__open(path("damaged.cap"), &reader), "a damaged file is opened");
	ok(capture_reader__next_cache(reader, &chunk) == 1 && chunk.time_ns == start_ns + 2,
	   "the reading behind the damage is found");
	is_u64(capture_reader__damage(reader)->blocks_corrupt, 1, "and the damage counted");
	capture_cache__free(&chunk);
	capture_reader__free(reader);
}

/* Entries that lie: longer than the chunk, or of an operation that there is not. */
static void test_nonsense(void)
{
	const uint8_t longer[] = { 200, 1, 1 }, strange[] = { 8, 99, 0, 0, 0, 0, 0, 0, 0 };
	struct capture_cache chunk = { 0 };

	ok(capture_cache__get_rows(&chunk, (struct byte_in){ longer, longer + 3, false }) ==
		   -EBADMSG,
	   "a row that is longer than all");
	ok(capture_cache__get_rows(&chunk, (struct byte_in){ strange, strange + 9, false }) ==
		   -EBADMSG,
	   "a row of no operation");
	ok(capture_cache__get_events(&chunk, (struct byte_in){ longer, longer + 3, false }, 0) ==
		   -EBADMSG,
	   "an event that is longer than all");
	capture_cache__free(&chunk);
}

/* ---- what is fixed ---- */

static const struct cache_key postgres = {
	.inode = 12,
	.cgroup = 44,
	.comm = "postgres",
	.dev = PART,
	.pid = 4242,
	.what = CACHE_READ + 1,
};

static struct capture_cache_row fixed_row(uint32_t pid, uint64_t inode, enum cache_op op,
					  uint64_t scale)
{
	struct capture_cache_row row = { .key = postgres };

	row.key.pid = pid;
	row.key.inode = inode;
	row.key.what = op + 1;
	if (pid != 4242)
		snprintf(row.key.comm, sizeof(row.key.comm), "backup");
	row.counts[CACHE_ACCESSES] = 100 * scale;
	row.counts[CACHE_HITS] = 70 * scale;
	row.counts[CACHE_RA_HITS] = 20 * scale;
	row.counts[CACHE_MISSES] = 10 * scale;
	row.counts[CACHE_ADDED] = 35 * scale;
	row.counts[CACHE_DEMANDED] = 10 * scale;
	row.counts[CACHE_RA] = 25 * scale;
	return row;
}

static int put_text(struct capture_writer *w, enum glossary_kind kind, uint64_t id, uint64_t and,
		    const char *text)
{
	return capture_writer__text(w, kind, (struct glossary_id){ { id, and} }, text);
}

/* Of two machines with equal disks: another file has the same numbers. */
struct machine {
	const char *host, *boot_id, *id, *file;
	uint64_t start_ns; /* since its boot; the wall clock is the same, but for after_ns */
	uint64_t after_ns;
};
static const struct machine machines[] = {
	{ "db7", "boot-7", "cache-7", "/data/base/16384", 1000000000000, 0 },
	{ "db8", "boot-8", "cache-8", "/data/base/8", 500000000000, 300000000 },
};

static int put_machine(struct capture_writer *w, const struct machine *m)
{
	const struct capture_clock clock = { start_ns, start_ns,
					     1700000000000000000 + m->after_ns };
	const struct capture_info info[] = {
		{ CAPTURE_INFO_HOST, m->host },
		{ CAPTURE_INFO_BOOT_ID, m->boot_id },
		{ CAPTURE_INFO_ID, m->id },
	};

	return capture_writer__info(w, info, 3) | capture_writer__clock(w, &clock);
}

/* start_ns in words, and the end of the run. */
static const char *at_text(uint64_t after_ns)
{
	static char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, start_ns + after_ns);
	return text;
}

static int put_fixed_about(struct capture_writer *w, const struct machine *m)
{
	const struct capture_info info[] = {
		{ CAPTURE_INFO_START, at_text(0) }, { "cache_method", "fentry" },
		{ "cache_unseen", "shmem_fault" },  { "cache_tells", "commands" },
		{ "cache_page_bytes", "4096" },	    { "cache_filtered", "0" },
		{ "cache_before", "5000" },
	};
	int err = capture_writer__info(w, info, sizeof(info) / sizeof(info[0]));

	err |= m ? put_machine(w, m) : 0;
	err |= put_text(w, GLOSSARY_DISKS, PART, 0, "nvme0n1p1");
	err |= put_text(w, GLOSSARY_DISKS, DISK, 0, "nvme0n1");
	err |= put_text(w, GLOSSARY_FILES, 12, PART, m ? m->file : "/data/base/16384");
	err |= put_text(w, GLOSSARY_FILES, 13, PART, "/data/pg_wal/1");
	err |= put_text(w, GLOSSARY_FILES, FILE_METADATA, PART, "[metadata of /data]");
	return err | put_text(w, GLOSSARY_CGROUPS, 44, 0, "/system.slice/postgresql.service");
}

static int put_fixed_events(struct capture_writer *w)
{
	struct cache_command told[3] = { 0 };

	told[0].event = (struct cache_event){
		.start_ns = start_ns + 100000000,
		.end_ns = start_ns + 101200000,
		.inode = 12,
		.page = 256,
		.dev = PART,
		.pages = 2,
		.pid = 4242,
		.tid = 4243,
		.comm = "postgres",
	};
	told[1] = told[0];
	told[1].event.told = CACHE_TOLD_COMMAND;
	told[1].event.pages = 8;
	told[1].event.end_ns = start_ns + 101100000;
	told[1].issued_ns = start_ns + 100150000;
	told[1].sector = 1050624;
	told[1].command_sector = 1050624;
	told[1].disk = DISK;
	told[1].bytes = told[1].command_bytes = 32768;
	told[1].missed = 2;
	told[2] = told[1];
	told[2].event.inode = FILE_METADATA;
	told[2].event.op = CACHE_NO_OP;
	told[2].missed = 0;
	told[2].failed = 1;
	told[2].issued_ns = 0;
	return capture_writer__cache_events(w, told, 3);
}

static int put_fixed_readings(struct capture_writer *w)
{
	struct capture_cache_row rows[3] = { fixed_row(4242, 12, CACHE_READ, 1),
					     fixed_row(77, 12, CACHE_MMAP, 3),
					     fixed_row(77, 13, CACHE_READ, 3) };
	struct capture_cache_row other = { .counts = {
						   [CACHE_REMOVED] = 40, [CACHE_EVICTED] = 40 } };
	int err = put_fixed_events(w);

	err |= capture_writer__cache_rows(w, start_ns + 1000000100, rows, 2);
	err |= capture_writer__cache_rows(w, start_ns + 2000000200, rows + 1, 2);
	return err | capture_writer__cache_rows(w, start_ns + 2500000000, &other, 1);
}

static void make_fixed(const char *file, const struct machine *m)
{
	const uint64_t was_ns = start_ns;
	struct capture_info end[] = {
		{ "cache_after", "5310" },
		{ "cache_lost_rows", "1" },
		{ CAPTURE_INFO_END, "" },
	};
	struct capture_writer *w = writer_of(file);
	int err;

	start_ns = m ? m->start_ns : was_ns;
	err = put_fixed_about(w, m);
	err |= put_fixed_readings(w);
	end[2].value = at_text(2500000000);
	err |= capture_writer__info(w, end, sizeof(end) / sizeof(end[0]));
	err |= capture_writer__finish(w, "done", NULL, 0);
	start_ns = was_ns;
	ok(!err, "a fixed capture is written");
	capture_writer__free(w);
}

static size_t read_file(const char *file, char *buf, size_t size)
{
	FILE *in = fopen(file, "re");
	size_t nr = in ? fread(buf, 1, size, in) : 0;

	if (in)
		fclose(in);
	return nr;
}

static void test_same(const char *file, const struct machine *m)
{
	static char ours[65536], kept[65536];
	size_t nr, nr_kept = read_file(file, kept, sizeof(kept));

	make_fixed(path("fixed.cap"), m);
	nr = read_file(path("fixed.cap"), ours, sizeof(ours));
	is_u64(nr, nr_kept, file);
	ok(nr && !memcmp(ours, kept, nr), "and byte by byte the same");
}

static void test_fixed(void)
{
	test_same("tests/data/cache-db7.cap", &machines[0]);
	test_same("tests/data/cache-db8.cap", &machines[1]);
	test_same("tests/data/cache.cap", NULL);
}

/* ---- two ---- */

static bool is_file(const struct capture_merge *merge, uint64_t inode, uint32_t dev, uint32_t nth,
		    const char *wanted)
{
	const struct glossary_id id = { { inode, io_file_place(dev, nth) } };
	const char *text = capture_about__text(capture_merge__about(merge), GLOSSARY_FILES, id);

	return text && !strcmp(text, wanted);
}

/* Readings and events in order of the wall clock; inode 12 is another file on each machine. */
static void test_two(void)
{
	const char *const paths[] = { "tests/data/cache-db7.cap", "tests/data/cache-db8.cap" };
	uint64_t nr[2] = { 0 }, rows = 0, last_ns = 0, back = 0, wrong = 0;
	const struct capture_cache *chunk;
	struct cache_merge caches = { 0 };
	struct capture_merge *merge;
	struct glossary_id id;
	int err = capture_merge__open(paths, 2, &merge);

	if (err || cache_merge__init(&caches, merge))
		exit(1);
	while ((chunk = cache_merge__next(&caches, &err))) {
		const char *file = machines[caches.from].file;

		nr[caches.from]++;
		back += chunk->time_ns < last_ns;
		last_ns = chunk->time_ns;
		for (size_t i = 0; chunk->is_reading && i < chunk->nr_rows; i++) {
			const struct cache_key *key = &chunk->rows[i].key;
			const bool is_wal = key->pid == 77 && cache_key_op(key) == CACHE_READ + 1;

			rows += key->pid != 0;
			wrong += key->pid &&
				 !is_file(merge, key->inode, key->dev, cache_key_nth(key),
					  is_wal ? "/data/pg_wal/1" : file);
		}
		for (size_t i = 0; !chunk->is_reading && i < chunk->nr_events; i++) {
			const struct cache_event *e = &chunk->events[i].event;

			wrong += !is_file(merge, e->inode, e->dev, e->nth,
					  e->op == CACHE_NO_OP ? "[metadata of /data]" : file);
			wrong += e->start_ns < chunk->time_ns || e->end_ns < e->start_ns;
		}
	}
	id = capture_merge__rename(merge, 1, GLOSSARY_FILES, (struct glossary_id){ { 12, PART } });
	ok(is_file(merge, id.words[0], (uint32_t)id.words[1], 0, machines[1].file) &&
		   id.words[0] < FILE_SPECIAL,
	   "without its disk, too, and with no number that stands for something else");
	ok(!err && nr[0] == 4 && nr[1] == 4 && rows == 8, "two captures: all chunks of both");
	is_u64(back, 0, "by time");
	is_u64(wrong, 0, "each with its own files");
	cache_merge__free(&caches);
	capture_merge__free(merge);
}

static void test_info(void)
{
	struct capture_reader *reader = NULL;
	struct cache_losses losses;
	struct cache_about about;

	if (capture_reader__open(path("fixed.cap"), &reader))
		exit(1);
	is_u64(cache_info__get(capture_reader__about(reader), &about, &losses),
	       CACHE_TELLS_COMMANDS, "what it tells");
	ok(about.method == CACHE_BY_FENTRY && about.page_bytes == 4096 && !about.filtered &&
		   about.cached_before == 5000 && about.cached_after == 5310 &&
		   !strcmp(about.unseen, "shmem_fault"),
	   "how it was seen");
	ok(losses.no_key == 1 && !losses.no_task, "what was lost");
	capture_reader__free(reader);
	if (capture_reader__open(path("random.cap"), &reader))
		exit(1);
	ok(cache_info__get(capture_reader__about(reader), &about, &losses) == CACHE_TELLS_NOTHING &&
		   about.method == CACHE_BY_TRACEPOINTS && about.cached_after == UINT64_MAX,
	   "a capture that says nothing promises nothing");
	capture_reader__free(reader);
}

static void clean(void)
{
	unlink(path("random.cap"));
	unlink(path("damaged.cap"));
	unlink(path("fixed.cap"));
	rmdir(dir);
}

int main(int argc, char **argv)
{
	char file[256];

	if (argc == 3 && !strcmp(argv[1], "--make")) {
		snprintf(file, sizeof(file), "%s/cache.cap", argv[2]);
		make_fixed(file, NULL);
		for (int i = 0; i < 2; i++) {
			snprintf(file, sizeof(file), "%s/cache-%s.cap", argv[2], machines[i].host);
			make_fixed(file, &machines[i]);
		}
		return 0;
	}
	if (!mkdtemp(dir))
		return 1;
	test_round_trip();
	test_damage();
	test_nonsense();
	test_fixed();
	test_two();
	test_info();
	clean();
	return done_testing();
}
