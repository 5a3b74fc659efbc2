/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source.h: the bytes below a reader of captures: a file, or memory that is somebody else's. Reads
 * any part of them, a chunk's header, a chunk's payload with its CRC checked, and finds the next
 * chunk after damage. What the chunks mean is the business of capture/contents.h.
 */
#ifndef IOSONAR_CAPTURE_SOURCE_H
#define IOSONAR_CAPTURE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "capture/chunk.h"

struct capture_source {
	char *path; /* NULL: memory */
	int fd;
	const uint8_t *memory; /* instead of fd */
	uint64_t size;
	uint8_t *payload; /* of the chunk that was loaded last, with slack behind it */
	size_t payload_room;
	uint8_t *window; /* once damage was met */
};

/* Says what went wrong. */
int capture_source__open(struct capture_source *source, const char *path);
void capture_source__close(struct capture_source *source);

/* Exactly nr bytes, which the size of the file promised; -ENODATA: it has become shorter. */
int capture_source__read(struct capture_source *source, void *to, size_t nr, uint64_t at);
/* 1: a whole header is there; 0: none is. */
int capture_source__header(struct capture_source *source, uint64_t at, struct capture_chunk *chunk);
/* The payload of the chunk that begins at `at`. -EBADMSG: not what was written. */
int capture_source__load(struct capture_source *source, const struct capture_chunk *chunk,
			 uint64_t at);
/*
 * The next good header at or after *at, which had none: by its magic. The file's end if none.
 * -EINTR: a signal came.
 */
int capture_source__resync(struct capture_source *source, uint64_t *at);
/*
 * Whoever holds signals back until he looks at them, as a run does, is told that one waits. Others
 * are ended by it.
 */
bool capture_source__is_interrupted(void);

#endif
