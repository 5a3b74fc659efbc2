/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * contents.h: what is in a capture, as far as it is known before records are read: where each chunk
 * of records, of the page cache and of calls lies, and all that the other chunks say of the run.
 * Chunks are taken one by one; who finds them is capture/survey.h. A listed chunk costs less memory
 * than its header takes in the file, and its payload is loaded and checked when it is asked for.
 */
#ifndef IOSONAR_CAPTURE_CONTENTS_H
#define IOSONAR_CAPTURE_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "capture/about.h"
#include "capture/chunk.h"
#include "capture/damage.h"
#include "capture/source.h"

struct capture_listed {
	uint64_t at;
	struct capture_chunk chunk;
};
_Static_assert(sizeof(struct capture_listed) <= CAPTURE_CHUNK_BYTES, "a list is not larger");

struct capture_list {
	struct capture_listed *blocks;
	size_t nr, room, next;
};

struct capture_contents {
	struct capture_source source;
	struct capture_about about;
	struct capture_damage damage;
	struct capture_list records, caches, calls;
	uint64_t nr_chunks, reserve_bytes, nr_records;
	uint16_t version; /* of the file */
	bool is_indexed;  /* lists are as the index has them: headers were not seen */
};

/* A chunk whose header was read at `at`. One that is damaged is counted. */
int capture_contents__take(struct capture_contents *contents, const struct capture_chunk *chunk,
			   uint64_t at);
/* One that the index speaks of. -ESTALE: the chunk differs from the index. */
int capture_contents__take_indexed(struct capture_contents *contents,
				   const struct capture_chunk *chunk, uint64_t at);
/* One that is known and need not be taken. */
void capture_contents__count(struct capture_contents *contents, const struct capture_chunk *chunk);
/* As if no chunk had been taken; damage stays. */
void capture_contents__forget(struct capture_contents *contents);
/* With its source. */
void capture_contents__free(struct capture_contents *contents);

/* The payload of a listed chunk, into the source's. -EBADMSG: not what was written. */
int capture_contents__load(struct capture_contents *contents, const struct capture_listed *block);

#endif
