/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "capture/block.h"
#include "capture/crc32c.h"
#include "capture/file.h"
#include "capture/index.h"

static const uint64_t writer_block_ns = 1000000000; /* maximum time span of a block */

enum { WRITER_REASONS = 16 };

struct capture_writer {
	struct capture_file file;
	struct capture_sink sink; /* put is NULL: the file */
	struct capture_block *block;
	struct capture_zip *zip;
	struct byte_out out; /* the current chunk: room for its header, its payload */
	uint64_t nr_records; /* written */
	uint64_t lost;	     /* since the last chunk of records */
	uint64_t unwritten;  /* records that could not be written */
	struct capture_count lost_by[WRITER_REASONS];
	size_t nr_reasons;
	struct byte_out index; /* of the chunks in the file */
	struct capture_index_state index_state;
	uint64_t nr_indexed;
	int err; /* writing has failed for good */
};

static int writer_new(int zstd_level, struct capture_writer **writer)
{
	struct capture_writer *new = calloc(1, sizeof(*new));

	if (!new)
		return log_err(-ENOMEM, "no memory for a capture");
	new->file.fd = -1;
	new->block = capture_block__new();
	if (zstd_level)
		new->zip = capture_zip__new(zstd_level);
	*writer = new;
	if (zstd_level && !capture_zip__is_built_in())
		return log_err(-EOPNOTSUPP, "this iosonar was built without zstd");
	if (!new->block || (zstd_level && !new->zip))
		return log_err(-ENOMEM, "no memory for a capture");
	return 0;
}

static void writer_index(struct capture_writer *writer, const struct capture_chunk *chunk,
			 const uint8_t *payload)
{
	capture_index__put(&writer->index, &writer->index_state, chunk, payload);
	writer->nr_indexed++;
}

/* The first chunk, the reserve, may be there already. */
static void writer_begin_index(struct capture_writer *writer, bool has_origins)
{
	struct capture_chunk reserve = { .type = CAPTURE_RESERVE };

	capture_index__begin(&writer->index_state);
	writer->index_state.has_origins = has_origins;
	if (!writer->file.reserve_bytes)
		return;
	reserve.length = writer->file.reserve_bytes - CAPTURE_CHUNK_BYTES;
	writer_index(writer, &reserve, NULL);
}

int capture_writer__new(const struct capture_options *options, struct capture_writer **writer)
{
	const struct capture_place place = { options->path,
					     options->fd,
					     options->mode,
					     options->open,
					     options->open_arg,
					     options->into,
					     options->is_merged ? CAPTURE_VERSION_MERGED : 0 };
	int err = writer_new(options->zstd_level, writer);

	err = err ?: capture_file__open(&(*writer)->file, &place, options->reserve_bytes);
	if (!err)
		writer_begin_index(*writer, options->is_merged);
	if (err) {
		capture_writer__free(*writer);
		*writer = NULL;
	}
	return err;
}

int capture_writer__new_sink(const struct capture_sink *sink, int zstd_level,
			     struct capture_writer **writer)
{
	int err = writer_new(zstd_level, writer);

	if (err) {
		capture_writer__free(*writer);
		*writer = NULL;
		return err;
	}
	(*writer)->sink = *sink;
	return 0;
}

void capture_writer__free(struct capture_writer *writer)
{
	if (!writer)
		return;
	capture_file__close(&writer->file);
	capture_block__free(writer->block);
	capture_zip__free(writer->zip);
	byte_out__free(&writer->out);
	byte_out__free(&writer->index);
	for (size_t i = 0; i < writer->nr_reasons; i++)
		free((char *)writer->lost_by[i].name);
	free(writer);
}

static struct byte_out *writer_begin(struct capture_writer *writer)
{
	writer->out.len = 0;
	writer->out.failed = false;
	byte_out__zeros(&writer->out, CAPTURE_CHUNK_BYTES);
	return &writer->out;
}

/* Completes the header in front of the payload. */
static int writer_stamp(struct capture_writer *writer, struct capture_chunk *chunk)
{
	struct byte_out *out = &writer->out;

	if (out->failed)
		return -ENOMEM;
	if (out->len - CAPTURE_CHUNK_BYTES > CAPTURE_CHUNK_MOST)
		return -EMSGSIZE;
	chunk->length = (uint32_t)(out->len - CAPTURE_CHUNK_BYTES);
	chunk->crc = crc32c(out->bytes + CAPTURE_CHUNK_BYTES, chunk->length);
	capture_chunk__put(chunk, out->bytes);
	return 0;
}

static int writer_trailer(struct capture_writer *writer, const char *ended,
			  const struct capture_count *ledger, size_t nr);

