/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1
#include "capture/read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/grow.h"
#include "base/log.h"
#include "capture/block.h"
#include "capture/chunk.h"
#include "capture/crc32c.h"
#include "capture/index.h"
#include "wire/probe_maps.h"

enum {
	READER_WINDOW = 65536,	   /* bytes looked at in one go, to find a chunk after damage */
	READER_WINDOW_LEAST = 256, /* at first */
	READER_LOOK = 256,	   /* chunks between two looks at signals */
	READER_TAIL = 4096,	   /* and to find the trailer */
};

/* A chunk of records. Less than its header takes in the file. */
struct reader_block {
	uint64_t at;
	struct capture_chunk chunk;
};
_Static_assert(sizeof(struct reader_block) <= CAPTURE_CHUNK_BYTES, "the index is not larger");

struct reader_index {
	struct reader_block *blocks;
	size_t nr, room, next;
};

struct capture_reader {
	char *path;
	int fd;
	const uint8_t *memory; /* instead of fd */
	uint64_t size;
	struct capture_about about;
	struct capture_damage damage;
	struct reader_index records, caches, calls;
	uint64_t nr_chunks, reserve_bytes, nr_records;
	uint64_t from_ns, to_ns;
	bool is_bounded;
	bool knows_functions; /* the chunk of those whose calls follow was read */
	bool is_indexed;      /* blocks are as the index has them: their headers were not seen */
	uint8_t *payload;     /* of one chunk, with slack behind it */
	size_t payload_room;
	uint8_t *window; /* READER_WINDOW bytes, once damage was met */
	struct capture_unblock *unblock;
	struct capture_translation translation;
	const struct io_record *at, *end; /* some of a block's records, from the next one on */
	uint64_t place;			  /* of the one before: its block and its number there */
	uint16_t version;		  /* of the file */
};

bool capture_damage__is_whole(const struct capture_damage *damage)
{
	return !damage->blocks_corrupt && !damage->records_corrupt && !damage->truncated &&
	       !damage->records_surplus && !damage->records_astray && !damage->calls_missing &&
	       !damage->calls_surplus;
}

/* Blocks are whole, but they cannot all be right. */
static void damage_tell_contradictions(const struct capture_damage *damage, const char *path)
{
	if (damage->records_surplus)
		log_warn("%s holds %" PRIu64 " records more than were recorded: blocks are "
			 "repeated or added, and what they hold is counted again",
			 path, damage->records_surplus);
	if (damage->records_astray)
		log_warn("%s is not consistent: the times of %" PRIu64
			 " records are outside the range that their block's header gives",
			 path, damage->records_astray);
	if (damage->calls_missing)
		log_warn("%s lacks %" PRIu64 " records of calls that were recorded: blocks are "
			 "missing",
			 path, damage->calls_missing);
	if (damage->calls_surplus)
		log_warn("%s holds %" PRIu64 " records of calls more than were recorded: blocks "
			 "are repeated or added",
			 path, damage->calls_surplus);
}

void capture_damage__tell(const struct capture_damage *damage, const char *path)
{
	if (damage->truncated)
		log_warn("%s is cut: it has no end after %" PRIu64 " bytes; what is whole was read",
			 path, damage->truncated_at);
	if (damage->blocks_corrupt && !damage->records_corrupt)
		log_warn("%s is damaged: %" PRIu64 " blocks were skipped", path,
			 damage->blocks_corrupt);
	if (damage->records_corrupt)
		log_warn("%s is damaged: %" PRIu64 " blocks with %" PRIu64 " records were skipped",
			 path, damage->blocks_corrupt, damage->records_corrupt);
	damage_tell_contradictions(damage, path);
}

