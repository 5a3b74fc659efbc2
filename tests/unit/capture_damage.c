/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_damage.c: what does a damaged capture give? A small file is cut at every offset and has
 * every one of its bits flipped: never a crash, never a record that was not written, whatever is
 * missing is counted exactly. Then damage that only somebody hostile makes: good CRCs over
 * nonsense.
 */
#include "tap.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "capture/block.h"
#include "capture/crc32c.h"
#include "capture/read.h"
#include "capture/write.h"

enum { MOST = 65536 };

static uint8_t good[MOST], bad[MOST];
static size_t nr_good;
static uint32_t nr_records = 61, nr_block = 20;

struct staged {
	struct io_record record;
	struct io_stages stages;
};

/* One in four has stages. */
static struct staged record_nr(uint32_t i)
{
	struct io_record record = {
		.first_ns = 1000000 + i * 1000,
		.last_ns = 1000000 + i * 1000,
		.end_ns = 1080000 + i * 1013,
		.cdw10 = { i * 2654435761u, 0, 7 },
		.bytes = 4096,
		.pid = 77,
		.seq = i,
		.comm = "damage",
		.cid = (uint16_t)(i * 5 % 32),
		.status = i == 33 ? 0x281 : 0,
		.attempts = 1,
		.flags = i % 4 ? 0 : RECORD_STAGES,
	};

	return (struct staged){ record,
				{ .queued_ns = record.first_ns - 1000 - i,
				  .done_ns = record.end_ns + i % 7,
				  .cgroup = i % 3,
				  .inode = 99,
				  .depth = i } };
}

static size_t chunk_at(uint8_t type, int nth, struct capture_chunk *chunk)
{
	size_t at = CAPTURE_FILE_BYTES;

	while (at < nr_good && capture_chunk__get(chunk, good + at)) {
		if (chunk->type == type && !nth--)
			return at;
		at += CAPTURE_CHUNK_BYTES + chunk->length;
	}
	return 0;
}

/* True if zstd was of use. */
static bool make_good(int zstd_level)
{
	char path[] = "/tmp/iosonar-damage-XXXXXX";
	struct capture_info info = { CAPTURE_INFO_KERNEL, "6.12" };
	struct device device = { .name = "nvme0n1", .model = "M", .serial = "S" };
	struct capture_count ledger = { "issued", nr_records };
	struct capture_options options = { .reserve_bytes = 128, .zstd_level = zstd_level };
	struct capture_writer *writer;
	struct capture_chunk chunk;

	options.fd = mkstemp(path);
	if (options.fd < 0 || capture_writer__new(&options, &writer))
		exit(1);
	capture_writer__info(writer, &info, 1);
	capture_writer__device(writer, 0, &device);
	capture_writer__clock(writer, &(struct capture_clock){ 1, 2, 3 });
	for (uint32_t i = 0; i < nr_records; i++) {
		struct staged staged = record_nr(i);

		capture_writer__records(writer, &staged.record, 1);
		if (i % nr_block == nr_block - 1)
			capture_writer__flush(writer);
	}
	capture_writer__finish(writer, "done", &ledger, 1);
	capture_writer__free(writer);
	nr_good = (size_t)pread(options.fd, good, MOST, 0);
	close(options.fd);
	unlink(path);
	chunk_at(CAPTURE_RECORDS, 0, &chunk);
	return chunk.flags & CAPTURE_ZSTD;
}

struct outcome {
	int err;
	uint64_t nr, foreign; /* records, and such that were never written, or not in this order */
	struct capture_damage damage;
	bool differs_again; /* the damage, or the number of records, when it is read once more */
};

/* The same reader a second time. */
static bool differs_again(struct capture_reader *reader, const struct outcome *outcome)
{
	uint64_t nr = 0;
	int err;

	capture_reader__rewind(reader);
	while (capture_reader__next(reader, &err))
		nr++;
	return nr != outcome->nr ||
	       memcmp(capture_reader__damage(reader), &outcome->damage, sizeof(outcome->damage));
}

