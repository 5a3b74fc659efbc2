/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_index.c: does the index of a capture save reading, and does it ever lie? A span of time
 * is read with as many bytes as it takes, asked of /proc/self/io; whatever is cut, flipped or made
 * up with good CRCs, no record comes that was not written, and none is missing without being told.
 */
#define _GNU_SOURCE
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "capture/crc32c.h"
#include "capture/index.h"
#include "capture/read.h"
#include "capture/write.h"

enum { EACH = 3, BLOCKS = 40, MANY = 600, SECOND = 1000000000 };

static uint8_t *good, *bad;
static size_t nr_good;
static uint32_t per_second = EACH;

static struct io_record record_nr(uint32_t i)
{
	struct io_record record = {
		.seq = i, .bytes = 4096, .pid = 77, .comm = "index", .attempts = 1
	};

	record.first_ns = record.last_ns = (uint64_t)SECOND + i * (uint64_t)SECOND / per_second;
	record.end_ns = record.first_ns + 80000 + i * 2654435761u % 50021;
	record.cdw10[0] = i * 2654435761u;
	return record;
}

/* A block and a clock each second; devices and texts in between. Returns what __finish did. */
static int put_all(struct capture_writer *writer, uint32_t blocks, uint32_t each)
{
	struct device device = { .name = "nvme0n1", .serial = "S", .size_bytes = 1 << 30 };
	struct capture_count ledger = { "issued", blocks * each };
	int err = capture_writer__device(writer, 0, &device);

	for (uint32_t b = 0; b < blocks && !err; b++) {
		uint64_t now = (uint64_t)SECOND * (b + 1);
		struct capture_clock clock = { now, now + 7, now * 2 };

		if (b % 20 == 5)
			err = capture_writer__text(writer, GLOSSARY_CGROUPS,
						   (struct glossary_id){ { b } }, "/a.service");
		if (b % 30 == 7)
			capture_writer__lost(writer, "ring", 1);
		err = err ? err : capture_writer__clock(writer, &clock);
		for (uint32_t i = 0; i < each && !err; i++) {
			struct io_record record = record_nr(b * each + i);

			err = capture_writer__records(writer, &record, 1);
		}
		err = err ? err : capture_writer__flush(writer);
	}
	return err ? err : capture_writer__finish(writer, "done", &ledger, 1);
}

static int make(int fd, uint32_t blocks, uint32_t each)
{
	struct capture_options options = { .fd = fd, .reserve_bytes = 1024 };
	struct capture_writer *writer;
	int err = capture_writer__new(&options, &writer);

	err = err ? err : put_all(writer, blocks, each);
	capture_writer__free(writer);
	return err;
}

static uint8_t *bytes_of(int fd, size_t *nr)
{
	struct stat about;
	uint8_t *bytes;

	fstat(fd, &about);
	*nr = (size_t)about.st_size;
	bytes = malloc(*nr);
	if (!bytes || pread(fd, bytes, *nr, 0) != (ssize_t)*nr)
		abort();
	return bytes;
}

static size_t chunk_at(const uint8_t *bytes, size_t nr, uint8_t type, struct capture_chunk *chunk)
{
	size_t at = CAPTURE_FILE_BYTES;

	while (at < nr && capture_chunk__get(chunk, bytes + at)) {
		if (chunk->type == type)
			return at;
		at += CAPTURE_CHUNK_BYTES + chunk->length;
	}
	return nr;
}

/* ---- reading ---- */

struct outcome {
	int err;
	uint64_t nr, wrong; /* records; those that were not written, or come twice */
	uint64_t clocks, lost;
	struct capture_damage damage;
};

static struct outcome read_bounded(const uint8_t *bytes, size_t nr, uint64_t from, uint64_t to)
{
	struct outcome o = { 0 };
	const struct io_record *record;
	struct capture_reader *reader;
	int64_t last = -1;
	int err;

	o.err = capture_reader__open_memory(bytes, nr, &reader);
	if (o.err)
		return o;
	capture_reader__bound(reader, from, to);
	while ((record = capture_reader__next(reader, &err))) {
		struct io_record want = record_nr(record->seq);

		o.wrong += memcmp(record, &want, sizeof(want)) || (int64_t)record->seq <= last;
		last = record->seq;
		o.nr++;
	}
	o.err = err;
	o.clocks = capture_reader__about(reader)->nr_clocks;
	o.damage = *capture_reader__damage(reader);
	o.lost = o.damage.records_lost;
	capture_reader__free(reader);
	return o;
}

static struct outcome read_all(const uint8_t *bytes, size_t nr)
{
	return read_bounded(bytes, nr, 0, UINT64_MAX);
}

