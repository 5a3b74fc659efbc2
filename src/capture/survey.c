/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/survey.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "capture/bytes.h"
#include "capture/index.h"
#include "capture/walk.h"

enum { SURVEY_TAIL = 4096 }; /* bytes searched for the trailer */

/*
 * A file with damaged first bytes is still a capture if a chunk follows them; a file that ends
 * within them comes from a recorder that was killed at once.
 */
static int survey_check_file(struct capture_contents *contents)
{
	uint8_t header[CAPTURE_FILE_BYTES] = { 0 };
	size_t nr = contents->source.size < sizeof(header) ? (size_t)contents->source.size
							   : sizeof(header);
	struct capture_chunk chunk;
	int err = capture_source__read(&contents->source, header, nr, 0);

	if (err)
		return err;
	switch (capture_file__check_header(header, nr, &contents->version)) {
	case CAPTURE_FILE_GOOD:
		contents->source.has_origins = contents->version == CAPTURE_VERSION_MERGED;
		return 0;
	case CAPTURE_FILE_CUT: return 0;
	case CAPTURE_FILE_NEWER: return -EPROTONOSUPPORT;
	case CAPTURE_FILE_DAMAGED: break;
	}
	if (nr < sizeof(header))
		return -EINVAL;
	contents->source.has_origins = true; /* other captures have zeros there */
	err = capture_source__header(&contents->source, sizeof(header), &chunk);
	if (err <= 0)
		return err ?: -EINVAL;
	contents->damage.blocks_corrupt += !contents->part;
	return 0;
}

/* False: a capture of that number cannot be in a file. */
static bool survey_note_part(struct capture_contents *contents, const struct capture_chunk *chunk)
{
	if (chunk->origin > CAPTURE_ORIGINS)
		return false;
	if (chunk->origin > contents->nr_parts)
		contents->nr_parts = chunk->origin;
	return true;
}

/*
 * From chunk to chunk; *whole: the end of the last complete chunk. Damage between chunks belongs to
 * no capture. If all captures of a file are walked, it counts for the first; else for each that is:
 * the others are read by the index, and may not meet it.
 */
static int survey_scan(struct capture_contents *contents, bool all_walk, uint64_t *whole)
{
	struct capture_walk walk = { .source = &contents->source, .at = CAPTURE_FILE_BYTES };
	struct capture_chunk chunk;
	uint64_t nr_bad = 0;
	int more, err = 0;

	*whole = contents->source.size < walk.at ? 0 : walk.at;
	while (!err && (more = capture_walk__next(&walk, &chunk)) > 0) {
		*whole = walk.at;
		if (!survey_note_part(contents, &chunk))
			nr_bad++;
		else if (capture_contents__has(contents, &chunk))
			err = capture_contents__take(contents, &chunk, walk.chunk_at);
	}
	if (!contents->part || !all_walk)
		contents->damage.blocks_corrupt += walk.nr_gaps + nr_bad;
	return err ?: more;
}

/* ---- by the index ---- */

/* The trailer is the last chunk, and small. 1: it begins at *at; 0: no trailer. */
static int survey_find_trailer(struct capture_contents *contents, uint64_t *at,
			       struct capture_chunk *chunk)
{
	uint8_t tail[SURVEY_TAIL];
	size_t nr =
		contents->source.size < sizeof(tail) ? (size_t)contents->source.size : sizeof(tail);
	int err = capture_source__read(&contents->source, tail, nr, contents->source.size - nr);

	for (size_t i = 0; !err && i + CAPTURE_CHUNK_BYTES <= nr; i++) {
		i = capture_chunk__search(tail, nr, i);
		if (i + CAPTURE_CHUNK_BYTES > nr)
			break;
		if (!capture_chunk__get(chunk, tail + i) || chunk->type != CAPTURE_TRAILER ||
		    (chunk->origin && contents->source.has_origins) ||
		    chunk->length != nr - i - CAPTURE_CHUNK_BYTES)
			continue;
		*at = contents->source.size - nr + i;
		return 1;
	}
	return err;
}

/* Directly before the trailer; its last bytes say where it begins. 1: its payload is loaded. */
static int survey_load_index(struct capture_contents *contents, uint64_t end, uint64_t *at,
			     struct capture_chunk *chunk)
{
	uint8_t tail[CAPTURE_INDEX_TAIL];
	int good;

