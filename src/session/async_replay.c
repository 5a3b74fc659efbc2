/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async_replay.c: requests of io_uring and libaio from captures: they come from the files, in order
 * of time, and so does the time; filters are applied here. Requires no privileges. A request
 * belongs to the moment at which its completion was posted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "session/async_info.h"
#include "session/async_source.h"
#include "session/source.h"
#include "session/waits_captures.h"

/* The data of the source are its captures alone. */
static struct waits_captures *async_captures(const struct session *s)
{
	return s->inside->data;
}

static bool async_wants_request(const struct session *s, const struct async_record *r)
{
	return waits_captures__wants(s, &(struct waits_whose){
						.start_ns = r->submit_ns,
						.end_ns = r->post_ns,
						.inode = r->inode,
						.cgroup = r->cgroup,
						.dev = r->dev,
						.pid = r->pid,
						.nth = r->nth,
						.comm = r->comm,
					});
}

static int async_hand_on(struct session *s)
{
	const struct capture_wait *wait = async_captures(s)->wait;
	struct session_inside *in = s->inside;
	struct async_record copy;

	if (wait->kind != CAPTURE_WAIT_REQUEST || !async_wants_request(s, &wait->request))
		return 0;
	copy = wait->request;
	if (in->alias)
		alias__comm(in->alias, copy.comm);
	return in->view->on_async(in->state, s, &copy);
}

static int async_lacks(const struct capture_reader *reader)
{
	const char *path = capture_reader__path(reader);

	if (capture_reader__has_waits(reader))
		return log_err(-EINVAL, "%s contains calls, no requests: remove --async", path);
	return log_err(-EINVAL, "%s contains no requests; waits --async -w keeps them", path);
}

static const struct waits_captures_kind async_kind = {
	.one = "request",
	.has = capture_reader__has_requests,
	.lacks = async_lacks,
};

static int async_open(struct session *s)
{
	const struct async_wants wants = s->inside->view->wants_async(s->inside->state, s->options);
	struct waits_captures *c = s->inside->data = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return log_no_memory();
	c->kind = &async_kind;
	c->filter = wants.filter;
	c->file = wants.file;
	err = waits_captures__open(s);
	err = err ?: waits_captures__check(c);
	return err ?: waits_captures__find(s);
}

static void async_free(struct session *s)
{
	if (async_captures(s))
		waits_captures__free(async_captures(s));
	free(async_captures(s));
}

/* ---- what a view asks ---- */

/* A request is handed on while its entry is at hand. */
static const char *async_fs(const struct session *s, const struct async_record *record)
{
	(void)record;
	return async_captures(s)->wait->fs;
}

/* Of all captures, if all are whole. */
static bool async_counts(const struct session *s, struct async_counts *counts)
{
	const struct waits_captures *c = async_captures(s);
	bool known = waits_captures__are_whole(s);

	*counts = (struct async_counts){ 0 };
	for (size_t i = 0; i < capture_merge__nr(c->merge); i++) {
		const struct capture_reader *reader = waits_captures__reader(c, i);

		if (reader)
			known &= async_info__add(capture_reader__about(reader), counts);
	}
	return known;
}

static uint64_t async_left_out(const struct session *s)
{
	return async_captures(s)->nr_left_out;
}

static const struct async_answers async_replay_answers = {
	.fs = async_fs,
	.counts = async_counts,
	.left_out = async_left_out,
};

const struct session_source session_async_replay = {
	.open = async_open,
	.next = waits_captures__next,
	.hand_on = async_hand_on,
	.look_every = 1024,
	.position = waits_captures__position,
	.finish = waits_captures__finish,
	.ledger = waits_captures__tell,
	.about = waits_captures__about,
	.async = &async_replay_answers,
	.captures = waits_captures__merge,
	.from = waits_captures__from,
	.free = async_free,
};