/* ---- what it is ---- */

static void test_there(void)
{
	struct capture_chunk index, trailer;
	struct outcome by_index = read_all(good, nr_good), by_walk;
	size_t at = chunk_at(good, nr_good, CAPTURE_INDEX, &index), nr;
	uint8_t *few;
	int fd = memfd_create("few", 0);

	ok(chunk_at(good, nr_good, CAPTURE_TRAILER, &trailer) ==
		   at + CAPTURE_CHUNK_BYTES + index.length,
	   "the index stands before the trailer");
	ok(le__get64(good + at + CAPTURE_CHUNK_BYTES + index.length - 8) == at,
	   "and ends with its place");
	memcpy(bad, good, nr_good);
	bad[at + CAPTURE_CHUNK_BYTES + 3] ^= 1;
	by_walk = read_all(bad, nr_good);
	ok(by_index.nr == BLOCKS * EACH && !by_index.wrong &&
		   capture_damage__is_whole(&by_index.damage),
	   "all records are there");
	ok(by_walk.nr == by_index.nr && !by_walk.wrong && by_walk.clocks == by_index.clocks &&
		   by_walk.lost == by_index.lost && by_index.lost == 2 && by_index.clocks == BLOCKS,
	   "a walk finds the same: records, clocks, losses");
	ok(by_walk.damage.blocks_corrupt == 1 && !by_walk.damage.records_corrupt,
	   "a damaged index is told, and harms nothing");
	make(fd, 10, EACH);
	few = bytes_of(fd, &nr);
	ok(chunk_at(few, nr, CAPTURE_INDEX, &index) == nr, "a small file has none");
	free(few);
	close(fd);
}

static void test_bounds(void)
{
	unsigned int wrong = 0;

	srandom(17);
	for (int round = 0; round < 300; round++) {
		uint64_t from = (uint64_t)random() % ((BLOCKS + 2) * (uint64_t)SECOND);
		uint64_t to = from + (uint64_t)random() % (5 * (uint64_t)SECOND), want = 0;
		struct outcome o = read_bounded(good, nr_good, from, to);

		for (uint32_t i = 0; i < BLOCKS * EACH; i++) {
			struct io_record record = record_nr(i);

			want += record.end_ns >= from && record.end_ns < to;
		}
		wrong += o.nr != want || o.wrong;
	}
	is_u64(wrong, 0, "300 random spans have exactly their records");
}

/* ---- damage ---- */

static void test_cuts(void)
{
	uint64_t before = 0;
	unsigned int wrong = 0;

	for (size_t cut = 0; cut < nr_good; cut++) {
		struct outcome o = read_all(good, cut);

		wrong += o.wrong || (!o.err && !o.damage.truncated) || o.nr < before;
		before = o.err ? before : o.nr;
	}
	is_u64(wrong, 0, "cut at every byte: told, and never fewer records");
	is_u64(before, BLOCKS * EACH, "up to all");
}

static void test_flips(void)
{
	unsigned int wrong = 0;

	for (size_t at = 0; at < nr_good; at++) {
		struct outcome o;

		/* Bytes 10 and 11 of the file, and of a reserve any, are nobody's. */
		memcpy(bad, good, nr_good);
		bad[at] ^= (uint8_t)(1 << at % 8);
		o = read_all(bad, nr_good);
		wrong += o.wrong || (o.err && o.err != -EINVAL && o.err != -EPROTONOSUPPORT);
		wrong += !o.err && o.nr + o.damage.records_corrupt != BLOCKS * EACH;
		wrong += !o.err && o.nr < BLOCKS * EACH && capture_damage__is_whole(&o.damage);
	}
	is_u64(wrong, 0, "every byte flipped: what is missing is counted, nothing is made up");
}

static void mend(uint8_t *bytes, size_t at)
{
	uint32_t length = le__get32(bytes + at + 8);

	le__put32(bytes + at + 48, crc32c(bytes + at + CAPTURE_CHUNK_BYTES, length));
	le__put32(bytes + at + 60, crc32c(bytes + at, 60));
}

/* An index that was made to mislead: its CRCs are good. */
static void test_lies(void)
{
	static const uint8_t values[] = { 0, 1, 5, 17, 0x7f, 0x80, 0xff };
	struct capture_chunk index;
	size_t start = chunk_at(good, nr_good, CAPTURE_INDEX, &index);
	unsigned int wrong = 0, silent = 0;

	for (size_t i = 0; i < CAPTURE_CHUNK_BYTES + index.length; i++)
		for (size_t v = 0; v < sizeof(values); v++) {
			struct outcome o;

			if (i >= 4 && i < 12 && i != 5)
				continue; /* another type or length is another file */
			memcpy(bad, good, nr_good);
			bad[start + i] = values[v];
			mend(bad, start);
			o = read_all(bad, nr_good);
			wrong += o.wrong || o.err || o.nr > BLOCKS * EACH;
			silent += o.nr < BLOCKS * EACH && capture_damage__is_whole(&o.damage);
		}
	is_u64(wrong, 0, "an index that lies gives no wrong record");
	is_u64(silent, 0, "and hides none without being told");
}

