/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits_replay.c: waits of captures: entries come from the files, in order of time, and so does the
 * time; filters are applied here. Requires no privileges. A call belongs to the moment at which it
 * ended. Calls that never waited are not in a capture, only their number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/waits.h"
#include "base/log.h"
#include "session/source.h"
#include "session/waits_captures.h"
#include "session/waits_info.h"
#include "session/waits_source.h"

struct waits_replay {
	struct waits_captures captures;
	struct waits_stories **stories; /* by file: other machines have other threads */
	uint32_t calls;			/* mask of enum wait_call */
	bool is_asked;
};

static struct waits_replay *waits_replay(const struct session *s)
{
	return s->inside->data;
}

/* ---- entries ---- */

static bool waits_wants_call(const struct session *s, const struct wait_record *r)
{
	struct waits_replay *w = waits_replay(s);

	if (!(w->calls >> r->call & 1)) {
		w->captures.nr_left_out++;
		return false;
	}
	return waits_captures__wants(s, &(struct waits_whose){
						.start_ns = r->start_ns,
						.end_ns = r->end_ns,
						.inode = r->inode,
						.cgroup = r->cgroup,
						.dev = r->dev,
						.pid = r->pid,
						.nth = r->nth,
						.comm = r->comm,
					});
}

static int waits_hand_on_call(struct session *s, const struct wait_record *call)
{
	struct session_inside *in = s->inside;
	struct wait_record copy = *call;

	if (!waits_wants_call(s, call))
		return 0;
	if (in->alias)
		alias__comm(in->alias, copy.comm);
	return in->view->on_wait(in->state, s, &copy);
}

static int waits_hand_on_task(struct session *s, struct waits_stories *stories,
			      const struct wait_who *who)
{
	struct wait_who task = *who;

	if (s->inside->alias)
		alias__comm(s->inside->alias, task.comm);
	wait_commits__add_task(&stories->commits, &task);
	return 0;
}

static int waits_hand_on(struct session *s)
{
	struct waits_replay *w = waits_replay(s);
	struct waits_stories *stories = w->stories[w->captures.waits.from];
	const struct capture_wait *wait = w->captures.wait;
	const struct wait_command *command = &wait->command;
	char op[32];

	switch (wait->kind) {
	case CAPTURE_WAIT_CALL: return waits_hand_on_call(s, &wait->call);
	case CAPTURE_WAIT_COMMAND:
		return waits_stories__command(stories, command,
					      waits_source__op(s, command->op, op, sizeof(op)));
	case CAPTURE_WAIT_COMMIT: waits_stories__commit(stories, &wait->commit); return 0;
	case CAPTURE_WAIT_TASK: return waits_hand_on_task(s, stories, &wait->task);
	default: return 0; /* a request, which has no calls */
	}
}

/* ---- the run ---- */

static const char *waits_lacks_calls(uint32_t calls)
{
	for (uint32_t i = 0; i < NR_WAIT_CALLS; i++)
		if (calls >> i & 1)
			return wait_call__name((enum wait_call)i);
	return NULL;
}

static int waits_lacks(const struct capture_reader *reader)
{
	const char *path = capture_reader__path(reader);

	if (capture_reader__has_requests(reader))
		return log_err(-EINVAL, "%s contains requests, no calls: add --async", path);
	return log_err(-EINVAL, "%s contains no waits; waits -w keeps them", path);
}

/* Of several captures, each must have what is asked for. */
static int waits_check(struct waits_replay *w)
{
	const struct waits_captures *c = &w->captures;
	int err = waits_captures__check(c);
	uint32_t all = 0;

	for (size_t i = 0; i < capture_merge__nr(c->merge) && !err; i++) {
		const struct capture_reader *reader = waits_captures__reader(c, i);
		uint32_t calls = reader ? waits_info__calls(capture_reader__about(reader)) : 0;

		if (reader && w->is_asked && w->calls & ~calls)
			err = log_err(-EINVAL, "%s contains no %s: it was not followed",
				      capture_reader__label(reader),
				      waits_lacks_calls(w->calls & ~calls));
		all |= calls;
	}
	if (!w->is_asked)
		w->calls = all;
	return err;
}

