/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chunk.h: what a capture file is made of: a file header, then chunks, each with a header and a
 * payload, each with a CRC of its own. Every chunk can be read without the others, so a cut or
 * damaged file still gives all complete chunks. docs/capture-format.md has the byte tables.
 *
 *	file header 16 │ reserve │ info │ names │ devices │ clock │ records │ records │ … │ index │
 * trailer
 */
#ifndef IOSONAR_CAPTURE_CHUNK_H
#define IOSONAR_CAPTURE_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CAPTURE_VERSION = 1,
	CAPTURE_VERSION_MERGED = 2,    /* chunks of several captures: iosonar merge */
	CAPTURE_ORIGINS = 4096,	       /* captures in a merged file, at most */
	CAPTURE_FILE_BYTES = 16,       /* header of the file */
	CAPTURE_CHUNK_BYTES = 64,      /* header of a chunk */
	CAPTURE_CHUNK_MOST = 16 << 20, /* bytes in a payload: more is damage */
	CAPTURE_BLOCK_RECORDS = 8192,  /* maximum in a chunk of records */
};

/* Append, never renumber: version 1 is read forever. */
enum capture_type {
	CAPTURE_INFO = 1,
	CAPTURE_DEVICES = 2,
	CAPTURE_NAMES = 3,
	CAPTURE_CLOCK = 4,
	CAPTURE_RECORDS = 5,
	CAPTURE_TRAILER = 6,
	CAPTURE_RESERVE = 7, /* room for the trailer if the disk fills up */
	/* As in enum glossary_kind. */
	CAPTURE_CGROUPS = 8,
	CAPTURE_STACKS = 9,
	CAPTURE_FILES = 10,
	CAPTURE_DISKS = 11,
	/* Of the page cache. */
	CAPTURE_CACHE_ROWS = 12,
	CAPTURE_CACHE_EVENTS = 13,
	/* Calls: the functions, their records, the records per object at the end. */
	CAPTURE_CALLED = 14,
	CAPTURE_CALLS = 15,
	CAPTURE_FOLLOWED = 16,
	CAPTURE_INDEX = 17,    /* of all chunks before it: capture/index.h */
	CAPTURE_WAITS = 18,    /* calls that waited, and what for */
	CAPTURE_GAP = 19,      /* of a merged capture: damaged chunks were here */
	CAPTURE_REQUESTS = 20, /* asynchronous requests */
	CAPTURE_TYPES,
};

enum capture_chunk_flag {
	CAPTURE_ZSTD = 1,   /* zstd is needed to read some of the payload */
	CAPTURE_STAGES = 2, /* some of its records have stages */
};

struct capture_chunk {
	uint8_t type, flags;
	uint16_t
		origin; /* in a merged file: number of the capture, from 1; 0: of the file itself */
	uint32_t length; /* of the payload */
	uint32_t count;	 /* records, or entries */
	uint32_t crc;	 /* of the payload */
	uint64_t first;	 /* number of the first record, counted from the start of the file */
	uint64_t lost;	 /* records lost since the last chunk */
	uint64_t min_ns, max_ns; /* of the records' times */
};

void capture_chunk__put(const struct capture_chunk *chunk, uint8_t bytes[CAPTURE_CHUNK_BYTES]);
/* False: no chunk begins here, or its header is damaged. */
bool capture_chunk__get(struct capture_chunk *chunk, const uint8_t bytes[CAPTURE_CHUNK_BYTES]);
/* The first offset from `from` on where a chunk header may begin; nr: none. */
size_t capture_chunk__search(const uint8_t *bytes, size_t nr, size_t from);

enum capture_file_state {
	CAPTURE_FILE_GOOD,
	CAPTURE_FILE_DAMAGED, /* was a capture, or what follows will tell */
	CAPTURE_FILE_NEWER,
	CAPTURE_FILE_CUT, /* a capture so far */
};
void capture_file__put_header(uint8_t bytes[CAPTURE_FILE_BYTES], uint16_t version);
/* nr: number of bytes available, CAPTURE_FILE_BYTES or fewer. */
enum capture_file_state capture_file__check_header(const uint8_t *bytes, size_t nr,
						   uint16_t *version);

#endif