/* Exactly nr bytes, which the size of the file promised. */
static int reader_read_at(struct capture_reader *reader, void *to, size_t nr, uint64_t at)
{
	uint8_t *bytes = to;

	if (reader->memory && nr)
		memcpy(bytes, reader->memory + at, nr);
	if (reader->memory)
		return 0;
	while (nr) {
		ssize_t got = pread(reader->fd, bytes, nr, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -ENODATA;
		bytes += got;
		at += (uint64_t)got;
		nr -= (size_t)got;
	}
	return 0;
}

/* The payload, checked, with slack behind it. -EBADMSG: not what was written. */
static int reader_load(struct capture_reader *reader, const struct capture_chunk *chunk,
		       uint64_t at)
{
	size_t room = (size_t)chunk->length + CAPTURE_SLACK;
	uint8_t *payload;
	int err;

	if (room > reader->payload_room) {
		payload = realloc(reader->payload, room);
		if (!payload)
			return -ENOMEM;
		reader->payload = payload;
		reader->payload_room = room;
	}
	err = reader_read_at(reader, reader->payload, chunk->length, at + CAPTURE_CHUNK_BYTES);
	if (err)
		return err == -ENODATA ? -EBADMSG : err;
	memset(reader->payload + chunk->length, 0, CAPTURE_SLACK);
	return crc32c(reader->payload, chunk->length) == chunk->crc ? 0 : -EBADMSG;
}

/* Is there a whole header? */
static int reader_header_at(struct capture_reader *reader, uint64_t at, struct capture_chunk *chunk)
{
	uint8_t header[CAPTURE_CHUNK_BYTES];
	int err;

	if (reader->size - at < sizeof(header))
		return 0;
	err = reader_read_at(reader, header, sizeof(header), at);
	if (err)
		return err == -ENODATA ? 0 : err;
	return capture_chunk__get(chunk, header);
}

/*
 * Whoever holds signals back until he looks at them, as a run does, is told that one waits. Others
 * are ended by it.
 */
static bool reader_is_interrupted(void)
{
	sigset_t waiting;

	if (sigpending(&waiting))
		return false;
	return sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGTERM) ||
	       sigismember(&waiting, SIGHUP);
}