static struct outcome read_all(const uint8_t *bytes, size_t nr)
{
	struct outcome outcome = { 0 };
	struct capture_reader *reader;
	const struct io_record *record;
	struct staged want;
	uint32_t next = 0;

	outcome.err = capture_reader__open_memory(bytes, nr, &reader);
	if (outcome.err)
		return outcome;
	while ((record = capture_reader__next(reader, &outcome.err))) {
		want = record_nr(record->seq);
		if (record->seq < next || record->seq >= nr_records ||
		    memcmp(record, &want, io_record__size(&want.record)))
			outcome.foreign++;
		next = record->seq + 1;
		outcome.nr++;
	}
	outcome.damage = *capture_reader__damage(reader);
	outcome.differs_again = differs_again(reader, &outcome);
	capture_reader__free(reader);
	return outcome;
}

/* Records in whole chunks before the cut, and where the last of those ends. */
static uint64_t whole_before(size_t cut, size_t *whole)
{
	uint64_t nr = 0;

	*whole = cut < CAPTURE_FILE_BYTES ? 0 : CAPTURE_FILE_BYTES;
	while (*whole && *whole < cut) {
		struct capture_chunk chunk;

		if (cut - *whole < CAPTURE_CHUNK_BYTES ||
		    !capture_chunk__get(&chunk, good + *whole) ||
		    cut - *whole - CAPTURE_CHUNK_BYTES < chunk.length)
			break;
		nr += chunk.type == CAPTURE_RECORDS ? chunk.count : 0;
		*whole += CAPTURE_CHUNK_BYTES + chunk.length;
	}
	return nr;
}

static void test_cuts(const char *name)
{
	uint64_t wrong = 0, unsaid = 0, foreign = 0;

	for (size_t cut = 0; cut < nr_good; cut++) {
		uint8_t *part = malloc(cut + 1); /* of its own, so that ASan sees its end */
		size_t whole;
		uint64_t want = whole_before(cut, &whole);
		struct outcome outcome;

		memcpy(part, good, cut);
		outcome = read_all(part, cut);
		free(part);
		wrong += outcome.err || outcome.nr != want;
		foreign += outcome.foreign;
		unsaid += !outcome.damage.truncated || outcome.damage.truncated_at != whole;
	}
	printf("# %s: %zu cuts\n", name, nr_good);
	is_u64(wrong, 0, "every cut reads up to its last whole block");
	is_u64(unsaid, 0, "and says where it was cut");
	is_u64(foreign, 0, "and gives only what was written");
}

static void test_flips(const char *name)
{
	uint64_t unseen = 0, foreign = 0, miscounted = 0, refused = 0, too_few = 0, again = 0;

	for (size_t bit = 0; bit < nr_good * 8; bit++) {
		struct outcome outcome;

		memcpy(bad, good, nr_good);
		bad[bit / 8] ^= (uint8_t)(1 << bit % 8);
		outcome = read_all(bad, nr_good);
		refused += outcome.err != 0;
		unseen += capture_damage__is_whole(&outcome.damage);
		foreign += outcome.foreign;
		miscounted += outcome.nr + outcome.damage.records_corrupt != nr_records;
		too_few += outcome.nr + nr_block < nr_records || !outcome.damage.blocks_corrupt;
		again += outcome.differs_again;
	}
	printf("# %s: %zu flips\n", name, nr_good * 8);
	is_u64(refused, 0, "no flip makes a file unreadable");
	is_u64(unseen, 0, "every flip is seen");
	is_u64(foreign, 0, "and gives only what was written");
	is_u64(too_few, 0, "and costs one chunk, which is counted");
	is_u64(miscounted, 0, "records that are missing are counted exactly");
	is_u64(again, 0, "damage counts once, however often a block is read");
}

