/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture.c: does a capture give back what went in, to the last bit, on every machine, forever?
 * Random and extreme records round trip; fixed ones have one SHA-256 everywhere; tests/data/v1*.cap
 * were written once (`capture.t --make DIR`) and must read the same as long as iosonar lives:
 * v1.cap by the first that could, v1-stages.cap by the first that knew stages.
 */
#include "tap.h"
#include "counts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "capture/block.h"
#include "capture/crc32c.h"
#include "capture/memory.h"
#include "capture/merge.h"
#include "capture/read.h"
#include "capture/write.h"

static const char fixed_sha256[] =
	"42412d90996a410750bafdb197cf8d2fa0648b78f7ee355efc6ad7a5a669a6fb";

static char dir[64] = "/tmp/iosonar-capture-XXXXXX";

static const char *path(const char *name)
{
	static char paths[4][128];
	static int nr;
	char *at = paths[nr++ % 4];

	snprintf(at, sizeof(paths[0]), "%s/%s", dir, name);
	return at;
}

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dULL;
}

/* SHA-256, FIPS 180-4, for files of a few kilobytes. */
static uint32_t ror(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void sha256_block(uint32_t h[8], const uint8_t *p, const uint32_t k[64])
{
	uint32_t w[64], v[8];

	for (int i = 0; i < 64; i++) {
		if (i < 16) {
			w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
			       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
			continue;
		}
		w[i] = w[i - 16] + w[i - 7] +
		       (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10);
	}
	memcpy(v, h, sizeof(v));
	for (int i = 0; i < 64; i++) {
		uint32_t a = v[0], e = v[4];
		uint32_t t1 = v[7] + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) +
			      ((e & v[5]) ^ (~e & v[6])) + k[i] + w[i];
		uint32_t t2 = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) +
			      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		h[i] += v[i];
}

/* Constants are roots of the first primes: computed, in integers, rather than copied. */
static uint32_t root_bits(uint32_t prime, int power)
{
	__uint128_t root = 0;

	for (int bit = 36; bit >= 0; bit--) {
		__uint128_t more = root | (__uint128_t)1 << bit;
		__uint128_t cube = power == 2 ? more * more : more * more * more;

		if (cube <= (__uint128_t)prime << (32 * power))
			root = more;
	}
	return (uint32_t)root;
}

static void sha256(const uint8_t *bytes, size_t nr, char hex[65])
{
	size_t padded = (nr + 9 + 63) / 64 * 64;
	uint8_t *all = calloc(1, padded);
	uint32_t h[8], k[64];
	int nr_primes = 0;

	for (uint32_t n = 2; nr_primes < 64; n++) {
		uint32_t d = 2;

		while (n % d)
			d++;
		if (d != n)
			continue;
		if (nr_primes < 8)
			h[nr_primes] = root_bits(n, 2);
		k[nr_primes++] = root_bits(n, 3);
	}
	memcpy(all, bytes, nr);
	all[nr] = 0x80;
	for (int i = 0; i < 8; i++)
		all[padded - 1 - (size_t)i] = (uint8_t)((uint64_t)nr * 8 >> (8 * i));
	for (size_t at = 0; at < padded; at += 64)
		sha256_block(h, all + at, k);
	for (int i = 0; i < 8; i++)
		snprintf(hex + 8 * i, 9, "%08x", h[i]);
	free(all);
}

static uint8_t *slurp(const char *name, size_t *nr)
{
	FILE *file = fopen(name, "rb");
	uint8_t *bytes;

	*nr = 0;
	if (!file)
		return NULL;
	bytes = malloc(1 << 22);
	*nr = fread(bytes, 1, 1 << 22, file);
	fclose(file);
	return bytes;
}

/* The records of the golden files. Integers only, and never to be changed. */
static struct io_record fixed_record(uint32_t i)
{
	uint64_t state = i * 0x9e3779b97f4a7c15ULL + 1;
	uint64_t noise = draw(&state);
	struct io_record record = {
		.first_ns = 1000000000ULL + i * 7001ULL + noise % 4096,
		.cdw10 = { (uint32_t)draw(&state), i % 3 ? 0 : 1, 7 },
		.nsid = 1 + i % 2,
		.bytes = i % 5 ? 4096 : 65536,
		.pid = 4000 + i % 4,
		.seq = i / 4,
		.comm = "fixed",
		.device = (uint16_t)(i % 2),
		.qid = (uint16_t)(1 + i % 4),
		.cid = (uint16_t)((i / 64 % 16) << 12 | i % 64),
		.cpu = (uint16_t)(i % 4),
		.op = i % 7 ? 2 : 1,
		.attempts = 1,
	};

	record.comm[5] = (char)('a' + i % 4);
	record.last_ns = record.first_ns;
	record.end_ns = record.first_ns + 80000 + (noise >> 20) % 50000;
	if (i % 101 == 100) {
		record.attempts = 3;
		record.last_ns += 30000;
		record.status = 0x4281;
		record.result = noise;
		record.cdw10[4] = 0xffffffff;
	}
	if (i % 211 == 210) {
		record.what = RECORD_SUBMIT;
		record.last_ns = record.first_ns + 500;
		record.end_ns = 0;
	}
	return record;
}

/* A record and what may follow it. */
struct staged {
	struct io_record record;
	struct io_stages stages;
};

static size_t staged_size(const struct staged *staged)
{
	return io_record__size(&staged->record);
}

