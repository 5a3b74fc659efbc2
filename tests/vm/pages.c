/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.c: pages NAME HOW FILE [ARGUMENT...]: reads, writes or maps a file under the task name
 *NAME, and says what of it had to miss: before each request it asks mincore(2), with the disk idle,
 *which of the pages are there; of mappings /proc/self/pagemap says which do not fault. Prints NAME
 *OP ACCESSES MISSES HOW: read BS [FROM [PAGES]], random N, mmap PAGES, mmap-random N, mmap-write
 *PAGES, write BS FROM BYTES, append BS N, direct BS, splice BYTES; drop [FROM PAGES], willneed FROM
 *PAGES and cached (prints how many are) have no name to count under. DISK in the environment: whose
 *I/O is waited for.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <linux/fs.h>

static const char *name, *path, *op = "read";
static char **args;
static int fd, pagemap = -1;
static uint64_t size, page, accesses, misses;
static unsigned char *there; /* of every page */
static char *map;	     /* never touched, for mincore */

static uint64_t number(int i, uint64_t otherwise)
{
	for (int at = 0; at <= i; at++)
		if (!args[at])
			return otherwise;
	return strtoull(args[i], NULL, 0);
}

static void open_file(int flags)
{
	struct stat st;

	fd = open(path, flags | O_CLOEXEC, 0644);
	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", path);
	size = (uint64_t)st.st_size;
	if (S_ISBLK(st.st_mode) && ioctl(fd, BLKGETSIZE64, &size))
		err(1, "%s", path);
	if (size > 64 << 20)
		size = 64 << 20;
}

/* In flight a page is there, but not for mincore. */
static void settle(void)
{
	const char *disk = getenv("DISK");
	unsigned int reads = 1, writes = 1;
	char file[64];

	if (!disk)
		return;
	snprintf(file, sizeof(file), "/sys/block/%s/inflight", disk);
	for (int i = 0; i < 5000 && reads + writes; i++) {
		FILE *f = fopen(file, "r");

		if (!f || fscanf(f, "%u %u", &reads, &writes) != 2)
			err(1, "%s", file);
		fclose(f);
		if (reads + writes)
			usleep(200);
	}
}

static void look(void)
{
	if (!size)
		return;
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	there = malloc(size / page + 1);
	if (map == MAP_FAILED || !there)
		err(1, "mmap");
}

/* Pages first..last that are not there. */
static uint64_t absent(uint64_t first, uint64_t last)
{
	uint64_t nr = 0;

	settle();
	if (first * page >= size)
		return last - first + 1; /* behind the end of the file there are none */
	if (mincore(map + first * page,
		    (last - first + 1) * page > size - first * page ? size - first * page
								    : (last - first + 1) * page,
		    there))
		err(1, "mincore");
	for (uint64_t i = first; i <= last; i++)
		nr += i * page >= size || !(there[i - first] & 1);
	return nr;
}

static uint64_t cached(void)
{
	return (size + page - 1) / page - absent(0, (size - 1) / page);
}

static void request(uint64_t from, uint64_t bytes)
{
	uint64_t first = from / page, last = (from + bytes - 1) / page;

	accesses += last - first + 1;
	misses += absent(first, last);
}

/* ---- what can be done ---- */

static void do_read(void)
{
	uint64_t bs = number(0, page), from = number(1, 0) * page, end = size;
	char *buf = malloc(bs);

	if (args[0] && args[1] && args[2])
		end = from + number(2, 0) * page;
	for (; from < end; from += bs) {
		request(from, end - from < bs ? end - from : bs);
		if (pread(fd, buf, bs, (off_t)from) <= 0)
			err(1, "read");
	}
}

static void do_random(void)
{
	uint64_t nr = number(0, 100), seed = 4711;
	char *buf = malloc(page);

	for (uint64_t i = 0; i < nr; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		request((seed >> 33) % (size / page) * page, page);
		if (pread(fd, buf, page, (off_t)((seed >> 33) % (size / page) * page)) <= 0)
			err(1, "read");
	}
}

static void touch(char *at, uint64_t index, int writes)
{
	uint64_t entry = 0;
	volatile char *byte = at + index * page;

	if (pread(pagemap, &entry, 8, (off_t)((uintptr_t)byte / page * 8)) != 8)
		err(1, "pagemap");
	if (!(entry >> 63))
		request(index * page, page);
	if (writes)
		*byte = 1;
	else
		(void)*byte;
}

