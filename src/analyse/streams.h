/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * streams.h: does an access go on where another one ended? A bounded table of the places where
 * streams are expected to go on, so that several at once are seen as what they are. It is told
 * accesses in the order of their submission, and costs a look at each of its places.
 */
#ifndef IOSONAR_ANALYSE_STREAMS_H
#define IOSONAR_ANALYSE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	STREAMS = 64,	     /* places; of more streams at once the ones longest idle are lost */
	STREAMS_YOUNG = 32,  /* of them for what was touched once: random accesses take no others */
	STREAMS_GROWN = 4,   /* accesses in a row that make a stream, not a coincidence */
	STREAMS_LEAST = 1,   /* percent of all accesses that streams make: else it was chance */
	STREAMS_MOST_OF = 95 /* percent of their accesses that `at once` speaks of */
};

struct stream {
	uint64_t next_byte; /* where it is expected to go on */
	uint64_t used;	    /* when it did, in accesses */
	uint64_t length;    /* accesses in a row */
};

struct streams {
	struct stream places[STREAMS];
	uint32_t nr, nr_young;
	uint64_t accesses;
	/* [n]: how often n other grown streams moved between two accesses of one. */
	uint64_t beside[STREAMS + 1];
};

/* True: it begins where another access ended. */
bool streams__access(struct streams *streams, uint64_t from_byte, uint64_t bytes);
/* The number of streams that take turns, at 95 % of their accesses; 0: there are none. */
uint32_t streams__at_once(const struct streams *streams);

#endif
