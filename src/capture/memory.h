/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.h: a flight recorder: keeps the last seconds of a capture, encoded, in bounded memory, and
 * writes them to a file on request. It is fed through its own writer, like a file.
 */
#ifndef IOSONAR_CAPTURE_MEMORY_H
#define IOSONAR_CAPTURE_MEMORY_H

#include "capture/write.h"

struct capture_memory;

/* Keeps at least last_ns of records, unless that takes more than most_bytes. */
int capture_memory__new(uint64_t last_ns, size_t most_bytes, int zstd_level,
			struct capture_memory **memory);
void capture_memory__free(struct capture_memory *memory);
/* Give it everything that a file would get, except __finish; the memory owns it. */
struct capture_writer *capture_memory__writer(struct capture_memory *memory);
/* Writes all that is kept to a file. Recording continues unchanged. */
int capture_memory__save(struct capture_memory *memory, const struct capture_options *options,
			 const char *ended, const struct capture_count *ledger, size_t nr);

size_t capture_memory__bytes(const struct capture_memory *memory);
uint64_t capture_memory__nr_records(const struct capture_memory *memory); /* kept */
/* True if most_bytes, not time, made it forget. */
bool capture_memory__is_short(const struct capture_memory *memory);

#endif