/* Puts a chunk with this payload and a good CRC in front of the trailer. */
static struct outcome read_with(struct capture_chunk chunk, const uint8_t *payload, uint32_t length)
{
	struct capture_chunk trailer;
	size_t at = chunk_at(CAPTURE_TRAILER, 0, &trailer), tail = nr_good - at;

	chunk.length = length;
	chunk.crc = crc32c(payload, length);
	memcpy(bad, good, at);
	capture_chunk__put(&chunk, bad + at);
	memcpy(bad + at + CAPTURE_CHUNK_BYTES, payload, length);
	memcpy(bad + at + CAPTURE_CHUNK_BYTES + length, good + at, tail);
	return read_all(bad, nr_good + CAPTURE_CHUNK_BYTES + length);
}

static void test_hostile(void)
{
	struct capture_chunk chunk = { .type = 99, .first = nr_records };
	const uint8_t noise[64] = { 1, 1, 1, 1, 2, 0xff, 0xff, 0xff, 0x7f, 3 };
	const uint8_t none[3] = { 0 };
	struct outcome outcome = read_with(chunk, noise, sizeof(noise));

	ok(!outcome.err && outcome.damage.chunks_unknown == 1 &&
		   capture_damage__is_whole(&outcome.damage),
	   "a chunk of later days is skipped, and no damage");
	chunk.type = CAPTURE_RECORDS;
	chunk.count = 1;
	outcome = read_with(chunk, noise, sizeof(noise));
	ok(outcome.nr == nr_records && outcome.damage.blocks_corrupt == 1, "records of nonsense");
	outcome = read_with(chunk, none, sizeof(none));
	ok(outcome.nr == nr_records && outcome.damage.blocks_corrupt == 1, "records of nobody");
	chunk.count = UINT32_MAX;
	outcome = read_with(chunk, none, sizeof(none));
	ok(outcome.nr == nr_records && outcome.damage.blocks_corrupt == 1, "records without end");
	chunk.count = 0;
	outcome = read_with(chunk, none, sizeof(none));
	ok(outcome.nr == nr_records && outcome.damage.blocks_corrupt == 1, "no records at all");
	for (uint8_t type = CAPTURE_INFO; type <= CAPTURE_CLOCK; type++) {
		chunk.type = type;
		outcome = read_with(chunk, noise + 5, 6);
		ok(outcome.nr == nr_records && outcome.damage.blocks_corrupt == 1,
		   "nonsense of type %u", type);
	}
}

/* Column by column and byte by byte, noise with a good CRC in a block that was good. */
static void test_noise(void)
{
	uint64_t state = 1, records = 0, errors = 0;
	struct capture_chunk chunk;
	size_t at = chunk_at(CAPTURE_RECORDS, 1, &chunk);

	for (int round = 0; round < 5000; round++) {
		struct outcome outcome;

		memcpy(bad, good, nr_good);
		for (int i = 0; i < 1 + round % 3; i++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			bad[at + CAPTURE_CHUNK_BYTES + (state >> 8) % chunk.length] =
				(uint8_t)(state >> 40);
		}
		chunk.crc = crc32c(bad + at + CAPTURE_CHUNK_BYTES, chunk.length);
		capture_chunk__put(&chunk, bad + at);
		outcome = read_all(bad, nr_good);
		errors += outcome.err != 0;
		records += outcome.nr > nr_records;
	}
	is_u64(errors, 0, "noise with a good CRC: all read to the end");
	is_u64(records, 0, "and never more records than the header says");
}

