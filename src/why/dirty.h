/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dirty.h: how long do writers wait because too many pages are dirty? From calls that captures of
 * `waits` keep, by machine and task name. Memory is bounded: 64 names of 6 KiB; it cannot see on
 * which disk the pages have to be written.
 */
#ifndef IOSONAR_WHY_DIRTY_H
#define IOSONAR_WHY_DIRTY_H

#include <stddef.h>
#include <stdint.h>
#include "wire/buckets.h"

enum { DIRTY_WRITERS = 64, DIRTY_CELLS = (HIST_CELLS >> 2) + 1 };

struct dirty_sums {
	uint64_t nr, ns, dirty_ns; /* dirty: of that, slowed down because of dirty pages */
};

struct dirty_writer {
	char comm[17];
	uint16_t host;
	uint64_t slowed;		      /* calls */
	struct dirty_sums all, tail;	      /* tail: the slowest 1 %, at the end */
	struct dirty_sums cells[DIRTY_CELLS]; /* by length */
};

struct dirty {
	struct dirty_writer writers[DIRTY_WRITERS];
	size_t nr;
	uint64_t left_out; /* calls of further names */
};

/* A call that wrote, and took ns. comm: 16 bytes. */
void dirty__add(struct dirty *dirty, uint16_t host, const char *comm, uint64_t ns,
		uint64_t dirty_ns);
void dirty__finish(struct dirty *dirty); /* tails */
/* Who waited longest for it on this machine; NULL: nobody did. */
const struct dirty_writer *dirty__worst(const struct dirty *dirty, uint16_t host);

#endif
