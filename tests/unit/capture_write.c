/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_write.c: what does a recorder leave that could not finish? A disk that fills up (a small
 * tmpfs, where root can mount one, and a file size limit), a kill at any moment, a pipe. Every
 * record is in the file or counted as lost.
 */
#define _GNU_SOURCE
#include "tap.h"
#include "counts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "capture/read.h"
#include "capture/write.h"
#include "capture/zip.h"

enum { NR_RECORDS = 100003 };

static char dir[64] = "/tmp/iosonar-write-XXXXXX";

static struct io_record record_nr(uint32_t i)
{
	struct io_record record = { .seq = i, .bytes = 4096, .comm = "write" };

	record.first_ns = record.last_ns = 1000000000 + i * 1000ULL;
	record.end_ns = record.first_ns + 80000 + i * 2654435761u % 50021;
	record.cdw10[0] = i * 2654435761u;
	return record;
}

/* Writes until the end, whatever happens; returns how often -ENOSPC came. */
static int fill(struct capture_writer *writer, int *other)
{
	struct capture_count ledger = { "issued", NR_RECORDS };
	int nr_full = 0, err;

	for (uint32_t i = 0; i <= NR_RECORDS; i++) {
		struct io_record record = record_nr(i);

		err = i < NR_RECORDS ? capture_writer__records(writer, &record, 1)
				     : capture_writer__finish(writer, "done", &ledger, 1);
		nr_full += err == -ENOSPC;
		*other += err && err != -ENOSPC;
	}
	return nr_full;
}

static uint64_t count_in_order(struct capture_reader *reader)
{
	const struct io_record *record;
	struct io_record want;
	uint64_t nr = 0;
	int err;

	while ((record = capture_reader__next(reader, &err))) {
		want = record_nr((uint32_t)nr);
		if (memcmp(record, &want, sizeof(want)))
			break;
		nr++;
	}
	return nr;
}

static void check_full(const char *name, const char *path)
{
	const struct capture_about *about;
	struct capture_reader *reader;
	uint64_t nr;

	if (!ok(!capture_reader__open(path, &reader), "%s: opens", name))
		return;
	about = capture_reader__about(reader);
	nr = count_in_order(reader);
	ok(nr > 1000 && nr < NR_RECORDS, "%s: holds %" PRIu64 " records", name, nr);
	ok(capture_damage__is_whole(capture_reader__damage(reader)), "%s: whole blocks only", name);
	is_str(about->trailer.ended, "disk full", "its trailer says why it ended");
	is_u64(count_of(&about->trailer.ledger, "issued"), NR_RECORDS, "and has the last ledger");
	is_u64(count_of(&about->trailer.lost, "disk full") + nr, NR_RECORDS,
	       "every record is there or counted");
	capture_reader__free(reader);
}

/* The trailer is at the start then: only the size that it tells shows that the end is missing. */
static void check_cut(const char *path, off_t size)
{
	struct capture_reader *reader;

	if (truncate(path, size / 2) || capture_reader__open(path, &reader)) {
		ok(false, "cut in half");
		return;
	}
	ok(capture_reader__damage(reader)->truncated && count_in_order(reader) > 1000,
	   "cut in half, it says so");
	capture_reader__free(reader);
}

/* Where the last block of records ends. */
static uint64_t end_of_records(const char *path)
{
	uint64_t at = CAPTURE_FILE_BYTES, end = at;
	uint8_t header[CAPTURE_CHUNK_BYTES];
	struct capture_chunk chunk;
	int fd = open(path, O_RDONLY);

	while (pread(fd, header, sizeof(header), (off_t)at) == sizeof(header) &&
	       capture_chunk__get(&chunk, header)) {
		at += sizeof(header) + chunk.length;
		end = chunk.type == CAPTURE_RECORDS ? at : end;
	}
	close(fd);
	return end;
}

static void fill_up_to(const char *path, rlim_t most)
{
	struct capture_options options = { .path = path, .reserve_bytes = CAPTURE_RESERVE_BYTES };
	struct rlimit before, limit;
	struct capture_writer *writer;
	int other = 0;

	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = most;
	setrlimit(RLIMIT_FSIZE, &limit);
	ok(!capture_writer__new(&options, &writer), "a file of %lu bytes at most", most);
	is_u64((uint64_t)fill(writer, &other), 1, "says -ENOSPC once");
	is_u64((uint64_t)other, 0, "and nothing else");
	capture_writer__free(writer);
	setrlimit(RLIMIT_FSIZE, &before);
	check_full("size limit", path);
}

static void test_limit(void)
{
	char path[128];
	uint64_t end;

	snprintf(path, sizeof(path), "%s/limit.cap", dir);
	signal(SIGXFSZ, SIG_IGN);
	fill_up_to(path, 300001);
	/* Again, so that not even a trailer fits behind the last block. */
	end = end_of_records(path);
	fill_up_to(path, end + 20);
	is_u64(end_of_records(path), end, "as many blocks as before");
	check_cut(path, (off_t)end);
	unlink(path);
}