/* A command's life as it goes; some stages are not seen. Integers only, and never to be changed. */
static void fixed_stages(struct staged *staged, uint32_t i)
{
	struct io_record *r = &staged->record;
	struct io_stages *s = &staged->stages;

	*r = fixed_record(i);
	r->flags |= RECORD_STAGES;
	*s = (struct io_stages){
		.queued_ns = r->first_ns - 3000 - i % 701,
		.issued_ns = i % 11 ? r->last_ns + 400 + i % 97 : 0,
		.reaped_ns = r->end_ns - 150 - i % 31,
		.done_ns = r->end_ns + 500 + i % 53,
		.cgroup = 4294967297ULL * (1 + i % 3),
		.inode = i % 5 ? 1000000 + i % 7 : 0,
		.file_dev = i % 5 ? 0x800001 : 0,
		.tid = 5000 + i % 4,
		.kernel_stack = i % 6,
		.user_stack = i % 13 ? 77 : 0,
		.depth = 1 + i % 32,
		.cpu = (uint16_t)(i % 4),
		.nr_bios = (uint16_t)(1 + (i % 17 == 0)),
	};
	s->got_ns = s->queued_ns + 200 + i % 89;
	s->inserted_ns = i % 3 ? s->got_ns + 100 : 0;
	if (i % 29 == 28)
		r->what = RECORD_BIO;
}

enum { NR_FIXED = 1009, NR_FIXED_MORE = 8192 + 17 };

static struct device fixed_device(uint32_t i)
{
	struct device device = {
		.name = "nvme0n1",
		.kind = DEVICE_NVME_NS,
		.diskseq = 9 + i,
		.size_bytes = 512ULL << 30,
		.block_size = i ? 4096 : 512,
		.major = 259,
		.minor = i,
		.ctrl = i ? -1 : 0,
		.nsid = 1 + i,
		.nr_queues = 4,
		.depth = 1023,
		.model = "Fixed \x1b[31mModel",
		.serial = "S0",
		.firmware = "1.0",
	};

	device.name[6] += (char)i;
	return device;
}

static int write_fixed(const char *name, int zstd_level, uint32_t nr)
{
	struct capture_options options = { .path = name, .reserve_bytes = 256 };
	static const struct capture_info info[] = {
		{ CAPTURE_INFO_VERSION, "0.3" },
		{ CAPTURE_INFO_KERNEL, "6.12.38" },
		{ CAPTURE_INFO_COMMAND, "iosonar record -w v1.cap" },
	};
	static const struct capture_count ledger[] = { { "issued", 1010 }, { "completed", 1009 } };
	char *names[CAPTURE_NR_NAMES] = { [0] = "READ", [1] = "WRITE", [255] = "DRV_OUT" };
	struct capture_clock clock = { 1000000000, 2000000000, 1700000000000000000 };
	struct capture_writer *writer;
	struct device device;
	int err;

	options.zstd_level = zstd_level;
	err = capture_writer__new(&options, &writer);
	if (err)
		return err;
	err |= capture_writer__info(writer, info, 3);
	err |= capture_writer__names(writer, CAPTURE_NAMES_BLOCK, names);
	for (uint32_t i = 0; i < 2; i++) {
		device = fixed_device(i);
		err |= capture_writer__device(writer, (uint16_t)i, &device);
	}
	err |= capture_writer__clock(writer, &clock);
	for (uint32_t i = 0; i < nr; i++) {
		struct io_record record = fixed_record(i);

		err |= capture_writer__records(writer, &record, 1);
		if (i == 500 || i == 4000)
			err |= capture_writer__flush(writer);
		if (i == 600)
			capture_writer__lost(writer, "ring full", 3);
	}
	clock = (struct capture_clock){ 2000000000, 3000000000, 1700000001000000500 };
	err |= capture_writer__clock(writer, &clock);
	err |= capture_writer__finish(writer, "done", ledger, 2);
	capture_writer__free(writer);
	return err;
}

/* Of the golden file with stages. Integers only, and never to be changed, either. */
enum { NR_STAGED = 1201 };

static void staged_record(struct staged *staged, uint32_t i)
{
	static const uint8_t block_ops[] = { 0, 0, 1, 1, 2, 3 };

	fixed_stages(staged, i);
	if (i % 5 == 1)
		staged->record.flags &= (uint8_t)~RECORD_STAGES;
	staged->record.cdw10[1] = 0;
	if (i % 7 == 3) { /* another disk */
		staged->record.device = 2;
		staged->record.kind = 3;
		staged->record.op = block_ops[i % 6];
		if (staged->record.op == 2)
			staged->record.cdw10[0] = staged->record.cdw10[1] = UINT32_MAX;
	} else if (i % 40 == 38) { /* a discard: one range, deallocate */
		staged->record.op = 9;
		staged->record.cdw10[0] = 0;
		staged->record.cdw10[1] = 4;
	}
}

static struct device staged_device(uint32_t i)
{
	static struct device_partition partitions[][2] = {
		{ { "nvme0n1p1", 2048, 1073741824 }, { "nvme0n1p2", 1073743872, 3221223424 } },
		{ { "nvme0n2p1", 0, 8589934592 } },
		{ { "sda1", 2048, 2147483648 }, { "sda\x1b[2J", 4294967295, 0 } },
	};
	struct device device = fixed_device(i);

	device.knows_partitions = true;
	device.nr_partitions = i == 1 ? 1 : 2;
	device.partitions = partitions[i];
	if (i < 2)
		return device;
	memcpy(device.name, "sda", 4);
	device.kind = DEVICE_REQUEST;
	device.block_size = 512;
	device.major = 8;
	device.ctrl = -1;
	device.nsid = 0;
	return device;
}

static const struct {
	uint64_t id;
	const char *path;
} staged_cgroups[] = {
	{ 4294967297, "/system.slice/a.service" },
	{ 8589934594, "/system.slice/b\x1b[2J" }, /* and 12884901891 has no path */
};

static int put_text(struct capture_writer *writer, enum glossary_kind kind, uint64_t id,
		    uint64_t and, const char *text)
{
	return capture_writer__text(writer, kind, (struct glossary_id){ { id, and} }, text);
}

static int put_cgroup(struct capture_writer *writer, uint64_t id, const char *path)
{
	return put_text(writer, GLOSSARY_CGROUPS, id, 0, path);
}

static const char *text_of(const struct capture_about *about, enum glossary_kind kind, uint64_t id,
			   uint64_t and)
{
	return capture_about__text(about, kind, (struct glossary_id){ { id, and} });
}

