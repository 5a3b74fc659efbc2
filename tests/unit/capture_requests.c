/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_requests.c: does a capture give back asynchronous requests to the last bit, in their
 * order? Random ones round trip; a fixed file, tests/data/requests.cap (`capture_requests.t --make
 * DIR`), must be written and read the same as long as iosonar lives; cut or flipped anywhere,
 * nothing comes that was not written, and what is missing is told; two captures are one, with the
 * names of both.
 */
#include "tap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>
#include "capture/read.h"
#include "capture/waits_merge.h"
#include "capture/write.h"
#include "session/async_info.h"
#include "wire/file_id.h"

enum { DISK = 259 << 20, LOADS = 300, FIXED = 24, FIRST_CHUNK = 15, MOST = 65536 };
static const uint64_t start_ns = 1000000000000;
static char dir[64] = "/tmp/iosonar-capture-requests-XXXXXX";

static const char *path(const char *name)
{
	static char at[2][128];
	static int nr;

	nr = !nr;
	snprintf(at[nr], sizeof(at[nr]), "%s/%s", dir, name);
	return at[nr];
}

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dULL >> (*state % 61);
}

static struct capture_writer *writer_of(const char *file)
{
	const struct capture_options options = { .path = file };
	struct capture_writer *writer = NULL;

	if (capture_writer__new(&options, &writer))
		exit(1);
	return writer;
}

/* ---- random ---- */

/* A moment that happened, or did not. */
static uint64_t draw_moment(uint64_t *seed)
{
	return draw(seed) % 3 ? start_ns + draw(seed) : 0;
}

static struct capture_wait random_request(uint64_t *seed)
{
	struct capture_wait wait;

	memset(&wait, 0, sizeof(wait));
	wait.kind = CAPTURE_WAIT_REQUEST;
	wait.request = (struct async_record){
		.submit_ns = start_ns + (uint32_t)draw(seed),
		.start_ns = draw_moment(seed),
		.issue_ns = draw_moment(seed),
		.return_ns = draw_moment(seed),
		.punt_ns = draw_moment(seed),
		.worker_ns = draw_moment(seed),
		.queued_ns = draw_moment(seed),
		.ended_ns = draw_moment(seed),
		.user_data = draw(seed),
		.inode = draw(seed),
		.cgroup = draw(seed),
		.dev = (uint32_t)draw(seed),
		.pid = (uint32_t)draw(seed),
		.tid = (uint32_t)draw(seed),
		.bios = (uint32_t)draw(seed),
		.ended = (uint32_t)draw(seed),
		.nth = (uint16_t)draw(seed),
		.opcode = (uint8_t)draw(seed),
		.flags = (uint8_t)draw(seed),
		.comm = "sixteen letters.",
	};
	wait.request.post_ns = wait.request.submit_ns + draw(seed);
	memcpy(wait.fs, "fuse.sixteen....", draw(seed) % 2 ? 0 : draw(seed) % 17);
	return wait;
}

static void test_round_trip(void)
{
	static struct capture_wait requests[LOADS];
	struct capture_writer *writer = writer_of(path("random.cap"));
	struct capture_reader *reader = NULL;
	struct capture_waits chunk = { 0 };
	uint64_t seed = 42;

	for (int i = 0; i < LOADS; i++)
		requests[i] = random_request(&seed);
	ok(!capture_writer__waits(writer, requests, LOADS) &&
		   !capture_writer__waits(writer, requests, 1) &&
		   !capture_writer__finish(writer, "done", NULL, 0),
	   "requests are written");
	capture_writer__free(writer);
	ok(!capture_reader__open(path("random.cap"), &reader), "and opened");
	is_u64(capture_reader__nr_requests(reader), LOADS + 1, "headers count them");
	ok(capture_reader__has_requests(reader) && !capture_reader__has_waits(reader) &&
		   !capture_reader__nr_waits(reader),
	   "they are no calls that waited");
	is_u64((uint64_t)capture_reader__next_waits(reader, &chunk), 1, "a chunk");
	ok(chunk.nr == LOADS && !memcmp(chunk.waits, requests, sizeof(requests)),
	   "has every request to the last bit, in order");
	ok(capture_reader__next_waits(reader, &chunk) == 1 && chunk.nr == 1, "a chunk of one");
	ok(!capture_reader__next_waits(reader, &chunk), "there are no more");
	ok(capture_damage__is_whole(capture_reader__damage(reader)), "and nothing is damaged");
	capture_waits__free(&chunk);
	capture_reader__free(reader);
}

