/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "capture/read_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "capture/block.h"
#include "capture/survey.h"
#include "wire/probe_maps.h"

int capture_reader__open_memory(const void *bytes, size_t nr, struct capture_reader **reader)
{
	return capture_reader__open_memory_part(bytes, nr, 0, reader);
}

int capture_reader__open_memory_part(const void *bytes, size_t nr, size_t part,
				     struct capture_reader **reader)
{
	struct capture_reader *new = calloc(1, sizeof(*new));
	int err;

	*reader = NULL;
	if (!new)
		return -ENOMEM;
	new->file.source.fd = -1;
	new->file.source.memory = bytes;
	new->file.source.size = nr;
	new->file.part = (uint16_t)part;
	new->to_ns = UINT64_MAX;
	new->to_block = SIZE_MAX;
	err = capture_survey__make(&new->file, false);
	if (err) {
		capture_reader__free(new);
		return err;
	}
	new->surveyed = new->file.damage;
	*reader = new;
	return 0;
}

int capture_reader__open_fd(int fd, struct capture_reader **reader)
{
	struct capture_reader *new = calloc(1, sizeof(*new));
	struct stat about;
	int err = new ? 0 : -ENOMEM;

	*reader = NULL;
	if (!new || fstat(fd, &about)) {
		close(fd);
		free(new);
		return err ?: -EIO;
	}
	new->file.source.fd = fd;
	new->file.source.size = (uint64_t)about.st_size;
	new->to_ns = UINT64_MAX;
	new->to_block = SIZE_MAX;
	err = capture_survey__make(&new->file, false);
	new->surveyed = new->file.damage;
	if (err)
		capture_reader__free(new);
	else
		*reader = new;
	return err;
}

bool capture__is_one(const char *path)
{
	uint8_t head[CAPTURE_FILE_BYTES];
	bool is_one = false;
	struct stat file;
	uint16_t version;
	FILE *in;

	if (stat(path, &file) || !S_ISREG(file.st_mode)) /* a pipe can be read only once */
		return false;
	in = fopen(path, "re");
	if (in && fread(head, 1, sizeof(head), in) == sizeof(head))
		is_one = capture_file__check_header(head, sizeof(head), &version) !=
			 CAPTURE_FILE_DAMAGED;
	if (in)
		fclose(in);
	return is_one;
}

/* "all.cap (2: db7)": of several captures in a file, which. */
static int reader_name(struct capture_reader *reader)
{
	const char *host = capture_about__info(&reader->file.about, CAPTURE_INFO_HOST);
	int len;

	if (capture_reader__nr_parts(reader) == 1)
		return 0;
	len = asprintf(&reader->label, "%s (%d: %s)", reader->file.source.path,
		       reader->file.part + 1, host ? host : "?");
	if (len >= 0)
		return 0;
	reader->label = NULL;
	return log_err(-ENOMEM, "no memory to read '%s'", reader->file.source.path);
}

int reader_open(const char *path, uint16_t part, bool walks, struct capture_reader **reader)
{
	struct capture_reader *new = calloc(1, sizeof(*new));
	int err;

	*reader = NULL;
	if (!new)
		return log_err(-ENOMEM, "no memory to read '%s'", path);
	new->to_ns = UINT64_MAX;
	new->to_block = SIZE_MAX;
	new->file.part = part;
	err = capture_survey__open(&new->file, path, walks);
	new->surveyed = new->file.damage;
	if (!err)
		err = reader_name(new);
	if (err)
		capture_reader__free(new);
	else
		*reader = new;
	return err;
}

int capture_reader__open(const char *path, struct capture_reader **reader)
{
	return reader_open(path, 0, false, reader);
}

int capture_reader__open_part(const char *path, size_t part, struct capture_reader **reader)
{
	return reader_open(path, (uint16_t)part, false, reader);
}

size_t capture_reader__nr_parts(const struct capture_reader *reader)
{
	return reader->file.nr_parts > 1 ? reader->file.nr_parts : 1;
}

const char *capture_reader__label(const struct capture_reader *reader)
{
	return reader->label ? reader->label : reader->file.source.path;
}

