/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * index.h: where is what in this file? A chunk before the trailer tells type, length, records and
 * times of all chunks before it, so that a span of time is found without a walk from header to
 * header. It is a hint: what it says has to fit the file, every chunk that is read is checked
 * against it, and without it, or with one that is wrong, a reader walks.
 */
#ifndef IOSONAR_CAPTURE_INDEX_H
#define IOSONAR_CAPTURE_INDEX_H

#include "capture/about.h"
#include "capture/bytes.h"
#include "capture/chunk.h"

enum {
	CAPTURE_INDEX_LEAST = 64, /* chunks; a file of fewer is walked as fast */
	CAPTURE_INDEX_TAIL = 8,	  /* bytes at its end: where it begins */
};

/* What the entry before left: both sides go along. */
struct capture_index_state {
	uint64_t at;	     /* where the next chunk begins */
	uint64_t nr_records; /* in chunks so far */
	uint64_t last_ns;    /* latest time of the last one that has times */
	struct capture_clock clock;
};

/* Before the first entry. */
void capture_index__begin(struct capture_index_state *state);
/* Of the chunk that was written at state->at; payload: its own. */
void capture_index__put(struct byte_out *out, struct capture_index_state *state,
			const struct capture_chunk *chunk, const uint8_t *payload);
/* The end: where the index itself begins. */
void capture_index__put_tail(struct byte_out *out, uint64_t at);

/* The next entry; the CRC is not in it. A clock chunk's triple is in state->clock. False: there is
 * none, or it makes no sense. */
bool capture_index__get(struct byte_in *in, struct capture_index_state *state,
			struct capture_chunk *chunk);
/* Is it the one that the index speaks of? */
bool capture_index__agrees(const struct capture_chunk *indexed, const struct capture_chunk *found);
/* Its triple need not be read from the chunk. */
bool capture_index__holds(const struct capture_chunk *chunk);

#endif
