/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1
#include "capture/source.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/grow.h"
#include "base/log.h"
#include "capture/column.h"
#include "capture/crc32c.h"

enum {
	SOURCE_WINDOW = 65536,	   /* bytes per read when looking for a chunk after damage */
	SOURCE_WINDOW_LEAST = 256, /* at first */
};

int capture_source__open(struct capture_source *source, const char *path)
{
	struct stat about;

	source->path = strdup(path);
	if (!source->path)
		return log_err(-ENOMEM, "no memory to read '%s'", path);
	source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (source->fd < 0 || fstat(source->fd, &about))
		return log_err(-errno, "cannot read '%s': %s%s", path, strerror(errno),
			       errno == EMFILE ? "; raise the limit (ulimit -n)" : "");
	if (!S_ISREG(about.st_mode))
		return log_err(-EINVAL,
			       "'%s' is not a regular file: a capture cannot be read from it",
			       path);
	source->size = (uint64_t)about.st_size;
	return 0;
}

void capture_source__close(struct capture_source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	free(source->payload);
	free(source->window);
	free(source->path);
}

int capture_source__read(struct capture_source *source, void *to, size_t nr, uint64_t at)
{
	uint8_t *bytes = to;

	if (source->memory && nr)
		memcpy(bytes, source->memory + at, nr);
	if (source->memory)
		return 0;
	while (nr) {
		ssize_t got = pread(source->fd, bytes, nr, (off_t)at);

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

int capture_source__load(struct capture_source *source, const struct capture_chunk *chunk,
			 uint64_t at)
{
	size_t room = (size_t)chunk->length + CAPTURE_SLACK;
	int err;

	if (room > source->payload_room) {
		err = grow__to(&source->payload, room, sizeof(*source->payload));
		if (err)
			return err;
		source->payload_room = room;
	}
	err = capture_source__read(source, source->payload, chunk->length,
				   at + CAPTURE_CHUNK_BYTES);
	if (err == -ENODATA)
		memset(source->payload, 0, chunk->length); /* the file has become shorter */
	if (err)
		return err == -ENODATA ? -EBADMSG : err;
	memset(source->payload + chunk->length, 0, CAPTURE_SLACK);
	return crc32c(source->payload, chunk->length) == chunk->crc ? 0 : -EBADMSG;
}

int capture_source__header(struct capture_source *source, uint64_t at, struct capture_chunk *chunk)
{
	uint8_t header[CAPTURE_CHUNK_BYTES];
	int err;

	if (source->size - at < sizeof(header))
		return 0;
	err = capture_source__read(source, header, sizeof(header), at);
	if (err)
		return err == -ENODATA ? 0 : err;
	if (!capture_chunk__get(chunk, header))
		return 0;
	if (!source->has_origins)
		chunk->origin = 0;
	return 1;
}

bool capture_source__is_interrupted(void)
{
	sigset_t waiting;

	if (sigpending(&waiting))
		return false;
	return sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGTERM) ||
	       sigismember(&waiting, SIGHUP);
}

/* No chunk begins in a hole, which reads as zeros. */
static uint64_t source_skip_hole(const struct capture_source *source, uint64_t at)
{
	off_t data = source->memory ? (off_t)at : lseek(source->fd, (off_t)at, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? source->size : at;
	return (uint64_t)data < source->size ? (uint64_t)data : source->size;
}

/* 1: a valid header begins at *i; 0: none in these bytes. */
static int source_search(const uint8_t *bytes, size_t nr, size_t *i)
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

/* Most damage is short, so the first reads are small. */
int capture_source__resync(struct capture_source *source, uint64_t *at)
{
	uint8_t *window = source->window ? source->window : malloc(SOURCE_WINDOW);
	size_t nr = SOURCE_WINDOW_LEAST, i;
	int err = window ? 0 : -ENOMEM;

	source->window = window;
	while (!err && source->size - *at >= CAPTURE_CHUNK_BYTES) {
		uint64_t left = source->size - *at;

		if (capture_source__is_interrupted())
			return -EINTR;
		nr = left < nr ? (size_t)left : nr;
		err = capture_source__read(source, window, nr, *at);
		if (!err && source_search(window, nr, &i)) {
			*at += i;
			return 0;
		}
		/* A header may lie across the end of the window. */
		*at = source_skip_hole(source, *at + nr - CAPTURE_CHUNK_BYTES + 1);
		nr = nr * 4 < SOURCE_WINDOW ? nr * 4 : SOURCE_WINDOW;
	}
	if (!err || err == -ENODATA)
		*at = source->size;
	return err == -ENODATA ? 0 : err;
}
