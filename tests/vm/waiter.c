/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waiter.c: calls that wait, timed by themselves: `waiter FILE CALL N BYTES [FLAG...]` makes N such
 * calls and prints the sum and the maximum of what CLOCK_MONOTONIC says they took, in ns. It yields
 * to every other task. fsync and the like write BYTES before each call, which is not timed.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct work {
	int fd;
	char *data, *map;
	size_t bytes;
	unsigned long nr;
	const char *path;
};

static unsigned long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000ULL + (unsigned long long)t.tv_nsec;
}

static ssize_t do_read(const struct work *w, off_t at)
{
	return pread(w->fd, w->data, w->bytes, at);
}

static ssize_t do_write(const struct work *w, off_t at)
{
	return pwrite(w->fd, w->data, w->bytes, at);
}

static ssize_t do_readv(const struct work *w, off_t at)
{
	struct iovec v[2] = { { w->data, w->bytes / 2 }, { w->data + w->bytes / 2, w->bytes / 2 } };

	return preadv(w->fd, v, 2, at);
}

static ssize_t do_preadv2(const struct work *w, off_t at)
{
	struct iovec v = { w->data, w->bytes };

	return preadv2(w->fd, &v, 1, at, RWF_HIPRI);
}

static ssize_t do_writev(const struct work *w, off_t at)
{
	struct iovec v[2] = { { w->data, w->bytes / 2 }, { w->data + w->bytes / 2, w->bytes / 2 } };

	return pwritev(w->fd, v, 2, at);
}

static ssize_t do_pwritev2(const struct work *w, off_t at)
{
	struct iovec v = { w->data, w->bytes };

	return pwritev2(w->fd, &v, 1, at, RWF_DSYNC);
}

static ssize_t do_load(const struct work *w, off_t at)
{
	return ((volatile char *)w->map)[at] == 0x7f ? -1 : 0;
}

static ssize_t do_store(const struct work *w, off_t at)
{
	((volatile char *)w->map)[at] = 1;
	return 0;
}

static ssize_t do_fdatasync(const struct work *w, off_t at)
{
	(void)at;
	return fdatasync(w->fd);
}

static ssize_t do_range(const struct work *w, off_t at)
{
	return sync_file_range(w->fd, at, (off_t)w->bytes,
			       SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
				       SYNC_FILE_RANGE_WAIT_AFTER);
}

/* Of one directory after the other. It need not be there. */
static ssize_t do_open(const struct work *w, off_t at)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s.%zu/file", w->path, (size_t)at / w->bytes);
	fd = open(path, O_RDONLY);
	return fd < 0 ? 0 : close(fd);
}

static ssize_t do_fsync(const struct work *w, off_t at)
{
	(void)at;
	return fsync(w->fd);
}

#ifdef __x86_64__
/* Number 74 is fsync, but in 32-bit calls sethostname, which refuses this length. The file is in
 * the registers of both. */
static ssize_t do_int80(const struct work *w, off_t at)
{
	int result;

	(void)at;
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "0"(74), "b"(w->fd), "c"(-1), "D"(w->fd)
			 : "memory");
	return result < 0 ? 0 : -1;
}
#endif

static const struct call {
	const char *name;
	ssize_t (*run)(const struct work *w, off_t at);
	int writes_before;
	int maps;
} calls[] = {
	{ "read", do_read },
	{ "readv", do_readv },
	{ "preadv2", do_preadv2 },
	{ "write", do_write },
	{ "writev", do_writev },
	{ "pwritev2", do_pwritev2 }, /* RWF_DSYNC */
	{ "fsync", do_fsync, 1 },
	{ "fdatasync", do_fdatasync, 1 },
	{ "range", do_range, 1 },
	{ "load", do_load, .maps = 1 }, /* page faults */
	{ "store", do_store, .maps = 1 },
	{ "open", do_open }, /* FILE.0/file, FILE.1/file, ... */
#ifdef __x86_64__
	{ "int80", do_int80 },
#endif
};

static const struct {
	const char *name;
	int flag;
} flags[] = {
	{ "direct", O_DIRECT },
	{ "append", O_APPEND },
	{ "sync", O_SYNC },
	{ "dsync", O_DSYNC },
};

static const struct call *find_call(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	return NULL;
}

static int find_flags(char **words)
{
	int all = O_RDWR | O_CREAT;

	for (; *words; words++)
		for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
			all |= strcmp(*words, flags[i].name) ? 0 : flags[i].flag;
	return all;
}

static int work(const struct work *w, const struct call *call)
{
	unsigned long long sum = 0, max = 0, took;

	for (unsigned long i = 0; i < w->nr; i++) {
		off_t at = (off_t)(i * w->bytes);

		if (call->writes_before && do_write(w, at) < 0)
			return 1;
		took = now_ns();
		if (call->run(w, at) < 0)
			return 1;
		took = now_ns() - took;
		sum += took;
		max = took > max ? took : max;
	}
	printf("%llu %llu\n", sum, max);
	return 0;
}

int main(int argc, char **argv)
{
	const struct call *call = argc >= 5 ? find_call(argv[2]) : NULL;
	struct work w = { .fd = -1, .path = argv[1] };

	if (!call)
		return 2;
	w.nr = strtoul(argv[3], NULL, 0);
	w.bytes = strtoul(argv[4], NULL, 0);
	w.fd = open(argv[1], find_flags(argv + 5), 0600);
	if (w.fd < 0 || posix_memalign((void **)&w.data, 4096, w.bytes) || nice(19) < 0)
		return 2;
	memset(w.data, 0, w.bytes);
	if (call->maps) {
		w.map = mmap(NULL, w.nr * w.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, w.fd, 0);
		if (w.map == MAP_FAILED || madvise(w.map, w.nr * w.bytes, MADV_RANDOM))
			return 2;
	}
	return work(&w, call);
}
