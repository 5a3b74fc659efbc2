/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_waits.c: does a capture give back waits to the last bit, in their order? Random ones
 * round trip; fixed files, tests/data/waits*.cap (`capture_waits.t --make DIR`), must be written
 * and read the same as long as iosonar lives; cut or flipped anywhere, nothing comes that was not
 * written, and what is missing is told; two captures are one, with the names of both.
 */
#include "tap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>
#include "capture/read.h"
#include "capture/waits_merge.h"
#include "capture/write.h"
#include "session/waits_info.h"
#include "wire/file_id.h"

enum { DISK = 259 << 20, LOADS = 300, MOST = 65536 };
static uint64_t start_ns = 1000000000000;
static char dir[64] = "/tmp/iosonar-capture-waits-XXXXXX";

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

/* ---- random ---- */

static void random_call(struct wait_record *r, uint64_t *seed)
{
	*r = (struct wait_record){
		.start_ns = start_ns + (uint32_t)draw(seed),
		.cpu_ns = draw(seed),
		.runnable_ns = draw(seed),
		.inode = draw(seed),
		.cgroup = draw(seed),
		.dev = (uint32_t)draw(seed),
		.pid = (uint32_t)draw(seed),
		.tid = (uint32_t)draw(seed),
		.bios = (uint32_t)draw(seed),
		.nth = (uint16_t)(draw(seed) % (FILE_UNNAMED + 1)),
		.call = (uint8_t)(draw(seed) % NR_WAIT_CALLS),
		.nr_sleeps = (uint8_t)(draw(seed) % (WAIT_SLEEPS + 1)),
		.comm = "sixteen letters.",
	};
	r->end_ns = r->start_ns + draw(seed);
	for (int i = 0; i < r->nr_sleeps; i++)
		r->sleeps[i] = (struct wait_sleep){ .ns = draw(seed),
						    .stack = (uint32_t)draw(seed),
						    .nr = (uint16_t)draw(seed),
						    .io = (uint8_t)(draw(seed) % 3) };
}

static struct capture_wait random_wait(uint64_t *seed)
{
	struct capture_wait wait;

	memset(&wait, 0, sizeof(wait));
	wait.kind = (uint32_t)draw(seed) % CAPTURE_WAIT_REQUEST;
	switch (wait.kind) {
	case CAPTURE_WAIT_CALL:
		random_call(&wait.call, seed);
		memcpy(wait.fs, "fuse.sixteen....", draw(seed) % 2 ? 0 : draw(seed) % 17);
		break;
	case CAPTURE_WAIT_COMMAND:
		wait.command = (struct wait_command){ draw(seed),
						      draw(seed),
						      draw(seed),
						      draw(seed),
						      (uint32_t)draw(seed),
						      (uint32_t)draw(seed),
						      (uint8_t)draw(seed),
						      { 0 },
						      "nvme0n1" };
		break;
	case CAPTURE_WAIT_COMMIT:
		wait.commit = (struct wait_commit){ draw(seed),		  draw(seed),
						    draw(seed),		  draw(seed),
						    (uint32_t)draw(seed), (uint32_t)draw(seed),
						    (uint32_t)draw(seed) };
		break;
	default:
		wait.task = (struct wait_who){ .start_ns = draw(seed),
					       .last_ns = draw(seed),
					       .bytes = draw(seed),
					       .commit_tid = (uint32_t)draw(seed),
					       .tid = (uint32_t)draw(seed),
					       .pid = (uint32_t)draw(seed),
					       .handles = (uint32_t)draw(seed),
					       .blocks = (uint32_t)draw(seed),
					       .comm = "task" };
	}
	return wait;
}

static uint64_t count_calls(const struct capture_wait *waits, size_t nr)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < nr; i++)
		calls += waits[i].kind == CAPTURE_WAIT_CALL;
	return calls;
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
	static struct capture_wait waits[LOADS];
	struct capture_writer *writer = writer_of(path("random.cap"));
	struct capture_reader *reader = NULL;
	struct capture_waits chunk = { 0 };
	uint64_t seed = 42;

	for (int i = 0; i < LOADS; i++)
		waits[i] = random_wait(&seed);
	ok(!capture_writer__waits(writer, waits, LOADS) &&
		   !capture_writer__waits(writer, waits, 1) &&
		   !capture_writer__finish(writer, "done", NULL, 0),
	   "waits are written");
	capture_writer__free(writer);
	ok(!capture_reader__open(path("random.cap"), &reader), "and opened");
	is_u64(capture_reader__nr_waits(reader), count_calls(waits, LOADS) + count_calls(waits, 1),
	       "headers count the calls");
	is_u64((uint64_t)capture_reader__next_waits(reader, &chunk), 1, "a chunk");
	ok(chunk.nr == LOADS && !memcmp(chunk.waits, waits, sizeof(waits)),
	   "has every wait to the last bit, in order");
	ok(capture_reader__next_waits(reader, &chunk) == 1 && chunk.nr == 1, "a chunk of one");
	ok(!capture_reader__next_waits(reader, &chunk), "there are no more");
	ok(capture_damage__is_whole(capture_reader__damage(reader)), "and nothing is damaged");
	capture_waits__free(&chunk);
	capture_reader__free(reader);
}

