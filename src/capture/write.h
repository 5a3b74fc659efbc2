/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * write.h: makes a capture. Data is written in chunks, each in one write(2): records when there are
 * 8,192 of them or a second of them, all else at once. Killed at any moment, it leaves a file that
 * is readable up to its last complete chunk. It never waits except in write(2).
 *
 *	struct capture_options options = { .path = "run.cap", .reserve_bytes = 4096 };
 *	err = capture_writer__new(&options, &writer);
 *	…
 *	err = capture_writer__finish(writer, "done", counts, nr);
 *	capture_writer__free(writer);
 */
#ifndef IOSONAR_CAPTURE_WRITE_H
#define IOSONAR_CAPTURE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "capture/about.h"
#include "capture/cache.h"
#include "capture/chunk.h"
#include "capture/waits.h"
#include "wire/io_record.h"

enum { CAPTURE_RESERVE_BYTES = 4096 }; /* holds a trailer of 100 counts */

struct capture_options {
	const char *path; /* NULL: fd */
	int fd;		  /* stays the caller's; may be a pipe */
	mode_t mode;	  /* of the file at `path`; 0: 0600 */
	/*
	 * Opens the file at `path` for a caller without the rights: a descriptor, which the writer
	 * takes over, or a negative errno, after a message. NULL: the writer opens it.
	 */
	int (*open)(void *arg);
	void *open_arg;
	int zstd_level; /* 0: none; 3 is good. -EOPNOTSUPP without zstd in the build */
	/*
	 * Room near the start of the file, of this many bytes in all, that the trailer goes to when
	 * nothing can be appended. 0: none. A pipe has none.
	 */
	uint32_t reserve_bytes;
	/* Memory instead of a file: path is NULL, reserve_bytes 0. It stays the caller's. */
	struct byte_out *into;
	bool is_merged; /* chunks say which capture they are from: capture/join.h */
};

struct capture_writer;

/* Prints a message on error. */
int capture_writer__new(const struct capture_options *options, struct capture_writer **writer);
/* Closes the file; without __finish it has no trailer. NULL is fine. */
void capture_writer__free(struct capture_writer *writer);

/*
 * All return 0 or -errno. -ENOSPC (the disk, the quota or the file size limit is full) comes once:
 * the trailer is written then, later data is counted as lost to "disk full", and __finish rewrites
 * the trailer with the final counts. Other errors stick.
 */
int capture_writer__info(struct capture_writer *writer, const struct capture_info *info, size_t nr);
/* At any time; a number already in use gets the new description. */
int capture_writer__device(struct capture_writer *writer, uint16_t number,
			   const struct device *device);
/* CAPTURE_NR_NAMES names, NULL: no name. */
int capture_writer__names(struct capture_writer *writer, const char *set, char *const *names);
int capture_writer__text(struct capture_writer *writer, enum glossary_kind kind,
			 struct glossary_id id, const char *text);
/* Each second: writes pending records, too. */
int capture_writer__clock(struct capture_writer *writer, const struct capture_clock *clock);
/* Back to back, each with its stages if it has some. */
int capture_writer__records(struct capture_writer *writer, const struct io_record *records,
			    size_t nr);
/* A reading of the page cache: the growth since the last one. */
int capture_writer__cache_rows(struct capture_writer *writer, uint64_t time_ns,
			       const struct capture_cache_row *rows, size_t nr);
/* One or more events; only the members of their kind are valid. */
int capture_writer__cache_events(struct capture_writer *writer, const struct cache_command *events,
				 size_t nr);
/* Calls that waited, and what for, or requests, in the order of arrival; at most
 * CAPTURE_WAITS_MOST.
 */
int capture_writer__waits(struct capture_writer *writer, const struct capture_wait *waits,
			  size_t nr);
/* A chunk with opaque contents (calls): the caller sets type, count and times; the rest is set
 * here. */
int capture_writer__part(struct capture_writer *writer, const struct capture_chunk *chunk,
			 const uint8_t *payload, size_t nr);
/* Records that were lost: counted in the next chunk of records, and by reason in the trailer. */
void capture_writer__lost(struct capture_writer *writer, const char *reason, uint64_t nr);
int capture_writer__flush(struct capture_writer *writer);
int capture_writer__finish(struct capture_writer *writer, const char *ended,
			   const struct capture_count *ledger, size_t nr);

uint64_t capture_writer__nr_records(const struct capture_writer *writer);   /* written or pending */
uint64_t capture_writer__nr_unwritten(const struct capture_writer *writer); /* for want of room */
/* The reason why the file is full, if it is: -ENOSPC, -EDQUOT or -EFBIG. */
int capture_writer__full_err(const struct capture_writer *writer);
uint64_t capture_writer__bytes(const struct capture_writer *writer); /* written */

/*
 * Where chunks go instead of a file: see memory.c. `bytes` is the header and the payload; the sink
 * copies what it keeps.
 */
struct capture_sink {
	int (*put)(void *arg, const struct capture_chunk *chunk, const uint8_t *bytes, size_t nr);
	void *arg;
};
int capture_writer__new_sink(const struct capture_sink *sink, int zstd_level,
			     struct capture_writer **writer);
/* Writes an existing chunk of records; its number in the file is set anew. */
int capture_writer__chunk(struct capture_writer *writer, const struct capture_chunk *chunk,
			  const uint8_t *payload);
/* Writes any existing chunk into a merged file, header, payload and CRC as they are. */
int capture_writer__copy(struct capture_writer *writer, const struct capture_chunk *chunk,
			 const uint8_t *payload);

#endif