/* Appends the chunk in `out`, whose header is complete. */
static int writer_append(struct capture_writer *writer, const struct capture_chunk *chunk)
{
	int err;

	if (writer->sink.put)
		err = writer->sink.put(writer->sink.arg, chunk, writer->out.bytes, writer->out.len);
	else
		err = capture_file__append(&writer->file, writer->out.bytes, writer->out.len);
	if (!err && !writer->sink.put)
		writer_index(writer, chunk, writer->out.bytes + CAPTURE_CHUNK_BYTES);
	if (err && !writer->file.full)
		writer->err = err;
	return err;
}

static int writer_put(struct capture_writer *writer, struct capture_chunk *chunk)
{
	int err = writer->err ? writer->err : writer_stamp(writer, chunk);

	return err || writer->file.full ? err : writer_append(writer, chunk);
}

/* A chunk other than records. If the disk has just become full, the trailer follows at once. */
static int writer_put_other(struct capture_writer *writer, struct capture_chunk *chunk)
{
	int err;

	chunk->first = writer->nr_records;
	err = writer_put(writer, chunk);
	if (err == -ENOSPC && writer->file.full)
		writer_trailer(writer, "disk full", NULL, 0);
	return err;
}

static int writer_put_about(struct capture_writer *writer, uint8_t type, uint32_t count)
{
	return writer_put_other(writer, &(struct capture_chunk){ .type = type, .count = count });
}

int capture_writer__info(struct capture_writer *writer, const struct capture_info *info, size_t nr)
{
	capture_about__put_info(writer_begin(writer), info, nr);
	return writer_put_about(writer, CAPTURE_INFO, (uint32_t)nr);
}

int capture_writer__device(struct capture_writer *writer, uint16_t number,
			   const struct device *device)
{
	capture_about__put_device(writer_begin(writer), number, device);
	return writer_put_about(writer, CAPTURE_DEVICES, 1);
}

int capture_writer__names(struct capture_writer *writer, const char *set, char *const *names)
{
	uint32_t nr = capture_about__put_names(writer_begin(writer), set, names);

	return writer_put_about(writer, CAPTURE_NAMES, nr);
}

int capture_writer__text(struct capture_writer *writer, enum glossary_kind kind,
			 struct glossary_id id, const char *text)
{
	capture_about__put_text(writer_begin(writer), kind, id, text);
	return writer_put_about(writer, (uint8_t)(CAPTURE_CGROUPS + kind), 1);
}

int capture_writer__clock(struct capture_writer *writer, const struct capture_clock *clock)
{
	int err = capture_writer__flush(writer);

	if (err)
		return err;
	capture_about__put_clock(writer_begin(writer), clock);
	return writer_put_about(writer, CAPTURE_CLOCK, 1);
}

int capture_writer__cache_rows(struct capture_writer *writer, uint64_t time_ns,
			       const struct capture_cache_row *rows, size_t nr)
{
	struct capture_chunk chunk = {
		.type = CAPTURE_CACHE_ROWS,
		.count = (uint32_t)nr,
		.min_ns = time_ns,
		.max_ns = time_ns,
	};
	struct byte_out *out = writer_begin(writer);

	for (size_t i = 0; i < nr; i++)
		capture_cache__put_row(out, &rows[i]);
	return writer_put_other(writer, &chunk);
}

int capture_writer__cache_events(struct capture_writer *writer, const struct cache_command *events,
				 size_t nr)
{
	struct capture_chunk chunk = {
		.type = CAPTURE_CACHE_EVENTS,
		.count = (uint32_t)nr,
		.min_ns = UINT64_MAX,
	};
	struct byte_out *out = writer_begin(writer);

	for (size_t i = 0; i < nr; i++) {
		const struct cache_event *e = &events[i].event;
		uint64_t last_ns = e->end_ns > e->start_ns ? e->end_ns : e->start_ns;

		chunk.min_ns = e->start_ns < chunk.min_ns ? e->start_ns : chunk.min_ns;
		chunk.max_ns = last_ns > chunk.max_ns ? last_ns : chunk.max_ns;
	}
	for (size_t i = 0; i < nr; i++)
		capture_cache__put_event(out, &events[i].event, chunk.min_ns);
	return writer_put_other(writer, &chunk);
}

int capture_writer__part(struct capture_writer *writer, const struct capture_chunk *chunk,
			 const uint8_t *payload, size_t nr)
{
	struct capture_chunk part = {
		.type = chunk->type,
		.count = chunk->count,
		.min_ns = chunk->min_ns,
		.max_ns = chunk->max_ns,
	};

	byte_out__put(writer_begin(writer), payload, nr);
	return writer_put_other(writer, &part);
}

