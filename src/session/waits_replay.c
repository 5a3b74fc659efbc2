/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits_replay.c: waits of captures: entries come from the files, in order of time, and so does the
 * time; filters are applied here. Requires no privileges. A call belongs to the moment at which it
 * ended. Calls that never waited are not in a capture, only their number.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/waits.h"
#include "base/log.h"
#include "capture/filter.h"
#include "capture/waits_merge.h"
#include "session/host_source.h"
#include "session/source.h"
#include "session/waits_info.h"
#include "session/waits_source.h"

struct waits_replay {
	struct capture_merge *merge;
	struct waits_merge waits;
	const struct capture_wait *wait; /* at hand */
	struct waits_stories **stories;	 /* by file: other machines have other threads */
	struct waits_wants wants;
	struct glossary files, cgroups; /* ids that --file and --cgroup mean */
	uint64_t nr_left_out, last_ns;
};

static struct waits_replay *waits_replay(const struct session *s)
{
	return s->inside->data;
}

static const struct capture_about *waits_about(const struct session *s)
{
	return capture_merge__about(waits_replay(s)->merge);
}

/* ---- filters ---- */

static bool waits_wants_task(const struct waits_replay *w, const struct wait_record *r)
{
	const struct filter_options *f = w->wants.filter;
	const struct glossary_id cgroup = { { r->cgroup } };

	if (f->pid.given && f->pid.value != r->pid)
		return false;
	if (f->comm && strncmp(f->comm, r->comm, WAIT_COMM_LEN))
		return false;
	return !f->cgroup || glossary__find(&w->cgroups, cgroup);
}

static bool waits_wants_call(const struct session *s, const struct wait_record *r)
{
	const struct waits_replay *w = waits_replay(s);
	const struct glossary_id file = { { r->inode, io_file_place(r->dev, r->nth) } };

	if (r->end_ns < s->inside->span.from_ns || r->end_ns >= s->inside->span.to_ns)
		return false;
	if (!(w->wants.calls >> r->call & 1))
		return false;
	if (w->wants.filter->min_ns.given &&
	    r->end_ns - r->start_ns < w->wants.filter->min_ns.value)
		return false;
	return waits_wants_task(w, r) && (!w->wants.file || glossary__find(&w->files, file));
}

static int waits_add_id(struct glossary *ids, struct glossary_id id)
{
	return glossary__add(ids, id, NULL) ? 0 : log_no_memory();
}

static int waits_find_cgroups(struct waits_replay *w)
{
	const struct glossary *all = &capture_merge__about(w->merge)->glossaries[GLOSSARY_CGROUPS];
	const char *wanted = w->wants.filter->cgroup;
	int err = 0;

	for (size_t i = 0; wanted && i < all->nr && !err; i++)
		if (all->entries[i].text &&
		    capture_filter__is_in_cgroup(all->entries[i].text, wanted))
			err = waits_add_id(&w->cgroups, all->entries[i].id);
	if (err || !wanted || w->cgroups.nr)
		return err;
	return log_err(-EINVAL, "--cgroup %.128s: no call of the capture is from this cgroup",
		       wanted);
}

/* A path; or the block device itself, by its name. */
static int waits_find_files(struct waits_replay *w)
{
	const struct capture_about *about = capture_merge__about(w->merge);
	const struct glossary *files = &about->glossaries[GLOSSARY_FILES];
	const struct glossary *disks = &about->glossaries[GLOSSARY_DISKS];
	const char *wanted = w->wants.file;
	const char *disk = wanted && !strncmp(wanted, "/dev/", 5) ? wanted + 5 : NULL;
	int err = 0;

	for (size_t i = 0; wanted && i < files->nr && !err; i++)
		if (files->entries[i].text && !strcmp(files->entries[i].text, wanted))
			err = waits_add_id(&w->files, files->entries[i].id);
	for (size_t i = 0; disk && i < disks->nr && !err; i++)
		if (disks->entries[i].text && !strcmp(disks->entries[i].text, disk))
			err = waits_add_id(&w->files, (struct glossary_id){
							      { FILE_METADATA,
								disks->entries[i].id.words[0] } });
	if (err || !wanted || w->files.nr)
		return err;
	return log_err(-EINVAL, "--file %.128s: no call of the capture is on this file", wanted);
}

/* ---- entries ---- */

static int waits_next(struct session *s, uint64_t *time_ns)
{
	struct waits_replay *w = waits_replay(s);
	int err;

	w->wait = waits_merge__next(&w->waits, &err);
	if (!w->wait)
		return err;
	/* What a call waited for comes at the call's own time. */
	if (w->wait->kind == CAPTURE_WAIT_CALL && w->wait->call.end_ns > w->last_ns)
		w->last_ns = w->wait->call.end_ns;
	*time_ns = w->last_ns < s->inside->span.to_ns ? w->last_ns : 0;
	return 1;
}

