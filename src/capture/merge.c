/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "capture/merge_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/log.h"
#include "capture/block.h"
#include "capture/chunk.h"

/* Takes over the readers, even if it fails. */
static int merge_new(struct capture_reader *const *readers, size_t nr, struct capture_merge **merge)
{
	struct capture_merge *new = calloc(1, sizeof(*new));
	int err = -ENOMEM;

	*merge = NULL;
	if (new) {
		new->files = calloc(nr + 1, sizeof(*new->files));
		new->heap = calloc(nr + 1, sizeof(struct merge_file *));
	}
	if (!new || !new->files || !new->heap) {
		for (size_t i = 0; i < nr; i++)
			capture_reader__free(readers[i]);
		goto out;
	}
	for (; new->nr < nr; new->nr++)
		new->files[new->nr] =
			(struct merge_file){ .merge = new, .reader = readers[new->nr] };
	err = capture_hosts__find(&new->hosts, readers, nr);
	if (!err)
		merge_shift_all(new);
	for (size_t i = 0; i < nr && !err; i++)
		err = merge_add_file(new, &new->files[i]);
	err = err ?: merge_name_devices(new);
	capture_about__sort_clocks(&new->about);
out:
	if (err)
		capture_merge__free(new);
	else
		*merge = new;
	return err;
}

/* The captures of all files, one after the other. */
struct merge_readers {
	struct capture_reader **readers;
	size_t nr, room;
};

static int merge_open_part(struct merge_readers *open, const char *path, size_t part)
{
	int err = GROW(open->readers, open->room, open->nr + 1) ? log_no_memory() : 0;

	err = err ?: capture_reader__open_part(path, part, &open->readers[open->nr]);
	open->nr += !err;
	return err;
}

static int merge_open_file(struct merge_readers *open, const char *path)
{
	int err = merge_open_part(open, path, 0);
	size_t nr = err ? 1 : capture_reader__nr_parts(open->readers[open->nr - 1]);

	for (size_t part = 1; part < nr && !err; part++)
		err = merge_open_part(open, path, part);
	return err;
}

int capture_merge__open(const char *const *paths, size_t nr, struct capture_merge **merge)
{
	struct merge_readers open = { 0 };
	int err = 0;

	*merge = NULL;
	for (size_t i = 0; i < nr && !err; i++)
		err = merge_open_file(&open, paths[i]);
	if (!err) {
		err = merge_new(open.readers, open.nr, merge);
		if (err)
			log_err(err, "cannot merge %zu captures: %s", open.nr, strerror(-err));
	} else {
		while (open.nr)
			capture_reader__free(open.readers[--open.nr]);
	}
	free(open.readers);
	return err;
}

void capture_merge__free(struct capture_merge *merge)
{
	if (!merge)
		return;
	for (size_t i = 0; i < merge->nr; i++) {
		capture_reader__free(merge->files[i].reader);
		free(merge->files[i].renumber);
		for (int kind = 0; kind < NR_GLOSSARIES; kind++)
			glossary__free(&merge->files[i].renamed[kind]);
		glossary__free(&merge->files[i].placed);
	}
	for (size_t i = 0; i < merge->about.nr_devices; i++)
		free(merge->about.devices[i].shown);
	capture_about__free(&merge->about);
	capture_hosts__free(&merge->hosts);
	free(merge->files);
	free(merge->heap);
	free(merge);
}

/* A bound on a shifted clock; an unlimited bound stays unlimited. */
static uint64_t merge_unshift(uint64_t bound_ns, uint64_t shift_ns)
{
	uint64_t there = bound_ns - shift_ns;

	if (!bound_ns || bound_ns == UINT64_MAX)
		return bound_ns;
	if ((int64_t)shift_ns > 0)
		return there > bound_ns ? 0 : there;
	return there < bound_ns ? UINT64_MAX : there;
}

void capture_merge__bound(struct capture_merge *merge, uint64_t from_ns, uint64_t to_ns)
{
	for (size_t i = 0; i < merge->nr; i++) {
		struct merge_file *file = &merge->files[i];

		capture_reader__bound(file->reader, merge_unshift(from_ns, file->shift_ns),
				      merge_unshift(to_ns, file->shift_ns));
	}
}

void capture_merge__rewind(struct capture_merge *merge)
{
	for (size_t i = 0; i < merge->nr; i++)
		capture_reader__rewind(merge->files[i].reader);
	merge->nr_heap = 0;
	merge->begun = merge->handed = false;
}

static bool merge_is_before(const struct merge_file *a, const struct merge_file *b)
{
	return a->next_ns < b->next_ns || (a->next_ns == b->next_ns && a < b);
}

