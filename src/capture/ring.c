/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "capture/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/deputy.h"
#include "base/landlock.h"
#include "base/log.h"
#include "base/privilege.h"
#include "capture/ring_file.h"
#include "capture/ring_leftover.h"
#include "capture/ring_list.h"
#include "decode/column.h"

enum ring_order { RING_OPEN = 1, RING_KEEP, RING_KEEP_FULL, RING_SYNC, RING_DROP };

enum {
	RING_ORDERS = 16,	  /* that may be under way */
	RING_PROBE = 64 << 10,	  /* room that a new file must find */
	RING_BLOCK = 128 << 10,	  /* of a file's share, at least, for its last block */
	RING_PATIENCE = 10,	  /* seconds for the deputy of a run that was killed */
	RING_NUMBERS_TRIED = 100, /* leftovers that could not be recovered keep their numbers */
};

/* In the deputy. */
struct ring_work {
	struct ring_list list;
	char stem[RING_NAME];
	uint32_t open[2]; /* numbers of the file that is written and of the spare, */
	int nr_open;	  /* as far as there are such */
	uint32_t next;
	mode_t mode;
	uint64_t share; /* bytes of a file */
};

struct ring {
	struct deputy deputy;
	char *path;
	uint64_t file_bytes;
	int spare; /* the next file; -1: none */
	enum ring_order orders[RING_ORDERS];
	size_t nr_orders;
	int err; /* the first failure, logged */
};

/* ---- in the deputy ---- */

static void ring_work_unlink(const struct ring_work *w, uint32_t number)
{
	char name[RING_NAME];

	unlinkat(w->list.directory, ring_name__temporary(name, w->stem, number), 0);
}

static int ring_work_create(struct ring_work *w)
{
	char name[RING_NAME];
	int fd = -EEXIST;

	for (int i = 0; fd == -EEXIST && i < RING_NUMBERS_TRIED; i++) {
		fd = ring_list__create(&w->list, ring_name__temporary(name, w->stem, w->next),
				       w->mode);
		w->next += fd == -EEXIST;
	}
	return fd;
}

/* A file system without fallocate() tells when it is written to. */
static bool ring_work_has_room(int fd)
{
	return !fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, RING_PROBE) || errno != ENOSPC;
}

/* A full disk takes the oldest files, but not all: what fills it may go on. */
static bool ring_work_yield(struct ring_work *w)
{
	return ring_list__nr_files(&w->list) > RING_FILES_LEAST &&
	       ring_list__remove_oldest(&w->list);
}

static void ring_work_open(struct ring_work *w, struct deputy_answer *answer)
{
	int fd = w->nr_open < 2 ? ring_work_create(w) : -EMFILE;

	while (fd == -ENOSPC && ring_work_yield(w))
		fd = ring_work_create(w);
	if (fd < 0) {
		answer->err = fd;
		return;
	}
	while (!ring_work_has_room(fd))
		if (!ring_work_yield(w)) {
			ring_work_unlink(w, w->next);
			close(fd);
			answer->err = -ENOSPC;
			return;
		}
	answer->warning = fchmod(fd, w->mode) ? -errno : 0;
	answer->fd = fd;
	w->open[w->nr_open++] = w->next++;
}

static int ring_work_sync(const struct ring_work *w, uint64_t *bytes)
{
	char name[RING_NAME];
	int fd = ring_list__open(&w->list, ring_name__temporary(name, w->stem, w->open[0])), err;
	struct stat st;

	if (fd < 0)
		return fd;
	err = fsync(fd) || fstat(fd, &st) ? -errno : 0;
	close(fd);
	*bytes = err ? 0 : (uint64_t)st.st_size;
	return err;
}

/* The oldest go first, so that the limits hold while the next file is written. */
static void ring_work_keep(struct ring_work *w, bool full, struct deputy_answer *answer)
{
	char from[RING_NAME], to[RING_NAME];
	uint64_t bytes = 0;

	if (!w->nr_open)
		return;
	ring_list__make_room(&w->list, 2, 2 * w->share);
	answer->err = ring_work_sync(w, &bytes);
	ring_name__temporary(from, w->stem, w->open[0]);
	ring_name__make(to, w->stem, w->open[0]);
	answer->err = answer->err ?: ring_list__publish(&w->list, from, to);
	if (answer->err)
		return;
	w->open[0] = w->open[1];
	w->nr_open--;
	ring_list__make_room(&w->list, 1, w->share);
	if (full)
		ring_work_yield(w);
	answer->warning = ring_list__write_manifest(&w->list);
}