static void test_joins(void)
{
	struct outcome outcome;
	uint8_t newer[CAPTURE_FILE_BYTES];

	memcpy(bad, good, nr_good);
	memset(bad + nr_good, 0, 4096);
	outcome = read_all(bad, nr_good + 4096);
	ok(outcome.nr == nr_records && !outcome.damage.truncated && outcome.damage.blocks_corrupt,
	   "zeros behind the end, as a crash leaves them, are damage");
	memset(bad, 0xee, nr_good);
	outcome = read_all(bad, nr_good);
	ok(outcome.err == -EINVAL, "a file of something else is refused");
	memcpy(newer, good, sizeof(newer));
	newer[8] = 3;
	for (int i = 0; i < 4; i++)
		newer[12 + i] = (uint8_t)(crc32c(newer, 12) >> (8 * i));
	outcome = read_all(newer, sizeof(newer));
	ok(outcome.err == -EPROTONOSUPPORT, "version 3 is refused as such");
}

/* ---- chunks that are whole, and contradict each other ---- */

/* The file with the bytes from `from` to `to` once more behind them; the trailer is as it was. */
static struct outcome read_repeated(size_t from, size_t to)
{
	memcpy(bad, good, to);
	memcpy(bad + to, good + from, to - from);
	memcpy(bad + to + to - from, good + to, nr_good - to);
	return read_all(bad, nr_good + to - from);
}

static void test_repeats(void)
{
	struct capture_chunk chunk;
	struct outcome outcome;
	size_t at;

	for (int nth = 0; nth < 3; nth++) {
		at = chunk_at(CAPTURE_RECORDS, nth, &chunk);
		outcome = read_repeated(at, at + CAPTURE_CHUNK_BYTES + chunk.length);
		ok(outcome.damage.records_surplus == chunk.count && !outcome.damage.records_corrupt,
		   "block %d twice is seen", nth);
	}
	at = chunk_at(CAPTURE_RECORDS, 0, &chunk);
	outcome = read_repeated(at, chunk_at(CAPTURE_RECORDS, 3, &chunk));
	is_u64(outcome.damage.records_surplus, 3 * nr_block, "and three of them");
}

/* A block that nobody wrote, with numbers that go on where the last one ends. */
static void test_added(void)
{
	struct capture_chunk chunk;
	size_t at = chunk_at(CAPTURE_RECORDS, 0, &chunk);
	struct outcome outcome;

	chunk.first = nr_records;
	outcome = read_with(chunk, good + at + CAPTURE_CHUNK_BYTES, chunk.length);
	is_u64(outcome.damage.records_surplus, nr_block, "what the trailer does not count is seen");
	ok(!capture_damage__is_whole(&outcome.damage), "and the file is not whole");
}

static struct outcome read_with_times(uint64_t min_ns, uint64_t max_ns)
{
	struct capture_chunk chunk;
	size_t at = chunk_at(CAPTURE_RECORDS, 1, &chunk);

	memcpy(bad, good, nr_good);
	chunk.min_ns += min_ns;
	chunk.max_ns -= max_ns;
	capture_chunk__put(&chunk, bad + at);
	return read_all(bad, nr_good);
}

/* Records are 1013 ns apart, and the first has its header's earliest time. */
static void test_times(void)
{
	struct outcome outcome = read_with_times(0, 1);

	is_u64(outcome.damage.records_astray, 1, "a record later than its header says");
	is_u64(read_with_times(0, 1013 * 3 - 1).damage.records_astray, 3, "three of them");
	is_u64(read_with_times(0, 0).damage.records_astray, 0, "none");
	outcome = read_with_times(500, 0);
	is_u64(outcome.damage.records_astray, 1, "all are later, the last by too much");
	ok(!capture_damage__is_whole(&outcome.damage), "and the file is not whole");
}

/* ---- what looking for chunks costs ---- */

static uint64_t bytes_read(void)
{
	FILE *io = fopen("/proc/self/io", "re");
	unsigned long long nr = 0;

	if (!io || fscanf(io, "rchar: %llu", &nr) != 1)
		nr = 0;
	if (io)
		fclose(io);
	return nr;
}

