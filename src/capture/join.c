/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/log.h"
#include "base/progress.h"
#include "capture/survey.h"
#include "capture/walk.h"

struct join_file {
	struct capture_walk walk;
	struct capture_chunk chunk; /* the next one; */
	uint64_t wall_ns;	    /* its place among those of other files */
	uint64_t nr_gaps;	    /* already written */
	size_t first;		    /* its first capture */
	bool ended;
};

struct capture_join {
	struct join_file *files;
	size_t nr_files;
	struct capture_contents *parts; /* all captures, file by file */
	size_t nr, room;
	struct progress progress;
	uint64_t at, bytes; /* of all files: those that were read */
};

/* ---- what may be joined ---- */

static const char *join_info(const struct capture_contents *part, const char *key)
{
	const char *text = capture_about__info(&part->about, key);

	return text ? text : "";
}

/* Parts of one recording share its id; version 0.1.0 wrote none. */
static bool join_is_one_recording(const struct capture_contents *a,
				  const struct capture_contents *b)
{
	return !strcmp(join_info(a, CAPTURE_INFO_ID), join_info(b, CAPTURE_INFO_ID)) &&
	       !strcmp(join_info(a, CAPTURE_INFO_BOOT_ID), join_info(b, CAPTURE_INFO_BOOT_ID));
}

/* Of what was recorded, the first one; NULL: nothing was. */
static const struct capture_chunk *join_first(const struct capture_contents *part)
{
	const struct capture_list *lists[] = { &part->records, &part->waits, &part->caches };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (lists[i]->nr)
			return &lists[i]->blocks[0].chunk;
	return NULL;
}

static bool join_is_same_block(const struct capture_chunk *a, const struct capture_chunk *b)
{
	return a->type == b->type && a->min_ns == b->min_ns && a->max_ns == b->max_ns &&
	       a->count == b->count && a->length == b->length && a->first == b->first;
}

/*
 * The same part of the same recording, even if one is a copy that lacks its end. Parts in which
 * nothing was recorded begin at different times.
 */
static bool join_is_repeated(const struct capture_contents *a, const struct capture_contents *b)
{
	const struct capture_chunk *first = join_first(a), *other = join_first(b);

	if (!join_is_one_recording(a, b))
		return false;
	if (first && other)
		return join_is_same_block(first, other);
	return !first && !other &&
	       !strcmp(join_info(a, CAPTURE_INFO_START), join_info(b, CAPTURE_INFO_START));
}

static int join_check(const struct capture_join *join, const struct capture_contents *part)
{
	const char *path = part->source.path;

	/* Objects of two kernels may have one address. */
	if (part->calls.nr)
		return log_err(-EINVAL,
			       "%s contains calls: merge takes captures of commands, waits and "
			       "the page cache",
			       path);
	for (size_t i = 0; i < join->nr; i++)
		if (join_is_repeated(&join->parts[i], part))
			return log_err(-EINVAL,
				       "%s and %s hold the same part of the same recording: its "
				       "records would count twice",
				       join->parts[i].source.path, path);
	if (join->nr >= CAPTURE_ORIGINS)
		return log_err(-EINVAL, "at most %d captures fit into one file", CAPTURE_ORIGINS);
	return 0;
}

/* ---- opening ---- */

/* Its headers are needed, so the index saves nothing. */
static int join_open_part(struct capture_join *join, const char *path, size_t nr)
{
	struct capture_contents part = { .part = (uint16_t)nr };
	int err = GROW(join->parts, join->room, join->nr + 1) ? log_no_memory() : 0;

	err = err ?: capture_survey__open(&part, path, true);
	err = err ?: join_check(join, &part);
	if (err)
		capture_contents__free(&part);
	else
		join->parts[join->nr++] = part;
	return err;
}

static int join_open_file(struct capture_join *join, const char *path)
{
	struct join_file *file = &join->files[join->nr_files];
	size_t nr_parts = 1;
	int err = 0;

	file->first = join->nr;
	for (size_t i = 0; i < nr_parts && !err; i++) {
		err = join_open_part(join, path, i);
		if (!err && join->parts[file->first].nr_parts > 1)
			nr_parts = join->parts[file->first].nr_parts;
	}
	join->nr_files++;
	return err;
}

int capture_join__open(const char *const *paths, size_t nr, struct capture_join **join)
{
	struct capture_join *new = calloc(1, sizeof(*new));
	int err = 0;

	*join = NULL;
	if (!new)
		return log_no_memory();
	new->files = calloc(nr + 1, sizeof(*new->files));
	if (!new->files)
		err = log_no_memory();
	for (size_t i = 0; i < nr && !err; i++)
		err = join_open_file(new, paths[i]);
	if (err)
		capture_join__free(new);
	else
		*join = new;
	return err;
}

void capture_join__free(struct capture_join *join)
{
	if (!join)
		return;
	for (size_t i = 0; i < join->nr; i++)
		capture_contents__free(&join->parts[i]);
	free(join->parts);
	free(join->files);
	free(join);
}

/* ---- copying ---- */

/* The capture of a chunk: what belongs to none of a merged file's goes to its first. */
static size_t join_part(const struct join_file *file, const struct capture_chunk *chunk)
{
	return file->first + (chunk->origin ? chunk->origin - 1u : 0);
}

static struct capture_source *join_source(struct capture_join *join, const struct join_file *file)
{
	return &join->parts[file->first].source;
}