static void merge_sift_down(struct capture_merge *merge, size_t at)
{
	struct merge_file **heap = merge->heap, *file = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < merge->nr_heap && merge_is_before(heap[child + 1], heap[child]))
			child++;
		if (child >= merge->nr_heap || merge_is_before(file, heap[child]))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = file;
}

/* 1: the file has a next record; 0: the end. */
static int merge_look(struct merge_file *file)
{
	int err;

	file->next = capture_reader__next(file->reader, &err);
	if (!file->next)
		return err;
	file->next_ns = io_record__time_ns(file->next);
	return 1;
}

static int merge_begin(struct capture_merge *merge)
{
	for (size_t i = 0; i < merge->nr; i++) {
		int more = merge_look(&merge->files[i]);

		if (more < 0)
			return more;
		if (more)
			merge->heap[merge->nr_heap++] = &merge->files[i];
	}
	for (size_t i = merge->nr_heap; i-- > 0;)
		merge_sift_down(merge, i);
	merge->begun = true;
	return 0;
}

/* Done with the record returned last: moves its file to the place of its next record. */
static int merge_step(struct capture_merge *merge)
{
	int more = merge_look(merge->heap[0]);

	if (more < 0)
		return more;
	if (!more)
		merge->heap[0] = merge->heap[--merge->nr_heap];
	if (merge->nr_heap)
		merge_sift_down(merge, 0);
	merge->handed = false;
	return 0;
}

const struct io_record *capture_merge__next(struct capture_merge *merge, int *err)
{
	if (merge->nr == 1)
		return capture_reader__next(merge->files[0].reader, err);
	*err = merge->begun ? 0 : merge_begin(merge);
	if (!*err && merge->handed)
		*err = merge_step(merge);
	if (*err || !merge->nr_heap)
		return NULL;
	merge->handed = true;
	return merge->heap[0]->next;
}

size_t capture_merge__from(const struct capture_merge *merge)
{
	return merge->nr_heap ? (size_t)(merge->heap[0] - merge->files) : 0;
}

uint16_t capture_merge__host(const struct capture_merge *merge)
{
	return (uint16_t)(merge->hosts.of[capture_merge__from(merge)] + 1);
}

uint64_t capture_merge__wall_ns(const struct capture_merge *merge, uint64_t mono_ns)
{
	const struct merge_file *file = &merge->files[capture_merge__from(merge)];

	return capture_about__wall_ns(capture_reader__about(file->reader),
				      mono_ns - file->shift_ns);
}

const struct capture_hosts *capture_merge__hosts(const struct capture_merge *merge)
{
	return &merge->hosts;
}

const struct capture_about *capture_merge__about(const struct capture_merge *merge)
{
	return &merge->about;
}

/* All devices were found when the files were opened: serials are not compared again. */
int capture_merge__alias(struct capture_merge *merge, const struct alias *alias)
{
	capture_hosts__alias(&merge->hosts, alias);
	return alias__about(alias, &merge->about) ?: merge_name_devices(merge);
}

size_t capture_merge__nr(const struct capture_merge *merge)
{
	return merge->nr;
}

const struct capture_reader *capture_merge__reader(const struct capture_merge *merge, size_t nr)
{
	return merge->files[nr].reader;
}

int capture_merge__next_cache(struct capture_merge *merge, size_t nr, struct capture_cache *cache)
{
	return capture_reader__next_cache(merge->files[nr].reader, cache);
}

struct capture_reader *capture_merge__only_reader(struct capture_merge *merge)
{
	return merge->nr == 1 ? merge->files[0].reader : NULL;
}

bool capture_merge__has_stages(const struct capture_merge *merge)
{
	for (size_t i = 0; i < merge->nr; i++)
		if (capture_reader__has_stages(merge->files[i].reader))
			return true;
	return false;
}

uint64_t capture_merge__shift_ns(const struct capture_merge *merge, size_t nr)
{
	return merge->files[nr].shift_ns;
}

struct capture_reader *capture_merge__reads(struct capture_merge *merge, size_t nr)
{
	return merge->files[nr].reader;
}

struct glossary_id capture_merge__rename(struct capture_merge *merge, size_t nr,
					 enum glossary_kind kind, struct glossary_id id)
{
	return nr ? merge_rename(&merge->files[nr], kind, id) : id;
}

struct glossary_id capture_merge__rename_file(const struct capture_merge *merge, size_t nr,
					      struct glossary_id id)
{
	const struct glossary_entry *placed = glossary__find(&merge->files[nr].placed, id);

	return placed ? placed->as : id;
}
