/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * streams.h: does an access continue another? A bounded table of the places where streams are
 * expected to continue, so that concurrent streams are recognized. Takes accesses in the order of
 * submission. A random access costs a few steps, one that continues a stream a look at the places
 * before it.
 */
#ifndef IOSONAR_ANALYSE_STREAMS_H
#define IOSONAR_ANALYSE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	STREAMS = 64,	      /* places; with more streams at once, the longest idle are lost */
	STREAMS_YOUNG = 32,   /* places for streams of one access: random accesses take no others */
	STREAMS_GROWN = 4,    /* accesses in a row that make a stream, not a coincidence */
	STREAMS_LEAST = 1,    /* least percent of accesses in streams: below, it is chance */
	STREAMS_MOST_OF = 95, /* percent of their accesses that streams__at_once covers */
	STREAMS_HASHES = 1024,
};

struct stream {
	uint64_t used;	       /* last continued, in accesses */
	uint64_t length;       /* accesses in a row */
	uint8_t before, after; /* in its list: number of the place + 1; 0: none */
};

/* Places by the time of their last access, the longest idle first. */
struct streams_list {
	uint8_t first, last; /* number of the place + 1; 0: none */
};

struct streams {
	uint64_t next_byte[STREAMS]; /* where each should continue */
	struct stream places[STREAMS];
	uint32_t nr, nr_young;
	struct streams_list young, old;	  /* of one access; of more */
	uint8_t expected[STREAMS_HASHES]; /* number of places by the hash of next_byte */
	uint64_t accesses;
	/* [n]: how often n other grown streams moved between two accesses of a stream. */
	uint64_t beside[STREAMS + 1];
};

/* True: it begins where another access ended. */
bool streams__access(struct streams *streams, uint64_t from_byte, uint64_t bytes);
/* The number of streams that alternate, in 95 % of their accesses; 0: no streams. */
uint32_t streams__at_once(const struct streams *streams);

#endif
