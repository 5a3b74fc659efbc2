/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "capture/ring_leftover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/log.h"
#include "capture/crc32c.h"
#include "capture/read.h"
#include "capture/ring_file.h"
#include "capture/source.h"
#include "decode/column.h"

struct leftover {
	struct ring_list *list;
	const char *name;
	int fd;
	bool first;	  /* of its run: the file that was written, not the spare */
	uint64_t bytes;	  /* of the file, as found, */
	uint64_t whole;	  /* up to the first damage */
	uint64_t records; /* that blocks up to there have */
	uint64_t ended;	  /* commands among them */
	uint64_t last_ns; /* wall clock of the last record */
	uint64_t end_at;  /* where the chunk is that says how it ended; 0: none */
	struct capture_chunk end;
	uint64_t end_bytes; /* size of the file, as it says */
};

/* ---- how far it can be read ---- */

static bool leftover_begins(struct capture_source *source)
{
	uint8_t header[CAPTURE_FILE_BYTES];
	uint16_t version;

	return source->size >= sizeof(header) &&
	       !capture_source__read(source, header, sizeof(header), 0) &&
	       capture_file__check_header(header, sizeof(header), &version) == CAPTURE_FILE_GOOD;
}

/* From chunk to chunk; each payload has to match its checksum. */
static int leftover_walk(struct leftover *l, struct capture_source *source)
{
	struct capture_chunk chunk;
	int good = 0;

	l->whole = CAPTURE_FILE_BYTES;
	while (l->whole < source->size) {
		good = capture_source__header(source, l->whole, &chunk);
		if (good <= 0 || chunk.length > source->size - l->whole - CAPTURE_CHUNK_BYTES)
			break;
		good = capture_source__load(source, &chunk, l->whole);
		if (good)
			break;
		l->whole += CAPTURE_CHUNK_BYTES + chunk.length;
		l->records += chunk.type == CAPTURE_RECORDS ? chunk.count : 0;
		if (chunk.type != CAPTURE_TRAILER || chunk.length < sizeof(uint64_t))
			continue;
		l->end_at = l->whole - CAPTURE_CHUNK_BYTES - chunk.length;
		l->end = chunk;
		l->end_bytes = le__get64(source->payload);
	}
	return good == -EBADMSG || good == -ENODATA || good > 0 ? 0 : good;
}

static int leftover_survey(struct leftover *l)
{
	struct capture_source source = { .fd = dup(l->fd), .size = l->bytes };
	int err = source.fd < 0 ? -errno : 0;

	if (!err && leftover_begins(&source))
		err = leftover_walk(l, &source);
	capture_source__close(&source);
	return err;
}

/* ---- making it a capture ---- */

static int leftover_count(struct leftover *l)
{
	struct capture_reader *reader;
	const struct io_record *record;
	int err = capture_reader__open_fd(dup(l->fd), &reader);
	uint64_t from_ns, to_ns;

	if (err)
		return err;
	while ((record = capture_reader__next(reader, &err)))
		l->ended += record->what == RECORD_END;
	if (capture_reader__span(reader, &from_ns, &to_ns))
		l->last_ns = capture_about__wall_ns(capture_reader__about(reader), to_ns);
	capture_reader__free(reader);
	return err;
}

/* On a full disk the oldest file makes room. */
static int leftover_write(const struct leftover *l, const void *bytes, size_t nr, uint64_t at)
{
	while (pwrite(l->fd, bytes, nr, (off_t)at) != (ssize_t)nr)
		if (!ring_list__remove_oldest(l->list))
			return -ENOSPC;
	return 0;
}

/* On a full disk the end was written first, and what it counts was not: it is no end. */
static int leftover_revoke_end(const struct leftover *l)
{
	struct capture_chunk chunk = l->end;
	uint8_t bytes[CAPTURE_CHUNK_BYTES];

	if (!l->end_at)
		return 0;
	chunk.type = CAPTURE_RESERVE;
	capture_chunk__put(&chunk, bytes);
	return leftover_write(l, bytes, sizeof(bytes), l->end_at);
}

/* The ledger counts the commands that ended in this file. */
static int leftover_append_end(const struct leftover *l)
{
	struct capture_count counts[] = { { "issued", l->ended },
					  { "completed", l->ended },
					  { "counted", l->ended } };
	struct capture_trailer trailer = {
		.records = l->records,
		.ended = "killed",
		.ledger = { counts, sizeof(counts) / sizeof(counts[0]) },
	};
	struct capture_chunk chunk = { .type = CAPTURE_TRAILER, .first = l->records };
	struct byte_out out = { 0 };
	int err = -ENOMEM;

	byte_out__zeros(&out, CAPTURE_CHUNK_BYTES);
	capture_about__put_trailer(&out, &trailer, SIZE_MAX);
	if (!out.failed) {
		le__put64(out.bytes + CAPTURE_CHUNK_BYTES, l->whole + out.len);
		chunk.length = (uint32_t)(out.len - CAPTURE_CHUNK_BYTES);
		chunk.crc = crc32c(out.bytes + CAPTURE_CHUNK_BYTES, chunk.length);
		capture_chunk__put(&chunk, out.bytes);
		err = leftover_write(l, out.bytes, out.len, l->whole);
	}
	byte_out__free(&out);
	return err;
}