/* Entries that lie, and those of later versions. The first 8 bytes are a time. */
static int get(const uint8_t *entry, size_t nr, uint32_t nr_requests, struct capture_waits *chunk)
{
	uint8_t *payload = calloc(1, nr + 8); /* of its own, so that ASan sees its end */
	int err;

	memcpy(payload + 8, entry, nr);
	err = capture_waits__get(chunk, (struct byte_in){ payload, payload + 8 + nr, false },
				 nr_requests);
	free(payload);
	return err;
}

static void test_nonsense(void)
{
	/* Length, kind, operation, end, duration, moments, the rest. */
	const uint8_t moments[] = {
		19, 4, 22, 0, 5, 0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
	};
	const uint8_t missing[] = { 8, 4, 22, 0, 5, 0x7f, 2, 2, 2 };
	const uint8_t longer[] = { 19, 4, 22, 0, 5, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9 };
	const uint8_t whole[] = { 17, 4, 22, 0, 5, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	struct capture_waits chunk = { 0 };

	ok(get(moments, sizeof(moments), 1, &chunk) == -EBADMSG, "moments that nobody knows");
	ok(get(missing, sizeof(missing), 1, &chunk) == -EBADMSG, "moments that are not there");
	ok(get(longer, sizeof(longer), 1, &chunk) == -EBADMSG, "a file system past the end");
	ok(!get(whole, sizeof(whole), 1, &chunk) && chunk.nr == 1 &&
		   chunk.waits[0].request.opcode == 22 &&
		   chunk.waits[0].request.start_ns == chunk.waits[0].request.submit_ns + 1,
	   "a request");
	ok(get(whole, sizeof(whole), 2, &chunk) == -EBADMSG, "not as many as the header says");
	capture_waits__free(&chunk);
}

/* ---- what is fixed ---- */

/* Reads that were not punted, each with its bio; every fourth request is a punted fsync. */
static void fixed_requests(struct capture_wait requests[FIXED])
{
	for (uint32_t i = 0; i < FIXED; i++) {
		const uint64_t at_ns = start_ns + 1000000 + i * 80000000ULL;
		const bool is_sync = i % 4 == 3;
		struct async_record *r = &requests[i].request;

		memset(&requests[i], 0, sizeof(requests[i]));
		requests[i].kind = CAPTURE_WAIT_REQUEST;
		memcpy(requests[i].fs, "ext4", 4);
		*r = (struct async_record){
			.submit_ns = at_ns,
			.start_ns = is_sync ? at_ns + 30000 : at_ns + 1000,
			.issue_ns = is_sync ? at_ns + 30000 : at_ns + 1000,
			.return_ns = is_sync ? at_ns + 4030000 : at_ns + 9000,
			.punt_ns = is_sync ? at_ns + 2000 : 0,
			.worker_ns = is_sync ? at_ns + 25000 : 0,
			.queued_ns = is_sync ? 0 : at_ns + 5000,
			.ended_ns = is_sync ? 0 : at_ns + 905000 + i * 1000,
			.post_ns = is_sync ? at_ns + 4035000 : at_ns + 910000 + i * 1000,
			.user_data = 0x1000 + i,
			.inode = is_sync ? 12 : 13,
			.cgroup = 44,
			.dev = DISK,
			.pid = 4242,
			.tid = 4242 + i % 2,
			.bios = !is_sync,
			.ended = !is_sync,
			.opcode = is_sync ? 3 : 22,
			.flags = is_sync ? ASYNC_PUNTED : 0,
			.comm = "postgres",
		};
		r->comm[0] = i == 5 ? 'P' : 'p'; /* another task */
	}
}

static int put_text(struct capture_writer *w, enum glossary_kind kind, uint64_t id, uint64_t and,
		    const char *text)
{
	return capture_writer__text(w, kind, (struct glossary_id){ { id, and} }, text);
}

/* start_ns in words, and the end of the run. */
static const char *at_text(uint64_t after_ns)
{
	static char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, start_ns + after_ns);
	return text;
}