	if (end < CAPTURE_FILE_BYTES + CAPTURE_CHUNK_BYTES + sizeof(tail))
		return 0;
	good = capture_source__read(&contents->source, tail, sizeof(tail), end - sizeof(tail));
	if (good)
		return good;
	*at = le__get64(tail);
	if (*at < CAPTURE_FILE_BYTES || *at > end - CAPTURE_CHUNK_BYTES - sizeof(tail))
		return 0;
	good = capture_source__header(&contents->source, *at, chunk);
	if (good <= 0 || chunk->type != CAPTURE_INDEX || chunk->origin ||
	    chunk->length != end - *at - CAPTURE_CHUNK_BYTES)
		return good < 0 ? good : 0;
	good = capture_source__load(&contents->source, chunk, *at);
	return good == -EBADMSG ? 0 : good ? good : 1;
}

/* Its chunks have to fill the file from its header up to the index. */
static bool survey_index_fits(const struct capture_contents *contents,
			      const struct capture_chunk *index, struct byte_in in, uint64_t at)
{
	struct capture_index_state state;
	struct capture_chunk chunk;

	capture_index__begin(&state);
	state.has_origins = contents->source.has_origins;
	for (uint32_t i = 0; i < index->count; i++)
		if (!capture_index__get(&in, &state, &chunk) || state.at > at)
			return false;
	return state.at == at && !byte_in__left(&in);
}

/* in: a copy of the index, for chunks are loaded meanwhile. */
static int survey_take_index(struct capture_contents *contents, const struct capture_chunk *index,
			     struct byte_in in)
{
	struct capture_index_state state;
	struct capture_chunk chunk;
	int err = 0;

	capture_index__begin(&state);
	state.has_origins = contents->source.has_origins;
	for (uint32_t i = 0; i < index->count && !err; i++) {
		uint64_t at = state.at;

		if (!capture_index__get(&in, &state, &chunk))
			return -ESTALE;
		survey_note_part(contents, &chunk);
		if (!capture_contents__has(contents, &chunk))
			continue;
		if (!capture_index__holds(&chunk)) {
			err = capture_contents__take_indexed(contents, &chunk, at);
			continue;
		}
		capture_contents__count(contents, &chunk);
		err = capture_about__add_clock(&contents->about, &state.clock);
	}
	return err;
}

static int survey_read_index(struct capture_contents *contents, const struct capture_chunk *index,
			     uint64_t at, uint64_t trailer_at, const struct capture_chunk *trailer)
{
	struct byte_in in = { contents->source.payload,
			      contents->source.payload + index->length - CAPTURE_INDEX_TAIL,
			      false };
	uint8_t *copy;
	int err;

	if (!survey_index_fits(contents, index, in, at))
		return -ESTALE;
	copy = malloc(index->length);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, contents->source.payload, index->length);
	in = (struct byte_in){ copy, copy + index->length - CAPTURE_INDEX_TAIL, false };
	err = survey_take_index(contents, index, in);
	free(copy);
	if (err)
		return err;
	if (contents->part)
		return 0;
	capture_contents__count(contents, index);
	return capture_contents__take(contents, trailer, trailer_at);
}

/* 1: the index gave everything; 0: no index, or not trustworthy. */
static int survey_use_index(struct capture_contents *contents)
{
	struct capture_damage before = contents->damage;
	struct capture_chunk trailer, index;
	uint64_t trailer_at = 0, at = 0;
	int good = survey_find_trailer(contents, &trailer_at, &trailer);

	if (good > 0)
		good = survey_load_index(contents, trailer_at, &at, &index);
	if (good <= 0)
		return good == -ENODATA ? 0 : good;
	good = survey_read_index(contents, &index, at, trailer_at, &trailer);
	if (!good && capture_damage__is_whole(&contents->damage))
		return contents->is_indexed = true;
	/* A walk gives more precise damage. */
	capture_contents__forget(contents);
	contents->damage = before;
	return !good || good == -ESTALE || good == -ENODATA ? 0 : good;
}

/* ---- contradictions ---- */