void capture_reader__free(struct capture_reader *reader)
{
	if (!reader)
		return;
	capture_unblock__free(reader->unblock);
	capture_contents__free(&reader->file);
	free(reader->label);
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
static int reader_open_block(struct capture_reader *reader, const struct capture_listed *block)
{
	const struct capture_chunk *chunk = &block->chunk;
	int err;

	if (!reader->unblock)
		reader->unblock = capture_unblock__new();
	if (!reader->unblock)
		return -ENOMEM;
	err = capture_contents__load(&reader->file, block);
	if (!err)
		err = capture_unblock__open(reader->unblock, chunk, reader->file.source.payload,
					    &reader->translation);
	if (err == -EBADMSG) {
		reader->file.damage.blocks_corrupt++;
		reader->file.damage.records_corrupt += chunk->count;
	}
	if (err == -EOPNOTSUPP && reader->file.source.path)
		log_err(err, "'%s' is compressed with zstd, this iosonar was built without zstd",
			reader->file.source.path);
	return err;
}

/* Does the range overlap the bounds? Without an end, the last nanosecond passes, too. */
static bool reader_wants(const struct capture_reader *reader, uint64_t min_ns, uint64_t max_ns)
{
	if (!reader->is_bounded)
		return true;
	return max_ns >= reader->from_ns && (min_ns < reader->to_ns || reader->to_ns == UINT64_MAX);
}

/* 1: a block is open; 0: the end. */
static int reader_next_block(struct capture_reader *reader)
{
	struct capture_list *list = &reader->file.records;

	while (list->next < list->nr && list->next < reader->to_block) {
		const struct capture_listed *block = &list->blocks[list->next];
		int err;

		if (!reader_wants(reader, block->chunk.min_ns, block->chunk.max_ns)) {
			list->next++;
			continue;
		}
		err = reader_open_block(reader, block);
		if (err && err != -EBADMSG)
			return err;
		list->next++;
		reader->place = (uint64_t)list->next * CAPTURE_BLOCK_RECORDS;
		if (!err)
			return 1;
	}
	return 0;
}

/* Takes the next few records of the open block. */
static void reader_take_run(struct capture_reader *reader)
{
	reader->at = capture_unblock__next(reader->unblock, &reader->end);
	reader->file.damage.records_astray += capture_unblock__take_astray(reader->unblock);
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

void capture_reader__stretch(struct capture_reader *reader, size_t from, size_t to)
{
	capture_unblock__free(reader->unblock);
	reader->unblock = NULL;
	reader->at = reader->end = NULL;
	reader->file.records.next = from < reader->file.records.nr ? from : reader->file.records.nr;
	reader->to_block = to;
}

size_t capture_reader__nr_blocks(const struct capture_reader *reader)
{
	return reader->file.records.nr;
}

const struct capture_chunk *capture_reader__block(const struct capture_reader *reader, size_t nr)
{
	return &reader->file.records.blocks[nr].chunk;
}

bool capture_reader__wants_block(const struct capture_reader *reader, size_t nr)
{
	const struct capture_chunk *chunk = capture_reader__block(reader, nr);

	return reader_wants(reader, chunk->min_ns, chunk->max_ns);
}

void capture_reader__rewind(struct capture_reader *reader)
{
	capture_unblock__free(reader->unblock);
	reader->unblock = NULL;
	reader->at = reader->end = NULL;
	reader->to_block = SIZE_MAX;
	reader->file.records.next = reader->file.caches.next = reader->file.calls.next = 0;
	reader->file.waits.next = 0;
	reader->file.damage = reader->surveyed; /* or a damaged block would count twice */
}

/* How to read a chunk that is listed apart from the records. */
typedef int (*reader_open_fn)(struct capture_reader *reader, const struct capture_listed *block,
			      void *to);

/* 1: the next chunk is ready; 0: the end. */
static int reader_next_listed(struct capture_reader *reader, struct capture_list *list,
			      reader_open_fn open, void *to)
{
	while (list->next < list->nr) {
		const bool again = list->next < list->seen;
		int err = open(reader, &list->blocks[list->next++], to);

		if (!again)
			list->seen = list->next;
		if (err && err != -EBADMSG)
			return err;
		if (!err)
			return 1;
		reader->file.damage.blocks_corrupt += !again;
	}
	return 0;
}

static int reader_open_cache(struct capture_reader *reader, const struct capture_listed *block,
			     void *to)
{
	struct capture_cache *cache = to;
	int err = capture_contents__load(&reader->file, block);
	struct byte_in in = { reader->file.source.payload,
			      reader->file.source.payload + block->chunk.length, false };

	cache->is_reading = block->chunk.type == CAPTURE_CACHE_ROWS;
	cache->time_ns = block->chunk.min_ns;
	if (err)
		return err;
	return cache->is_reading ? capture_cache__get_rows(cache, in)
				 : capture_cache__get_events(cache, in, block->chunk.min_ns);
}

int capture_reader__next_cache(struct capture_reader *reader, struct capture_cache *cache)
{
	return reader_next_listed(reader, &reader->file.caches, reader_open_cache, cache);
}

/* The number of call records must match the recorder's count. in: a copy. */
static void reader_check_calls(struct capture_reader *reader, struct byte_in in)
{
	uint64_t nr = byte_in__varint(&in), sent = 0, there = capture_reader__nr_calls(reader);

	if (nr <= PROBE_SENT)
		return; /* the recorder did not count */
	for (int i = 0; i <= PROBE_SENT; i++)
		sent = byte_in__varint(&in);
	if (in.bad)
		return;
	reader->file.damage.calls_missing = sent > there ? sent - there : 0;
	reader->file.damage.calls_surplus = sent < there ? there - sent : 0;
}

static int reader_open_part(struct capture_reader *reader, const struct capture_listed *block,
			    void *to)
{
	struct capture_part *part = to;
	int err = capture_contents__load(&reader->file, block);

	part->chunk = block->chunk;
	part->in = (struct byte_in){ reader->file.source.payload,
				     reader->file.source.payload + block->chunk.length, false };
	if (err)
		return err;
	/* Without the list of functions, calls cannot be decoded. */
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
	return reader_next_listed(reader, &reader->file.calls, reader_open_part, part);
}

uint64_t capture_reader__nr_calls(const struct capture_reader *reader)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < reader->file.calls.nr; i++)
		if (reader->file.calls.blocks[i].chunk.type == CAPTURE_CALLS)
			nr += reader->file.calls.blocks[i].chunk.count;
	return nr;
}

