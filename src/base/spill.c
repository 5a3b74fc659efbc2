/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* mkostemp */
#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/grow.h"
#include "base/log.h"

enum { SPILL_FIRST = 64, SPILL_READ = 1 << 16 };

/* The header of an item. */
struct spill_entry {
	uint64_t time_ns, nr;
	unsigned char item[];
};

/* A sorted run of the file, and the part of it that was read. */
struct spill_run {
	uint64_t at, left; /* bytes */
	unsigned char *held;
	size_t nr_held, next; /* entries */
};

struct spill {
	size_t item_bytes, stride;
	size_t nr, room, most; /* entries in memory */
	unsigned char *entries;
	uint64_t total, file_bytes;
	int fd; /* -1: none */
	struct spill_run *runs;
	size_t nr_runs;
	struct spill_run **heap; /* runs that have entries, the earliest first */
	size_t nr_heap;
};

struct spill *spill__new(size_t item_bytes, size_t memory_bytes)
{
	struct spill *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->item_bytes = item_bytes;
	s->stride = sizeof(struct spill_entry) + (item_bytes + 7) / 8 * 8;
	s->most = memory_bytes / s->stride > 2 ? memory_bytes / s->stride : 2;
	s->fd = -1;
	return s;
}

void spill__free(struct spill *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr_runs; i++)
		free(s->runs[i].held);
	if (s->fd >= 0)
		close(s->fd);
	free(s->runs);
	free(s->heap);
	free(s->entries);
	free(s);
}

/* ---- the file ---- */

static const char *spill_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

static int spill_file_err(int err, const char *what)
{
	return log_err(err == ENOENT || err == EACCES ? -EIO : -err,
		       "cannot %s a temporary file in %s: %s; set TMPDIR to use another directory",
		       what, spill_folder(), strerror(err));
}

static int spill_open(struct spill *s)
{
	char path[PATH_MAX];

	if (s->fd >= 0)
		return 0;
	snprintf(path, sizeof(path), "%s/iosonar-XXXXXX", spill_folder());
	s->fd = mkostemp(path, O_CLOEXEC);
	if (s->fd < 0)
		return spill_file_err(errno, "create");
	unlink(path);
	return 0;
}