/* No chunk begins in a hole: those are zeros. */
static uint64_t reader_skip_hole(const struct capture_reader *reader, uint64_t at)
{
	off_t data = reader->memory ? (off_t)at : lseek(reader->fd, (off_t)at, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? reader->size : at;
	return (uint64_t)data < reader->size ? (uint64_t)data : reader->size;
}

/* 1: a good header begins at *i; 0: in these bytes none does. */
static int reader_search(const uint8_t *bytes, size_t nr, size_t *i)
{
	struct capture_chunk chunk;

	for (*i = 0; *i + CAPTURE_CHUNK_BYTES <= nr; ++*i) {
		*i = capture_chunk__search(bytes, nr, *i);
		if (*i + CAPTURE_CHUNK_BYTES > nr)
			return 0;
		if (capture_chunk__get(&chunk, bytes + *i))
			return 1;
	}
	return 0;
}

/*
 * The next good header at or after `at`, which had none: by its magic. The file's end if none. Most
 * damage is short, so what is read in one go begins small. -EINTR: a signal came.
 */
static int reader_resync(struct capture_reader *reader, uint64_t *at)
{
	uint8_t *window = reader->window ? reader->window : malloc(READER_WINDOW);
	size_t nr = READER_WINDOW_LEAST, i;
	int err = window ? 0 : -ENOMEM;

	reader->window = window;
	while (!err && reader->size - *at >= CAPTURE_CHUNK_BYTES) {
		uint64_t left = reader->size - *at;

		if (reader_is_interrupted())
			return -EINTR;
		nr = left < nr ? (size_t)left : nr;
		err = reader_read_at(reader, window, nr, *at);
		if (!err && reader_search(window, nr, &i)) {
			*at += i;
			return 0;
		}
		/* A header may lie across the end of the window. */
		*at = reader_skip_hole(reader, *at + nr - CAPTURE_CHUNK_BYTES + 1);
		nr = nr * 4 < READER_WINDOW ? nr * 4 : READER_WINDOW;
	}
	if (!err || err == -ENODATA)
		*at = reader->size;
	return err == -ENODATA ? 0 : err;
}

/* As reader_load, of a chunk that may be known by the index alone. */
static int reader_load_block(struct capture_reader *reader, const struct reader_block *block)
{
	struct capture_chunk found;
	int good;

	if (!reader->is_indexed)
		return reader_load(reader, &block->chunk, block->at);
	good = reader_header_at(reader, block->at, &found);
	if (good <= 0)
		return good ? good : -EBADMSG;
	if (!capture_index__agrees(&block->chunk, &found))
		return -EBADMSG;
	return reader_load(reader, &found, block->at);
}

static int reader_add_block(struct reader_index *index, const struct capture_chunk *chunk,
			    uint64_t at)
{
	if (GROW(index->blocks, index->room, index->nr + 1))
		return -ENOMEM;
	index->blocks[index->nr++] = (struct reader_block){ at, *chunk };
	return 0;
}

/* Where blocks of that type are listed, to be read when they are asked for; NULL: nowhere. */
static struct reader_index *reader_list_of(struct capture_reader *reader, uint8_t type)
{
	if (type == CAPTURE_RECORDS)
		return &reader->records;
	if (type == CAPTURE_CACHE_ROWS || type == CAPTURE_CACHE_EVENTS)
		return &reader->caches;
	return type >= CAPTURE_CALLED && type <= CAPTURE_FOLLOWED ? &reader->calls : NULL;
}

static void reader_count_chunk(struct capture_reader *reader, const struct capture_chunk *chunk)
{
	reader->nr_chunks++;
	if (chunk->type == CAPTURE_RECORDS || chunk->type == CAPTURE_TRAILER)
		reader->damage.records_lost += chunk->lost;
	if (!chunk->type || chunk->type >= CAPTURE_TYPES)
		reader->damage.chunks_unknown++;
	if (chunk->type == CAPTURE_RESERVE)
		reader->reserve_bytes += chunk->length + CAPTURE_CHUNK_BYTES;
}

static int reader_take_chunk(struct capture_reader *reader, const struct capture_chunk *chunk,
			     uint64_t at)
{
	struct reader_index *list = reader_list_of(reader, chunk->type);
	struct byte_in in;
	int err;

	reader_count_chunk(reader, chunk);
	if (list)
		return reader_add_block(list, chunk, at);
	err = reader_load(reader, chunk, at);
	in = (struct byte_in){ reader->payload, reader->payload + chunk->length, false };
	if (!err)
		err = capture_about__take(&reader->about, chunk->type, in);
	if (err == -EBADMSG) {
		reader->damage.blocks_corrupt++;
		err = 0;
	}
	return err;
}

/* From chunk to chunk; *whole is the end of the last one that was all there. */
static int reader_scan(struct capture_reader *reader, uint64_t *whole)
{
	uint64_t at = CAPTURE_FILE_BYTES;
	struct capture_chunk chunk;
	int good;

	*whole = reader->size < at ? 0 : at;
	while (at < reader->size) {
		good = reader_header_at(reader, at, &chunk);
		if (good < 0)
			return good;
		if (!good && reader->size - at < CAPTURE_CHUNK_BYTES)
			return 0;
		if (!good) {
			int err = reader_resync(reader, &at);

			reader->damage.blocks_corrupt++;
			if (err)
				return err;
			continue;
		}
		if (chunk.length > reader->size - at - CAPTURE_CHUNK_BYTES)
			return 0;
		good = reader_take_chunk(reader, &chunk, at);
		if (good < 0)
			return good;
		at += CAPTURE_CHUNK_BYTES + chunk.length;
		*whole = at;
		if (reader->nr_chunks % READER_LOOK == 0 && reader_is_interrupted())
			return -EINTR;
	}
	return 0;
}

/* ---- by the index ---- */

/* The trailer is the last chunk, and small. 1: it begins at *at; 0: there is none. */
static int reader_find_trailer(struct capture_reader *reader, uint64_t *at,
			       struct capture_chunk *chunk)
{
	uint8_t tail[READER_TAIL];
	size_t nr = reader->size < sizeof(tail) ? (size_t)reader->size : sizeof(tail);
	int err = reader_read_at(reader, tail, nr, reader->size - nr);

	for (size_t i = 0; !err && i + CAPTURE_CHUNK_BYTES <= nr; i++) {
		i = capture_chunk__search(tail, nr, i);
		if (i + CAPTURE_CHUNK_BYTES > nr)
			break;
		if (!capture_chunk__get(chunk, tail + i) || chunk->type != CAPTURE_TRAILER ||
		    chunk->length != nr - i - CAPTURE_CHUNK_BYTES)
			continue;
		*at = reader->size - nr + i;
		return 1;
	}
	return err;
}

/* Directly before the trailer; its last bytes say where it begins. 1: its payload is loaded. */
static int reader_load_index(struct capture_reader *reader, uint64_t end, uint64_t *at,
			     struct capture_chunk *chunk)
{
	uint8_t tail[CAPTURE_INDEX_TAIL];
	int good;

	if (end < CAPTURE_FILE_BYTES + CAPTURE_CHUNK_BYTES + sizeof(tail))
		return 0;
	good = reader_read_at(reader, tail, sizeof(tail), end - sizeof(tail));
	if (good)
		return good;
	*at = le__get64(tail);
	if (*at < CAPTURE_FILE_BYTES || *at > end - CAPTURE_CHUNK_BYTES - sizeof(tail))
		return 0;
	good = reader_header_at(reader, *at, chunk);
	if (good <= 0 || chunk->type != CAPTURE_INDEX ||
	    chunk->length != end - *at - CAPTURE_CHUNK_BYTES)
		return good < 0 ? good : 0;
	good = reader_load(reader, chunk, *at);
	return good == -EBADMSG ? 0 : good ? good : 1;
}

/* Its chunks have to fill the file from its header up to the index. */
static bool reader_index_fits(const struct capture_chunk *index, struct byte_in in, uint64_t at)
{
	struct capture_index_state state;
	struct capture_chunk chunk;

	capture_index__begin(&state);
	for (uint32_t i = 0; i < index->count; i++)
		if (!capture_index__get(&in, &state, &chunk) || state.at > at)
			return false;
	return state.at == at && !byte_in__left(&in);
}

/* -ESTALE: what is there is not what the index says. */
static int reader_take_indexed(struct capture_reader *reader, const struct capture_chunk *chunk,
			       uint64_t at)
{
	struct reader_index *list = reader_list_of(reader, chunk->type);
	struct capture_chunk found;
	int good;

	if (list || chunk->type == CAPTURE_RESERVE) {
		reader_count_chunk(reader, chunk);
		return list ? reader_add_block(list, chunk, at) : 0;
	}
	good = reader_header_at(reader, at, &found);
	if (good < 0)
		return good;
	if (!good || !capture_index__agrees(chunk, &found))
		return -ESTALE;
	return reader_take_chunk(reader, &found, at);
}

/* in: a copy of the index, for chunks are loaded meanwhile. */
static int reader_take_index(struct capture_reader *reader, const struct capture_chunk *index,
			     struct byte_in in)
{
	struct capture_index_state state;
	struct capture_chunk chunk;
	int err = 0;

	capture_index__begin(&state);
	for (uint32_t i = 0; i < index->count && !err; i++) {
		uint64_t at = state.at;

		if (!capture_index__get(&in, &state, &chunk))
			return -ESTALE;
		if (!capture_index__holds(&chunk)) {
			err = reader_take_indexed(reader, &chunk, at);
			continue;
		}
		reader_count_chunk(reader, &chunk);
		err = capture_about__add_clock(&reader->about, &state.clock);
	}
	return err;
}

/* As if nothing had been read. */
static void reader_forget(struct capture_reader *reader)
{
	reader->records.nr = reader->caches.nr = reader->calls.nr = 0;
	capture_about__free(&reader->about);
	memset(&reader->about, 0, sizeof(reader->about));
	reader->nr_chunks = reader->reserve_bytes = 0;
}

static int reader_read_index(struct capture_reader *reader, const struct capture_chunk *index,
			     uint64_t at, uint64_t trailer_at, const struct capture_chunk *trailer)
{
	struct byte_in in = { reader->payload, reader->payload + index->length - CAPTURE_INDEX_TAIL,
			      false };
	uint8_t *copy;
	int err;

	if (!reader_index_fits(index, in, at))
		return -ESTALE;
	copy = malloc(index->length);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, reader->payload, index->length);
	in = (struct byte_in){ copy, copy + index->length - CAPTURE_INDEX_TAIL, false };
	err = reader_take_index(reader, index, in);
	free(copy);
	if (err)
		return err;
	reader_count_chunk(reader, index);
	return reader_take_chunk(reader, trailer, trailer_at);
}

