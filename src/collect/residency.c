/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* faccessat with AT_EACCESS, mincore */
#include "collect/residency.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/log.h"
#include "collect/rights.h"

#ifndef SYS_cachestat /* since 6.5; the same number on every machine */
#define SYS_cachestat 451
#endif

enum { RESIDENCY_WINDOW = 1 << 15 }; /* pages that are mapped at once: 128 MiB */

/* As linux/mman.h has them since 6.5. */
struct residency_range {
	uint64_t off, len; /* bytes; len 0: up to the end */
};
struct residency_stat {
	uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

/* ---- cachestat ---- */

static int residency_by_cachestat(struct residency *r, int fd)
{
	uint64_t step = r->part_pages * r->page_bytes;
	int err = 0;

	for (uint32_t i = 0; i < r->nr_parts && !err; i++) {
		/* The last part's end, not the file's: pages after it do not belong to the file. */
		struct residency_range range = { i * step,
						 residency__part_pages(r, i) * r->page_bytes };
		struct residency_stat stat = { 0 };

		err = syscall(SYS_cachestat, fd, &range, &stat, 0) ? -errno : 0;
		r->part_cached[i] = stat.cached;
		r->cached += stat.cached;
		r->dirty += stat.dirty;
		r->writeback += stat.writeback;
	}
	return err;
}

/* ---- mincore ---- */

static int residency_window(struct residency *r, int fd, uint64_t first, unsigned char *there)
{
	uint64_t nr = r->pages - first < RESIDENCY_WINDOW ? r->pages - first : RESIDENCY_WINDOW;
	size_t bytes = nr * r->page_bytes;
	void *at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)(first * r->page_bytes));
	int err;

	if (at == MAP_FAILED)
		return -errno;
	err = mincore(at, bytes, there) ? -errno : 0;
	for (uint64_t i = 0; !err && i < nr; i++) {
		if (!(there[i] & 1))
			continue;
		r->part_cached[(first + i) / r->part_pages]++;
		r->cached++;
	}
	munmap(at, bytes);
	return err;
}

static int residency_by_mincore(struct residency *r, int fd)
{
	unsigned char *there = malloc(RESIDENCY_WINDOW);
	int err = there ? 0 : -ENOMEM;

	r->dirty = r->writeback = UINT64_MAX;
	for (uint64_t first = 0; first < r->pages && !err; first += RESIDENCY_WINDOW)
		err = residency_window(r, fd, first, there);
	free(there);
	return err;
}

/* ---- the file ---- */

/* To other users, mincore reports every page as cached (since 5.2, 134fca9063ad). */
static bool residency_may_ask(const struct stat *st, int fd)
{
	struct rights rights;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rights__read(&rights, "");
	return st->st_uid == geteuid() || rights.caps >> CAP_FOWNER & 1 ||
	       !faccessat(AT_FDCWD, path, W_OK, AT_EACCESS);
}

static int residency_ask_kernel(struct residency *r, int fd, const struct stat *st)
{
	struct residency empty = *r;
	int err = residency_by_cachestat(r, fd);

	if (err != -ENOSYS && err != -EOPNOTSUPP)
		return err;
	*r = empty;
	if (!residency_may_ask(st, fd))
		return -EPERM;
	return residency_by_mincore(r, fd);
}

static int residency_say(int err, const char *path)
{
	if (err == -EPERM)
		return log_err(err,
			       "%s: only its owner, or a user who may write to it, can see what is "
			       "cached; run it as root",
			       path);
	return log_err(err == -EINVAL ? -EIO : err, "%s: %s", path, strerror(-err));
}

static int residency_of(struct residency *r, int fd, const char *path)
{
	struct stat st;
	uint64_t bytes = 0;
	int err = fstat(fd, &st) ? -errno : 0;

	if (!err && !S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return log_err(-EINVAL,
			       "%s is %s: only regular files and block devices have pages in the "
			       "page cache",
			       path, S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
	if (!err && S_ISBLK(st.st_mode))
		err = ioctl(fd, BLKGETSIZE64, &bytes) ? -errno : 0;
	else if (!err)
		bytes = (uint64_t)st.st_size;
	if (!err) {
		residency__plan(r, bytes, (uint32_t)sysconf(_SC_PAGESIZE));
		err = residency_ask_kernel(r, fd, &st);
	}
	return err ? residency_say(err, path) : 0;
}

/* A pipe without a writer would block us. */
int residency__read(struct residency *r, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;

	if (fd < 0)
		return log_err(errno == ENOENT ? -EINVAL : -errno, "%s: %s", path, strerror(errno));
	err = residency_of(r, fd, path);
	close(fd);
	return err;
}