/* What is made anew for the whole, and what belongs to no capture of a merged file. */
static bool join_leaves_out(struct capture_join *join, const struct join_file *file)
{
	const struct capture_chunk *chunk = &file->chunk;

	if (chunk->origin > CAPTURE_ORIGINS)
		return true;
	if (!chunk->origin && capture_contents__is_merged(&join->parts[file->first]))
		return true;
	return chunk->type == CAPTURE_RESERVE || chunk->type == CAPTURE_INDEX;
}

static bool join_has_times(uint8_t type)
{
	return type == CAPTURE_RECORDS || type == CAPTURE_WAITS || type == CAPTURE_REQUESTS ||
	       type == CAPTURE_CACHE_ROWS || type == CAPTURE_CACHE_EVENTS;
}

/* Chunks without times stay where they are among those of their file. */
static void join_place(struct capture_join *join, struct join_file *file)
{
	const struct capture_about *about = &join->parts[join_part(file, &file->chunk)].about;

	if (join_has_times(file->chunk.type))
		file->wall_ns = capture_about__wall_ns(about, file->chunk.min_ns);
}

static int join_next(struct capture_join *join, struct join_file *file)
{
	uint64_t at = file->walk.at;
	int more;

	do
		more = capture_walk__next(&file->walk, &file->chunk);
	while (more > 0 && join_leaves_out(join, file));
	join->at += file->walk.at - at;
	file->ended = more <= 0;
	if (more > 0)
		join_place(join, file);
	return more < 0 ? more : 0;
}

/* A place that could not be read: readers count it again. */
static int join_put_gaps(struct join_file *file, struct capture_writer *writer)
{
	struct capture_chunk gap = {
		.type = CAPTURE_GAP,
		.origin = (uint16_t)(file->first + 1),
		.count = (uint32_t)(file->walk.nr_gaps - file->nr_gaps),
	};

	if (!gap.count)
		return 0;
	file->nr_gaps = file->walk.nr_gaps;
	return capture_writer__copy(writer, &gap, NULL);
}

/* With a payload that differs from its CRC, too: readers tell. */
static int join_put(struct capture_join *join, struct join_file *file,
		    struct capture_writer *writer)
{
	struct capture_source *source = join_source(join, file);
	struct capture_chunk chunk = file->chunk;
	struct capture_contents *part;
	int err = capture_source__load(source, &chunk, file->walk.chunk_at);

	if (err && err != -EBADMSG) {
		progress__clear(&join->progress);
		return log_err(err, "cannot read '%s': %s", source->path, strerror(-err));
	}
	part = &join->parts[join_part(file, &chunk)];
	if (err && join_has_times(chunk.type)) /* others were checked when it was opened */
		part->damage.blocks_corrupt++;
	if (err && chunk.type == CAPTURE_RECORDS)
		part->damage.records_corrupt += chunk.count;
	chunk.origin = (uint16_t)(join_part(file, &chunk) + 1);
	return capture_writer__copy(writer, &chunk, source->payload);
}

static int join_begin(struct capture_join *join)
{
	int err = 0;

	for (size_t i = 0; i < join->nr_files && !err; i++) {
		struct join_file *file = &join->files[i];

		file->walk = (struct capture_walk){ .source = join_source(join, file),
						    .at = CAPTURE_FILE_BYTES };
		join->bytes += file->walk.source->size;
		err = join_next(join, file);
	}
	return err;
}

/* The file whose next chunk is the earliest; NULL: all have ended. */
static struct join_file *join_earliest(struct capture_join *join)
{
	struct join_file *earliest = NULL;

	for (size_t i = 0; i < join->nr_files; i++)
		if (!join->files[i].ended &&
		    (!earliest || join->files[i].wall_ns < earliest->wall_ns))
			earliest = &join->files[i];
	return earliest;
}

static int join_copy(struct capture_join *join, struct capture_writer *writer)
{
	struct join_file *file;
	int err = join_begin(join);

	while (!err && (file = join_earliest(join))) {
		progress__show(&join->progress, join->at, join->bytes);
		err = join_put_gaps(file, writer);
		err = err ?: join_put(join, file, writer);
		err = err ?: join_next(join, file);
		if (!err && capture_source__is_interrupted())
			err = -EINTR;
	}
	for (size_t i = 0; i < join->nr_files && !err; i++)
		err = join_put_gaps(&join->files[i], writer);
	return err;
}

int capture_join__write(struct capture_join *join, struct capture_writer *writer)
{
	int err;

	progress__begin(&join->progress);
	err = join_copy(join, writer);
	progress__clear(&join->progress);
	return err;
}

/* ---- what was joined ---- */

size_t capture_join__nr(const struct capture_join *join)
{
	return join->nr;
}

/* Of calls that waited, of requests, or of readings: a reading is a chunk. */
static uint64_t join_count(const struct capture_list *list, uint8_t type)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (list->blocks[i].chunk.type == type)
			nr += type == CAPTURE_CACHE_ROWS ? 1 : list->blocks[i].chunk.count;
	return nr;
}

struct capture_joined capture_join__capture(const struct capture_join *join, size_t nr)
{
	const struct capture_contents *part = &join->parts[nr];

	return (struct capture_joined){
		.path = part->source.path,
		.about = &part->about,
		.damage = &part->damage,
		.nr_records = part->nr_records,
		.nr_waits = join_count(&part->waits, CAPTURE_WAITS),
		.nr_requests = join_count(&part->waits, CAPTURE_REQUESTS),
		.nr_readings = join_count(&part->caches, CAPTURE_CACHE_ROWS),
	};
}