static const char *cgroup_of(const struct capture_about *about, uint64_t id)
{
	return text_of(about, GLOSSARY_CGROUPS, id, 0);
}

static int write_staged(const char *name)
{
	struct capture_options options = { .path = name };
	static const struct capture_info info[] = { { CAPTURE_INFO_VERSION, "0.4" },
						    { CAPTURE_INFO_KERNEL, "6.12.38" } };
	static const struct capture_count ledger[] = { { "issued", NR_STAGED },
						       { "completed", NR_STAGED } };
	char *names[CAPTURE_NR_NAMES] = { "read", "write", "flush", "discard" };
	struct capture_clock clock = { 1000000000, 2000000000, 1700000000000000000 };
	struct capture_writer *writer;
	int err = capture_writer__new(&options, &writer);

	if (err)
		return err;
	err |= capture_writer__info(writer, info, 2);
	err |= capture_writer__names(writer, CAPTURE_NAMES_BLOCK, names);
	for (uint32_t i = 0; i < 3; i++) {
		struct device device = staged_device(i);

		err |= capture_writer__device(writer, (uint16_t)i, &device);
	}
	for (size_t i = 0; i < 2; i++)
		err |= put_cgroup(writer, staged_cgroups[i].id, staged_cgroups[i].path);
	err |= capture_writer__clock(writer, &clock);
	for (uint32_t i = 0; i < NR_STAGED; i++) {
		struct staged staged;

		staged_record(&staged, i);
		err |= capture_writer__records(writer, &staged.record, 1);
		if (i == 500)
			err |= capture_writer__flush(writer);
	}
	err |= capture_writer__finish(writer, "done", ledger, 2);
	capture_writer__free(writer);
	return err;
}

static uint32_t count_staged(struct capture_reader *reader)
{
	const struct io_record *record;
	struct staged want;
	uint32_t i = 0;
	int err;

	while ((record = capture_reader__next(reader, &err))) {
		staged_record(&want, i);
		if (memcmp(record, &want, staged_size(&want)))
			break;
		i++;
	}
	return i;
}

static void check_staged_file(const char *name)
{
	const struct capture_about *about;
	struct capture_reader *reader;
	struct device want = staged_device(2);
	const struct device *got;

	if (!ok(!capture_reader__open(name, &reader), "%s opens", name))
		return;
	about = capture_reader__about(reader);
	got = capture_about__device(about, 2);
	is_u64(count_staged(reader), NR_STAGED, "every record, with stages and without");
	ok(capture_reader__has_stages(reader), "its headers say that there are stages");
	ok(capture_damage__is_whole(capture_reader__damage(reader)), "whole");
	ok(got && got->knows_partitions && got->nr_partitions == 2 &&
		   !memcmp(got->partitions, want.partitions, 2 * sizeof(*want.partitions)),
	   "the partitions of a device");
	is_str(cgroup_of(about, 8589934594), "/system.slice/b\x1b[2J", "a cgroup");
	ok(!cgroup_of(about, 12884901891) && !cgroup_of(about, 0) && !cgroup_of(about, UINT64_MAX),
	   "no cgroup that was not there");
	capture_reader__free(reader);
}

static void check_fixed_about(struct capture_reader *reader)
{
	const struct capture_about *about = capture_reader__about(reader);
	const struct device *device = capture_about__device(about, 1);
	struct byte_out got = { 0 }, want = { 0 };

	is_str(capture_about__info(about, CAPTURE_INFO_KERNEL), "6.12.38", "kernel");
	is_str(capture_about__info(about, CAPTURE_INFO_COMMAND), "iosonar record -w v1.cap",
	       "command line");
	capture_about__put_device(&want, 1, (struct device[]){ fixed_device(1) });
	if (device)
		capture_about__put_device(&got, 1, device);
	ok(got.len == want.len && !memcmp(got.bytes, want.bytes, want.len),
	   "a device, every field");
	byte_out__free(&got);
	byte_out__free(&want);
	ok(!capture_about__device(about, 2) && !capture_about__device(about, 65535),
	   "no device that was not there");
	ok(device && !device->knows_partitions && !capture_reader__has_stages(reader),
	   "nothing is said about partitions, nor has it stages");
	is_str(capture_about__names(about, CAPTURE_NAMES_BLOCK)[255], "DRV_OUT", "a block name");
	ok(!capture_about__names(about, CAPTURE_NAMES_BLOCK)[2] &&
		   !capture_about__names(about, "other"),
	   "no name that was not there");
	is_u64(capture_about__wall_ns(about, 999999999), 1699999999999999999,
	       "wall clock before the first triple");
	is_u64(capture_about__wall_ns(about, 1999999999), 1700000000999999999,
	       "in the first second");
	is_u64(capture_about__wall_ns(about, 2000000001), 1700000001000000501, "after a step");
	is_str(about->trailer.ended, "done", "how it ended");
	is_u64(count_of(&about->trailer.ledger, "issued"), 1010, "ledger");
	is_u64(count_of(&about->trailer.lost, "ring full"), 3, "lost by reason");
	is_u64(capture_reader__damage(reader)->records_lost, 3, "lost by blocks");
}

static uint32_t count_fixed(struct capture_reader *reader)
{
	const struct io_record *record;
	struct io_record want;
	uint32_t i = 0;
	int err;

	while ((record = capture_reader__next(reader, &err))) {
		want = fixed_record(i);
		if (memcmp(record, &want, sizeof(want)))
			break;
		i++;
	}
	return i;
}

static void check_fixed_file(const char *name, uint32_t nr)
{
	struct capture_reader *reader;

	if (!ok(!capture_reader__open(name, &reader), "%s opens", name))
		return;
	is_u64(capture_reader__nr_records(reader), nr, "records by headers");
	is_u64(count_fixed(reader), nr, "every record is what it was");
	ok(capture_damage__is_whole(capture_reader__damage(reader)), "whole");
	check_fixed_about(reader);
	capture_reader__free(reader);
}

