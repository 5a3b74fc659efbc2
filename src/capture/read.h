/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read.h: reads a capture, complete or not. Opening looks at every chunk's header and at all chunks
 * but records, so devices, clocks and ledger are known before the first record; records are checked
 * and decoded block by block. Damaged data is skipped and counted, never guessed. Memory: 200 KiB,
 * the largest chunk, and less than one byte for each byte of the file.
 *
 *	err = capture_reader__open("run.cap", &reader);
 *	while ((record = capture_reader__next(reader, &err)))
 *		…
 *	if (!capture_damage__is_whole(capture_reader__damage(reader)))
 *		…
 *	capture_reader__free(reader);
 */
#ifndef IOSONAR_CAPTURE_READ_H
#define IOSONAR_CAPTURE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "capture/about.h"
#include "capture/cache.h"
#include "capture/chunk.h"
#include "capture/damage.h"
#include "capture/waits.h"
#include "wire/io_record.h"

struct capture_reader;
struct capture_translation; /* capture/block.h */

/* Does a regular file begin like a capture? Prints nothing. */
bool capture__is_one(const char *path);
/* Prints a message on error: no such file, not a capture, a later version. */
int capture_reader__open(const char *path, struct capture_reader **reader);
/* For tests and fuzzers: the bytes must outlive the reader. Prints nothing; -EINVAL: no capture. */
int capture_reader__open_memory(const void *bytes, size_t nr, struct capture_reader **reader);
int capture_reader__open_memory_part(const void *bytes, size_t nr, size_t part,
				     struct capture_reader **reader);
/* Takes over the descriptor of a regular file, even after an error. Prints nothing. */
int capture_reader__open_fd(int fd, struct capture_reader **reader);
/*
 * A merged file holds several captures. Those above open the first of them; this opens any, from 0.
 * Damage that belongs to no capture is counted in the first.
 */
int capture_reader__open_part(const char *path, size_t part, struct capture_reader **reader);
size_t capture_reader__nr_parts(const struct capture_reader *reader); /* in the file; 1 or more */
void capture_reader__free(struct capture_reader *reader);

/* Only records of from_ns <= time < to_ns (monotonic); blocks outside are not even read. */
void capture_reader__bound(struct capture_reader *reader, uint64_t from_ns, uint64_t to_ns);
/* Before the first __next. Bounds stay on the file's clock; arg must outlive the reader. */
void capture_reader__translate(struct capture_reader *reader,
			       const struct capture_translation *translation);
/*
 * The next record, in the order of writing, valid until the next call. NULL: the end, and *err is
 * 0; or *err is -errno.
 */
const struct io_record *capture_reader__next(struct capture_reader *reader, int *err);
/* A number unique in the file for the record that __next returned last, whatever is left out. */
uint64_t capture_reader__place(const struct capture_reader *reader);
/* All over again, with other bounds if wanted; damage found in blocks counts from here, too. */
void capture_reader__rewind(struct capture_reader *reader);
/*
 * From here on only the records of these blocks, up to but without `to`: several processes read
 * parts of one file. Blocks count from 0, damaged ones included.
 */
void capture_reader__stretch(struct capture_reader *reader, size_t from, size_t to);
size_t capture_reader__nr_blocks(const struct capture_reader *reader);
const struct capture_chunk *capture_reader__block(const struct capture_reader *reader, size_t nr);
/* Are some of the block's records inside of the bounds, by its header? */
bool capture_reader__wants_block(const struct capture_reader *reader, size_t nr);

/*
 * The next chunk of the page cache, in the order of writing, independent of the records. 1: chunk
 * read; 0: the end; -errno. Damaged chunks are skipped and counted.
 */
int capture_reader__next_cache(struct capture_reader *reader, struct capture_cache *cache);
/* The next chunk of calls, in the same way; the caller decodes its contents. Valid until the
 * next call. */
struct capture_part {
	struct capture_chunk chunk;
	struct byte_in in;
};
int capture_reader__next_part(struct capture_reader *reader, struct capture_part *part);
bool capture_reader__has_calls(const struct capture_reader *reader);
uint64_t capture_reader__nr_calls(const struct capture_reader *reader); /* records of them */
bool capture_reader__has_cache(const struct capture_reader *reader, bool events);
/* The next chunk of waits or requests, in the same way. At the end, those that are missing count as
 * damage. */
int capture_reader__next_waits(struct capture_reader *reader, struct capture_waits *waits);
void capture_reader__rewind_waits(struct capture_reader *reader); /* next_waits: from the first */
bool capture_reader__has_waits(const struct capture_reader *reader); /* calls that waited */
bool capture_reader__has_requests(const struct capture_reader *reader);
/* By headers: calls that waited, requests. */
uint64_t capture_reader__nr_waits(const struct capture_reader *reader);
uint64_t capture_reader__nr_requests(const struct capture_reader *reader);

const struct capture_about *capture_reader__about(const struct capture_reader *reader);
const struct capture_damage *capture_reader__damage(const struct capture_reader *reader);
uint64_t capture_reader__nr_records(const struct capture_reader *reader); /* by block headers */
uint64_t capture_reader__bytes(const struct capture_reader *reader); /* of its chunks, all in all */
uint64_t capture_reader__position(const struct capture_reader *reader); /* for a progress bar */
bool capture_reader__has_stages(const struct capture_reader *reader);	/* by block headers */
/* Time range of the blocks' records; false: no records. */
bool capture_reader__span(const struct capture_reader *reader, uint64_t *min_ns, uint64_t *max_ns);
/* Start and end of the recording, from its info and its records. False: neither is known. */
bool capture_reader__run(const struct capture_reader *reader, uint64_t *start_ns, uint64_t *end_ns);
const char *capture_reader__path(const struct capture_reader *reader); /* NULL: memory */
/* The path; of a capture in a merged file also its number and host: "all.cap (2: db7)". */
const char *capture_reader__label(const struct capture_reader *reader);

/* What `info --verify` prints. */
struct capture_report {
	uint64_t bytes, chunks, blocks, records;
	uint64_t reserve_bytes, zstd_blocks;
	struct capture_damage damage;
};
/* Reads and decodes all of it. 0 if it could be read, however damaged; see report->damage. */
int capture__verify_part(const char *path, size_t part, struct capture_report *report);

#endif