static int spill_write(struct spill *s, const unsigned char *bytes, size_t nr)
{
	while (nr) {
		ssize_t done = pwrite(s->fd, bytes, nr, (off_t)s->file_bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return spill_file_err(done ? errno : ENOSPC, "write");
		bytes += done;
		nr -= (size_t)done;
		s->file_bytes += (uint64_t)done;
	}
	return 0;
}

static int spill_read(const struct spill *s, uint64_t at, unsigned char *bytes, size_t nr)
{
	while (nr) {
		ssize_t done = pread(s->fd, bytes, nr, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return spill_file_err(done ? errno : EIO, "read");
		bytes += done;
		nr -= (size_t)done;
		at += (uint64_t)done;
	}
	return 0;
}

/* ---- runs ---- */

static bool spill_is_before(const struct spill_entry *a, const struct spill_entry *b)
{
	return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->nr < b->nr);
}

static int spill_compare(const void *a, const void *b)
{
	return spill_is_before(a, b) ? -1 : 1; /* numbers are unique */
}

static void spill_sort(struct spill *s)
{
	if (s->nr)
		qsort(s->entries, s->nr, s->stride, spill_compare);
}

static int spill_end_run(struct spill *s)
{
	const size_t bytes = s->nr * s->stride;
	int err;

	if (GROW_BY_ONE(s->runs, s->nr_runs))
		return log_no_memory();
	spill_sort(s);
	err = spill_open(s);
	if (err)
		return err;
	s->runs[s->nr_runs++] = (struct spill_run){ .at = s->file_bytes, .left = bytes };
	s->nr = 0;
	return spill_write(s, s->entries, bytes);
}

static int spill_make_room(struct spill *s)
{
	size_t room = s->room ? 2 * s->room : SPILL_FIRST;
	unsigned char *entries;

	if (s->nr < s->room)
		return 0;
	if (s->room == s->most)
		return spill_end_run(s);
	room = room < s->most ? room : s->most;
	entries = reallocarray(s->entries, room, s->stride);
	if (!entries)
		return log_no_memory();
	s->entries = entries;
	s->room = room;
	return 0;
}

int spill__add(struct spill *s, uint64_t time_ns, const void *item)
{
	struct spill_entry *entry;
	int err = spill_make_room(s);

	if (err)
		return err;
	entry = (struct spill_entry *)(s->entries + s->nr++ * s->stride);
	entry->time_ns = time_ns;
	entry->nr = s->total++;
	memcpy(entry->item, item, s->item_bytes);
	return 0;
}

/* ---- merged ---- */

static const struct spill_entry *spill_first(const struct spill *s, const struct spill_run *run)
{
	return (const struct spill_entry *)(run->held + run->next * s->stride);
}

/* Reads the next entries of a run that has more. */
static int spill_fill(const struct spill *s, struct spill_run *run)
{
	size_t nr = SPILL_READ / s->stride ? SPILL_READ / s->stride : 1;
	int err;

	nr = run->left / s->stride < nr ? run->left / s->stride : nr;
	if (!run->held) /* its first read is its largest */
		run->held = reallocarray(NULL, nr, s->stride);
	if (!run->held)
		return log_no_memory();
	err = spill_read(s, run->at, run->held, nr * s->stride);
	run->at += nr * s->stride;
	run->left -= nr * s->stride;
	run->nr_held = nr;
	run->next = 0;
	return err;
}

static void spill_sift_down(struct spill *s, size_t at)
{
	struct spill_run **heap = s->heap, *run = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < s->nr_heap &&
		    spill_is_before(spill_first(s, heap[child + 1]), spill_first(s, heap[child])))
			child++;
		if (child >= s->nr_heap ||
		    spill_is_before(spill_first(s, run), spill_first(s, heap[child])))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = run;
}

static int spill_begin_merge(struct spill *s)
{
	int err = s->nr ? spill_end_run(s) : 0;

	free(s->entries); /* frees memory for the buffers of the runs */
	s->entries = NULL;
	s->room = s->nr = 0;
	s->heap = calloc(s->nr_runs, sizeof(struct spill_run *));
	if (!err && !s->heap)
		err = log_no_memory();
	for (size_t i = 0; !err && i < s->nr_runs; i++) {
		err = spill_fill(s, &s->runs[i]);
		s->heap[s->nr_heap++] = &s->runs[i];
	}
	for (size_t i = s->nr_heap; !err && i-- > 0;)
		spill_sift_down(s, i);
	return err;
}

/* Goes on after the earliest entry was handed out. */
static int spill_step(struct spill *s)
{
	struct spill_run *run = s->heap[0];
	int err = 0;

	if (++run->next == run->nr_held) {
		if (run->left)
			err = spill_fill(s, run);
		else
			s->heap[0] = s->heap[--s->nr_heap];
	}
	if (!err && s->nr_heap)
		spill_sift_down(s, 0);
	return err;
}

static int spill_each_of_runs(struct spill *s, spill_fn fn, void *arg)
{
	int err = spill_begin_merge(s);

	while (!err && s->nr_heap) {
		const struct spill_entry *entry = spill_first(s, s->heap[0]);

		err = fn(arg, entry->time_ns, entry->item);
		err = err ?: spill_step(s);
	}
	return err;
}

int spill__each(struct spill *s, spill_fn fn, void *arg)
{
	int err = 0;

	if (s->nr_runs)
		return spill_each_of_runs(s, fn, arg);
	spill_sort(s);
	for (size_t i = 0; !err && i < s->nr; i++) {
		const struct spill_entry *entry =
			(const struct spill_entry *)(s->entries + i * s->stride);

		err = fn(arg, entry->time_ns, entry->item);
	}
	return err;
}