static void writer_count_lost(struct capture_writer *writer, const char *reason, uint64_t nr)
{
	size_t i = 0;

	while (i < writer->nr_reasons && strcmp(writer->lost_by[i].name, reason))
		i++;
	if (i == WRITER_REASONS)
		i--;
	if (i == writer->nr_reasons) {
		writer->lost_by[i].name = strdup(reason);
		if (!writer->lost_by[i].name)
			return;
		writer->nr_reasons++;
	}
	writer->lost_by[i].value += nr;
}

static void writer_count_unwritten(struct capture_writer *writer, uint64_t nr)
{
	writer_count_lost(writer, writer->file.full ? "disk full" : "write failed", nr);
	writer->unwritten += nr;
}

static void writer_span_waits(struct capture_chunk *chunk, const struct capture_wait *waits,
			      size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t ns = capture_wait__time_ns(&waits[i]);

		if (!capture_wait__counts(&waits[i]))
			continue;
		chunk->min_ns = !chunk->count || ns < chunk->min_ns ? ns : chunk->min_ns;
		chunk->max_ns = ns > chunk->max_ns ? ns : chunk->max_ns;
		chunk->count++;
	}
}

/* As with records: what cannot be written is counted. */
int capture_writer__waits(struct capture_writer *writer, const struct capture_wait *waits,
			  size_t nr)
{
	const bool are_requests = nr && waits[0].kind == CAPTURE_WAIT_REQUEST;
	struct capture_chunk chunk = { .type = are_requests ? CAPTURE_REQUESTS : CAPTURE_WAITS,
				       .first = writer->nr_records };
	int err = 0;

	writer_span_waits(&chunk, waits, nr);
	if (!writer->file.full) {
		capture_waits__put(writer_begin(writer), waits, nr);
		err = writer_put(writer, &chunk);
		if (!err)
			return 0;
	}
	writer_count_unwritten(writer, chunk.count);
	if (err && writer->file.full)
		writer_trailer(writer, "disk full", NULL, 0);
	return err;
}

void capture_writer__lost(struct capture_writer *writer, const char *reason, uint64_t nr)
{
	writer_count_lost(writer, reason, nr);
	writer->lost += nr;
}

/* Writes the chunk of records in `out`, or counts its records as lost. */
static int writer_put_records(struct capture_writer *writer, struct capture_chunk *chunk)
{
	int err;

	chunk->type = CAPTURE_RECORDS;
	chunk->first = writer->nr_records;
	chunk->lost = writer->lost;
	if (writer->file.full) {
		writer_count_unwritten(writer, chunk->count);
		return 0;
	}
	err = writer_put(writer, chunk);
	if (!err) {
		writer->nr_records += chunk->count;
		writer->lost = 0;
		return 0;
	}
	writer_count_unwritten(writer, chunk->count);
	if (writer->file.full)
		writer_trailer(writer, "disk full", NULL, 0);
	return err;
}

int capture_writer__flush(struct capture_writer *writer)
{
	struct capture_chunk chunk = { 0 };

	if (!capture_block__nr(writer->block))
		return writer->err;
	capture_block__encode(writer->block, writer->zip, &chunk, writer_begin(writer));
	return writer_put_records(writer, &chunk);
}

int capture_writer__chunk(struct capture_writer *writer, const struct capture_chunk *chunk,
			  const uint8_t *payload)
{
	struct capture_chunk copy = *chunk;

	byte_out__put(writer_begin(writer), payload, chunk->length);
	writer->lost += chunk->lost;
	return writer_put_records(writer, &copy);
}

int capture_writer__copy(struct capture_writer *writer, const struct capture_chunk *chunk,
			 const uint8_t *payload)
{
	uint64_t nr = chunk->type == CAPTURE_RECORDS ? chunk->count : 0;
	struct byte_out *out = writer_begin(writer);
	int err = writer->err;

	byte_out__put(out, payload, chunk->length);
	if (out->failed)
		return -ENOMEM;
	capture_chunk__put(chunk, out->bytes);
	if (!err && !writer->file.full)
		err = writer_append(writer, chunk);
	if (err || writer->file.full)
		writer_count_unwritten(writer, nr);
	else
		writer->nr_records += nr;
	if (err == -ENOSPC && writer->file.full)
		writer_trailer(writer, "disk full", NULL, 0);
	return err;
}

