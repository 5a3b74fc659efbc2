/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edges.h: the buckets of a latency histogram for Prometheus: 1, 2, 4 or 8 per octave from 1 us to
 * 17 s. Every edge is an edge of our own buckets (wire/buckets.h), so counts are exact. Ours are
 * half open and hold whole ns; `le` includes its bound, so it is the edge less 1 ns. Pure.
 */
#ifndef IOSONAR_SERVE_EDGES_H
#define IOSONAR_SERVE_EDGES_H

#include "analyse/hist.h"
#include "render/openmetrics.h"

enum {
	EDGES_PER_OCTAVE = 4, /* default */
	EDGES_FIRST_BIT = 10,
	EDGES_LAST_BIT = 34,
	EDGES_MOST = 8 * (EDGES_LAST_BIT - EDGES_FIRST_BIT) + 1,
};

struct edges {
	struct openmetrics_bounds bounds; /* points into this struct: do not copy it */
	char texts[EDGES_MOST][24];
	const char *text_of[EDGES_MOST];
	uint64_t least[EDGES_MOST];
	uint16_t bucket_of[HIST_CELLS]; /* of each of our buckets */
};

/* per_octave: a power of two, at most 8. */
void edges__init(struct edges *edges, unsigned int per_octave);
/* The bucket of a value. */
static inline size_t edges__bucket(const struct edges *edges, uint64_t ns)
{
	return edges->bucket_of[hist_slot(ns)];
}
/* Adds the values of a distribution to the buckets. */
void edges__count(const struct edges *edges, const struct hist *hist,
		  struct openmetrics_histogram *into);

#endif