/* A file of empty chunks with one byte of junk behind each. */
static void test_junk(void)
{
	enum { CHUNKS = 2000 };
	struct capture_chunk chunk = { .type = 99 };
	char path[] = "/tmp/iosonar-junk-XXXXXX";
	uint8_t bytes[CAPTURE_CHUNK_BYTES + 1] = { 0 };
	struct capture_reader *reader = NULL;
	int fd = mkstemp(path);
	uint64_t before;

	memset(bytes, 0x49, sizeof(bytes));
	capture_chunk__put(&chunk, bytes);
	ok(write(fd, good, CAPTURE_FILE_BYTES) == CAPTURE_FILE_BYTES, "a file begins");
	for (int i = 0; i < CHUNKS; i++)
		if (write(fd, bytes, sizeof(bytes)) < 0)
			exit(1);
	close(fd);
	before = bytes_read();
	ok(!capture_reader__open(path, &reader), "a file with junk between its chunks opens");
	is_u64(capture_reader__damage(reader)->blocks_corrupt, CHUNKS - 1, "all junk is counted");
	ok(before && bytes_read() - before < CHUNKS * 1024, "%d bytes of junk cost %llu bytes",
	   CHUNKS, (unsigned long long)(bytes_read() - before));
	capture_reader__free(reader);
	unlink(path);
}

/* A hundred gigabytes of nothing, and a chunk at their end. */
static void test_hole(void)
{
	struct capture_chunk chunk = { .type = 99 };
	char path[] = "/tmp/iosonar-hole-XXXXXX";
	uint8_t bytes[CAPTURE_CHUNK_BYTES];
	struct capture_reader *reader = NULL;
	const off_t end = (off_t)100 << 30;
	int fd = mkstemp(path);
	uint64_t before = bytes_read();

	capture_chunk__put(&chunk, bytes);
	if (pwrite(fd, good, CAPTURE_FILE_BYTES, 0) < 0 ||
	    pwrite(fd, bytes, sizeof(bytes), end) < 0) {
		ok(true, "no sparse files here # SKIP");
	} else {
		ok(!capture_reader__open(path, &reader), "a file with a hole opens");
		is_u64(capture_reader__damage(reader)->chunks_unknown, 1,
		       "and what is behind the hole is found");
		ok(bytes_read() - before < 1 << 20, "without reading the hole");
	}
	close(fd);
	unlink(path);
	capture_reader__free(reader);
}

/* A signal that is held back, as a run holds it. */
static void test_signal(void)
{
	static uint8_t junk[1 << 20];
	struct capture_reader *reader = NULL;
	const struct timespec now = { 0 };
	sigset_t held;

	memcpy(junk, good, CAPTURE_FILE_BYTES);
	sigemptyset(&held);
	sigaddset(&held, SIGTERM);
	sigprocmask(SIG_BLOCK, &held, NULL);
	ok(!capture_reader__open_memory(junk, sizeof(junk), &reader), "a long damage is read");
	capture_reader__free(reader);
	raise(SIGTERM);
	is_u64((uint64_t)-capture_reader__open_memory(junk, sizeof(junk), &reader), EINTR,
	       "a signal ends the search for a chunk");
	sigtimedwait(&held, NULL, &now);
	sigprocmask(SIG_UNBLOCK, &held, NULL);
}

int main(void)
{
	struct outcome outcome;

	make_good(0);
	outcome = read_all(good, nr_good);
	ok(!outcome.err && outcome.nr == nr_records && capture_damage__is_whole(&outcome.damage),
	   "the good file is good");
	test_cuts("plain");
	test_flips("plain");
	test_hostile();
	test_noise();
	test_joins();
	test_repeats();
	test_added();
	test_times();
	test_junk();
	test_hole();
	test_signal();
	if (!capture_zip__is_built_in())
		return done_testing();
	nr_records = 241;
	nr_block = 120;
	ok(make_good(3), "a file with zstd in it");
	test_cuts("zstd");
	test_flips("zstd");
	test_noise();
	return done_testing();
}