static void test_fixed(void)
{
	char hex[65];
	size_t nr;
	uint8_t *bytes;

	sha256((const uint8_t *)"abc", 3, hex);
	is_str(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	       "the test's SHA-256");
	ok(!write_fixed(path("fixed.cap"), 0, NR_FIXED_MORE), "fixed records written");
	bytes = slurp(path("fixed.cap"), &nr);
	sha256(bytes, nr, hex);
	is_str(hex, fixed_sha256, "one SHA-256 on every machine");
	free(bytes);
	check_fixed_file(path("fixed.cap"), NR_FIXED_MORE);
}

static void test_golden(void)
{
	check_fixed_file("tests/data/v1.cap", NR_FIXED);
	check_staged_file("tests/data/v1-stages.cap");
	if (capture_zip__is_built_in())
		check_fixed_file("tests/data/v1-zstd.cap", NR_FIXED);
	else
		ok(true, "golden file with zstd # skip zstd is not built in");
}

/* Every byte is noise, or sometimes all ones or zeros. */
static void draw_noise(struct staged *staged, uint32_t i, uint64_t *state)
{
	uint8_t *bytes = (uint8_t *)staged;
	int how = (int)(draw(state) % 4);

	(void)i;
	for (size_t at = 0; at < sizeof(*staged); at++) {
		uint8_t noise = (uint8_t)(draw(state) >> 32);

		bytes[at] = how == 0 ? 0 : how == 1 ? 0xff : noise;
	}
	memset(staged->stages.pad, 0, sizeof(staged->stages.pad));
	if (how == 3)
		staged->record.what &= 1;
}

/* What a field can do to the others: each in turn at its ends, the rest calm. */
static void draw_calm(struct staged *staged, uint32_t i, uint64_t *state)
{
	staged->record = fixed_record(i);
	if (draw(state) % 3 == 0)
		((uint8_t *)&staged->record)[draw(state) % sizeof(staged->record)] =
			(uint8_t)draw(state);
	staged->record.flags &= (uint8_t)~RECORD_STAGES;
}

/* Some have stages, all of a life, some with one odd byte. */
static void draw_staged(struct staged *staged, uint32_t i, uint64_t *state)
{
	if (draw(state) % 2) {
		draw_calm(staged, i, state);
		return;
	}
	fixed_stages(staged, i);
	if (draw(state) % 3 == 0)
		((uint8_t *)&staged->stages)[draw(state) % sizeof(staged->stages)] =
			(uint8_t)draw(state);
	memset(staged->stages.pad, 0, sizeof(staged->stages.pad));
}

/* Every time at, just before and just after its neighbour, at the ends of time, or not seen. */
static void draw_times(struct staged *staged, uint32_t i, uint64_t *state)
{
	static const uint64_t times[8] = { 0, 1, 2, 999, 1000, 1001, UINT64_MAX - 1, UINT64_MAX };
	struct io_record *r = &staged->record;
	struct io_stages *s = &staged->stages;

	(void)state;
	memset(staged, 0, sizeof(*staged));
	r->flags = RECORD_STAGES;
	r->what = i & 1;
	r->first_ns = times[i & 7];
	s->queued_ns = times[i >> 3 & 7];
	s->got_ns = times[i >> 6 & 7];
	s->inserted_ns = times[i >> 9 & 7];
	r->last_ns = times[i >> 3 & 7];
	s->issued_ns = times[i & 7];
	r->end_ns = times[i >> 9 & 7];
	s->reaped_ns = times[i >> 6 & 7];
	s->done_ns = times[i >> 3 & 7];
	s->flushed_ns = times[i >> 6 & 7];
	s->written_ns = times[i & 7];
}

typedef void (*draw_fn)(struct staged *staged, uint32_t i, uint64_t *state);

/* One behind the other; returns where they end. */
static char *draw_all(char *to, size_t nr, draw_fn fn)
{
	uint64_t state = nr * 77 + 1;

	for (size_t i = 0; i < nr; i++) {
		struct staged staged;

		fn(&staged, (uint32_t)i, &state);
		memcpy(to, &staged, staged_size(&staged));
		to += staged_size(&staged);
	}
	return to;
}

static void round_trip(const char *what, size_t nr, draw_fn fn, int zstd_level)
{
	struct capture_options options = { .path = path("trip.cap"), .zstd_level = zstd_level };
	char *records = malloc(nr * sizeof(struct staged) + 1), *at = records;
	char *end = draw_all(records, nr, fn);
	const struct io_record *record;
	struct capture_writer *writer;
	struct capture_reader *reader;
	size_t same = 0;
	int err;

	if (capture_writer__new(&options, &writer) ||
	    capture_writer__records(writer, (const struct io_record *)records, nr) ||
	    capture_writer__finish(writer, "done", NULL, 0))
		ok(false, "%s: written", what);
	capture_writer__free(writer);
	if (!ok(!capture_reader__open(path("trip.cap"), &reader), "%s: opens", what))
		return;
	while ((record = capture_reader__next(reader, &err)) && at < end &&
	       !memcmp(record, at, io_record__size((struct io_record *)at))) {
		at += io_record__size((struct io_record *)at);
		same++;
	}
	is_u64(same, nr, what);
	ok(at == end && !record && !err && !capture_reader__next(reader, &err) && !err,
	   "and no more");
	capture_reader__free(reader);
	free(records);
}

static void test_round_trips(void)
{
	round_trip("one record", 1, draw_calm, 0);
	round_trip("a run and one", 129, draw_calm, 0);
	round_trip("noise", 20011, draw_noise, 0);
	round_trip("calm, with one odd byte", 20011, draw_calm, 0);
	round_trip("some with stages", 20011, draw_staged, 0);
	round_trip("stages at every time", 4096, draw_times, 0);
	round_trip("no record at all", 0, draw_calm, 0);
	if (!capture_zip__is_built_in())
		return;
	round_trip("noise, zstd", 20011, draw_noise, 3);
	round_trip("calm, zstd", 20011, draw_calm, 3);
	round_trip("some with stages, zstd", 20011, draw_staged, 3);
}