/* Entries that lie, and those of later versions. The first 8 bytes are a time. */
static int get(const uint8_t *entry, size_t nr, uint32_t nr_calls, struct capture_waits *chunk)
{
	uint8_t *payload = calloc(1, nr + 8); /* of its own, so that ASan sees its end */
	int err;

	if (nr)
		memcpy(payload + 8, entry, nr);
	err = capture_waits__get(chunk, (struct byte_in){ payload, payload + 8 + nr, false },
				 nr_calls);
	free(payload);
	return err;
}

static void test_nonsense(void)
{
	const uint8_t longer[] = { 200, 1, 0 }, later[] = { 3, 77, 1, 2 };
	const uint8_t sleeps[] = {
		16, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, WAIT_SLEEPS + 1, 0, 0
	};
	const uint8_t call[] = { 15, 0, 200 - 100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	struct capture_waits chunk = { 0 };

	ok(get(longer, sizeof(longer), 0, &chunk) == -EBADMSG, "an entry that is longer than all");
	ok(get(sleeps, sizeof(sleeps), 1, &chunk) == -EBADMSG, "a call of too many sleeps");
	ok(!get(later, sizeof(later), 0, &chunk) && !chunk.nr,
	   "a kind of later versions is skipped");
	ok(!get(call, sizeof(call), 1, &chunk) && !chunk.nr && chunk.nr_strange == 1,
	   "so is a call of later versions, which is counted");
	ok(get(call, sizeof(call), 2, &chunk) == -EBADMSG, "not as many calls as the header says");
	ok(get(NULL, 0, 1, &chunk) == -EBADMSG, "or none");
	capture_waits__free(&chunk);
}

/* ---- what is fixed ---- */

static const char *const fixed_stacks[] = {
	"schedule;jbd2_log_wait_commit;ext4_sync_file;vfs_fsync_range;__x64_sys_fsync",
	"io_schedule;folio_wait_bit_common;filemap_get_pages;vfs_read;ksys_read",
	"schedule;rwsem_down_write_slowpath;ext4_buffered_write_iter;vfs_write",
};

static void put_call(struct capture_wait *wait, enum wait_call call, uint64_t at_ns, uint32_t tid)
{
	*wait = (struct capture_wait){ .kind = CAPTURE_WAIT_CALL };
	wait->call = (struct wait_record){
		.start_ns = start_ns + at_ns,
		.cpu_ns = 40000,
		.runnable_ns = 10000,
		.inode = 12 + (call == WAIT_READ),
		.cgroup = 44,
		.dev = DISK,
		.pid = 4242,
		.tid = tid,
		.call = (uint8_t)call,
		.bios = call != WAIT_WRITE,
		.nr_sleeps = 1,
		.comm = "postgres",
	};
	wait->call.sleeps[0].stack = call == WAIT_FSYNC ? 1 : call == WAIT_READ ? 2 : 3;
	wait->call.sleeps[0].io = call == WAIT_READ ? WAIT_IO_OWN : WAIT_IO_NONE;
	wait->call.sleeps[0].nr = 1;
}

static void end_call(struct capture_wait *wait, uint64_t slept_ns)
{
	wait->call.sleeps[0].ns = slept_ns;
	wait->call.end_ns =
		wait->call.start_ns + wait->call.cpu_ns + wait->call.runnable_ns + slept_ns;
}

static void put_command(struct capture_wait *wait, uint64_t start, uint32_t tid, uint64_t after_ns,
			uint8_t op)
{
	*wait = (struct capture_wait){ .kind = CAPTURE_WAIT_COMMAND };
	wait->command = (struct wait_command){
		.start_ns = start,
		.issue_ns = start + after_ns,
		.end_ns = start + after_ns + 900000,
		.sector = 2048 + tid,
		.bytes = 16384,
		.tid = tid,
		.op = op,
		.disk = "nvme0n1",
	};
}

/* A fsync that waits for a commit with two tasks, 20 reads, a write that waits for a lock. */
static size_t fixed_waits(struct capture_wait waits[64])
{
	const uint64_t commit_ns = start_ns + 1101000000;
	size_t nr = 0;

	for (uint32_t i = 0; i < 20; i++) {
		put_command(&waits[nr++], start_ns + i * 50000000, 4300 + i % 3, 30000, 0);
		put_call(&waits[nr], WAIT_READ, i * 50000000, 4300 + i % 3);
		end_call(&waits[nr++], 950000 + i * 1000);
	}
	put_command(&waits[nr++], commit_ns, 77, 200000, 1);
	for (uint32_t i = 0; i < 2; i++) {
		waits[nr] = (struct capture_wait){ .kind = CAPTURE_WAIT_TASK };
		waits[nr++].task = (struct wait_who){
			.start_ns = commit_ns,
			.last_ns = i ? 0 : commit_ns + 3000000,
			.bytes = i ? 1048576 : 4096,
			.commit_tid = 77,
			.tid = 900 + i,
			.pid = 900 + i,
			.handles = 2 - i,
			.blocks = 5,
			.comm = "backup",
		};
	}
	waits[nr] = (struct capture_wait){ .kind = CAPTURE_WAIT_COMMIT };
	waits[nr++].commit = (struct wait_commit){
		.start_ns = commit_ns,
		.flushing_ns = commit_ns + 3000000,
		.logging_ns = commit_ns + 5000000,
		.end_ns = commit_ns + 8000000,
		.dev = DISK,
		.transaction = 31,
		.tid = 77,
	};
	put_call(&waits[nr], WAIT_FSYNC, 1100500000, 4242);
	end_call(&waits[nr++], 9000000);
	put_call(&waits[nr], WAIT_WRITE, 1300000000, 4250);
	waits[nr].call.comm[0] = 'P'; /* another task */
	end_call(&waits[nr++], 4000000);
	return nr;
}

static int put_text(struct capture_writer *w, enum glossary_kind kind, uint64_t id, uint64_t and,
		    const char *text)
{
	return capture_writer__text(w, kind, (struct glossary_id){ { id, and} }, text);
}

/* Of two machines with equal disks: another file has the same numbers. NULL: it has no name. */
struct machine {
	const char *host, *boot_id, *id, *file;
	uint64_t start_ns; /* since its boot; the wall clock is the same, but for after_ns */
	uint64_t after_ns;
};
static const struct machine machines[] = {
	{ "db7", "boot-7", "waits-7", "/data/pg_wal/1", 1000000000000, 0 },
	{ "db8", "boot-8", "waits-8", "/data/pg_wal/8", 500000000000, 300000000 },
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

static int put_about(struct capture_writer *w, const char *disk, const struct machine *m)
{
	static char *const ops[CAPTURE_NR_NAMES] = { "read", "write" };
	const struct capture_info info[] = {
		{ CAPTURE_INFO_START, at_text(0) },
		{ CAPTURE_INFO_WAITING, "read write fsync syncwrite fdatasync syncrange" },
	};
	int err = capture_writer__info(w, info, sizeof(info) / sizeof(info[0]));

	err |= m ? put_machine(w, m) : 0;
	err |= capture_writer__names(w, CAPTURE_NAMES_BLOCK, ops);
	err |= put_text(w, GLOSSARY_DISKS, DISK, 0, disk);
	err |= put_text(w, GLOSSARY_FILES, 12, DISK, m ? m->file : "/data/pg_wal/1");
	err |= put_text(w, GLOSSARY_FILES, 13, DISK, "/data/base/16384");
	for (uint32_t i = 0; i < 3; i++)
		err |= put_text(w, GLOSSARY_STACKS, i + 1, 0, fixed_stacks[i]);
	return err | put_text(w, GLOSSARY_CGROUPS, 44, 0, "/system.slice/postgresql.service");
}

static void make_fixed(const char *file, const char *disk, const struct machine *m)
{
	const uint64_t was_ns = start_ns;
	struct capture_info end[] = {
		{ CAPTURE_INFO_WAITS, "22" }, { "waits_begun", "30" }, { "waits_ended", "29" },
		{ "waits_waited", "22" },     { "waits_sent", "22" },  { "waits_in_flight", "1" },
		{ CAPTURE_INFO_END, "" },
	};
	struct capture_writer *w = writer_of(file);
	struct capture_wait waits[64];
	size_t nr;
	int err;

	start_ns = m ? m->start_ns : was_ns;
	nr = fixed_waits(waits);
	err = put_about(w, disk, m);
	err |= capture_writer__waits(w, waits, 25);
	err |= capture_writer__waits(w, waits + 25, nr - 25);
	end[sizeof(end) / sizeof(end[0]) - 1].value = at_text(2500000000);
	err |= capture_writer__info(w, end, sizeof(end) / sizeof(end[0]));
	err |= capture_writer__finish(w, "done", NULL, 0);
	start_ns = was_ns;
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

static void test_same(const char *file, const struct machine *m)
{
	size_t nr_kept = read_file(file, kept, sizeof(kept));

	make_fixed(path("fixed.cap"), "nvme0n1p1", m);
	nr_ours = read_file(path("fixed.cap"), ours, sizeof(ours));
	is_u64(nr_ours, nr_kept, file);
	ok(nr_ours && !memcmp(ours, kept, nr_ours), "and byte by byte the same");
}

static void test_fixed(void)
{
	struct waits_counts counts = { 0 };
	struct capture_reader *reader;

	test_same("tests/data/waits-db7.cap", &machines[0]);
	test_same("tests/data/waits-db8.cap", &machines[1]);
	test_same("tests/data/waits.cap", NULL);
	if (capture_reader__open(path("fixed.cap"), &reader))
		exit(1);
	ok(waits_info__add(capture_reader__about(reader), &counts) && counts.n.begun == 30 &&
		   counts.in_flight == 1 && !counts.n.lost,
	   "where all calls went");
	is_u64(waits_info__calls(capture_reader__about(reader)), (1 << WAIT_FAULT) - 1,
	       "which calls were followed");
	capture_reader__free(reader);
}

/* ---- damage ---- */

struct outcome {
	int err;
	uint64_t calls, foreign;
	struct capture_damage damage;
};

static struct outcome read_all(const uint8_t *bytes, size_t nr)
{
	struct outcome o = { 0 };
	struct capture_wait want[64];
	size_t nr_want = fixed_waits(want), next = 0;
	struct capture_waits chunk = { 0 };
	struct capture_reader *reader;

	o.err = capture_reader__open_memory(bytes, nr, &reader);
	if (o.err)
		return o;
	while (capture_reader__next_waits(reader, &chunk) > 0)
		for (size_t i = 0; i < chunk.nr; i++) {
			while (next < nr_want &&
			       memcmp(&want[next], &chunk.waits[i], sizeof(*want)))
				next++;
			o.foreign += next == nr_want;
			o.calls += chunk.waits[i].kind == CAPTURE_WAIT_CALL;
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
		if (chunk->type == CAPTURE_WAITS && !nth--)
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
	is_u64(o.damage.calls_missing, 22 - o.calls, "a chunk that is missing is told");
	memcpy(kept, ours, at + len);
	memcpy(kept + at + len, ours + at, nr_ours - at);
	o = read_all(kept, nr_ours + len);
	is_u64(o.damage.calls_surplus, o.calls - 22, "and one that is there twice");
	ok(o.calls > 22, "which has calls");
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
	struct waits_merge waits = { 0 };
	const struct capture_wait *wait;
	struct capture_merge *merge;
	uint64_t calls[2] = { 0 }, last_ns = 0, back = 0, wrong = 0;
	char first[128], second[128];
	int err;

	make_fixed(path("other.cap"), "sda1", NULL);
	snprintf(first, sizeof(first), "%s", path("fixed.cap"));
	snprintf(second, sizeof(second), "%s", path("other.cap"));
	err = capture_merge__open((const char *[]){ first, second }, 2, &merge);
	if (err || waits_merge__init(&waits, merge))
		exit(1);
	while ((wait = waits_merge__next(&waits, &err))) {
		const struct wait_record *r = &wait->call;
		const uint64_t place = io_file_place(r->dev, r->nth);

		if (wait->kind != CAPTURE_WAIT_CALL)
			continue;
		calls[waits.from]++;
		back += r->end_ns + 10000000 < last_ns;
		last_ns = r->end_ns;
		wrong += strcmp(text_of(merge, GLOSSARY_DISKS, r->dev, 0),
				waits.from ? "sda1" : "nvme0n1p1") != 0;
		wrong += strncmp(text_of(merge, GLOSSARY_FILES, r->inode, place), "/data/", 6) != 0;
		wrong += strstr(text_of(merge, GLOSSARY_STACKS, r->sleeps[0].stack, 0),
				"schedule") == NULL;
	}
	ok(!err && calls[0] == 22 && calls[1] == 22, "two captures: the calls of both");
	is_u64(back, 0, "by time");
	is_u64(wrong, 0, "each with its own disk, file and stack");
	waits_merge__free(&waits);
	capture_merge__free(merge);
}

static void clean(void)
{
	static const char *const names[] = { "random.cap", "fixed.cap", "other.cap" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(path(names[i]));
	rmdir(dir);
}

int main(int argc, char **argv)
{
	char file[256];

	if (argc == 3 && !strcmp(argv[1], "--make")) {
		snprintf(file, sizeof(file), "%s/waits.cap", argv[2]);
		make_fixed(file, "nvme0n1p1", NULL);
		for (int i = 0; i < 2; i++) {
			snprintf(file, sizeof(file), "%s/waits-%s.cap", argv[2], machines[i].host);
			make_fixed(file, "nvme0n1p1", &machines[i]);
		}
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
	clean();
	return done_testing();
}