bool capture_reader__has_calls(const struct capture_reader *reader)
{
	return reader->file.calls.nr;
}

bool capture_reader__has_cache(const struct capture_reader *reader, bool events)
{
	uint8_t type = events ? CAPTURE_CACHE_EVENTS : CAPTURE_CACHE_ROWS;

	for (size_t i = 0; i < reader->file.caches.nr; i++)
		if (reader->file.caches.blocks[i].chunk.type == type)
			return true;
	return false;
}

/* Likewise, of calls that waited, and of requests; a file that was cut has no count. */
static void reader_check_waits(struct capture_reader *reader)
{
	const struct capture_about *about = &reader->file.about;
	uint64_t calls = capture_reader__nr_waits(reader), unwritten = 0;
	uint64_t requests = capture_reader__nr_requests(reader), there = calls + requests;
	uint64_t kept = capture_about__info_number(about, CAPTURE_INFO_WAITS, calls) +
			capture_about__info_number(about, CAPTURE_INFO_REQUESTS, requests);
	const struct capture_counts *lost = &about->trailer.lost;

	for (size_t i = 0; i < lost->nr; i++)
		unwritten += lost->counts[i].value;
	reader->file.damage.calls_missing = kept > there + unwritten ? kept - there - unwritten : 0;
	reader->file.damage.calls_surplus = kept < there ? there - kept : 0;
}

static int reader_open_waits(struct capture_reader *reader, const struct capture_listed *block,
			     void *to)
{
	int err = capture_contents__load(&reader->file, block);
	struct byte_in in = { reader->file.source.payload,
			      reader->file.source.payload + block->chunk.length, false };

	return err ? err : capture_waits__get(to, in, block->chunk.count);
}

int capture_reader__next_waits(struct capture_reader *reader, struct capture_waits *waits)
{
	int more = reader_next_listed(reader, &reader->file.waits, reader_open_waits, waits);

	if (!more && reader->file.waits.nr)
		reader_check_waits(reader);
	return more;
}

void capture_reader__rewind_waits(struct capture_reader *reader)
{
	reader->file.waits.next = 0;
}

static bool reader_has_waits_of(const struct capture_reader *reader, uint8_t type)
{
	for (size_t i = 0; i < reader->file.waits.nr; i++)
		if (reader->file.waits.blocks[i].chunk.type == type)
			return true;
	return false;
}

bool capture_reader__has_waits(const struct capture_reader *reader)
{
	return capture_about__info(&reader->file.about, CAPTURE_INFO_WAITING) ||
	       reader_has_waits_of(reader, CAPTURE_WAITS);
}

