/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * index.h: where is what in this file? A chunk before the trailer lists type, length, records and
 * times of all chunks before it, so that a span of time is found without a walk from header to
 * header. It is only a hint: it must fit the file, every chunk read is checked against it, and if
 * it is missing or wrong, the reader walks.
 */
#ifndef IOSONAR_CAPTURE_INDEX_H
#define IOSONAR_CAPTURE_INDEX_H

#include "capture/about.h"
#include "capture/bytes.h"
#include "capture/chunk.h"

enum {
	CAPTURE_INDEX_LEAST = 64, /* chunks; a smaller file is walked as fast */
	CAPTURE_INDEX_TAIL = 8,	  /* bytes at its end: where it begins */
};

/* State after the last entry, kept by writer and reader alike. */
struct capture_index_state {
	uint64_t at;	     /* where the next chunk begins */
	uint64_t nr_records; /* in chunks so far */
	uint64_t last_ns;    /* latest time of the last chunk with times */
	struct capture_clock clock;
	bool has_origins; /* of a merged file: entries say the capture and the first record */
};

/* The state before the first entry. */
void capture_index__begin(struct capture_index_state *state);
/* Appends the chunk written at state->at; payload: that chunk's. */
void capture_index__put(struct byte_out *out, struct capture_index_state *state,
			const struct capture_chunk *chunk, const uint8_t *payload);
/* The end: where the index itself begins. */
void capture_index__put_tail(struct byte_out *out, uint64_t at);

/* The next entry, without the CRC. A clock chunk's triple is in state->clock. False: the end, or
 * an invalid entry. */
bool capture_index__get(struct byte_in *in, struct capture_index_state *state,
			struct capture_chunk *chunk);
/* Does the chunk match its index entry? */
bool capture_index__agrees(const struct capture_chunk *indexed, const struct capture_chunk *found);
/* The index holds its triple, so the chunk need not be read. */
bool capture_index__holds(const struct capture_chunk *chunk);

#endif