static void test_bounds(void)
{
	static const uint64_t from_ns = 1003000000, to_ns = 1020000000;
	uint64_t want = 0, got = 0, wrong = 0, position = 0;
	struct capture_reader *reader;
	const struct io_record *next;
	int err;

	for (uint32_t i = 0; i < NR_FIXED_MORE; i++) {
		struct io_record record = fixed_record(i);

		want += io_record__time_ns(&record) >= from_ns &&
			io_record__time_ns(&record) < to_ns;
	}
	capture_reader__open(path("fixed.cap"), &reader);
	capture_reader__bound(reader, from_ns, to_ns);
	while ((next = capture_reader__next(reader, &err))) {
		wrong += io_record__time_ns(next) < from_ns || io_record__time_ns(next) >= to_ns;
		got++;
		position = capture_reader__position(reader);
	}
	is_u64(got, want, "from and to: as many as there are");
	is_u64(wrong, 0, "and none outside");
	ok(position < capture_reader__bytes(reader), "later blocks are not read for them");
	capture_reader__free(reader);
}

/* Records a microsecond apart, of one device, half of them with stages; all that merging looks at.
 */
static void write_part(const char *name, const char *boot, uint64_t mono_ns, const char *disk,
		       uint32_t nr)
{
	struct capture_options options = { .path = name };
	struct capture_info info = { CAPTURE_INFO_BOOT_ID, boot };
	struct capture_clock clock = { mono_ns, mono_ns, 1700000000000000000 };
	struct device device = fixed_device(0);
	struct capture_writer *writer;
	int err = capture_writer__new(&options, &writer);

	snprintf(device.name, sizeof(device.name), "%s", disk);
	err |= capture_writer__info(writer, &info, 1);
	err |= capture_writer__device(writer, 7, &device);
	err |= capture_writer__clock(writer, &clock);
	for (uint32_t i = 0; i < nr; i++) {
		struct staged staged = { .record = { .device = i % 2 ? 7 : 9, .seq = i } };
		struct io_record *record = &staged.record;

		record->first_ns = record->last_ns = mono_ns + i * 1000;
		record->end_ns = record->first_ns + 500;
		record->flags = i % 4 < 2 ? RECORD_STAGES : 0;
		staged.stages.queued_ns = record->first_ns - 100;
		staged.stages.done_ns = record->end_ns + 100;
		err |= capture_writer__records(writer, record, 1);
	}
	err |= capture_writer__finish(writer, "done", NULL, 0);
	capture_writer__free(writer);
	ok(!err, "part for %s", disk);
}

/* Times move together; those that were not seen stay so. */
static bool has_moved(const struct io_record *record)
{
	const struct io_stages *s = io_record__stages(record);

	return record->seq % 4 < 2 ? s && s->queued_ns == record->first_ns - 100 &&
					     s->done_ns == record->end_ns + 100 && !s->got_ns &&
					     !s->inserted_ns && !s->issued_ns && !s->reaped_ns
				   : !s;
}

static void test_merge(void)
{
	char names[3][128];
	const char *paths[3] = { names[0], names[1], names[2] };
	uint64_t last_ns = 0, per_device[16] = { 0 }, disorder = 0, unmoved = 0, nr = 0;
	const struct io_record *record;
	struct capture_merge *merge;
	int err;

	for (int i = 0; i < 3; i++)
		snprintf(names[i], sizeof(names[i]), "%s/part%d.cap", dir, i);
	write_part(names[0], "one", 1000000, "nvme0n1", 101);
	write_part(names[1], "one", 1000500, "nvme1n1", 103);
	write_part(names[2], "two", 900000000, "nvme0n1", 107); /* the same wall clock as part0 */
	if (!ok(!capture_merge__open(paths, 3, &merge), "merge opens"))
		return;
	while ((record = capture_merge__next(merge, &err))) {
		disorder += record->end_ns < last_ns || record->end_ns - record->first_ns != 500 ||
			    record->last_ns != record->first_ns;
		unmoved += !has_moved(record);
		last_ns = record->end_ns;
		per_device[record->device % 16]++;
		nr++;
	}
	is_u64(nr, 101 + 103 + 107, "all records of three files");
	is_u64(disorder, 0, "in order of time, and as long as they took");
	is_u64(unmoved, 0, "and their stages with them");
	is_u64(last_ns, 1000000 + 106 * 1000 + 500, "another boot's clock is shifted");
	is_u64(per_device[7], 50, "a device has its records");
	is_u64(per_device[9], 53, "two boots at once are two machines, and their devices two");
	is_u64(per_device[8], 51, "another device with the same number gets another");
	is_u64(per_device[10], 51, "a number without a device gets another if it is taken");
	is_str(capture_about__device(capture_merge__about(merge), 8)->name, "nvme1n1", "its name");
	capture_merge__free(merge);

	ok(!capture_merge__open(paths, 3, &merge), "again, with bounds");
	capture_merge__bound(merge, 1050000, 1060000);
	for (nr = 0; capture_merge__next(merge, &err); nr++)
		;
	is_u64(nr, 30, "bounds are on the first file's clock");
	capture_merge__free(merge);
	paths[1] = "/nonexistent";
	is_u64((uint64_t)-capture_merge__open(paths, 3, &merge), ENOENT,
	       "a file that is not there");
}

