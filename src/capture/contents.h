/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * contents.h: what is in a capture, as far as known before records are read: where each chunk of
 * records, of the page cache, of calls and of waits lies, and the contents of all others. Takes
 * chunks one by one; capture/survey.h finds them. A listed chunk costs less memory than its header
 * takes in the file; its payload is loaded and checked on demand.
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
	size_t seen; /* blocks that were opened, in any pass */
};

struct capture_contents {
	struct capture_source source;
	struct capture_about about;
	struct capture_damage damage;
	struct capture_list records, caches, calls, waits;
	uint64_t nr_chunks, reserve_bytes, nr_records;
	uint16_t version; /* of the file */
	/*
	 * A merged file has several captures. The caller chooses one, from 0; the others are left
	 * out. What belongs to none of them, such as the file's own end, counts for the first.
	 */
	uint16_t part, nr_parts;
	uint64_t nr_bytes;     /* in its chunks */
	uint64_t merged_bytes; /* of the merged file, as its own end says; 0: it has none */
	bool is_indexed;       /* lists come from the index: headers were not seen */
};

bool capture_contents__is_merged(const struct capture_contents *contents);
/* Is the chunk of the chosen capture? */
bool capture_contents__has(const struct capture_contents *contents,
			   const struct capture_chunk *chunk);
/* Takes a chunk whose header was read at `at`. A damaged chunk is counted. */
int capture_contents__take(struct capture_contents *contents, const struct capture_chunk *chunk,
			   uint64_t at);
/* Takes a chunk listed in the index. -ESTALE: the chunk differs from the index. */
int capture_contents__take_indexed(struct capture_contents *contents,
				   const struct capture_chunk *chunk, uint64_t at);
/* Counts a known chunk that need not be taken. */
void capture_contents__count(struct capture_contents *contents, const struct capture_chunk *chunk);
/* Forgets all chunks; damage stays. */
void capture_contents__forget(struct capture_contents *contents);
/* With its source. */
void capture_contents__free(struct capture_contents *contents);

/* Loads the payload of a listed chunk into the source's. -EBADMSG: not what was written. */
int capture_contents__load(struct capture_contents *contents, const struct capture_listed *block);

#endif