static void test_disk(void)
{
	struct capture_options options = { .reserve_bytes = CAPTURE_RESERVE_BYTES };
	struct capture_writer *writer;
	char disk[96], path[128];
	int other = 0;

	snprintf(disk, sizeof(disk), "%s/disk", dir);
	snprintf(path, sizeof(path), "%s/full.cap", disk);
	options.path = path;
	mkdir(disk, 0700);
	/* In a namespace of its own: gone with this process, whatever happens. */
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("iosonar", disk, "tmpfs", 0, "size=256k")) {
		ok(true, "a full disk # skip cannot mount a tmpfs: %s", strerror(errno));
		rmdir(disk);
		return;
	}
	ok(!capture_writer__new(&options, &writer), "a disk of 256 KiB");
	is_u64((uint64_t)fill(writer, &other), 1, "says -ENOSPC once");
	is_u64((uint64_t)other, 0, "and nothing else");
	capture_writer__free(writer);
	check_full("full disk", path);
	umount(disk);
	rmdir(disk);
}

/* Writes until it is killed. */
static void write_forever(const char *path)
{
	struct capture_options options = { .path = path, .reserve_bytes = CAPTURE_RESERVE_BYTES };
	struct capture_writer *writer;

	if (capture_writer__new(&options, &writer))
		_exit(1);
	for (uint32_t i = 0;; i++) {
		struct io_record record = record_nr(i);

		capture_writer__records(writer, &record, 1);
		if (i % 97 == 0)
			capture_writer__flush(writer);
		if (i > 3000000)
			pause();
	}
}

static void test_kill(void)
{
	uint64_t unread = 0, unsaid = 0, wrong = 0, most = 0;
	char path[128];

	snprintf(path, sizeof(path), "%s/kill.cap", dir);
	for (unsigned int i = 0; i < 20; i++) {
		struct capture_reader *reader;
		pid_t child;
		uint64_t nr;

		close(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600)); /* a kill may come first */
		child = fork();
		if (!child)
			write_forever(path);
		usleep(15000 + 2711 * i);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		if (capture_reader__open(path, &reader)) {
			unread++;
			continue;
		}
		nr = count_in_order(reader);
		wrong += nr != capture_reader__nr_records(reader);
		most = nr > most ? nr : most;
		unsaid += !capture_reader__damage(reader)->truncated ||
			  capture_reader__damage(reader)->blocks_corrupt;
		capture_reader__free(reader);
	}
	printf("# up to %" PRIu64 " records before a kill\n", most);
	is_u64(unread, 0, "killed 20 times: every file reads");
	is_u64(wrong, 0, "all its records are the first ones written, in order");
	is_u64(unsaid, 0, "it is said to be cut, and nothing in it is damaged");
	ok(most > 0, "some had records");
	unlink(path);
}

static void test_pipe(void)
{
	struct capture_options options = { .reserve_bytes = CAPTURE_RESERVE_BYTES };
	struct capture_reader *reader;
	struct capture_writer *writer;
	uint8_t *bytes = malloc(1 << 22);
	int ends[2], other = 0;
	size_t nr = 0;
	ssize_t got;
	pid_t child;

	if (pipe(ends))
		exit(1);
	child = fork();
	if (!child) {
		close(ends[0]);
		options.fd = ends[1];
		if (capture_writer__new(&options, &writer))
			_exit(1);
		fill(writer, &other);
		_exit(other);
	}
	close(ends[1]);
	while ((got = read(ends[0], bytes + nr, (1 << 22) - nr)) > 0)
		nr += (size_t)got;
	waitpid(child, NULL, 0);
	ok(!capture_reader__open_memory(bytes, nr, &reader), "what came through a pipe opens");
	is_u64(count_in_order(reader), NR_RECORDS, "and holds every record");
	ok(capture_damage__is_whole(capture_reader__damage(reader)), "whole");
	capture_reader__free(reader);
	free(bytes);
}

static void test_refusals(void)
{
	struct capture_options options = { .path = "/nonexistent/a.cap" };
	struct capture_writer *writer;

	is_u64((uint64_t)-capture_writer__new(&options, &writer), ENOENT, "no such directory");
	ok(!writer, "and no writer");
	if (capture_zip__is_built_in())
		return;
	options = (struct capture_options){ .path = "/dev/null", .zstd_level = 3 };
	is_u64((uint64_t)-capture_writer__new(&options, &writer), EOPNOTSUPP, "no zstd");
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	test_limit();
	test_disk();
	test_kill();
	test_pipe();
	test_refusals();
	rmdir(dir);
	return done_testing();
}
