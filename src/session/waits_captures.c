/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/waits_captures.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "base/log.h"
#include "capture/filter.h"
#include "session/host_source.h"
#include "session/source.h"
#include "wire/file_id.h"

static struct waits_captures *waits_captures(const struct session *s)
{
	return s->inside->data;
}

/* ---- filters ---- */

static bool captures_want_task(const struct waits_captures *c, const struct waits_whose *whose)
{
	const struct filter_options *f = c->filter;

	if (f->pid.given && f->pid.value != whose->pid)
		return false;
	if (f->comm && strncmp(f->comm, whose->comm, WAIT_COMM_LEN))
		return false;
	return !f->cgroup || glossary__find(&c->cgroups, (struct glossary_id){ { whose->cgroup } });
}

static bool captures_want(const struct session *s, const struct waits_whose *whose)
{
	const struct waits_captures *c = waits_captures(s);
	const struct glossary_id file = { { whose->inode, io_file_place(whose->dev, whose->nth) } };

	if (whose->end_ns < s->inside->span.from_ns || whose->end_ns >= s->inside->span.to_ns)
		return false;
	if (c->filter->min_ns.given && whose->end_ns - whose->start_ns < c->filter->min_ns.value)
		return false;
	return captures_want_task(c, whose) && (!c->file || glossary__find(&c->files, file));
}

bool waits_captures__wants(const struct session *s, const struct waits_whose *whose)
{
	const bool wants = captures_want(s, whose);

	waits_captures(s)->nr_left_out += !wants;
	return wants;
}

static int captures_add_id(struct glossary *ids, struct glossary_id id)
{
	return glossary__add(ids, id, NULL) ? 0 : log_no_memory();
}

static int captures_find_cgroups(struct waits_captures *c)
{
	const struct glossary *all = &capture_merge__about(c->merge)->glossaries[GLOSSARY_CGROUPS];
	const char *wanted = c->filter->cgroup;
	int err = 0;

	for (size_t i = 0; wanted && i < all->nr && !err; i++)
		if (all->entries[i].text &&
		    capture_filter__is_in_cgroup(all->entries[i].text, wanted))
			err = captures_add_id(&c->cgroups, all->entries[i].id);
	if (err || !wanted || c->cgroups.nr)
		return err;
	return log_err(-EINVAL, "--cgroup %.128s: no %s of the capture is from this cgroup", wanted,
		       c->kind->one);
}

/* A path; or the block device itself, by its name. */
static int captures_find_files(struct waits_captures *c)
{
	const struct capture_about *about = capture_merge__about(c->merge);
	const struct glossary *files = &about->glossaries[GLOSSARY_FILES];
	const struct glossary *disks = &about->glossaries[GLOSSARY_DISKS];
	const char *disk = c->file && !strncmp(c->file, "/dev/", 5) ? c->file + 5 : NULL;
	int err = 0;

	for (size_t i = 0; c->file && i < files->nr && !err; i++)
		if (files->entries[i].text && !strcmp(files->entries[i].text, c->file))
			err = captures_add_id(&c->files, files->entries[i].id);
	for (size_t i = 0; disk && i < disks->nr && !err; i++)
		if (disks->entries[i].text && !strcmp(disks->entries[i].text, disk))
			err = captures_add_id(
				&c->files,
				(struct glossary_id){
					{ FILE_METADATA, disks->entries[i].id.words[0] } });
	if (err || !c->file || c->files.nr)
		return err;
	return log_err(-EINVAL, "--file %.128s: no %s of the capture is on this file", c->file,
		       c->kind->one);
}

/* ---- entries ---- */

int waits_captures__next(struct session *s, uint64_t *time_ns)
{
	struct waits_captures *c = waits_captures(s);
	int err;

	c->wait = waits_merge__next(&c->waits, &err);
	if (!c->wait)
		return err;
	/* What a call waited for comes at the call's own time. */
	if (capture_wait__counts(c->wait) && capture_wait__time_ns(c->wait) > c->last_ns)
		c->last_ns = capture_wait__time_ns(c->wait);
	*time_ns = c->last_ns < s->inside->span.to_ns ? c->last_ns : 0;
	return 1;
}

void waits_captures__finish(struct session *s)
{
	struct waits_captures *c = waits_captures(s);
	uint64_t time_ns;

	while (s->inside->stopped && !s->inside->interrupted &&
	       waits_captures__next(s, &time_ns) > 0)
		c->nr_left_out += capture_wait__counts(c->wait);
}

/* ---- the captures ---- */

const struct capture_reader *waits_captures__reader(const struct waits_captures *c, size_t nr)
{
	const struct capture_reader *reader = capture_merge__reader(c->merge, nr);

	return c->kind->has(reader) ? reader : NULL;
}