static int waits_make_stories(struct waits_replay *w)
{
	size_t nr = capture_merge__nr(w->captures.merge);

	w->stories = calloc(nr + 1, sizeof(*w->stories));
	for (size_t i = 0; w->stories && i < nr; i++) {
		w->stories[i] = calloc(1, sizeof(**w->stories));
		if (!w->stories[i])
			return log_no_memory();
	}
	return w->stories ? 0 : log_no_memory();
}

static const struct waits_captures_kind waits_kind = {
	.one = "call",
	.has = capture_reader__has_waits,
	.lacks = waits_lacks,
};

static int waits_open(struct session *s)
{
	const struct waits_wants wants = s->inside->view->wants_waits(s->inside->state, s->options);
	struct waits_replay *w = s->inside->data = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return log_no_memory();
	w->captures.kind = &waits_kind;
	w->captures.filter = wants.filter;
	w->captures.file = wants.file;
	w->calls = wants.calls;
	w->is_asked = wants.is_asked;
	err = waits_captures__open(s);
	err = err ?: waits_check(w);
	err = err ?: waits_make_stories(w);
	return err ?: waits_captures__find(s);
}

static void waits_free(struct session *s)
{
	struct waits_replay *w = waits_replay(s);

	if (!w)
		return;
	for (size_t i = 0; w->stories && w->stories[i]; i++) {
		wait_threads__free(&w->stories[i]->threads);
		free(w->stories[i]);
	}
	free(w->stories);
	waits_captures__free(&w->captures);
	free(w);
}

/* ---- what a view asks ---- */

static const char *waits_stack(const struct session *s, uint32_t number)
{
	return capture_about__text(waits_captures__about(s), GLOSSARY_STACKS,
				   (struct glossary_id){ { number } });
}

static const struct waits_stories *waits_stories(const struct session *s)
{
	return waits_replay(s)->stories[waits_captures__from(s)];
}

static char *const *waits_op_names(const struct session *s)
{
	static char *const none[CAPTURE_NR_NAMES];
	char *const *names = capture_about__names(waits_captures__about(s), CAPTURE_NAMES_BLOCK);

	return names ? names : none;
}

/* A call is handed on while its entry is at hand. */
static const char *waits_fs(const struct session *s, const struct wait_record *record)
{
	(void)record;
	return waits_replay(s)->captures.wait->fs;
}

/* Of all captures, if all are whole. */
static bool waits_counts(const struct session *s, struct waits_counts *counts)
{
	const struct waits_captures *c = &waits_replay(s)->captures;
	bool known = waits_captures__are_whole(s);

	*counts = (struct waits_counts){ 0 };
	for (size_t i = 0; i < capture_merge__nr(c->merge); i++) {
		const struct capture_reader *reader = waits_captures__reader(c, i);

		if (reader)
			known &= waits_info__add(capture_reader__about(reader), counts);
	}
	return known;
}

static uint64_t waits_left_out(const struct session *s)
{
	const struct waits_captures *c = &waits_replay(s)->captures;

	return c->nr_left_out + waits_merge__nr_strange(&c->waits);
}

static const struct waits_answers waits_replay_answers = {
	.stack = waits_stack,
	.stories = waits_stories,
	.op_names = waits_op_names,
	.fs = waits_fs,
	.counts = waits_counts,
	.left_out = waits_left_out,
};

const struct session_source session_waits_replay = {
	.open = waits_open,
	.next = waits_captures__next,
	.hand_on = waits_hand_on,
	.look_every = 1024,
	.position = waits_captures__position,
	.finish = waits_captures__finish,
	.ledger = waits_captures__tell,
	.about = waits_captures__about,
	.waits = &waits_replay_answers,
	.captures = waits_captures__merge,
	.from = waits_captures__from,
	.free = waits_free,
};