/* A file of another boot: the same id is another cgroup, the same path the same one. */
static void write_cgroups(const char *name, const char *boot, const char *first, const char *second)
{
	struct capture_options options = { .path = name };
	struct capture_info info = { CAPTURE_INFO_BOOT_ID, boot };
	struct staged staged = { .record = { .flags = RECORD_STAGES } };
	struct capture_writer *writer;
	int err = capture_writer__new(&options, &writer);

	err |= capture_writer__info(writer, &info, 1);
	err |= put_cgroup(writer, 20, second);
	err |= put_cgroup(writer, 10, first);
	for (uint64_t id = 10; id <= 30; id += 10) {
		staged.stages.cgroup = id;
		err |= capture_writer__records(writer, &staged.record, 1);
	}
	err |= capture_writer__finish(writer, "done", NULL, 0);
	capture_writer__free(writer);
	ok(!err, "cgroups of boot %s", boot);
}

static void test_merge_cgroups(void)
{
	static const char *const want[] = { "/a", "/b", NULL, "/b", "/c", NULL };
	char names[2][128];
	const char *paths[2] = { names[0], names[1] }, *got;
	const struct io_record *record;
	struct capture_merge *merge;
	uint32_t nr = 0, same = 0;
	int err;

	for (int i = 0; i < 2; i++)
		snprintf(names[i], sizeof(names[i]), "%s/part%d.cap", dir, i);
	write_cgroups(names[0], "one", "/a", "/b");
	write_cgroups(names[1], "two", "/b", "/c");
	if (capture_merge__open(paths, 2, &merge))
		return;
	while ((record = capture_merge__next(merge, &err)) && nr < 6) {
		got = cgroup_of(capture_merge__about(merge), io_record__stages(record)->cgroup);
		same += want[nr] ? got && !strcmp(got, want[nr]) : !got;
		nr++;
	}
	ok(nr == 6 && same == 6, "merged, each record has its own cgroup's path");
	is_u64(capture_merge__about(merge)->glossaries[GLOSSARY_CGROUPS].nr, 3,
	       "and a path is there once");
	ok(capture_merge__has_stages(merge), "it has stages");
	capture_merge__free(merge);
}

/* Two stacks of the same functions, or a device and its cache: two ids, one text. */
static void test_same_text(void)
{
	const struct io_record *record;
	struct capture_merge *merge;
	char name[128];
	const char *path = name, *got;
	uint32_t nr = 0, same = 0;
	int err;

	snprintf(name, sizeof(name), "%s/part0.cap", dir);
	write_cgroups(name, "one", "/a", "/a");
	if (capture_merge__open(&path, 1, &merge))
		return;
	while ((record = capture_merge__next(merge, &err)) && nr++ < 2) {
		got = cgroup_of(capture_merge__about(merge), io_record__stages(record)->cgroup);
		same += got && !strcmp(got, "/a");
	}
	is_u64(same, 2, "two ids of one text have it both");
	capture_merge__free(merge);
}

/* Two runs of one boot: numbers of stacks begin anew, files stay what they are. */
static void write_run(const char *name, uint32_t pid, uint32_t number, const char *stack,
		      const char *file)
{
	struct capture_options options = { .path = name };
	struct capture_info info = { CAPTURE_INFO_BOOT_ID, "one" };
	struct staged staged = { .record = { .flags = RECORD_STAGES, .pid = pid },
				 .stages = { .kernel_stack = number,
					     .user_stack = number,
					     .inode = 12,
					     .file_dev = 7 } };
	struct capture_writer *writer;
	int err = capture_writer__new(&options, &writer);

	err |= capture_writer__info(writer, &info, 1);
	err |= put_text(writer, GLOSSARY_STACKS, number, 0, stack);
	err |= put_text(writer, GLOSSARY_STACKS, number, pid, "main");
	err |= put_text(writer, GLOSSARY_FILES, 12, 7, file);
	err |= capture_writer__records(writer, &staged.record, 1);
	err |= capture_writer__finish(writer, "done", NULL, 0);
	capture_writer__free(writer);
	ok(!err, "a run through %s", stack);
}

/* "stack user file" of the next record. */
static const char *next_texts(struct capture_merge *merge)
{
	static char text[128];
	const struct capture_about *about = capture_merge__about(merge);
	int err;
	const struct io_record *record = capture_merge__next(merge, &err);
	const struct io_stages *s = record ? io_record__stages(record) : NULL;

	if (!s)
		return "none";
	snprintf(text, sizeof(text), "%s %s %s",
		 text_of(about, GLOSSARY_STACKS, s->kernel_stack, 0) ?: "-",
		 text_of(about, GLOSSARY_STACKS, s->user_stack, record->pid) ?: "-",
		 text_of(about, GLOSSARY_FILES, s->inode, s->file_dev) ?: "-");
	return text;
}

static void test_merge_texts(void)
{
	char names[4][128];
	const char *paths[4] = { names[0], names[1], names[2], names[3] };
	struct capture_merge *merge;

	for (int i = 0; i < 4; i++)
		snprintf(names[i], sizeof(names[i]), "%s/run%d.cap", dir, i);
	write_run(names[0], 42, 5, "submit_bio;a", "/x");
	write_run(names[1], 42, 5, "submit_bio;b", "/x");
	write_run(names[2], 42, 6, "submit_bio;a", "/y");
	write_run(names[3], 42, UINT32_MAX, "submit_bio;c", "/y");
	if (capture_merge__open(paths, 4, &merge))
		return;
	is_str(next_texts(merge), "submit_bio;a main /x", "the first file's are as they were");
	is_str(next_texts(merge), "submit_bio;b main /x", "the same number of another run is not");
	is_str(next_texts(merge), "submit_bio;a main /y",
	       "nor is the same inode with another path");
	is_str(next_texts(merge), "submit_bio;c main /y", "whatever numbers a file has");
	is_u64(capture_merge__about(merge)->glossaries[GLOSSARY_FILES].nr, 2,
	       "a path is there once");
	capture_merge__free(merge);
}