/* A file may be complete: it was only not renamed. */
static int leftover_complete(struct leftover *l)
{
	int err;

	if (ftruncate(l->fd, (off_t)l->whole))
		return -errno;
	err = leftover_count(l);
	if (!err && (!l->end_at || l->end_bytes != l->whole))
		err = leftover_revoke_end(l) ?: leftover_append_end(l);
	if (err)
		return err;
	return fsync(l->fd) ? -errno : 0;
}

enum { LEFTOVER_WHEN = 32 };

static char *leftover_when(char when[LEFTOVER_WHEN], uint64_t wall_ns)
{
	time_t s = (time_t)(wall_ns / 1000000000);
	struct tm tm;

	if (!wall_ns || !gmtime_r(&s, &tm) || !strftime(when, LEFTOVER_WHEN, "%F %T UTC", &tm))
		snprintf(when, LEFTOVER_WHEN, "an unknown time");
	return when;
}

static void leftover_tell(const struct leftover *l, const char *name)
{
	char size[16], cut[64] = "", when[LEFTOVER_WHEN];

	leftover_when(when, l->last_ns);
	if (l->bytes > l->whole)
		snprintf(cut, sizeof(cut), "; %" PRIu64 " bytes after them cannot be read",
			 l->bytes - l->whole);
	log_note("%s was left incomplete, with %s: recovered %" PRIu64 " records up to %s%s; "
		 "later ones were not written",
		 name, text__bytes(size, sizeof(size), l->bytes), l->records, when, cut);
}

static int leftover_publish(struct leftover *l, struct ring_list *list)
{
	char stem[RING_NAME], name[RING_NAME];
	uint32_t number = ring_name__temporary_number(l->name, stem);
	int err;

	ring_name__make(name, stem, number);
	err = leftover_complete(l);
	err = err ?: ring_list__publish(list, l->name, name);
	if (!err)
		leftover_tell(l, name);
	return err;
}

/* After a power loss the file that was written may be empty: then all since the file before it is
 * missing. The spare is always empty. */
static void leftover_tell_removed(const struct leftover *l)
{
	char size[16], what[64] = "empty", stem[RING_NAME], when[LEFTOVER_WHEN];
	uint64_t last_ns;

	if (!l->bytes && !l->first)
		return;
	if (l->bytes)
		snprintf(what, sizeof(what), "incomplete, with %s and no records",
			 text__bytes(size, sizeof(size), l->bytes));
	ring_name__temporary_number(l->name, stem);
	last_ns = ring_list__last_ns(l->list, stem);
	if (last_ns)
		log_note("%s was left %s: removed; records after %s were not written", l->name,
			 what, leftover_when(when, last_ns));
	else
		log_note("%s was left %s: removed; it was the first of its run", l->name, what);
}

static int leftover_remove(const struct leftover *l)
{
	if (unlinkat(l->list->directory, l->name, 0))
		return -errno;
	leftover_tell_removed(l);
	return 0;
}

static void leftover_handle(struct ring_list *list, const char *name, bool first)
{
	struct leftover l = { .list = list, .name = name, .first = first };
	struct stat st;
	int err = 0;

	l.fd = openat(list->directory, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (l.fd < 0 || fstat(l.fd, &st) || !S_ISREG(st.st_mode))
		err = l.fd < 0 ? -errno : -EINVAL;
	if (!err) {
		l.bytes = (uint64_t)st.st_size;
		err = leftover_survey(&l);
	}
	if (!err)
		err = l.records ? leftover_publish(&l, list) : leftover_remove(&l);
	if (l.fd >= 0)
		close(l.fd);
	if (err)
		log_warn("cannot recover %s: %s; it is left as it is", name, strerror(-err));
}

static int leftover_is_one(const struct dirent *entry)
{
	return ring_name__temporary_number(entry->d_name, NULL) != 0;
}

int ring_leftover__recover(struct ring_list *list)
{
	char stem[RING_NAME], before[RING_NAME] = "";
	struct dirent **found;
	int nr = scandirat(list->directory, ".", &found, leftover_is_one, alphasort);

	for (int i = 0; i < nr; i++) {
		ring_name__temporary_number(found[i]->d_name, stem);
		leftover_handle(list, found[i]->d_name, strcmp(stem, before) != 0);
		snprintf(before, sizeof(before), "%s", stem);
		free(found[i]);
	}
	if (nr >= 0)
		free(found);
	return nr < 0 ? log_err(-errno, "cannot read the files of --ring: %s", strerror(errno)) : 0;
}