static int put_about(struct capture_writer *w, const char *disk)
{
	const struct capture_info info[] = {
		{ CAPTURE_INFO_START, at_text(0) },
		{ CAPTURE_INFO_ASYNC, "io_uring libaio" },
	};
	int err = capture_writer__info(w, info, sizeof(info) / sizeof(info[0]));

	err |= put_text(w, GLOSSARY_DISKS, DISK, 0, disk);
	err |= put_text(w, GLOSSARY_FILES, 12, DISK, "/data/pg_wal/1");
	err |= put_text(w, GLOSSARY_FILES, 13, DISK, "/data/base/16384");
	return err | put_text(w, GLOSSARY_CGROUPS, 44, 0, "/system.slice/postgresql.service");
}

static void make_fixed(const char *file, const char *disk)
{
	struct capture_info end[] = {
		{ CAPTURE_INFO_REQUESTS, "24" }, { "requests_submitted", "30" },
		{ "requests_silent", "1" },	 { "requests_refused", "0" },
		{ "requests_ended", "27" },	 { "requests_shorter", "3" },
		{ "requests_sent", "24" },	 { "requests_in_flight", "2" },
		{ "requests_no_bio", "1" },	 { CAPTURE_INFO_END, "" },
	};
	struct capture_writer *w = writer_of(file);
	struct capture_wait requests[FIXED];
	int err;

	fixed_requests(requests);
	err = put_about(w, disk);
	err |= capture_writer__waits(w, requests, FIRST_CHUNK);
	err |= capture_writer__waits(w, requests + FIRST_CHUNK, FIXED - FIRST_CHUNK);
	end[sizeof(end) / sizeof(end[0]) - 1].value = at_text(2500000000);
	err |= capture_writer__info(w, end, sizeof(end) / sizeof(end[0]));
	err |= capture_writer__finish(w, "done", NULL, 0);
	ok(!err, "a fixed capture is written");
	capture_writer__free(w);
}

static size_t read_file(const char *file, uint8_t *buf, size_t size)
{
	FILE *in = fopen(file, "re");
	size_t nr = in ? fread(buf, 1, size, in) : 0;

	if (in)
		fclose(in);
	return nr;
}

static uint8_t ours[MOST], kept[MOST];
static size_t nr_ours;

static void test_fixed(void)
{
	size_t nr_kept = read_file("tests/data/requests.cap", kept, sizeof(kept));
	struct async_counts counts = { 0 };
	struct capture_reader *reader;

	make_fixed(path("fixed.cap"), "nvme0n1p1");
	nr_ours = read_file(path("fixed.cap"), ours, sizeof(ours));
	is_u64(nr_ours, nr_kept, "tests/data/requests.cap");
	ok(nr_ours && !memcmp(ours, kept, nr_ours), "and byte by byte the same");
	if (capture_reader__open(path("fixed.cap"), &reader))
		exit(1);
	ok(async_info__add(capture_reader__about(reader), &counts) && counts.n.submitted == 30 &&
		   counts.in_flight == 2 && counts.n.no_bio == 1 && !counts.n.lost,
	   "where all requests went");
	capture_reader__free(reader);
}

/* ---- damage ---- */

struct outcome {
	int err;
	uint64_t requests, foreign;
	struct capture_damage damage;
};

static struct outcome read_all(const uint8_t *bytes, size_t nr)
{
	struct outcome o = { 0 };
	struct capture_wait want[FIXED];
	struct capture_waits chunk = { 0 };
	struct capture_reader *reader;
	size_t next = 0;

	fixed_requests(want);
	o.err = capture_reader__open_memory(bytes, nr, &reader);
	if (o.err)
		return o;
	while (capture_reader__next_waits(reader, &chunk) > 0)
		for (size_t i = 0; i < chunk.nr; i++) {
			while (next < FIXED && memcmp(&want[next], &chunk.waits[i], sizeof(*want)))
				next++;
			o.foreign += next == FIXED;
			o.requests++;
		}
	o.damage = *capture_reader__damage(reader);
	capture_waits__free(&chunk);
	capture_reader__free(reader);
	return o;
}

static void test_cuts(void)
{
	uint64_t foreign = 0, unsaid = 0;

	for (size_t cut = 0; cut < nr_ours; cut++) {
		uint8_t *part = malloc(cut + 1);
		struct outcome o;

		memcpy(part, ours, cut);
		o = read_all(part, cut);
		free(part);
		foreign += o.foreign;
		unsaid += !o.err && !o.damage.truncated;
	}
	is_u64(foreign, 0, "cut at every byte: only what was written");
	is_u64(unsaid, 0, "and it is told");
}