/* 1: all is known by the index; 0: there is none that can be believed. */
static int reader_use_index(struct capture_reader *reader)
{
	struct capture_damage before = reader->damage;
	struct capture_chunk trailer, index;
	uint64_t trailer_at = 0, at = 0;
	int good = reader_find_trailer(reader, &trailer_at, &trailer);

	if (good > 0)
		good = reader_load_index(reader, trailer_at, &at, &index);
	if (good <= 0)
		return good == -ENODATA ? 0 : good;
	good = reader_read_index(reader, &index, at, trailer_at, &trailer);
	if (!good && capture_damage__is_whole(&reader->damage))
		return reader->is_indexed = true;
	/* A walk tells better what is damaged, and how. */
	reader_forget(reader);
	reader->damage = before;
	return !good || good == -ESTALE || good == -ENODATA ? 0 : good;
}

/* Of the records of a block, those that have numbers below `next`. */
static uint64_t reader_count_repeated(const struct capture_chunk *chunk, uint64_t next)
{
	if (chunk->first >= next)
		return 0;
	return next - chunk->first < chunk->count ? next - chunk->first : chunk->count;
}

/*
 * Records that blocks which cannot be found had, and such as are there too often: their neighbours
 * know their numbers.
 */
static void reader_count_missing(struct capture_reader *reader)
{
	const struct capture_trailer *trailer = &reader->about.trailer;
	struct capture_damage *damage = &reader->damage;
	uint64_t next = 0;

	for (size_t i = 0; i < reader->records.nr; i++) {
		const struct capture_chunk *chunk = &reader->records.blocks[i].chunk;
		uint64_t end = chunk->first + chunk->count;

		if (chunk->first > next)
			damage->records_corrupt += chunk->first - next;
		damage->records_surplus += reader_count_repeated(chunk, next);
		next = end > next ? end : next;
		reader->nr_records += chunk->count;
	}
	if (trailer->there && trailer->records > next)
		damage->records_corrupt += trailer->records - next;
	if (trailer->there && trailer->records < next)
		damage->records_surplus += next - trailer->records;
}

