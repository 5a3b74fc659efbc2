/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of captures: names, the manifest, what is removed, and what a killed run leaves: files cut
 * at every kind of place are planted, and the next start has to make captures of them. Second
 * instruments: sha256sum's known sums, readers of captures, and what the directory has.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/read.h"
#include "capture/ring.h"
#include "capture/ring_file.h"
#include "capture/ring_leftover.h"
#include "capture/ring_list.h"
#include "capture/sha256.h"
#include "capture/write.h"
#include "said.h"
#include "tap.h"

#define BOOT "0b1cf3d2-83a0-4d00-a6ab-b054d8b0cf2a"

static char folder[] = "/tmp/iosonar-ring.XXXXXX";

/* ---- files ---- */

static const char *in_folder(const char *name)
{
	static char buf[512];

	snprintf(buf, sizeof(buf), "%s/%s", folder, name);
	return buf;
}

static bool is_there(const char *name)
{
	return !access(in_folder(name), F_OK);
}

static const char *named(uint32_t number)
{
	static char buf[RING_NAME];

	return ring_name__make(buf, "db7." BOOT, number);
}

static const char *temporary(uint32_t number)
{
	static char buf[RING_NAME];

	return ring_name__temporary(buf, "db7." BOOT, number);
}

static void touch(const char *name)
{
	close(open(in_folder(name), O_WRONLY | O_CREAT, 0600));
}

/* A capture of nr records in blocks of 10, with an end or without. */
static uint64_t plant(const char *name, uint32_t nr, bool ends)
{
	struct capture_options options = { .path = in_folder(name), .reserve_bytes = 4096 };
	const struct capture_info info[] = { { CAPTURE_INFO_HOST, "db7" },
					     { CAPTURE_INFO_BOOT_ID, BOOT },
					     { CAPTURE_INFO_ID, "a\"b" } };
	const struct capture_clock clock = { 1000, 1000, 1700000000000000000ULL };
	const struct capture_count counts[] = { { "issued", nr }, { "completed", nr } };
	struct capture_writer *writer;
	uint64_t bytes;

	if (capture_writer__new(&options, &writer))
		return 0;
	capture_writer__info(writer, info, 3);
	capture_writer__clock(writer, &clock);
	for (uint32_t i = 0; i < nr; i++) {
		struct io_record record = { .first_ns = 2000 + i,
					    .last_ns = 2000 + i,
					    .end_ns = 3000 + i };

		capture_writer__records(writer, &record, 1);
		if (i % 10 == 9)
			capture_writer__flush(writer);
	}
	capture_writer__flush(writer);
	if (ends)
		capture_writer__finish(writer, "done", counts, 2);
	bytes = capture_writer__bytes(writer);
	capture_writer__free(writer);
	return bytes;
}

/* Records that a complete capture has; -1: it is none. */
static long long count(const char *name)
{
	struct capture_report report;

	if (capture__verify_part(in_folder(name), 0, &report) ||
	    !capture_damage__is_whole(&report.damage))
		return -1;
	return (long long)report.records;
}

static int wipe_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	return at->level ? remove(path) : 0;
}

static void wipe(void)
{
	nftw(folder, wipe_one, 8, FTW_DEPTH | FTW_PHYS);
}

static size_t nr_files(void)
{
	size_t nr = 0;
	DIR *dir = opendir(folder);

	while (dir && readdir(dir))
		nr++;
	closedir(dir);
	return nr - 2;
}

static struct ring_list begin(uint64_t size, unsigned int files)
{
	return (struct ring_list){ .directory = open(folder, O_RDONLY | O_DIRECTORY),
				   .mode = 0640,
				   .size = size,
				   .files = files };
}

static void end(struct ring_list *list)
{
	ring_list__free(list);
	close(list->directory);
}

static void is_count(long long got, long long want, const char *what)
{
	ok(got == want, "%s: %lld", what, got);
}

/* ---- checksums and names ---- */

static void check_sum(size_t nr, const char *want)
{
	struct sha256 sum;
	char text[SHA256_TEXT];

	sha256__begin(&sum);
	for (size_t i = 0; i < nr; i++)
		sha256__add(&sum, "a", 1);
	ok(!strcmp(sha256__end(&sum, text), want), "sha256sum of %zu times 'a'", nr);
}