/* Another process may go through the same functions: its stack is looked up by its pid. */
static void test_merge_processes(void)
{
	char names[2][128];
	const char *paths[2] = { names[0], names[1] };
	struct capture_merge *merge;

	for (int i = 0; i < 2; i++)
		snprintf(names[i], sizeof(names[i]), "%s/run%d.cap", dir, i);
	write_run(names[0], 42, 5, "submit_bio;a", "/x");
	write_run(names[1], 43, 6, "submit_bio;a", "/x");
	if (!ok(!capture_merge__open(paths, 2, &merge), "two processes with the same stack"))
		return;
	is_str(next_texts(merge), "submit_bio;a main /x", "the first has its stack");
	is_str(next_texts(merge), "submit_bio;a main /x", "the second has it too, under its pid");
	is_u64(capture_merge__about(merge)->glossaries[GLOSSARY_STACKS].nr, 3,
	       "the kernel's is there once, that of each process too");
	capture_merge__free(merge);
}

static void test_glossary(void)
{
	struct glossary g = { 0 };
	uint64_t wrong = 0;
	char text[32];

	ok(!glossary__find(&g, (struct glossary_id){ { 1 } }), "an empty one has nothing");
	for (uint64_t i = 0; i < GLOSSARY_MOST; i++) {
		snprintf(text, sizeof(text), "t%llu", (unsigned long long)i);
		wrong += !glossary__add(&g, (struct glossary_id){ { i / 2, i % 2 } }, text);
	}
	for (uint64_t i = 0; i < GLOSSARY_MOST; i++) {
		const char *found = glossary__text(&g, (struct glossary_id){ { i / 2, i % 2 } });

		snprintf(text, sizeof(text), "t%llu", (unsigned long long)i);
		wrong += !found || strcmp(found, text);
	}
	is_u64(wrong, 0, "65,536 ids, each with its own text");
	ok(!glossary__add(&g, (struct glossary_id){ { 1, 2 } }, "x"), "and no more than these");
	is_str(glossary__add(&g, (struct glossary_id){ { 0, 1 } }, "other")->text, "t1",
	       "the first text holds");
	glossary__free(&g);
}

/* Of a memory with the seconds 55 to 60, a thousand records each. */
static void test_memory_copy(struct capture_memory *memory)
{
	struct capture_reader *reader;
	struct byte_out out = { 0 };
	uint64_t nr = 0;
	int err;

	ok(!capture_memory__copy(memory, 59000000000, "asked for", &out), "copied");
	ok(!capture_reader__open_memory(out.bytes, out.len, &reader), "the copy opens");
	while (capture_reader__next(reader, &err))
		nr++;
	is_u64(nr, 2000, "it has the blocks of the last two seconds");
	ok(capture_damage__is_whole(capture_reader__damage(reader)), "and is whole");
	is_str(capture_about__device(capture_reader__about(reader), 3)->name, "nvme0n1",
	       "with its device");
	capture_reader__free(reader);
	byte_out__free(&out);
	ok(!capture_memory__copy(memory, UINT64_MAX, "asked for", &out), "of no time at all");
	ok(!capture_reader__open_memory(out.bytes, out.len, &reader), "it opens, too");
	is_u64(capture_reader__nr_records(reader), 0, "and is empty");
	capture_reader__free(reader);
	byte_out__free(&out);
}

static void count_visit(void *arg, const struct io_record *record)
{
	uint64_t *sums = arg;

	sums[0]++;
	sums[1] += record->end_ns;
}

static void test_memory_each(struct capture_memory *memory)
{
	uint64_t sums[2] = { 0 };
	const struct capture_visit visit = { count_visit, sums };

	is_u64((uint64_t)capture_memory__each(memory, 57000000500, 58000001500, UINT64_MAX, visit),
	       0, "every record of a time");
	is_u64(sums[0], 999 + 2, "from its begin up to its end");
	is_u64(sums[1], 57000000000 * 999 + 1000 * 999 * 500ULL + 58000000000 + 58000001000,
	       "those and no others");
	sums[0] = 0;
	is_u64((uint64_t)capture_memory__each(memory, 0, UINT64_MAX, 1500, visit), 1,
	       "there are more");
	is_u64(sums[0], 2000, "whole blocks are looked at");
	sums[0] = 0;
	is_u64((uint64_t)capture_memory__each(memory, 58000001500, 57000000500, UINT64_MAX, visit),
	       0, "a time that ends before it begins");
	is_u64(sums[0], 0, "has none");
}

/* Numbers count all records since the first one. */
static void test_memory_find(struct capture_memory *memory)
{
	static const struct {
		uint64_t number, end_ns; /* 0: -ENOENT */
	} wanted[] = {
		{ 54001, 55000000000 }, { 55000, 55000999000 },
		{ 55001, 56000000000 }, { 57123, 58000122000 },
		{ 60000, 60000999000 }, { 54000, 0 },
		{ 60001, 0 },		{ 0, 0 },
		{ UINT64_MAX, 0 },
	};

	is_u64(capture_memory__kept_from(memory), 54001, "55 seconds are forgotten");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uint64_t sums[2] = { 0 };
		int err = capture_memory__find(memory, wanted[i].number,
					       (struct capture_visit){ count_visit, sums });

		ok(err == (wanted[i].end_ns ? 0 : -ENOENT), "number %llu is there, or is not",
		   (unsigned long long)wanted[i].number);
		is_u64(sums[1], wanted[i].end_ns, "and is that record");
	}
}

/* Clocks go on, records do not: what is old goes, and memory does not grow. */
static void test_memory_idle(struct capture_memory *memory, struct capture_writer *writer)
{
	struct capture_reader *reader;
	struct byte_out out = { 0 };

	for (uint64_t second = 61; second <= 5000; second++)
		capture_writer__clock(writer, &(struct capture_clock){ second * 1000000000, 0, 0 });
	is_u64(capture_memory__nr_records(memory), 0, "an hour without records: all are forgotten");
	is_u64(capture_memory__bytes(memory), 0, "with their memory");
	capture_memory__copy(memory, 0, "asked for", &out);
	capture_reader__open_memory(out.bytes, out.len, &reader);
	is_u64(capture_reader__about(reader)->nr_clocks, 1, "and the old clocks");
	capture_reader__free(reader);
	byte_out__free(&out);
}