static int waits_hand_on_call(struct session *s, const struct wait_record *call)
{
	struct session_inside *in = s->inside;
	struct wait_record copy = *call;

	if (!waits_wants_call(s, call)) {
		waits_replay(s)->nr_left_out++;
		return 0;
	}
	if (in->alias)
		alias__comm(in->alias, copy.comm);
	return in->view->on_wait(in->state, s, &copy);
}

static int waits_hand_on(struct session *s)
{
	struct waits_replay *w = waits_replay(s);
	struct waits_stories *stories = w->stories[w->waits.from];
	const struct wait_command *command = &w->wait->command;
	struct wait_who task;
	char op[32];

	switch (w->wait->kind) {
	case CAPTURE_WAIT_CALL: return waits_hand_on_call(s, &w->wait->call);
	case CAPTURE_WAIT_COMMAND:
		return waits_stories__command(stories, command,
					      waits_source__op(s, command->op, op, sizeof(op)));
	case CAPTURE_WAIT_COMMIT: waits_stories__commit(stories, &w->wait->commit); return 0;
	default: break;
	}
	task = w->wait->task;
	if (s->inside->alias)
		alias__comm(s->inside->alias, task.comm);
	wait_commits__add_task(&stories->commits, &task);
	return 0;
}

/* -n: what is left belongs in the ledger, too. */
static void waits_finish(struct session *s)
{
	struct waits_replay *w = waits_replay(s);
	uint64_t time_ns;

	while (s->inside->stopped && !s->inside->interrupted && waits_next(s, &time_ns) > 0)
		w->nr_left_out += w->wait->kind == CAPTURE_WAIT_CALL;
}

/* ---- the run ---- */

static const char *waits_lacks(uint32_t calls)
{
	for (uint32_t i = 0; i < NR_WAIT_CALLS; i++)
		if (calls >> i & 1)
			return wait_call__name((enum wait_call)i);
	return NULL;
}

/* A merged file may have captures of other kinds beside those of waits. */
static bool waits_lacks_all(const struct capture_merge *merge, size_t nr)
{
	const struct capture_reader *reader = capture_merge__reader(merge, nr);

	if (capture_reader__nr_parts(reader) == 1)
		return true;
	for (size_t i = 0; i < capture_merge__nr(merge); i++)
		if (capture_reader__has_waits(capture_merge__reader(merge, i)))
			return false;
	return true;
}

/* Of several captures, each must have what is asked for. */
static int waits_check(struct waits_replay *w, bool is_asked)
{
	uint32_t all = 0;

	for (size_t i = 0; i < capture_merge__nr(w->merge); i++) {
		const struct capture_reader *reader = capture_merge__reader(w->merge, i);
		uint32_t calls = waits_info__calls(capture_reader__about(reader));

		if (!capture_reader__has_waits(reader)) {
			if (waits_lacks_all(w->merge, i))
				return log_err(-EINVAL, "%s contains no waits; waits -w keeps them",
					       capture_reader__path(reader));
			continue;
		}
		if (is_asked && w->wants.calls & ~calls)
			return log_err(-EINVAL, "%s contains no %s: it was not followed",
				       capture_reader__label(reader),
				       waits_lacks(w->wants.calls & ~calls));
		all |= calls;
	}
	if (!is_asked)
		w->wants.calls = all;
	return 0;
}

static void waits_find_span(struct session *s)
{
	struct capture_merge *merge = waits_replay(s)->merge;
	uint64_t start_ns, end_ns, *last_ns = &s->inside->span.end_ns;
	bool some = false;

	for (size_t i = 0; i < capture_merge__nr(merge); i++) {
		uint64_t shift_ns = capture_merge__shift_ns(merge, i);

		if (!capture_reader__has_waits(capture_merge__reader(merge, i)) ||
		    !capture_reader__run(capture_merge__reader(merge, i), &start_ns, &end_ns))
			continue;
		if (!some || start_ns + shift_ns < s->start_ns)
			s->start_ns = start_ns + shift_ns;
		if (!some || end_ns + shift_ns > *last_ns)
			*last_ns = end_ns + shift_ns;
		some = true;
	}
}

static int waits_make_stories(struct waits_replay *w)
{
	size_t nr = capture_merge__nr(w->merge);
	int err = waits_merge__init(&w->waits, w->merge);

	w->stories = calloc(nr + 1, sizeof(*w->stories));
	for (size_t i = 0; w->stories && i < nr && !err; i++) {
		w->stories[i] = calloc(1, sizeof(**w->stories));
		err = w->stories[i] ? 0 : -ENOMEM;
	}
	return w->stories && !err ? 0 : log_no_memory();
}

