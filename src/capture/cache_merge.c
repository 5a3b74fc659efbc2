/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/cache_merge.h"

#include <errno.h>
#include <stdlib.h>
#include "wire/file_id.h"

int cache_merge__init(struct cache_merge *c, struct capture_merge *merge)
{
	c->merge = merge;
	c->files = calloc(capture_merge__nr(merge) + 1, sizeof(*c->files));
	return c->files ? 0 : -ENOMEM;
}

void cache_merge__free(struct cache_merge *c)
{
	for (size_t i = 0; c->files && i < capture_merge__nr(c->merge); i++)
		capture_cache__free(&c->files[i].chunk);
	free(c->files);
	c->files = NULL;
}

/* ---- as in the merge ---- */

static uint32_t cache_merge_disk(const struct cache_merge *c, uint32_t dev)
{
	const struct glossary_id id = { { dev } };

	return (uint32_t)capture_merge__rename(c->merge, c->from, GLOSSARY_DISKS, id).words[0];
}

/* A file without a path keeps its inode: its disk and its number tell it apart. */
static uint32_t cache_merge_file(const struct cache_merge *c, uint32_t *dev, uint32_t nth,
				 __u64 *inode)
{
	struct glossary_id file = { { *inode, io_file_place(*dev, nth) } };

	*dev = cache_merge_disk(c, *dev);
	file = capture_merge__rename_file(c->merge, c->from, file);
	*inode = file.words[0];
	return (uint32_t)(file.words[1] >> 32);
}

static void cache_merge_row(const struct cache_merge *c, struct cache_key *key)
{
	const struct glossary_id cgroup = { { key->cgroup } };
	uint32_t dev = key->dev, nth;

	nth = cache_merge_file(c, &dev, cache_key_nth(key), &key->inode);
	key->dev = dev;
	key->what = cache_key_what(cache_key_op(key), nth);
	key->cgroup = capture_merge__rename(c->merge, c->from, GLOSSARY_CGROUPS, cgroup).words[0];
}

/* A time that was not seen stays 0. */
static void cache_merge_shift(__u64 *ns, uint64_t shift_ns)
{
	*ns += *ns ? shift_ns : 0;
}

static void cache_merge_event(const struct cache_merge *c, struct cache_command *command,
			      uint64_t shift_ns)
{
	struct cache_event *event = &command->event;
	uint32_t dev = event->dev;

	cache_merge_shift(&event->start_ns, shift_ns);
	cache_merge_shift(&event->end_ns, shift_ns);
	if (event->told == CACHE_TOLD_COMMAND)
		cache_merge_shift(&command->issued_ns, shift_ns);
	if (!c->from)
		return; /* the first file keeps its ids */
	event->nth = (uint16_t)cache_merge_file(c, &dev, event->nth, &event->inode);
	event->dev = dev;
	if (event->told == CACHE_TOLD_COMMAND)
		command->disk = cache_merge_disk(c, command->disk);
}

static void cache_merge_translate(const struct cache_merge *c, struct capture_cache *chunk)
{
	const uint64_t shift_ns = capture_merge__shift_ns(c->merge, c->from);

	chunk->time_ns += shift_ns;
	for (size_t i = 0; chunk->is_reading && c->from && i < chunk->nr_rows; i++)
		cache_merge_row(c, &chunk->rows[i].key);
	for (size_t i = 0; !chunk->is_reading && i < chunk->nr_events; i++)
		cache_merge_event(c, &chunk->events[i], shift_ns);
}

/* ---- the next one ---- */

/* Loads the next chunk of this file, and finds its time. */
static int cache_merge_look(struct cache_merge *c, size_t nr)
{
	struct cache_merge_file *file = &c->files[nr];
	int more = file->is_done ? 0 : capture_merge__next_cache(c->merge, nr, &file->chunk);
	uint64_t time_ns;

	if (more < 0)
		return more;
	file->is_done = !more;
	time_ns = file->chunk.time_ns + capture_merge__shift_ns(c->merge, nr);
	file->time_ns = time_ns > file->time_ns ? time_ns : file->time_ns;
	return 0;
}

static int cache_merge_begin(struct cache_merge *c)
{
	int err = 0;

	for (size_t i = 0; i < capture_merge__nr(c->merge) && !err; i++)
		err = cache_merge_look(c, i);
	c->begun = !err;
	return err;
}

static struct cache_merge_file *cache_merge_earliest(struct cache_merge *c)
{
	struct cache_merge_file *first = NULL;

	for (size_t i = 0; i < capture_merge__nr(c->merge); i++) {
		struct cache_merge_file *file = &c->files[i];

		if (file->is_done || (first && first->time_ns <= file->time_ns))
			continue;
		first = file;
		c->from = i;
	}
	return first;
}

const struct capture_cache *cache_merge__next(struct cache_merge *c, int *err)
{
	struct cache_merge_file *file;

	*err = c->begun ? cache_merge_look(c, c->from) : cache_merge_begin(c);
	file = *err ? NULL : cache_merge_earliest(c);
	if (!file)
		return NULL;
	cache_merge_translate(c, &file->chunk);
	return &file->chunk;
}