/* ---- what it saves ---- */

struct reads {
	uint64_t bytes, calls;
};

static bool reads_now(struct reads *reads)
{
	FILE *file = fopen("/proc/self/io", "re");
	bool there;

	if (!file)
		return false;
	there = fscanf(file, "rchar: %" SCNu64 " wchar: %*u syscr: %" SCNu64, &reads->bytes,
		       &reads->calls) == 2;
	fclose(file);
	return there;
}

static void test_seek(const char *path)
{
	struct reads before, after;
	struct capture_reader *reader;
	const struct io_record *record;
	struct stat about;
	uint64_t nr = 0;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), err;

	per_second = 500;
	ok(fd >= 0 && !make(fd, MANY, per_second), "a file of 600 blocks");
	fstat(fd, &about);
	close(fd);
	if (!reads_now(&before)) {
		per_second = EACH;
		ok(true, "one second is a seek # SKIP there is no /proc/self/io");
		return;
	}
	err = capture_reader__open(path, &reader);
	if (err)
		abort();
	capture_reader__bound(reader, record_nr(200 * 500).end_ns, record_nr(201 * 500).end_ns);
	while ((record = capture_reader__next(reader, &err)))
		nr++;
	capture_reader__free(reader);
	reads_now(&after);
	per_second = EACH;
	ok(nr >= 490 && nr <= 510, "one second of 600 has its records");
	printf("# %" PRIu64 " bytes of %lld in %" PRIu64 " reads\n", after.bytes - before.bytes,
	       (long long)about.st_size, after.calls - before.calls);
	/* Two blocks of 600, the index, and 30 texts that stand by themselves. */
	ok(after.bytes - before.bytes < (uint64_t)about.st_size / 50,
	   "one second is a seek: bytes");
	ok(after.calls - before.calls < 100, "one second is a seek: calls");
}

/* ---- a full disk ---- */

/* In a child: the limit is the process's. Returns what __finish did, as an exit code. */
static int make_limited(const char *path, size_t limit)
{
	struct rlimit size = { limit, limit };
	pid_t child = fork();
	int status;

	if (!child) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &size);
		int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		int err = make(fd, BLOCKS, EACH);

		_exit(err == -ENOSPC ? 28 : err ? 1 : 0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_full(const char *path)
{
	struct capture_chunk index;
	size_t at = chunk_at(good, nr_good, CAPTURE_INDEX, &index);
	unsigned int wrong = 0, without = 0;

	for (size_t limit = at - 200; limit <= nr_good; limit += 13) {
		int code = make_limited(path, limit), fd = open(path, O_RDONLY | O_CLOEXEC);
		size_t nr;
		uint8_t *bytes = bytes_of(fd, &nr);
		struct outcome o = read_all(bytes, nr);

		wrong += o.err || o.wrong || o.damage.truncated || o.damage.blocks_corrupt;
		wrong += code != 0 && code != 28;
		/* There was room for the trailer, so nothing is lost. */
		wrong += limit > at + 200 && (code || o.nr != BLOCKS * EACH);
		without += !code && chunk_at(bytes, nr, CAPTURE_INDEX, &index) == nr;
		free(bytes);
		close(fd);
	}
	is_u64(wrong, 0,
	       "a disk that fills up at the end: the trailer is there, in one place or the other");
	ok(without > 0, "sometimes instead of the index");
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/iosonar-index-XXXXXX", path[64];
	int fd = memfd_create("index", 0);

	if (argc == 3 && !strcmp(argv[1], "--make")) /* tests/data/index.cap, a seed for fuzzing */
		return make(open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0644), BLOCKS, EACH) != 0;
	ok(fd >= 0 && !make(fd, BLOCKS, EACH), "a file of 40 blocks");
	good = bytes_of(fd, &nr_good);
	bad = malloc(nr_good);
	close(fd);
	test_there();
	test_bounds();
	test_cuts();
	test_flips();
	test_lies();
	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/x.cap", dir);
	test_seek(path);
	test_full(path);
	unlink(path);
	rmdir(dir);
	free(good);
	free(bad);
	return done_testing();
}