/* Number of a block's records with numbers below `next`. */
static uint64_t survey_count_repeated(const struct capture_chunk *chunk, uint64_t next)
{
	if (chunk->first >= next)
		return 0;
	return next - chunk->first < chunk->count ? next - chunk->first : chunk->count;
}

/* Counts records of missing blocks, and repeated records: their neighbours' numbers tell. */
static void survey_count_missing(struct capture_contents *contents)
{
	const struct capture_trailer *trailer = &contents->about.trailer;
	struct capture_damage *damage = &contents->damage;
	uint64_t next = 0;

	for (size_t i = 0; i < contents->records.nr; i++) {
		const struct capture_chunk *chunk = &contents->records.blocks[i].chunk;
		uint64_t end = chunk->first + chunk->count;

		if (chunk->first > next)
			damage->records_corrupt += chunk->first - next;
		damage->records_surplus += survey_count_repeated(chunk, next);
		next = end > next ? end : next;
		contents->nr_records += chunk->count;
	}
	if (trailer->there && trailer->records > next)
		damage->records_corrupt += trailer->records - next;
	if (trailer->there && trailer->records < next)
		damage->records_surplus += next - trailer->records;
}

/* Readings of the page cache are in order of time; a block equal to the one before it is a copy. */
static bool survey_is_repeated(const struct capture_chunk *before, const struct capture_chunk *now)
{
	if (now->type == CAPTURE_CACHE_ROWS && now->min_ns < before->min_ns)
		return true;
	return now->min_ns == before->min_ns && now->max_ns == before->max_ns &&
	       now->count == before->count && now->length == before->length;
}

static void survey_count_readings(struct capture_contents *contents)
{
	const struct capture_chunk *before[CAPTURE_TYPES] = { NULL };

	for (size_t i = 0; i < contents->caches.nr; i++) {
		const struct capture_chunk *chunk = &contents->caches.blocks[i].chunk;

		if (before[chunk->type] && survey_is_repeated(before[chunk->type], chunk))
			contents->damage.records_surplus += chunk->count;
		else
			before[chunk->type] = chunk;
	}
}

/*
 * *whole: how far the file is whole. A capture in a merged file ends with its own trailer; the end
 * of the file, which its first capture looks at, has another.
 */
static bool survey_is_cut(const struct capture_contents *contents, uint64_t *whole)
{
	const struct capture_trailer *trailer = &contents->about.trailer;

	if (!capture_contents__is_merged(contents))
		return !trailer->there || trailer->file_bytes > contents->source.size;
	if (!contents->part &&
	    (!contents->merged_bytes || contents->merged_bytes > contents->source.size))
		return true;
	*whole = CAPTURE_FILE_BYTES + contents->nr_bytes;
	return !trailer->there;
}

int capture_survey__make(struct capture_contents *contents, bool walks)
{
	uint64_t whole = contents->source.size;
	int err = survey_check_file(contents);

	if (!err && !walks)
		err = survey_use_index(contents);
	err = err ?: survey_scan(contents, walks, &whole);
	if (err < 0)
		return err;
	capture_about__sort_clocks(&contents->about);
	survey_count_missing(contents);
	survey_count_readings(contents);
	contents->damage.truncated = survey_is_cut(contents, &whole);
	if (contents->damage.truncated)
		contents->damage.truncated_at = whole;
	return 0;
}

static int survey_say(const struct capture_contents *contents, int err)
{
	const char *path = contents->source.path;

	if (err == -EINVAL)
		return log_err(err, "'%s' is not an iosonar capture", path);
	if (err == -EINTR)
		return log_err(err, "cannot read '%s': interrupted by a signal", path);
	if (err == -EPROTONOSUPPORT)
		return log_err(err, "'%s' has format version %u, this iosonar reads version %d",
			       path, contents->version, CAPTURE_VERSION_MERGED);
	return log_err(err, "cannot read '%s': %s", path, strerror(-err));
}

int capture_survey__open(struct capture_contents *contents, const char *path, bool walks)
{
	int err;

	contents->source.fd = -1;
	err = capture_source__open(&contents->source, path);
	if (err)
		return err;
	err = capture_survey__make(contents, walks);
	return err ? survey_say(contents, err) : 0;
}