static void ring_work_sync_current(struct ring_work *w, struct deputy_answer *answer)
{
	uint64_t bytes = 0;

	if (!w->nr_open)
		return;
	answer->err = ring_work_sync(w, &bytes);
	if (bytes > w->share)
		ring_list__make_room(&w->list, 1, bytes);
}

static void ring_work_drop(struct ring_work *w)
{
	if (!w->nr_open)
		return;
	w->next = w->open[--w->nr_open];
	ring_work_unlink(w, w->next);
}

static void ring_work_obey(const void *arg, uint32_t order, struct deputy_answer *answer)
{
	struct ring_work *w = (struct ring_work *)arg;

	switch ((enum ring_order)order) {
	case RING_OPEN: ring_work_open(w, answer); break;
	case RING_KEEP: ring_work_keep(w, false, answer); break;
	case RING_KEEP_FULL: ring_work_keep(w, true, answer); break;
	case RING_SYNC: ring_work_sync_current(w, answer); break;
	case RING_DROP: ring_work_drop(w); break;
	}
}

/*
 * It opens, renames and removes files, so it has a list of calls of its own, and Landlock confines
 * it to the directory. A service manager's SIGTERM reaches it, too: the run says when it ends.
 */
static void ring_work_confine(const void *arg)
{
	const struct ring_work *w = arg;
	const struct privilege_needs needs = { .role = PRIVILEGE_KEEPS };
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	landlock__restrict_to_keep(&w->list.directory, 1);
	privilege__filter_calls(&needs);
}

/* ---- the start ---- */

