/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/why_beside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/log.h"
#include "session/io_source.h"
#include "wire/waits.h"

/* NULL: no memory. */
static struct why_beside_file *beside_file(struct why_beside *b, const struct io_beside *of)
{
	while (b->nr_files <= of->nr) {
		if (GROW_BY_ONE(b->files, b->nr_files))
			return NULL;
		b->files[b->nr_files++] = (struct why_beside_file){ 0 };
	}
	b->files[of->nr].path = of->path;
	b->files[of->nr].host = of->host;
	return &b->files[of->nr];
}

static int beside_add_pages(void *arg, const struct io_beside *of, uint64_t page_bytes,
			    const struct capture_cache *chunk)
{
	struct why_beside *b = arg;
	struct why_beside_file *file = beside_file(b, of);
	int err = 0;

	if (!file)
		return log_no_memory();
	file->has_pages = true;
	b->pages_path = of->path;
	b->pages.page_bytes = page_bytes;
	for (size_t i = 0; chunk->is_reading && i < chunk->nr_rows; i++)
		pages__add_row(&b->pages, of->host, &chunk->rows[i].key, chunk->rows[i].counts);
	for (size_t i = 0; !chunk->is_reading && i < chunk->nr_events && !err; i++)
		if (chunk->events[i].event.told == CACHE_TOLD_COMMAND)
			err = pages__add_command(&b->pages, of->host, &chunk->events[i]);
	return err ? log_no_memory() : 0;
}

static bool beside_wrote(const struct wait_record *call)
{
	return call->call == WAIT_WRITE || call->call == WAIT_SYNCWRITE || call->call == WAIT_FAULT;
}

/* Calls have no path of a cgroup here: with --cgroup they are nobody's. */
static bool beside_is_asked(const struct why_whose *whose, const struct wait_record *call)
{
	const struct filter_options *asked = &whose->asked;

	return !asked->cgroup && (!asked->pid.given || call->pid == asked->pid.value) &&
	       (!asked->comm || !strncmp(call->comm, asked->comm, sizeof(call->comm)));
}

static int beside_add_call(void *arg, const struct io_beside *of, const struct io_call *call)
{
	const struct wait_record *r = call->record;
	struct why_beside *b = arg;
	struct why_beside_file *file;

	if (!beside_wrote(r) || !beside_is_asked(b->whose, r))
		return 0;
	if (!b->dirty)
		b->dirty = calloc(1, sizeof(*b->dirty));
	file = beside_file(b, of);
	if (!b->dirty || !file)
		return log_no_memory();
	file->has_waits = true;
	dirty__add(b->dirty, of->host, r->comm, r->end_ns - r->start_ns, call->dirty_ns);
	return 0;
}

/* Without commands there is nothing for calls to stand beside. */
static int beside_read_calls(struct why_beside *b, struct session *s)
{
	return io_source__has_beside(s) ? io_source__each_call(s, beside_add_call, b) : 0;
}

int why_beside__read(struct why_beside *b, struct session *s, const struct why_whose *whose,
		     struct facts *facts)
{
	int err;

	b->whose = whose;
	err = io_source__each_cache(s, beside_add_pages, b) ?: beside_read_calls(b, s);
	pages__finish(&b->pages);
	if (b->dirty)
		dirty__finish(b->dirty);
	facts->pages = b->pages_path ? &b->pages : NULL;
	facts->dirty = b->dirty;
	return err;
}

void why_beside__tell(const struct why_beside *b)
{
	if (b->pages_path && !b->pages.nr_disks)
		log_note("%s has no commands that fill the page cache; record --cache --events "
			 "keeps them",
			 b->pages_path);
	if (b->dirty && b->dirty->left_out)
		log_warn("%" PRIu64 " calls are not judged: there are too many writers",
			 b->dirty->left_out);
}

void why_beside__free(struct why_beside *b)
{
	pages__free(&b->pages);
	free(b->dirty);
	free(b->files);
	*b = (struct why_beside){ 0 };
}

static bool beside_takes(const struct why_beside_file *file, const char *command)
{
	return (file->has_pages && !strcmp(command, "cache")) ||
	       (file->has_waits && !strcmp(command, "waits"));
}

/* A merged file has several captures. */
static bool beside_is_before(const struct why_beside *b, size_t at, const char *command,
			     uint16_t host)
{
	for (size_t i = 0; i < at; i++)
		if (b->files[i].host == host && beside_takes(&b->files[i], command) &&
		    !strcmp(b->files[i].path, b->files[at].path))
			return true;
	return false;
}

const char *why_beside__path(const struct why_beside *b, const char *command, uint16_t host,
			     size_t nr)
{
	for (size_t i = 0; i < b->nr_files; i++)
		if (b->files[i].host == host && beside_takes(&b->files[i], command) &&
		    !beside_is_before(b, i, command, host) && !nr--)
			return b->files[i].path;
	return NULL;
}

bool why_beside__is_shared(const struct why_beside *b, const char *command, uint16_t host)
{
	const char *path;

	for (size_t nr = 0; (path = why_beside__path(b, command, host, nr)); nr++)
		for (size_t i = 0; i < b->nr_files; i++)
			if (b->files[i].host != host && beside_takes(&b->files[i], command) &&
			    !strcmp(b->files[i].path, path))
				return true;
	return false;
}