static char *map_again(int prot)
{
	char *at = mmap(NULL, size, prot, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		err(1, "mmap");
	op = "mmap";
	return at;
}

static void do_mmap(void)
{
	char *at = map_again(PROT_READ);

	for (uint64_t i = 0; i < number(0, size / page); i++)
		touch(at, i, 0);
}

static void do_mmap_random(void)
{
	char *at = map_again(PROT_READ);
	uint64_t seed = 12345;

	for (uint64_t i = 0; i < number(0, 100); i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		touch(at, (seed >> 33) % (size / page), 0);
	}
}

static void do_mmap_write(void)
{
	char *at = map_again(PROT_READ | PROT_WRITE);

	for (uint64_t i = 0; i < number(0, size / page); i++)
		touch(at, i, 1);
}

static void do_write(void)
{
	uint64_t bs = number(0, page), from = number(1, 0), left = number(2, size);
	char *buf = calloc(1, bs);

	op = "write";
	for (; left; from += bs, left -= bs) {
		request(from, bs);
		if (pwrite(fd, buf, bs, (off_t)from) != (ssize_t)bs)
			err(1, "write");
	}
}

/* The map does not grow with the file: a page is new if the file ended before it. */
static void do_append(void)
{
	uint64_t bs = number(0, page), at = size;
	char *buf = calloc(1, bs);

	op = "write";
	for (uint64_t i = 0; i < number(1, 1); i++, at += bs) {
		uint64_t first = at / page, last = (at + bs - 1) / page;

		accesses += last - first + 1;
		misses += last - first + (at % page == 0);
		if (pwrite(fd, buf, bs, (off_t)at) != (ssize_t)bs)
			err(1, "write");
	}
}

static void do_direct(void)
{
	uint64_t bs = number(0, 65536);
	void *buf;

	if (posix_memalign(&buf, page, bs))
		err(1, "memory");
	for (uint64_t from = 0; from < size; from += bs)
		if (pread(fd, buf, bs, (off_t)from) <= 0)
			err(1, "read");
}

static void do_splice(void)
{
	int null = open("/dev/null", O_WRONLY);
	uint64_t left = number(0, size), chunk = 16 * page;
	off_t at = 0;

	while (left) {
		request((uint64_t)at, left < chunk ? left : chunk);
		if (sendfile(null, fd, &at, left < chunk ? left : chunk) <= 0)
			err(1, "sendfile");
		left = left < chunk ? 0 : left - chunk;
	}
}

static void do_time(void)
{
	uint64_t bs = number(0, page), nr = number(1, 1000);
	char *buf = aligned_alloc(page, bs);
	struct timespec from, to;

	if (pread(fd, buf, bs, 0) <= 0)
		err(1, "read");
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (uint64_t i = 0; i < nr; i++)
		if (pread(fd, buf, bs, 0) <= 0)
			err(1, "read");
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%llu\n", (unsigned long long)((uint64_t)(to.tv_sec - from.tv_sec) * 1000000000 +
					      (uint64_t)(to.tv_nsec - from.tv_nsec)) /
				 nr);
}

static void do_drop(void)
{
	fdatasync(fd);
	posix_fadvise(fd, (off_t)(number(0, 0) * page), (off_t)(number(1, 0) * page),
		      POSIX_FADV_DONTNEED);
	settle();
}

static void do_willneed(void)
{
	posix_fadvise(fd, (off_t)(number(0, 0) * page), (off_t)(number(1, 1) * page),
		      POSIX_FADV_WILLNEED);
	settle();
}

static const struct {
	const char *how;
	void (*run)(void);
	int flags;
	int silent;
} ways[] = {
	{ "read", do_read, O_RDONLY, 0 },
	{ "read-noatime", do_read, O_RDONLY | O_NOATIME, 0 },
	{ "random", do_random, O_RDONLY, 0 },
	{ "mmap", do_mmap, O_RDONLY, 0 },
	{ "mmap-random", do_mmap_random, O_RDONLY, 0 },
	{ "mmap-write", do_mmap_write, O_RDWR, 0 },
	{ "write", do_write, O_RDWR, 0 },
	{ "append", do_append, O_RDWR, 0 },
	{ "direct", do_direct, O_RDONLY | O_DIRECT, 0 },
	{ "splice", do_splice, O_RDONLY, 0 },
	{ "time", do_time, O_RDONLY, 1 },
	{ "time-direct", do_time, O_RDONLY | O_DIRECT, 1 },
	{ "willneed", do_willneed, O_RDONLY, 1 },
	{ "drop", do_drop, O_RDONLY, 1 },
};

static void run(unsigned int way)
{
	char old[16];

	/*
	 * Our own code is a file, too: its pages must not fault under the name that is counted.
	 * What is mapped later is not locked, and can be dropped.
	 */
	if (mlockall(MCL_CURRENT))
		err(1, "mlockall");
	open_file(ways[way].flags);
	pagemap = open("/proc/self/pagemap", O_RDONLY);
	look();
	prctl(PR_GET_NAME, old);
	prctl(PR_SET_NAME, name);
	ways[way].run();
	settle();
	prctl(PR_SET_NAME, old);
	if (!ways[way].silent)
		printf("%s %s %llu %llu\n", name, op, (unsigned long long)accesses,
		       (unsigned long long)misses);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		errx(2, "usage: pages NAME HOW FILE [ARGUMENT...]");
	name = argv[1];
	path = argv[3];
	args = argv + 4;
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	if (!strcmp(argv[2], "cached")) {
		open_file(O_RDONLY);
		look();
		printf("%llu\n", (unsigned long long)cached());
		return 0;
	}
	for (unsigned int i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[2], ways[i].how)) {
			run(i);
			return 0;
		}
	errx(2, "%s: no such way", argv[2]);
}