static void test_memory(void)
{
	struct capture_options options = { .path = path("memory.cap"), .reserve_bytes = 256 };
	struct capture_memory *memory;
	struct capture_writer *writer;
	struct capture_reader *reader;
	struct device_partition partition = { "nvme0n1p1", 5, 6 };
	struct device device = fixed_device(0);
	struct io_record record = { .device = 3 };
	const struct io_record *next;
	uint64_t nr = 0, first_ns = 0;
	int err;

	ok(!capture_memory__new(5000000000, 1 << 20, 0, &memory), "flight recorder");
	writer = capture_memory__writer(memory);
	device.knows_partitions = true;
	device.nr_partitions = 1;
	device.partitions = &partition;
	device.unit_bytes = 131072;
	capture_writer__device(writer, 3, &device);
	device.unit_bytes = 0;
	device.has_poll_queues = true;
	capture_writer__device(writer, 4, &device);
	put_cgroup(writer, 77, "/x");
	for (uint64_t second = 1; second <= 60; second++) {
		struct capture_clock clock = { second * 1000000000, 0, second };

		capture_writer__clock(writer, &clock);
		for (uint32_t i = 0; i < 1000; i++) {
			record.end_ns = second * 1000000000 + i * 1000;
			record.seq++;
			capture_writer__records(writer, &record, 1);
		}
	}
	ok(!capture_memory__save(memory, &options, "asked for", NULL, 0), "saved");
	ok(!capture_memory__is_short(memory), "it had room for five seconds");
	ok(!capture_reader__open(path("memory.cap"), &reader), "opens");
	while ((next = capture_reader__next(reader, &err)))
		first_ns = nr++ ? first_ns : next->end_ns;
	is_u64(first_ns, 55000000000, "from five seconds before the last");
	is_u64(nr, 6000, "all of them");
	ok(capture_damage__is_whole(capture_reader__damage(reader)), "whole");
	is_u64(capture_reader__about(reader)->clocks[0].mono_ns, 55000000000,
	       "old clocks are gone");
	is_str(capture_about__device(capture_reader__about(reader), 3)->name, "nvme0n1",
	       "the device of the first second is there");
	is_u64(capture_about__device(capture_reader__about(reader), 3)->partitions[0].nr_sectors, 6,
	       "with its partitions");
	is_u64(capture_about__device(capture_reader__about(reader), 3)->unit_bytes, 131072,
	       "and the size it does best with");
	ok(!capture_about__device(capture_reader__about(reader), 3)->has_poll_queues &&
		   capture_about__device(capture_reader__about(reader), 4)->has_poll_queues &&
		   !capture_about__device(capture_reader__about(reader), 4)->unit_bytes,
	   "and whether it has queues for polling");
	is_str(cgroup_of(capture_reader__about(reader), 77), "/x", "and a cgroup");
	capture_reader__free(reader);
	test_memory_copy(memory);
	test_memory_each(memory);
	test_memory_find(memory);
	test_memory_idle(memory, writer);
	capture_memory__free(memory);

	ok(!capture_memory__new(5000000000, 4096, 0, &memory), "one that is too small");
	writer = capture_memory__writer(memory);
	for (uint32_t i = 0; i < 50000; i++) {
		record = fixed_record(i);
		capture_writer__records(writer, &record, 1);
		if (i % 100 == 0)
			capture_writer__flush(writer);
	}
	ok(capture_memory__bytes(memory) <= 4096 && capture_memory__nr_records(memory),
	   "keeps what fits");
	ok(capture_memory__is_short(memory), "and says so");
	capture_memory__free(memory);
}

static void test_verify(void)
{
	struct capture_report report;

	ok(!capture__verify_part(path("fixed.cap"), 0, &report), "verify");
	is_u64(report.records, NR_FIXED_MORE, "decodes every record");
	is_u64(report.blocks, 3, "of three blocks");
	is_u64(report.reserve_bytes, 256, "and sees the reserve");
	ok(capture_damage__is_whole(&report.damage), "whole");
	is_u64((uint64_t)-capture__verify_part("/dev/null", 0, &report), EINVAL,
	       "a device is no capture");
	is_u64((uint64_t)-capture__verify_part("/etc/passwd", 0, &report), EINVAL,
	       "nor is any file");
}

static void test_crc(void)
{
	uint8_t noise[9001];
	uint64_t state = 1;
	int wrong = 0;

	is_u64(crc32c("123456789", 9), 0xe3069283, "CRC-32C of the check string");
	is_u64(crc32c_by_table("123456789", 9), 0xe3069283, "and without hardware");
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)draw(&state);
	for (size_t i = 0; i < sizeof(noise); i += 37)
		wrong += crc32c(noise + i, sizeof(noise) - i) !=
			 crc32c_by_table(noise + i, sizeof(noise) - i);
	is_u64((uint64_t)wrong, 0, "both ways agree at every length");
}

static int make_golden(const char *where)
{
	snprintf(dir, sizeof(dir), "%s", where);
	return write_staged(path("v1-stages.cap")) || write_fixed(path("v1.cap"), 0, NR_FIXED) ||
	       (capture_zip__is_built_in() && write_fixed(path("v1-zstd.cap"), 3, NR_FIXED));
}

int main(int argc, char **argv)
{
	static const char *const made[] = { "fixed.cap", "trip.cap",  "part0.cap",
					    "part1.cap", "part2.cap", "memory.cap" };

	if (argc == 3 && !strcmp(argv[1], "--make"))
		return make_golden(argv[2]);
	if (!mkdtemp(dir))
		return 1;
	test_crc();
	test_fixed();
	test_golden();
	test_round_trips();
	test_bounds();
	test_merge();
	test_merge_cgroups();
	test_same_text();
	test_merge_texts();
	test_merge_processes();
	test_glossary();
	test_memory();
	test_verify();
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		unlink(path(made[i]));
	rmdir(dir);
	return done_testing();
}