/* Readings of the page cache follow one another; a block like the one before it is a copy. */
static bool reader_is_repeated(const struct capture_chunk *before, const struct capture_chunk *now)
{
	if (now->type == CAPTURE_CACHE_ROWS && now->min_ns < before->min_ns)
		return true;
	return now->min_ns == before->min_ns && now->max_ns == before->max_ns &&
	       now->count == before->count && now->length == before->length;
}

static void reader_count_readings(struct capture_reader *reader)
{
	const struct capture_chunk *before[CAPTURE_TYPES] = { NULL };

	for (size_t i = 0; i < reader->caches.nr; i++) {
		const struct capture_chunk *chunk = &reader->caches.blocks[i].chunk;

		if (before[chunk->type] && reader_is_repeated(before[chunk->type], chunk))
			reader->damage.records_surplus += chunk->count;
		else
			before[chunk->type] = chunk;
	}
}

/*
 * A file whose first bytes are damaged is still a capture if a chunk follows them; one that ends
 * within them was killed in its first moment.
 */
static int reader_check_file(struct capture_reader *reader)
{
	uint8_t header[CAPTURE_FILE_BYTES] = { 0 };
	size_t nr = reader->size < sizeof(header) ? (size_t)reader->size : sizeof(header);
	struct capture_chunk chunk;
	int err = reader_read_at(reader, header, nr, 0);

	if (err)
		return err;
	switch (capture_file__check_header(header, nr, &reader->version)) {
	case CAPTURE_FILE_GOOD:
	case CAPTURE_FILE_CUT: return 0;
	case CAPTURE_FILE_NEWER: return -EPROTONOSUPPORT;
	case CAPTURE_FILE_DAMAGED: break;
	}
	if (nr < sizeof(header))
		return -EINVAL;
	err = reader_header_at(reader, sizeof(header), &chunk);
	if (err <= 0)
		return err ? err : -EINVAL;
	reader->damage.blocks_corrupt++;
	return 0;
}

/* By the index, or from chunk to chunk. */
static int reader_begin(struct capture_reader *reader, bool walks)
{
	struct capture_trailer *trailer = &reader->about.trailer;
	uint64_t whole = reader->size;
	int err;

	reader->to_ns = UINT64_MAX;
	err = reader_check_file(reader);
	if (!err && !walks)
		err = reader_use_index(reader);
	if (!err)
		err = reader_scan(reader, &whole);
	if (err < 0)
		return err;
	capture_about__sort_clocks(&reader->about);
	reader_count_missing(reader);
	reader_count_readings(reader);
	reader->damage.truncated = !trailer->there || trailer->file_bytes > reader->size;
	if (reader->damage.truncated)
		reader->damage.truncated_at = whole;
	return 0;
}

int capture_reader__open_memory(const void *bytes, size_t nr, struct capture_reader **reader)
{
	struct capture_reader *new = calloc(1, sizeof(*new));
	int err;

	*reader = NULL;
	if (!new)
		return -ENOMEM;
	new->fd = -1;
	new->memory = bytes;
	new->size = nr;
	err = reader_begin(new, false);
	if (err) {
		capture_reader__free(new);
		return err;
	}
	*reader = new;
	return 0;
}

static int reader_open_file(struct capture_reader *reader, const char *path)
{
	struct stat about;

	reader->path = strdup(path);
	if (!reader->path)
		return log_err(-ENOMEM, "no memory to read '%s'", path);
	reader->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (reader->fd < 0 || fstat(reader->fd, &about))
		return log_err(-errno, "cannot read '%s': %s%s", path, strerror(errno),
			       errno == EMFILE ? "; raise the limit (ulimit -n)" : "");
	if (!S_ISREG(about.st_mode))
		return log_err(-EINVAL, "'%s' is not a file: a capture cannot be read from it",
			       path);
	reader->size = (uint64_t)about.st_size;
	return 0;
}

