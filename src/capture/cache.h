/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.h: the page cache in a capture: readings of its rows, each with the growth since the last
 * one, and single events. A chunk is one reading, or some events; it can be decoded alone.
 */
#ifndef IOSONAR_CAPTURE_CACHE_H
#define IOSONAR_CAPTURE_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include "capture/bytes.h"
#include "wire/page_cache.h"

enum { CAPTURE_CACHE_MOST = 65536 }; /* rows or events in a chunk: more is damage */

/* claim is unused; op 0: accesses whose key did not fit. */
struct capture_cache_row {
	struct cache_key key;
	uint64_t counts[NR_CACHE_COUNTS];
};

/* A decoded chunk. Its owner reuses it for the next chunk, and frees it. */
struct capture_cache {
	uint64_t time_ns; /* of the reading */
	bool is_reading;
	struct capture_cache_row *rows;
	size_t nr_rows, room_rows;
	struct cache_command *events; /* of a miss only the first part is valid */
	size_t nr_events, room_events;
};

void capture_cache__free(struct capture_cache *cache);

/* Payloads. Zeros take no room. */
void capture_cache__put_row(struct byte_out *out, const struct capture_cache_row *row);
/* Times are kept from base_ns on, the earliest of the chunk. */
void capture_cache__put_event(struct byte_out *out, const struct cache_event *event,
			      uint64_t base_ns);
/* 0; -EBADMSG: invalid; -ENOMEM. */
int capture_cache__get_rows(struct capture_cache *cache, struct byte_in in);
int capture_cache__get_events(struct capture_cache *cache, struct byte_in in, uint64_t base_ns);

#endif