bool capture_reader__has_requests(const struct capture_reader *reader)
{
	return capture_about__info(&reader->file.about, CAPTURE_INFO_ASYNC) ||
	       reader_has_waits_of(reader, CAPTURE_REQUESTS);
}

static uint64_t reader_count_waits(const struct capture_reader *reader, uint8_t type)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < reader->file.waits.nr; i++)
		if (reader->file.waits.blocks[i].chunk.type == type)
			nr += reader->file.waits.blocks[i].chunk.count;
	return nr;
}

uint64_t capture_reader__nr_waits(const struct capture_reader *reader)
{
	return reader_count_waits(reader, CAPTURE_WAITS);
}

uint64_t capture_reader__nr_requests(const struct capture_reader *reader)
{
	return reader_count_waits(reader, CAPTURE_REQUESTS);
}

const struct capture_about *capture_reader__about(const struct capture_reader *reader)
{
	return &reader->file.about;
}

const struct capture_damage *capture_reader__damage(const struct capture_reader *reader)
{
	return &reader->file.damage;
}

uint64_t capture_reader__nr_records(const struct capture_reader *reader)
{
	return reader->file.nr_records;
}

uint64_t capture_reader__bytes(const struct capture_reader *reader)
{
	return reader->file.nr_parts > 1 ? CAPTURE_FILE_BYTES + reader->file.nr_bytes
					 : reader->file.source.size;
}

uint64_t capture_reader__position(const struct capture_reader *reader)
{
	const struct capture_list *list =
		reader->file.records.nr ? &reader->file.records : &reader->file.waits;

	if (list->next == list->nr)
		return capture_reader__bytes(reader);
	if (reader->file.nr_parts > 1) /* the chunks of others lie between its own */
		return capture_reader__bytes(reader) * list->next / list->nr;
	return list->blocks[list->next].at;
}

bool capture_reader__span(const struct capture_reader *reader, uint64_t *min_ns, uint64_t *max_ns)
{
	*min_ns = UINT64_MAX;
	*max_ns = 0;
	for (size_t i = 0; i < reader->file.records.nr; i++) {
		const struct capture_chunk *chunk = &reader->file.records.blocks[i].chunk;

		if (chunk->min_ns < *min_ns)
			*min_ns = chunk->min_ns;
		if (chunk->max_ns > *max_ns)
			*max_ns = chunk->max_ns;
	}
	return reader->file.records.nr;
}

static bool reader_info_ns(const struct capture_reader *reader, const char *key, uint64_t *ns)
{
	const char *text = capture_about__info(&reader->file.about, key);
	char *end;

	if (!text || !*text)
		return false;
	errno = 0;
	*ns = strtoull(text, &end, 10);
	return !errno && !*end;
}

/* The latest end of a call that waited, or of a request. */
static uint64_t reader_waits_end(const struct capture_reader *reader, uint64_t end_ns)
{
	for (size_t i = 0; i < reader->file.waits.nr; i++)
		if (reader->file.waits.blocks[i].chunk.max_ns > end_ns)
			end_ns = reader->file.waits.blocks[i].chunk.max_ns;
	return end_ns;
}

bool capture_reader__run(const struct capture_reader *reader, uint64_t *start_ns, uint64_t *end_ns)
{
	uint64_t min_ns, max_ns;
	bool records = capture_reader__span(reader, &min_ns, &max_ns);
	bool start = reader_info_ns(reader, CAPTURE_INFO_START, start_ns);
	bool end = reader_info_ns(reader, CAPTURE_INFO_END, end_ns);

	if (!records && !start)
		return false;
	/* Records take precedence: a text in a file may be anything. */
	if (records && (!start || *start_ns > min_ns))
		*start_ns = min_ns;
	if (!end || *end_ns < *start_ns)
		*end_ns = reader_waits_end(reader, *start_ns);
	if (records && *end_ns < max_ns)
		*end_ns = max_ns;
	return true;
}

bool capture_reader__has_stages(const struct capture_reader *reader)
{
	for (size_t i = 0; i < reader->file.records.nr; i++)
		if (reader->file.records.blocks[i].chunk.flags & CAPTURE_STAGES)
			return true;
	return false;
}

const char *capture_reader__path(const struct capture_reader *reader)
{
	return reader->file.source.path;
}