/* A merged file may have captures of other kinds beside those that are asked for. */
static bool captures_lack_all(const struct waits_captures *c, const struct capture_reader *reader)
{
	if (capture_reader__nr_parts(reader) == 1)
		return true;
	for (size_t i = 0; i < capture_merge__nr(c->merge); i++)
		if (waits_captures__reader(c, i))
			return false;
	return true;
}

int waits_captures__check(const struct waits_captures *c)
{
	for (size_t i = 0; i < capture_merge__nr(c->merge); i++) {
		const struct capture_reader *reader = capture_merge__reader(c->merge, i);

		if (!c->kind->has(reader) && captures_lack_all(c, reader))
			return c->kind->lacks(reader);
	}
	return 0;
}

static void captures_find_span(struct session *s)
{
	const struct waits_captures *c = waits_captures(s);
	uint64_t start_ns, end_ns, *last_ns = &s->inside->span.end_ns;
	bool some = false;

	for (size_t i = 0; i < capture_merge__nr(c->merge); i++) {
		const struct capture_reader *reader = waits_captures__reader(c, i);
		uint64_t shift_ns = capture_merge__shift_ns(c->merge, i);

		if (!reader || !capture_reader__run(reader, &start_ns, &end_ns))
			continue;
		if (!some || start_ns + shift_ns < s->start_ns)
			s->start_ns = start_ns + shift_ns;
		if (!some || end_ns + shift_ns > *last_ns)
			*last_ns = end_ns + shift_ns;
		some = true;
	}
}

int waits_captures__open(struct session *s)
{
	const struct option_list *files = &s->options->file.read;
	struct session_inside *in = s->inside;
	struct waits_captures *c = in->data;
	int err;

	in->view_rests = in->view->only_at_end && !s->options->run.interval_ns.given &&
			 !s->options->run.count.given;
	err = capture_merge__open(files->words, files->nr, &c->merge);
	if (err)
		return session_file_err(err);
	host_source_tell_steps(c->merge);
	captures_find_span(s);
	return 0;
}

int waits_captures__find(struct session *s)
{
	struct waits_captures *c = waits_captures(s);
	int err = waits_merge__init(&c->waits, c->merge) ? log_no_memory() : 0;

	err = err ?: captures_find_cgroups(c);
	err = err ?: captures_find_files(c);
	if (!err && s->inside->alias && capture_merge__alias(c->merge, s->inside->alias))
		err = log_no_memory();
	return err;
}

void waits_captures__free(struct waits_captures *c)
{
	if (c->merge)
		waits_merge__free(&c->waits);
	glossary__free(&c->files);
	glossary__free(&c->cgroups);
	capture_merge__free(c->merge);
}

void waits_captures__position(const struct session *s, uint64_t *at, uint64_t *all)
{
	const struct capture_merge *merge = waits_captures(s)->merge;

	*at = *all = 0;
	for (size_t i = 0; i < capture_merge__nr(merge); i++) {
		*at += capture_reader__position(capture_merge__reader(merge, i));
		*all += capture_reader__bytes(capture_merge__reader(merge, i));
	}
}

/* ---- what is missing ---- */

/* Only the file knows what a full disk lost. */
static bool captures_tell_lost(const struct capture_reader *reader, const char *one)
{
	const struct capture_counts *lost = &capture_reader__about(reader)->trailer.lost;
	bool told = false;

	for (size_t i = 0; i < lost->nr; i++) {
		if (!lost->counts[i].value)
			continue;
		told = true;
		log_warn("%s lacks %" PRIu64 " %ss: %s", capture_reader__label(reader),
			 lost->counts[i].value, one, lost->counts[i].name);
	}
	return told;
}

void waits_captures__tell(struct session *s)
{
	const struct waits_captures *c = waits_captures(s);

	for (size_t i = 0; i < capture_merge__nr(c->merge); i++) {
		const struct capture_reader *reader = capture_merge__reader(c->merge, i);
		const struct capture_damage *damage = capture_reader__damage(reader);

		capture_damage__tell(damage, capture_reader__label(reader));
		s->inside->lost |= captures_tell_lost(reader, c->kind->one) ||
				   !capture_damage__is_whole(damage);
	}
}

bool waits_captures__are_whole(const struct session *s)
{
	const struct waits_captures *c = waits_captures(s);
	bool whole = !s->inside->interrupted;

	for (size_t i = 0; i < capture_merge__nr(c->merge); i++) {
		const struct capture_reader *reader = waits_captures__reader(c, i);

		whole &= !reader || capture_damage__is_whole(capture_reader__damage(reader));
	}
	return whole;
}

const struct capture_about *waits_captures__about(const struct session *s)
{
	return capture_merge__about(waits_captures(s)->merge);
}

const struct capture_merge *waits_captures__merge(const struct session *s)
{
	return waits_captures(s)->merge;
}

size_t waits_captures__from(const struct session *s)
{
	return waits_captures(s)->waits.from;
}