static int writer_add(struct capture_writer *writer, const struct io_record *record)
{
	uint64_t now_ns = io_record__time_ns(record);
	int err = 0;

	/* Signed: a record that is earlier than all others is not a second later. */
	if (capture_block__nr(writer->block) &&
	    (int64_t)(now_ns - capture_block__min_ns(writer->block)) > (int64_t)writer_block_ns)
		err = capture_writer__flush(writer);
	capture_block__add(writer->block, record);
	if (capture_block__nr(writer->block) < CAPTURE_BLOCK_RECORDS)
		return err;
	return err ?: capture_writer__flush(writer);
}

int capture_writer__records(struct capture_writer *writer, const struct io_record *records,
			    size_t nr)
{
	int err = 0;

	if (writer->err)
		return writer->err;
	if (writer->file.full) {
		writer_count_unwritten(writer, nr);
		return 0;
	}
	/* Continues after an error: every record is written or counted. */
	for (size_t i = 0; i < nr; i++, records = stages__next_record(records)) {
		int failed = writer_add(writer, records);

		err = err ?: failed;
	}
	return err;
}

/* Appended, or on a full disk written into the reserve, padded with zeros. */
static int writer_trailer(struct capture_writer *writer, const char *ended,
			  const struct capture_count *ledger, size_t nr)
{
	struct capture_file *file = &writer->file;
	struct capture_trailer trailer = {
		.file_bytes = file->bytes,
		.records = writer->nr_records,
		.ended = (char *)ended,
		.lost = { writer->lost_by, writer->nr_reasons },
		.ledger = { (struct capture_count *)ledger, nr },
	};
	struct capture_chunk chunk = { .type = CAPTURE_TRAILER, .first = writer->nr_records };
	struct byte_out *out = writer_begin(writer);
	int err;

	chunk.lost = writer->lost;
	if (file->full && !file->reserve_bytes)
		return -ENOSPC;
	capture_about__put_trailer(out, &trailer, file->full ? file->reserve_bytes : SIZE_MAX);
	if (file->full && out->len < file->reserve_bytes)
		byte_out__zeros(out, file->reserve_bytes - out->len);
	if (!file->full && !out->failed)
		le__put64(out->bytes + CAPTURE_CHUNK_BYTES, file->bytes + out->len);
	err = writer_stamp(writer, &chunk);
	if (err)
		return err;
	if (file->full)
		return out->len == file->reserve_bytes
			       ? capture_file__fill_reserve(file, out->bytes)
			       : -ENOSPC;
	return capture_file__append(file, out->bytes, out->len);
}

/* The index is optional: it is left out if it does not fit or is too large. */
static void writer_put_index(struct capture_writer *writer)
{
	struct capture_file *file = &writer->file;
	struct capture_chunk chunk = { .type = CAPTURE_INDEX, .first = writer->nr_records };
	struct byte_out *out = writer_begin(writer);

	if (file->full || writer->index.failed || writer->nr_indexed < CAPTURE_INDEX_LEAST ||
	    writer->nr_indexed > UINT32_MAX)
		return;
	chunk.count = (uint32_t)writer->nr_indexed;
	byte_out__put(out, writer->index.bytes, writer->index.len);
	capture_index__put_tail(out, file->bytes);
	if (!writer_stamp(writer, &chunk) && capture_file__append(file, out->bytes, out->len))
		file->full = false; /* the index was cut off; the trailer may fit */
}

int capture_writer__finish(struct capture_writer *writer, const char *ended,
			   const struct capture_count *ledger, size_t nr)
{
	bool was_full = writer->file.full;
	int err = capture_writer__flush(writer), trailer_err;
	uint64_t before = writer->file.bytes;

	if (writer->sink.put || (err && !writer->file.full))
		return err;
	writer_put_index(writer);
	trailer_err = writer_trailer(writer, writer->file.full ? "disk full" : ended, ledger, nr);
	/* The index took the trailer's place. */
	if (trailer_err == -ENOSPC && writer->file.bytes > before &&
	    !capture_file__take_back(&writer->file, before))
		trailer_err = writer_trailer(writer, ended, ledger, nr);
	/* The trailer itself filled the disk: try again, into the reserve. */
	if (trailer_err == -ENOSPC && !was_full && !err) {
		err = -ENOSPC;
		trailer_err = writer_trailer(writer, "disk full", ledger, nr);
	}
	return trailer_err && !writer->file.full ? trailer_err : err;
}

uint64_t capture_writer__nr_records(const struct capture_writer *writer)
{
	return writer->nr_records + capture_block__nr(writer->block);
}

uint64_t capture_writer__nr_unwritten(const struct capture_writer *writer)
{
	return writer->unwritten;
}

int capture_writer__full_err(const struct capture_writer *writer)
{
	return writer->file.full_err;
}

uint64_t capture_writer__bytes(const struct capture_writer *writer)
{
	return writer->file.bytes;
}
