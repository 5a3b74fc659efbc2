/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source.h: the bytes under a reader of captures: a file, or memory of the caller. Reads any part
 * of them, a chunk's header, a chunk's payload with its CRC checked, and finds the next chunk after
 * damage. capture/contents.h interprets the chunks.
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
	bool has_origins; /* its chunks say which capture they are from */
	uint8_t *payload; /* of the chunk loaded last, with slack after it */
	size_t payload_room;
	uint8_t *window; /* allocated at the first damage */
};

/* Prints a message on error. */
int capture_source__open(struct capture_source *source, const char *path);
void capture_source__close(struct capture_source *source);

/* Exactly nr bytes, within the file's size; -ENODATA: the file has become shorter. */
int capture_source__read(struct capture_source *source, void *to, size_t nr, uint64_t at);
/* 1: a complete header; 0: none. */
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
 * True if a signal is pending, in a process that blocks signals until it checks them, as a run
 * does. Other processes are ended by the signal.
 */
bool capture_source__is_interrupted(void);

#endif
