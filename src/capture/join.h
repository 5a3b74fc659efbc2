/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join.h: several captures into one file, chunk by chunk, by the wall clock of what is in them.
 * Each chunk is copied as it is, and says which capture it is from: clocks, numbers, ledger and
 * losses stay those of each capture, and what is damaged stays damaged. Nothing is decoded. Memory:
 * of each file a chunk, its list of blocks and what it says about itself. */
#ifndef IOSONAR_CAPTURE_JOIN_H
#define IOSONAR_CAPTURE_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "capture/write.h"

struct capture_join;

/*
 * Opens the files, which may be merged ones. -EINVAL, after a message: a capture of calls, a
 * recording that is there twice, more than CAPTURE_ORIGINS.
 */
int capture_join__open(const char *const *paths, size_t nr, struct capture_join **join);
void capture_join__free(struct capture_join *join);

/* Copies all chunks, with a bar on stderr if it takes long. -ENOSPC: as the writer says; -EINTR: a
 * signal came; else after a message. */
int capture_join__write(struct capture_join *join, struct capture_writer *writer);

size_t capture_join__nr(const struct capture_join *join); /* captures, from 0 */
/* A capture: its file, what it says about itself, and what was found damaged. */
struct capture_joined {
	const char *path;
	const struct capture_about *about;
	const struct capture_damage *damage;
	/* Commands, calls that waited, asynchronous requests, of the cache. */
	uint64_t nr_records, nr_waits, nr_requests, nr_readings;
};
struct capture_joined capture_join__capture(const struct capture_join *join, size_t nr);

#endif
