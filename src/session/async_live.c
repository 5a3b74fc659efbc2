/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async_live.c: requests of io_uring and libaio on this machine: programs send one record per
 * request, and the view gets them in the order of their completions on each CPU, and -w in the same
 * order, at least once a second.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "collect/cache.h"
#include "session/async_info.h"
#include "session/async_source.h"
#include "session/source.h"

enum { ASYNC_KEPT = 1024, ASYNC_KEPT_NS = 1000000000 };

struct async_live {
	struct async *async;
	/* with a recorder: */
	struct capture_wait *kept; /* wait to be written; NULL: no -w */
	size_t nr_kept;
	uint64_t written_ns, nr_requests;
};

static struct async_live *async_live(const struct session *s)
{
	return s->inside->data;
}

/* ---- what is kept ---- */

static int async_write(struct session *s)
{
	struct async_live *live = async_live(s);
	int err = s->inside->recorder
			  ? recorder__waits(s->inside->recorder, live->kept, live->nr_kept)
			  : 0;

	live->nr_kept = 0;
	live->written_ns = clock__mono_ns();
	return err;
}

static int async_keep(struct session *s, const struct async_record *record)
{
	struct async_live *live = async_live(s);
	struct capture_wait *wait;

	if (!s->inside->recorder || !live->kept)
		return 0;
	wait = &live->kept[live->nr_kept++];
	memset(wait, 0, sizeof(*wait));
	wait->kind = CAPTURE_WAIT_REQUEST;
	wait->request = *record;
	async_source__fs(s, record, wait->fs);
	live->nr_requests++;
	return live->nr_kept == ASYNC_KEPT ? async_write(s) : 0;
}

/* ---- what comes ---- */

static int async_hand_on(void *arg, const struct async_record *record)
{
	struct session *s = arg;
	const struct session_inside *in = s->inside;
	int err = async_keep(s, record);

	if (err)
		return err;
	return in->stopped || in->view_failed ? 0 : in->view->on_async(in->state, s, record);
}

static int async_open(struct session *s)
{
	struct session_inside *in = s->inside;
	const struct async_wants wants = in->view->wants_async(in->state, s->options);
	struct async_live *live = in->data = calloc(1, sizeof(*live));
	int err;

	if (live && s->options->file.write)
		live->kept = calloc(ASYNC_KEPT, sizeof(*live->kept));
	if (!live || (s->options->file.write && !live->kept))
		return log_no_memory();
	in->drains = true;
	err = async__open(&live->async, &wants);
	if (!err)
		s->start_ns = async__start_ns(live->async);
	return err;
}

/* What is in flight at the end is counted in a table that cannot be mapped. */
static void async_needs(const struct session *s, struct privilege_needs *needs)
{
	(void)s;
	needs->reads_maps = true;
}

static int async_keep_start(struct session *s)
{
	return async_info__put_start(s->inside->recorder, async__follows_aio(async_live(s)->async));
}

static int async_drain(struct session *s, enum session_drain what)
{
	struct async_live *live = async_live(s);
	int err = async__take(live->async, async_hand_on, s);

	if (err || !live->nr_kept)
		return err;
	if (what == DRAIN_SETTLED && clock__mono_ns() - live->written_ns < ASYNC_KEPT_NS)
		return 0;
	return async_write(s);
}

static void async_detach(struct session *s)
{
	async__detach(async_live(s)->async);
}

/* What a failed drain has left. */
static int async_settle(struct session *s)
{
	return async_live(s)->nr_kept ? async_write(s) : 0;
}

static bool async_counts(const struct session *s, struct async_counts *counts)
{
	async__counts(async_live(s)->async, counts);
	return true;
}

static int async_keep_end(struct session *s)
{
	struct async_counts counts;

	if (!s->inside->recorder)
		return 0;
	async_counts(s, &counts);
	return async_info__put_end(s->inside->recorder, &counts, async_live(s)->nr_requests);
}

static char *async_find_text(const struct session *s, enum glossary_kind kind,
			     struct glossary_id id)
{
	if (kind == GLOSSARY_FILES)
		return async__file(async_live(s)->async, id.words[0], id.words[1]);
	return kind == GLOSSARY_DISKS ? cache__disk((uint32_t)id.words[0]) : NULL;
}

static void async_free(struct session *s)
{
	struct async_live *live = async_live(s);

	if (!live)
		return;
	free(live->kept);
	async__free(live->async);
	free(live);
}

/* A request on a socket has no file of a disk. */
static const char *async_fs(const struct session *s, const struct async_record *r)
{
	return r->inode ? async__fs(async_live(s)->async, r->inode, r->dev) : "";
}

static const struct async_answers async_live_answers = {
	.fs = async_fs,
	.counts = async_counts,
};

const struct session_source session_async_live = {
	.open = async_open,
	.needs = async_needs,
	.keep_start = async_keep_start,
	.drain = async_drain,
	.detach = async_detach,
	.settle = async_settle,
	.keep_end = async_keep_end,
	.async = &async_live_answers,
	.find_text = async_find_text,
	.free = async_free,
};
