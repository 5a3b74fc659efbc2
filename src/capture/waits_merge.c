/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/waits_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "wire/file_id.h"

int waits_merge__init(struct waits_merge *w, struct capture_merge *merge)
{
	w->merge = merge;
	w->files = calloc(capture_merge__nr(merge) + 1, sizeof(*w->files));
	for (size_t i = 0; i < capture_merge__nr(merge); i++)
		capture_reader__rewind_waits(capture_merge__reads(merge, i));
	return w->files ? 0 : -ENOMEM;
}

void waits_merge__free(struct waits_merge *w)
{
	for (size_t i = 0; w->files && i < capture_merge__nr(w->merge); i++)
		capture_waits__free(&w->files[i].chunk);
	free(w->files);
	w->files = NULL;
}

/* ---- as in the merge ---- */

static uint32_t waits_merge_id(struct waits_merge *w, enum glossary_kind kind, uint32_t id)
{
	return (uint32_t)capture_merge__rename(w->merge, w->from, kind,
					       (struct glossary_id){ { id } })
		.words[0];
}

static void waits_merge_place(struct waits_merge *w, __u64 *inode, __u32 *dev, __u16 *nth)
{
	struct glossary_id file = { { *inode, io_file_place(*dev, *nth) } };

	*dev = waits_merge_id(w, GLOSSARY_DISKS, *dev);
	file = capture_merge__rename_file(w->merge, w->from, file);
	*inode = file.words[0];
	*nth = (uint16_t)(file.words[1] >> 32);
}

static uint64_t waits_merge_cgroup(struct waits_merge *w, uint64_t cgroup)
{
	return capture_merge__rename(w->merge, w->from, GLOSSARY_CGROUPS,
				     (struct glossary_id){ { cgroup } })
		.words[0];
}

static void waits_merge_call(struct waits_merge *w, struct wait_record *r)
{
	waits_merge_place(w, &r->inode, &r->dev, &r->nth);
	r->cgroup = waits_merge_cgroup(w, r->cgroup);
	for (int i = 0; i < r->nr_sleeps; i++)
		r->sleeps[i].stack = waits_merge_id(w, GLOSSARY_STACKS, r->sleeps[i].stack);
}

/* A time that was not seen stays 0. */
static uint64_t waits_merge_shift(uint64_t ns, uint64_t shift_ns)
{
	return ns ? ns + shift_ns : 0;
}

static void waits_merge_request_times(struct async_record *r, uint64_t shift_ns)
{
	r->submit_ns += shift_ns;
	r->post_ns += shift_ns;
	r->start_ns = waits_merge_shift(r->start_ns, shift_ns);
	r->issue_ns = waits_merge_shift(r->issue_ns, shift_ns);
	r->return_ns = waits_merge_shift(r->return_ns, shift_ns);
	r->punt_ns = waits_merge_shift(r->punt_ns, shift_ns);
	r->worker_ns = waits_merge_shift(r->worker_ns, shift_ns);
	r->queued_ns = waits_merge_shift(r->queued_ns, shift_ns);
	r->ended_ns = waits_merge_shift(r->ended_ns, shift_ns);
}

static void waits_merge_times(struct capture_wait *wait, uint64_t shift_ns)
{
	switch (wait->kind) {
	case CAPTURE_WAIT_CALL:
		wait->call.start_ns += shift_ns;
		wait->call.end_ns += shift_ns;
		break;
	case CAPTURE_WAIT_COMMAND:
		wait->command.start_ns += shift_ns;
		wait->command.issue_ns += shift_ns;
		wait->command.end_ns += shift_ns;
		break;
	case CAPTURE_WAIT_COMMIT:
		wait->commit.start_ns += shift_ns;
		wait->commit.end_ns += shift_ns;
		wait->commit.flushing_ns = waits_merge_shift(wait->commit.flushing_ns, shift_ns);
		wait->commit.logging_ns = waits_merge_shift(wait->commit.logging_ns, shift_ns);
		break;
	case CAPTURE_WAIT_REQUEST: waits_merge_request_times(&wait->request, shift_ns); break;
	default:
		wait->task.start_ns += shift_ns;
		wait->task.last_ns = waits_merge_shift(wait->task.last_ns, shift_ns);
		break;
	}
}

static void waits_merge_translate(struct waits_merge *w, struct capture_wait *wait)
{
	waits_merge_times(wait, capture_merge__shift_ns(w->merge, w->from));
	if (!w->from)
		return;
	if (wait->kind == CAPTURE_WAIT_CALL)
		waits_merge_call(w, &wait->call);
	if (wait->kind == CAPTURE_WAIT_REQUEST) {
		struct async_record *r = &wait->request;

		waits_merge_place(w, &r->inode, &r->dev, &r->nth);
		r->cgroup = waits_merge_cgroup(w, r->cgroup);
	}
	if (wait->kind == CAPTURE_WAIT_COMMIT)
		wait->commit.dev = waits_merge_id(w, GLOSSARY_DISKS, wait->commit.dev);
}

/* ---- the next one ---- */

/* Finds the next entry of this file, and its time. */
static int waits_merge_look(struct waits_merge *w, size_t nr)
{
	struct waits_merge_file *file = &w->files[nr];
	uint64_t time_ns;

	while (!file->is_done && file->at == file->chunk.nr) {
		struct capture_reader *reader = capture_merge__reads(w->merge, nr);
		int more = capture_reader__next_waits(reader, &file->chunk);

		if (more < 0)
			return more;
		file->at = 0;
		file->is_done = !more;
		file->nr_strange += more ? file->chunk.nr_strange : 0;
	}
	if (file->is_done)
		return 0;
	time_ns = capture_wait__time_ns(&file->chunk.waits[file->at]) +
		  capture_merge__shift_ns(w->merge, nr);
	file->time_ns = time_ns > file->time_ns ? time_ns : file->time_ns;
	return 0;
}

static int waits_merge_begin(struct waits_merge *w)
{
	int err = 0;

	for (size_t i = 0; i < capture_merge__nr(w->merge) && !err; i++)
		err = waits_merge_look(w, i);
	w->begun = !err;
	return err;
}

static struct waits_merge_file *waits_merge_earliest(struct waits_merge *w)
{
	struct waits_merge_file *first = NULL;

	for (size_t i = 0; i < capture_merge__nr(w->merge); i++) {
		struct waits_merge_file *file = &w->files[i];

		if (file->is_done || (first && first->time_ns <= file->time_ns))
			continue;
		first = file;
		w->from = i;
	}
	return first;
}

const struct capture_wait *waits_merge__next(struct waits_merge *w, int *err)
{
	struct waits_merge_file *file;
	struct capture_wait *wait;

	*err = w->begun ? waits_merge_look(w, w->from) : waits_merge_begin(w);
	file = *err ? NULL : waits_merge_earliest(w);
	if (!file)
		return NULL;
	wait = &file->chunk.waits[file->at++];
	waits_merge_translate(w, wait);
	return wait;
}

uint64_t waits_merge__nr_strange(const struct waits_merge *w)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < capture_merge__nr(w->merge); i++)
		nr += w->files[i].nr_strange;
	return nr;
}