static int reader_say(const struct capture_reader *reader, int err)
{
	if (err == -EINVAL)
		return log_err(err, "'%s' is not a capture of iosonar", reader->path);
	if (err == -EINTR)
		return log_err(err, "'%s' was not read: a signal came", reader->path);
	if (err == -EPROTONOSUPPORT)
		return log_err(err, "'%s' has version %u of the format, this iosonar reads %d",
			       reader->path, reader->version, CAPTURE_VERSION);
	return log_err(err, "cannot read '%s': %s", reader->path, strerror(-err));
}

static int reader_open(const char *path, bool walks, struct capture_reader **reader)
{
	struct capture_reader *new = calloc(1, sizeof(*new));
	int err;

	*reader = NULL;
	if (!new)
		return log_err(-ENOMEM, "no memory to read '%s'", path);
	new->fd = -1;
	err = reader_open_file(new, path);
	if (err)
		goto out;
	err = reader_begin(new, walks);
	if (err)
		err = reader_say(new, err);
out:
	if (err)
		capture_reader__free(new);
	else
		*reader = new;
	return err;
}

int capture_reader__open(const char *path, struct capture_reader **reader)
{
	return reader_open(path, false, reader);
}

void capture_reader__free(struct capture_reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	capture_about__free(&reader->about);
	capture_unblock__free(reader->unblock);
	free(reader->records.blocks);
	free(reader->caches.blocks);
	free(reader->calls.blocks);
	free(reader->payload);
	free(reader->window);
	free(reader->path);
	free(reader);
}

void capture_reader__bound(struct capture_reader *reader, uint64_t from_ns, uint64_t to_ns)
{
	reader->from_ns = from_ns;
	reader->to_ns = to_ns;
	reader->is_bounded = from_ns || to_ns != UINT64_MAX;
}

void capture_reader__translate(struct capture_reader *reader,
			       const struct capture_translation *translation)
{
	reader->translation = *translation;
}

/* 0: the block's records are there. -EBADMSG: skipped, and counted. */
static int reader_open_block(struct capture_reader *reader, const struct reader_block *block)
{
	const struct capture_chunk *chunk = &block->chunk;
	int err;

	if (!reader->unblock)
		reader->unblock = capture_unblock__new();
	if (!reader->unblock)
		return -ENOMEM;
	err = reader_load_block(reader, block);
	if (!err)
		err = capture_unblock__open(reader->unblock, chunk, reader->payload,
					    &reader->translation);
	if (err == -EBADMSG) {
		reader->damage.blocks_corrupt++;
		reader->damage.records_corrupt += chunk->count;
	}
	if (err == -EOPNOTSUPP && reader->path)
		log_err(err, "'%s' is compressed with zstd, this iosonar was built without it",
			reader->path);
	return err;
}

/* Is some of that time wanted? No end at all also lets the last nanosecond through. */
static bool reader_wants(const struct capture_reader *reader, uint64_t min_ns, uint64_t max_ns)
{
	if (!reader->is_bounded)
		return true;
	return max_ns >= reader->from_ns && (min_ns < reader->to_ns || reader->to_ns == UINT64_MAX);
}

/* 1: a block is open; 0: the end. */
static int reader_next_block(struct capture_reader *reader)
{
	while (reader->records.next < reader->records.nr) {
		const struct reader_block *block = &reader->records.blocks[reader->records.next];
		int err;

		if (!reader_wants(reader, block->chunk.min_ns, block->chunk.max_ns)) {
			reader->records.next++;
			continue;
		}
		err = reader_open_block(reader, block);
		if (err && err != -EBADMSG)
			return err;
		reader->records.next++;
		reader->place = (uint64_t)reader->records.next * CAPTURE_BLOCK_RECORDS;
		if (!err)
			return 1;
	}
	return 0;
}

/* Some of the open block's records. */
static void reader_take_run(struct capture_reader *reader)
{
	reader->at = capture_unblock__next(reader->unblock, &reader->end);
	reader->damage.records_astray += capture_unblock__take_astray(reader->unblock);
}