static int waits_open(struct session *s)
{
	const struct option_list *files = &s->options->file.read;
	struct session_inside *in = s->inside;
	struct waits_replay *w = in->data = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return log_no_memory();
	in->view_rests = in->view->only_at_end && !s->options->run.interval_ns.given &&
			 !s->options->run.count.given;
	w->wants = in->view->wants_waits(in->state, s->options);
	err = capture_merge__open(files->words, files->nr, &w->merge);
	if (err)
		return session_file_err(err);
	host_source_tell_steps(w->merge);
	waits_find_span(s);
	err = waits_check(w, w->wants.is_asked);
	err = err ?: waits_make_stories(w);
	err = err ?: waits_find_cgroups(w);
	err = err ?: waits_find_files(w);
	if (!err && in->alias && capture_merge__alias(w->merge, in->alias))
		err = log_no_memory();
	return err;
}

static void waits_position(const struct session *s, uint64_t *at, uint64_t *all)
{
	const struct capture_merge *merge = waits_replay(s)->merge;

	*at = *all = 0;
	for (size_t i = 0; i < capture_merge__nr(merge); i++) {
		*at += capture_reader__position(capture_merge__reader(merge, i));
		*all += capture_reader__bytes(capture_merge__reader(merge, i));
	}
}

/* Only the file knows what a full disk lost. */
static bool waits_tell_lost(const struct capture_reader *reader)
{
	const struct capture_counts *lost = &capture_reader__about(reader)->trailer.lost;
	bool told = false;

	for (size_t i = 0; i < lost->nr; i++) {
		if (!lost->counts[i].value)
			continue;
		told = true;
		log_warn("%s lacks %" PRIu64 " calls: %s", capture_reader__label(reader),
			 lost->counts[i].value, lost->counts[i].name);
	}
	return told;
}

static void waits_tell(struct session *s)
{
	const struct capture_merge *merge = waits_replay(s)->merge;

	for (size_t i = 0; i < capture_merge__nr(merge); i++) {
		const struct capture_reader *reader = capture_merge__reader(merge, i);
		const struct capture_damage *damage = capture_reader__damage(reader);

		capture_damage__tell(damage, capture_reader__label(reader));
		s->inside->lost |= waits_tell_lost(reader) || !capture_damage__is_whole(damage);
	}
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
	if (w->merge)
		waits_merge__free(&w->waits);
	glossary__free(&w->files);
	glossary__free(&w->cgroups);
	capture_merge__free(w->merge);
	free(w);
}

/* ---- what a view asks ---- */

static const char *waits_stack(const struct session *s, uint32_t number)
{
	return capture_about__text(waits_about(s), GLOSSARY_STACKS,
				   (struct glossary_id){ { number } });
}

static const struct waits_stories *waits_stories(const struct session *s)
{
	return waits_replay(s)->stories[waits_replay(s)->waits.from];
}

static char *const *waits_op_names(const struct session *s)
{
	static char *const none[CAPTURE_NR_NAMES];
	char *const *names = capture_about__names(waits_about(s), CAPTURE_NAMES_BLOCK);

	return names ? names : none;
}

/* A call is handed on while its entry is at hand. */
static const char *waits_fs(const struct session *s, const struct wait_record *record)
{
	(void)record;
	return waits_replay(s)->wait->fs;
}

/* Of all captures, if all are whole. */
static bool waits_counts(const struct session *s, struct waits_counts *counts)
{
	const struct capture_merge *merge = waits_replay(s)->merge;
	bool known = !s->inside->interrupted;

	*counts = (struct waits_counts){ 0 };
	for (size_t i = 0; i < capture_merge__nr(merge); i++) {
		const struct capture_reader *reader = capture_merge__reader(merge, i);

		if (!capture_reader__has_waits(reader))
			continue;
		known &= waits_info__add(capture_reader__about(reader), counts) &&
			 capture_damage__is_whole(capture_reader__damage(reader));
	}
	return known;
}

static uint64_t waits_left_out(const struct session *s)
{
	const struct waits_replay *w = waits_replay(s);

	return w->nr_left_out + waits_merge__nr_strange(&w->waits);
}

static const struct capture_merge *waits_captures(const struct session *s)
{
	return waits_replay(s)->merge;
}

static size_t waits_from(const struct session *s)
{
	return waits_replay(s)->waits.from;
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
	.next = waits_next,
	.hand_on = waits_hand_on,
	.look_every = 1024,
	.position = waits_position,
	.finish = waits_finish,
	.ledger = waits_tell,
	.about = waits_about,
	.waits = &waits_replay_answers,
	.captures = waits_captures,
	.from = waits_from,
	.free = waits_free,
};