static void test_flips(void)
{
	uint64_t foreign = 0, unsaid = 0;

	for (size_t bit = 0; bit < nr_ours * 8; bit += 3) {
		struct outcome o;

		memcpy(kept, ours, nr_ours);
		kept[bit / 8] ^= (uint8_t)(1 << bit % 8);
		o = read_all(kept, nr_ours);
		foreign += o.foreign;
		unsaid += !o.err && capture_damage__is_whole(&o.damage);
	}
	is_u64(foreign, 0, "a bit flipped anywhere: only what was written");
	is_u64(unsaid, 0, "and it is told");
}

static size_t chunk_at(int nth, struct capture_chunk *chunk)
{
	size_t at = CAPTURE_FILE_BYTES;

	while (at < nr_ours && capture_chunk__get(chunk, ours + at)) {
		if (chunk->type == CAPTURE_REQUESTS && !nth--)
			return at;
		at += CAPTURE_CHUNK_BYTES + chunk->length;
	}
	return 0;
}

/* A chunk that is missing, or there twice, without a trace. */
static void test_chunks(void)
{
	struct capture_chunk chunk;
	size_t at = chunk_at(1, &chunk), len = CAPTURE_CHUNK_BYTES + chunk.length;
	struct outcome o;

	memcpy(kept, ours, at);
	memcpy(kept + at, ours + at + len, nr_ours - at - len);
	o = read_all(kept, nr_ours - len);
	is_u64(o.damage.calls_missing, FIXED - FIRST_CHUNK, "a chunk that is missing is told");
	is_u64(o.requests, FIRST_CHUNK, "the other one is read");
	memcpy(kept, ours, at + len);
	memcpy(kept + at + len, ours + at, nr_ours - at);
	o = read_all(kept, nr_ours + len);
	is_u64(o.damage.calls_surplus, FIXED - FIRST_CHUNK, "and one that is there twice");
}

/* ---- two ---- */

static const char *text_of(const struct capture_merge *merge, enum glossary_kind kind, uint64_t id,
			   uint64_t and)
{
	const char *text = capture_about__text(capture_merge__about(merge), kind,
					       (struct glossary_id){ { id, and} });

	return text ? text : "none";
}

/* The same numbers mean another disk, and so another file, in the second one. */
static void test_two(void)
{
	const char *const files[] = { path("fixed.cap"), "tests/data/requests.cap" };
	struct waits_merge waits = { 0 };
	const struct capture_wait *wait;
	struct capture_merge *merge;
	uint64_t requests[2] = { 0 }, last_ns = 0, wrong = 0;
	int err;

	make_fixed(files[0], "sda1");
	err = capture_merge__open(files, 2, &merge);
	if (err || waits_merge__init(&waits, merge))
		exit(1);
	while ((wait = waits_merge__next(&waits, &err))) {
		const struct async_record *r = &wait->request;
		const char *file =
			text_of(merge, GLOSSARY_FILES, r->inode, io_file_place(r->dev, r->nth));

		requests[waits.from]++;
		wrong += r->post_ns < last_ns;
		last_ns = r->post_ns;
		wrong += strcmp(text_of(merge, GLOSSARY_DISKS, r->dev, 0),
				waits.from ? "nvme0n1p1" : "sda1") != 0;
		wrong += strcmp(file, r->opcode == 3 ? "/data/pg_wal/1" : "/data/base/16384") != 0;
		wrong += !r->punt_ns != !(r->flags & ASYNC_PUNTED);
	}
	ok(!err && requests[0] == FIXED && requests[1] == FIXED, "two captures: all of both");
	is_u64(wrong, 0, "by time, each with its own disk and file");
	waits_merge__free(&waits);
	capture_merge__free(merge);
}

int main(int argc, char **argv)
{
	char file[256];

	if (argc == 3 && !strcmp(argv[1], "--make")) {
		snprintf(file, sizeof(file), "%s/requests.cap", argv[2]);
		make_fixed(file, "nvme0n1p1");
		return 0;
	}
	if (!mkdtemp(dir))
		return 1;
	test_round_trip();
	test_nonsense();
	test_fixed();
	test_cuts();
	test_flips();
	test_chunks();
	test_two();
	unlink(path("random.cap"));
	unlink(path("fixed.cap"));
	rmdir(dir);
	return done_testing();
}