/* The deputy of a run that was killed may still be syncing. */
static int ring_lock(int directory)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	int tries = RING_PATIENCE * 10;

	while (flock(directory, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK)
			return -errno;
		if (!tries--)
			return -EBUSY;
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int ring_take(const struct ring_options *o, struct ring_list *list)
{
	int err;

	list->directory = open(o->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (list->directory < 0)
		return log_err(-EIO, "cannot open the directory '%s' of --ring: %s", o->path,
			       strerror(errno));
	err = ring_lock(list->directory);
	if (err == -EBUSY)
		return log_err(err, "another iosonar records into '%s'", o->path);
	return err ? log_err(err, "cannot lock '%s': %s", o->path, strerror(-err)) : 0;
}

static int ring_begin(const struct ring_options *o, struct ring_work *w)
{
	char size[16];
	int err = ring_list__load(&w->list);

	err = err ?: ring_leftover__recover(&w->list);
	if (err)
		return err;
	w->next = ring_list__last_number(&w->list, w->stem) + 1;
	ring_list__make_room(&w->list, 1, w->share);
	err = ring_list__write_manifest(&w->list);
	if (err && err != -ENOSPC)
		return log_err(-EIO, "cannot write the manifest in '%s': %s", o->path,
			       strerror(-err));
	if (ring_list__nr_files(&w->list))
		log_note("%s: %zu files with %s of earlier recordings", o->path,
			 ring_list__nr_files(&w->list),
			 text__bytes(size, sizeof(size), ring_list__bytes(&w->list)));
	return 0;
}

static int ring_fork(struct ring *ring, const struct ring_work *w)
{
	const struct deputy_work work = {
		.name = "iosonar-ring",
		.files = { w->list.directory },
		.nr_files = 1,
		.confine = ring_work_confine,
		.obey = ring_work_obey,
		.arg = w,
	};
	int err = deputy__fork(&ring->deputy, &work);

	return err ? log_err(err, "cannot start the process that creates the files of --ring: %s",
			     strerror(-err))
		   : 0;
}

static struct ring *ring_new(const struct ring_options *o, const struct ring_work *w)
{
	struct ring *ring = calloc(1, sizeof(*ring));
	uint64_t rest = w->share / 8 > RING_BLOCK ? w->share / 8 : RING_BLOCK;

	if (!ring)
		return NULL;
	ring->path = strdup(o->path);
	ring->spare = -1;
	ring->file_bytes = w->share - rest;
	return ring;
}

int ring__open(const struct ring_options *o, struct ring **ring)
{
	struct ring_work work = {
		.list = { .directory = -1, .mode = o->mode, .size = o->size, .files = o->files },
		.mode = o->mode,
		.share = o->size / o->files,
	};
	int err;

	ring_name__stem(work.stem, o->host, o->boot_id);
	*ring = ring_new(o, &work);
	if (!*ring || !(*ring)->path)
		err = log_err(-ENOMEM, "out of memory");
	else
		err = ring_take(o, &work.list);
	err = err ?: ring_begin(o, &work);
	err = err ?: ring_fork(*ring, &work);
	ring_list__free(&work.list);
	if (work.list.directory >= 0)
		close(work.list.directory);
	if (err) {
		ring__end(*ring);
		*ring = NULL;
	}
	return err;
}

/* ---- in its parent ---- */

uint64_t ring__file_bytes(const struct ring *ring)
{
	return ring->file_bytes;
}

static int ring_fail(struct ring *ring, int err, const char *what)
{
	if (!ring->err)
		ring->err = log_err(err == -ENOMEM ? err : -EIO, "%s: cannot %s: %s", ring->path,
				    what, strerror(-err));
	return ring->err;
}

static const char *const ring_words[] = {
	[RING_OPEN] = "create a file",	      [RING_KEEP] = "complete a file",
	[RING_KEEP_FULL] = "complete a file", [RING_SYNC] = "sync a file",
	[RING_DROP] = "remove a file",
};

static void ring_take_answer(struct ring *ring, const struct deputy_answer *answer)
{
	enum ring_order order = ring->orders[0];

	memmove(ring->orders, ring->orders + 1, --ring->nr_orders * sizeof(ring->orders[0]));
	if (order == RING_OPEN)
		ring->spare = answer->fd;
	if (answer->err && answer->err != -ENOSPC)
		ring_fail(ring, answer->err, ring_words[order]);
	else if (answer->warning && order != RING_OPEN)
		log_warn("%s: cannot write the manifest: %s", ring->path,
			 strerror(-answer->warning));
}

/* Takes the answers that are there, or waits for all. */
static int ring_hear(struct ring *ring, bool waits)
{
	while (ring->nr_orders && !ring->err) {
		struct deputy_answer answer;
		int err = waits ? deputy__answer(&ring->deputy, &answer)
				: deputy__try_answer(&ring->deputy, &answer);

		if (err == -EAGAIN)
			break;
		if (err)
			return ring_fail(ring, err, "go on: its process has ended");
		ring_take_answer(ring, &answer);
	}
	return ring->err;
}

static int ring_order(struct ring *ring, enum ring_order order)
{
	int err = ring_hear(ring, ring->nr_orders == RING_ORDERS);

	if (err)
		return err;
	if (deputy__order(&ring->deputy, order))
		return ring_fail(ring, -ECHILD, "go on: its process has ended");
	ring->orders[ring->nr_orders++] = order;
	return 0;
}

static int ring_do(struct ring *ring, enum ring_order order)
{
	return ring_order(ring, order) ?: ring_hear(ring, true);
}

/* The spare was ordered when the last file had begun. */
int ring__file(struct ring *ring)
{
	int err = ring_hear(ring, ring->spare < 0), fd;

	if (!err && ring->spare < 0)
		err = ring_do(ring, RING_OPEN);
	if (err || ring->spare < 0)
		return err ?: -ENOSPC;
	fd = ring->spare;
	ring->spare = -1;
	return fd;
}

int ring__keep(struct ring *ring)
{
	return ring_order(ring, RING_KEEP);
}

int ring__keep_full(struct ring *ring)
{
	return ring_do(ring, RING_KEEP_FULL);
}

int ring__drop(struct ring *ring)
{
	return ring_do(ring, RING_DROP);
}

int ring__prepare(struct ring *ring)
{
	return ring->spare < 0 ? ring_order(ring, RING_OPEN) : 0;
}

int ring__sync(struct ring *ring)
{
	int err = ring_hear(ring, false);

	if (err || ring->nr_orders)
		return err;
	return ring_order(ring, RING_SYNC) ?: 1;
}

int ring__finish(struct ring *ring)
{
	int err = ring_hear(ring, true);

	if (ring->spare < 0)
		return err;
	close(ring->spare);
	ring->spare = -1;
	return err ?: ring_do(ring, RING_DROP);
}

void ring__end(struct ring *ring)
{
	if (!ring)
		return;
	if (ring->deputy.pid)
		ring__finish(ring);
	deputy__end(&ring->deputy);
	free(ring->path);
	free(ring);
}