/* 1: records are there; 0: the end. */
static int reader_next_records(struct capture_reader *reader)
{
	int more = 1;

	if (reader->unblock)
		reader_take_run(reader);
	while (reader->at == reader->end && more > 0) {
		more = reader_next_block(reader);
		if (more > 0)
			reader_take_run(reader);
	}
	return more;
}

const struct io_record *capture_reader__next(struct capture_reader *reader, int *err)
{
	const struct io_record *record;
	uint64_t at_ns;

	do {
		if (reader->at == reader->end) {
			*err = reader_next_records(reader);
			if (*err <= 0)
				return NULL;
		}
		record = reader->at;
		reader->place++;
		reader->at = stages__next_record(record);
		at_ns = io_record__time_ns(record) - reader->translation.shift_ns;
	} while (!reader_wants(reader, at_ns, at_ns));
	*err = 0;
	return record;
}

uint64_t capture_reader__place(const struct capture_reader *reader)
{
	return reader->place;
}

void capture_reader__rewind(struct capture_reader *reader)
{
	capture_unblock__free(reader->unblock);
	reader->unblock = NULL;
	reader->at = reader->end = NULL;
	reader->records.next = reader->caches.next = reader->calls.next = 0;
}

static int reader_open_cache(struct capture_reader *reader, const struct reader_block *block,
			     struct capture_cache *cache)
{
	int err = reader_load_block(reader, block);
	struct byte_in in = { reader->payload, reader->payload + block->chunk.length, false };

	cache->is_reading = block->chunk.type == CAPTURE_CACHE_ROWS;
	cache->time_ns = block->chunk.min_ns;
	if (err)
		return err;
	return cache->is_reading ? capture_cache__get_rows(cache, in)
				 : capture_cache__get_events(cache, in, block->chunk.min_ns);
}

int capture_reader__next_cache(struct capture_reader *reader, struct capture_cache *cache)
{
	struct reader_index *index = &reader->caches;

	while (index->next < index->nr) {
		int err = reader_open_cache(reader, &index->blocks[index->next++], cache);

		if (err && err != -EBADMSG)
			return err;
		if (!err)
			return 1;
		reader->damage.blocks_corrupt++;
	}
	return 0;
}

/* As many records of calls have to be there as the recorder counted. in: a copy. */
static void reader_check_calls(struct capture_reader *reader, struct byte_in in)
{
	uint64_t nr = byte_in__varint(&in), sent = 0, there = capture_reader__nr_calls(reader);

	if (nr <= PROBE_SENT)
		return; /* of a recorder that does not tell */
	for (int i = 0; i <= PROBE_SENT; i++)
		sent = byte_in__varint(&in);
	if (in.bad)
		return;
	reader->damage.calls_missing = sent > there ? sent - there : 0;
	reader->damage.calls_surplus = sent < there ? there - sent : 0;
}

static int reader_open_part(struct capture_reader *reader, const struct reader_block *block,
			    struct capture_part *part)
{
	int err = reader_load_block(reader, block);

	part->chunk = block->chunk;
	part->in =
		(struct byte_in){ reader->payload, reader->payload + block->chunk.length, false };
	if (err)
		return err;
	/* Without the functions nobody knows what their calls mean. */
	if (block->chunk.type == CAPTURE_CALLS && !reader->knows_functions)
		return -EBADMSG;
	if (block->chunk.type == CAPTURE_CALLED)
		reader->knows_functions = true;
	if (block->chunk.type == CAPTURE_FOLLOWED)
		reader_check_calls(reader, part->in);
	return 0;
}

int capture_reader__next_part(struct capture_reader *reader, struct capture_part *part)
{
	struct reader_index *index = &reader->calls;

	while (index->next < index->nr) {
		int err = reader_open_part(reader, &index->blocks[index->next++], part);

		if (err && err != -EBADMSG)
			return err;
		if (!err)
			return 1;
		reader->damage.blocks_corrupt++;
	}
	return 0;
}

uint64_t capture_reader__nr_calls(const struct capture_reader *reader)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < reader->calls.nr; i++)
		if (reader->calls.blocks[i].chunk.type == CAPTURE_CALLS)
			nr += reader->calls.blocks[i].chunk.count;
	return nr;
}

bool capture_reader__has_calls(const struct capture_reader *reader)
{
	return reader->calls.nr;
}

bool capture_reader__has_cache(const struct capture_reader *reader, bool events)
{
	uint8_t type = events ? CAPTURE_CACHE_EVENTS : CAPTURE_CACHE_ROWS;

	for (size_t i = 0; i < reader->caches.nr; i++)
		if (reader->caches.blocks[i].chunk.type == type)
			return true;
	return false;
}