/* As sha256sum prints them: at the edges of a block and of the length in it. */
static void test_sums(void)
{
	check_sum(0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check_sum(55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
	check_sum(56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
	check_sum(64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
	check_sum(1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_names(void)
{
	char buf[RING_NAME], stem[RING_NAME];

	is_str(ring_name__stem(buf, "db7", BOOT), "db7." BOOT, "host and boot");
	is_str(ring_name__stem(buf, "../a b\n", ""), "_._a_b_._", "what a name cannot have");
	is_str(named(12), "db7." BOOT ".000012.cap", "a name");
	is_str(temporary(12), ".db7." BOOT ".000012.cap.part", "a temporary name");
	ok(ring_name__number(named(12), stem) == 12 && !strcmp(stem, "db7." BOOT), "its parts");
	ok(ring_name__temporary_number(temporary(7), stem) == 7 && !strcmp(stem, "db7." BOOT),
	   "of a temporary one, too");
	is_count(ring_name__number(named(1234567), NULL), 1234567, "more digits");
	ok(!ring_name__number(temporary(7), NULL), "a temporary name is not a final one");
	ok(!ring_name__temporary_number(named(7), NULL), "nor the other way round");
	ok(!ring_name__number("run.cap", NULL) && !ring_name__number("a.000001.cap", NULL) &&
		   !ring_name__number("a.b.00001.cap", NULL) &&
		   !ring_name__number("a.b.000000.cap", NULL) &&
		   !ring_name__number("manifest.jsonl", NULL) &&
		   !ring_name__number("a.b.000001.cap.gz", NULL),
	   "other names are none of ours");
}

/* ---- the list ---- */

static void test_manifest(void)
{
	struct ring_list list = begin(1 << 30, 20);
	char line[1024] = "";
	FILE *in;

	plant(named(1), 31, true);
	plant(named(2), 7, true);
	hear();
	ok(!ring_list__load(&list) && ring_list__nr_files(&list) == 2,
	   "two files without a manifest");
	ok(strstr(heard(), "000002.cap is added to the manifest, which lacked it"), "reported");
	is_count(ring_list__last_number(&list, "db7." BOOT), 2, "the last number");
	is_count(ring_list__last_number(&list, "db8." BOOT), 0, "of another host: none");
	ok(!ring_list__write_manifest(&list), "the manifest is written");
	end(&list);
	in = fopen(in_folder(RING_MANIFEST), "r");
	ok(in && fgets(line, sizeof(line), in) &&
		   strstr(line, "{\"file\":\"db7." BOOT ".000001.cap\",\"host\":\"db7\","
				"\"boot_id\":\"" BOOT "\",\"capture_id\":\"a\\\"b\",\"number\":1,"
				"\"begin_ns\":1700000000000002000,\"end_ns\":1700000000000002030,"
				"\"records\":31,\"lost\":0,") &&
		   strstr(line, "\"ended\":\"done\",\"sha256\":\""),
	   "a line");
	fclose(in);
	list = begin(1 << 30, 20);
	hear();
	ok(!ring_list__load(&list) && ring_list__nr_files(&list) == 2, "read again");
	is_str(heard(), "", "without a word");
	end(&list);
	wipe();
}

static void test_limits(void)
{
	struct ring_list list = begin(1 << 30, 4);
	struct stat st;
	uint64_t each = 0;
	int held;

	for (uint32_t i = 1; i <= 6; i++)
		each = plant(named(i), 31, true);
	plant("run.cap", 3, true);
	held = open(in_folder(named(1)), O_RDONLY);
	hear();
	ring_list__load(&list);
	heard();
	ring_list__make_room(&list, 1, 0);
	ok(!is_there(named(3)) && is_there(named(4)) && ring_list__nr_files(&list) == 3,
	   "--files: the oldest are removed, for one more");
	ok(!fstat(held, &st) && (uint64_t)st.st_size == each, "a reader's file stays as it is");
	close(held);
	list.size = 2 * each + 100;
	ring_list__make_room(&list, 0, 0);
	ok(!is_there(named(4)) && is_there(named(5)), "--size: likewise");
	list.size = 1;
	ring_list__make_room(&list, 1, 0);
	ok(!is_there(named(6)) && !ring_list__nr_files(&list), "all of them");
	is_count(ring_list__last_number(&list, "db7." BOOT), 6, "the last number stays known");
	ok(is_there("run.cap"), "a file with another name is not ours");
	ok(!ring_list__write_manifest(&list), "the manifest");
	end(&list);
	list = begin(1 << 30, 4);
	ok(!ring_list__load(&list) && !ring_list__nr_files(&list), "no file at the next start");
	is_count(ring_list__last_number(&list, "db7." BOOT), 6, "but its number");
	end(&list);
	wipe();
}

/* ---- what a killed run leaves ---- */

static void cut(const char *name, uint64_t bytes)
{
	if (truncate(in_folder(name), (off_t)bytes))
		printf("# cannot cut\n");
}

/* Makes captures of what is there, and says what it did. */
static const char *recover(struct ring_list *list)
{
	hear();
	*list = begin(1 << 30, 20);
	if (ring_list__load(list) || ring_leftover__recover(list) ||
	    ring_list__write_manifest(list))
		printf("# failed\n");
	return heard();
}

static void test_leftovers(void)
{
	struct ring_list list;
	uint64_t bytes = plant(temporary(1), 35, false);
	const char *said = recover(&list);

	is_count(count(named(1)), 35, "a file without an end: all records");
	ok(strstr(said, "000001.cap was left incomplete, with ") &&
		   strstr(said, "recovered 35 records up to 2023-11-14 22:13:20 UTC; later ones"),
	   "reported");
	ok(!is_there(temporary(1)), "its temporary name is gone");
	end(&list);
	plant(temporary(2), 35, false);
	cut(temporary(2), bytes - 3);
	said = recover(&list);
	is_count(count(named(2)), 30, "cut within a block: the blocks before it");
	ok(strstr(said, "bytes after them cannot be read"), "reported: %s", said);
	end(&list);
	plant(temporary(3), 35, true);
	said = recover(&list);
	is_count(count(named(3)), 35, "complete, but not renamed: as it is");
	end(&list);
	touch(temporary(4));
	touch(temporary(5));
	said = recover(&list);
	ok(!is_there(temporary(4)) && !is_there(named(4)), "an empty file is removed");
	ok(strstr(said, "000004.cap.part was left empty: removed; records after "
			"2023-11-14 22:13:20 UTC were not written"),
	   "reported, with the time up to which there are some: %s", said);
	ok(!is_there(temporary(5)) && !strstr(said, "000005"), "the spare too, without a word");
	end(&list);
	plant(temporary(4), 35, false);
	touch(temporary(5));
	said = recover(&list);
	ok(is_there(named(4)) && !is_there(temporary(5)) && !strstr(said, "000005"),
	   "the spare beside a file with records: without a word");
	unlink(in_folder(named(4)));
	end(&list);
	plant(temporary(4), 0, false);
	said = recover(&list);
	ok(!is_there(temporary(4)) && !is_there(named(4)), "one without records is removed");
	ok(strstr(said, "and no records: removed"), "reported");
	end(&list);
	wipe();
}

static void spoil(const char *name, uint64_t at, size_t nr)
{
	int fd = open(in_folder(name), O_WRONLY);
	char zeros[4096] = { 0 };

	if (pwrite(fd, zeros, nr, (off_t)at) != (ssize_t)nr)
		printf("# cannot write\n");
	close(fd);
}

/* After a power loss, some pages are zeros: at any place of the file. */
static void test_power_loss(void)
{
	uint64_t bytes = plant(temporary(1), 100, false), step = 97;
	bool whole = true, grows = true;
	long long before = -1;
	size_t nr = 0;

	for (uint64_t at = 0; at < bytes; at += step) {
		struct ring_list list;
		long long now;

		wipe();
		plant(temporary(1), 100, false);
		spoil(temporary(1), at, 64);
		recover(&list);
		now = is_there(named(1)) ? count(named(1)) : 0;
		whole &= now >= 0 && !is_there(temporary(1));
		if (at >= 16 + 4096) {
			grows &= now >= before && now % 10 == 0;
			before = now;
		}
		end(&list);
		nr++;
	}
	ok(whole, "zeros at any of %zu places: always a complete capture, or none", nr);
	ok(grows && before > 50, "with all blocks before them");
	wipe();
}

/* On a full disk the end is near the start of the file; the data may not have reached the disk. */
static void test_false_end(void)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY }, few = { 6000, RLIM_INFINITY };
	struct ring_list list;
	uint64_t bytes;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &few);
	bytes = plant(temporary(1), 500, true);
	plant(temporary(2), 500, true);
	setrlimit(RLIMIT_FSIZE, &all);
	cut(temporary(2), bytes - 200);
	recover(&list);
	ok(count(named(1)) > 30 && count(named(1)) < 500, "a full disk: what it took: %lld",
	   count(named(1)));
	ok(count(named(2)) > 10 && count(named(2)) < count(named(1)),
	   "and then a power loss: the end counts more than there is: %lld", count(named(2)));
	end(&list);
	wipe();
}

static void test_strangers(void)
{
	struct ring_list list;
	const char *said;

	mkdir(in_folder(temporary(1)), 0700);
	if (symlink("/etc/passwd", in_folder(temporary(2))) ||
	    symlink("/etc/passwd", in_folder(named(3))))
		printf("# no links\n");
	plant(named(4), 10, false);
	said = recover(&list);
	ok(is_there(temporary(1)) && is_there(temporary(2)) && is_there(named(4)),
	   "a directory, a link and a capture without an end are left as they are");
	ok(strstr(said, "it is left as it is") && strstr(said, "is not a complete capture"),
	   "with warnings");
	is_count((long long)ring_list__nr_files(&list), 0, "and are not files of the ring");
	end(&list);
	wipe();
}

/* ---- the whole ---- */

static bool write_one(struct ring *ring, uint32_t nr)
{
	struct capture_options options = { .fd = ring__file(ring), .reserve_bytes = 4096 };
	struct capture_writer *writer;
	bool good = options.fd >= 0 && !capture_writer__new(&options, &writer);

	if (!good)
		return false;
	ring__prepare(ring);
	for (uint32_t i = 0; i < nr; i++)
		capture_writer__records(writer, &(struct io_record){ .end_ns = i }, 1);
	good = !capture_writer__finish(writer, "continued", NULL, 0) && ring__sync(ring) >= 0;
	capture_writer__free(writer);
	close(options.fd);
	return good && !ring__keep(ring);
}

static struct ring *start(unsigned int files)
{
	const struct ring_options options = { .path = folder,
					      .host = "db7",
					      .boot_id = BOOT,
					      .size = 64 << 20,
					      .files = files,
					      .mode = 0640 };
	struct ring *ring = NULL;

	hear();
	ring__open(&options, &ring);
	heard();
	return ring;
}

static void test_ring(void)
{
	struct ring *ring = start(4);
	bool good = ring != NULL;
	struct stat st;

	for (uint32_t i = 1; good && i <= 5; i++)
		good = write_one(ring, 10 * i);
	ok(good && !ring__finish(ring), "five files");
	ring__end(ring);
	ok(!is_there(named(2)) && count(named(3)) == 30 && count(named(5)) == 50,
	   "the newest three, and room for the next");
	is_count((long long)nr_files(), 4, "and the manifest: no spare, no temporary file");
	ok(!stat(in_folder(named(5)), &st) && (st.st_mode & 0777) == 0640, "permissions");
	ring = start(4);
	ok(ring && write_one(ring, 5) && !ring__finish(ring), "a restart");
	ring__end(ring);
	is_count(count(named(6)), 5, "goes on");
	ring = start(4);
	if (ring__file(ring) >= 0)
		ring__drop(ring);
	ok(write_one(ring, 5) && !ring__finish(ring), "a file that could not be begun");
	ring__end(ring);
	ok(count(named(7)) == 5 && !is_there(temporary(7)), "leaves no gap");
	wipe();
}

int main(void)
{
	if (!mkdtemp(folder))
		return 1;
	test_sums();
	test_names();
	test_manifest();
	test_limits();
	test_leftovers();
	test_power_loss();
	test_false_end();
	test_strangers();
	test_ring();
	rmdir(folder);
	return done_testing();
}
