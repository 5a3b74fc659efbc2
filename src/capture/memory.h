/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.h: a flight recorder: keeps the last seconds of a capture, encoded, in bounded memory, and
 * writes them to a file on request. It is fed through its own writer, like a file. Time is that of
 * records and clocks: what is too old goes, even if nothing new comes.
 */
#ifndef IOSONAR_CAPTURE_MEMORY_H
#define IOSONAR_CAPTURE_MEMORY_H

#include "capture/write.h"

struct capture_memory;

struct capture_visit {
	void (*record)(void *arg, const struct io_record *record);
	void *arg;
};

/* Keeps at least last_ns of records, unless that takes more than most_bytes. */
int capture_memory__new(uint64_t last_ns, size_t most_bytes, int zstd_level,
			struct capture_memory **memory);
void capture_memory__free(struct capture_memory *memory);
/* Give it everything that a file would get, except __finish; the memory owns it. */
struct capture_writer *capture_memory__writer(struct capture_memory *memory);
/* Writes all that is kept to a file. Recording continues unchanged. */
int capture_memory__save(struct capture_memory *memory, const struct capture_options *options,
			 const char *ended, const struct capture_count *ledger, size_t nr);
/* The same without a ledger, as bytes: whole blocks that have a record of from_ns or later. */
int capture_memory__copy(struct capture_memory *memory, uint64_t from_ns, const char *ended,
			 struct byte_out *out);
/*
 * Every kept record of from_ns <= time < to_ns, in the order of writing, until most of them were
 * looked at. 1: there are more; 0; -ENOMEM.
 */
int capture_memory__each(struct capture_memory *memory, uint64_t from_ns, uint64_t to_ns,
			 uint64_t most, struct capture_visit visit);

/* The record of this number: they are numbered from 1 in the order of writing. -ENOENT: it was
 * forgotten, or not yet written; -ENOMEM. */
int capture_memory__find(struct capture_memory *memory, uint64_t number,
			 struct capture_visit visit);
uint64_t capture_memory__kept_from(const struct capture_memory *memory); /* the lowest number */
/* Nothing that was flushed is earlier. UINT64_MAX: nothing is kept. */
uint64_t capture_memory__from_ns(const struct capture_memory *memory);

size_t capture_memory__bytes(const struct capture_memory *memory);
uint64_t capture_memory__nr_records(const struct capture_memory *memory); /* kept */
/* True if most_bytes, not time, made it forget. */
bool capture_memory__is_short(const struct capture_memory *memory);

#endif