const struct capture_about *capture_reader__about(const struct capture_reader *reader)
{
	return &reader->about;
}

const struct capture_damage *capture_reader__damage(const struct capture_reader *reader)
{
	return &reader->damage;
}

uint64_t capture_reader__nr_records(const struct capture_reader *reader)
{
	return reader->nr_records;
}

uint64_t capture_reader__bytes(const struct capture_reader *reader)
{
	return reader->size;
}

uint64_t capture_reader__position(const struct capture_reader *reader)
{
	if (reader->records.next == reader->records.nr)
		return reader->size;
	return reader->records.blocks[reader->records.next].at;
}

bool capture_reader__span(const struct capture_reader *reader, uint64_t *min_ns, uint64_t *max_ns)
{
	*min_ns = UINT64_MAX;
	*max_ns = 0;
	for (size_t i = 0; i < reader->records.nr; i++) {
		const struct capture_chunk *chunk = &reader->records.blocks[i].chunk;

		if (chunk->min_ns < *min_ns)
			*min_ns = chunk->min_ns;
		if (chunk->max_ns > *max_ns)
			*max_ns = chunk->max_ns;
	}
	return reader->records.nr;
}

static bool reader_info_ns(const struct capture_reader *reader, const char *key, uint64_t *ns)
{
	const char *text = capture_about__info(&reader->about, key);
	char *end;

	if (!text || !*text)
		return false;
	errno = 0;
	*ns = strtoull(text, &end, 10);
	return !errno && !*end;
}

bool capture_reader__run(const struct capture_reader *reader, uint64_t *start_ns, uint64_t *end_ns)
{
	uint64_t min_ns, max_ns;
	bool records = capture_reader__span(reader, &min_ns, &max_ns);
	bool start = reader_info_ns(reader, CAPTURE_INFO_START, start_ns);
	bool end = reader_info_ns(reader, CAPTURE_INFO_END, end_ns);

	if (!records && !start)
		return false;
	/* What the records say holds: a text in a file may be anything. */
	if (records && (!start || *start_ns > min_ns))
		*start_ns = min_ns;
	if (!end || *end_ns < *start_ns)
		*end_ns = *start_ns;
	if (records && *end_ns < max_ns)
		*end_ns = max_ns;
	return true;
}

bool capture_reader__has_stages(const struct capture_reader *reader)
{
	for (size_t i = 0; i < reader->records.nr; i++)
		if (reader->records.blocks[i].chunk.flags & CAPTURE_STAGES)
			return true;
	return false;
}

const char *capture_reader__path(const struct capture_reader *reader)
{
	return reader->path;
}

static int reader_verify_cache(struct capture_reader *reader)
{
	struct capture_cache cache = { 0 };
	int more;

	do
		more = capture_reader__next_cache(reader, &cache);
	while (more > 0);
	capture_cache__free(&cache);
	return more;
}

/* What is in them is not known here: they are as they were written. */
static int reader_verify_calls(struct capture_reader *reader)
{
	struct capture_part part;
	int more;

	do
		more = capture_reader__next_part(reader, &part);
	while (more > 0);
	return more;
}

/* All of the open block: only records that are decoded have times. */
static uint64_t reader_verify_records(struct capture_reader *reader)
{
	uint64_t nr = 0;

	for (reader_take_run(reader); reader->at != reader->end; reader_take_run(reader))
		for (; reader->at != reader->end; nr++)
			reader->at = stages__next_record(reader->at);
	return nr;
}

int capture__verify(const char *path, struct capture_report *report)
{
	struct capture_reader *reader;
	int err = reader_open(path, true, &reader);

	memset(report, 0, sizeof(*report));
	if (err)
		return err;
	report->bytes = reader->size;
	report->chunks = reader->nr_chunks;
	report->blocks = reader->records.nr;
	report->reserve_bytes = reader->reserve_bytes;
	for (size_t i = 0; i < reader->records.nr && (!err || err == -EBADMSG); i++) {
		const struct reader_block *block = &reader->records.blocks[i];

		report->zstd_blocks += block->chunk.flags & CAPTURE_ZSTD;
		err = reader_open_block(reader, block);
		if (!err)
			report->records += reader_verify_records(reader);
	}
	err = err == -EBADMSG ? 0 : err;
	if (!err)
		err = reader_verify_cache(reader);
	if (!err)
		err = reader_verify_calls(reader);
	report->damage = reader->damage;
	capture_reader__free(reader);
	return err;
}
