/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pattern.h: what kind of load is it? Per device, or per row of other keys: mix, sizes, alignment,
 * and in the order of submission sequentiality, distances and depth. Commands come when they end,
 * so each waits until an earlier submission is unlikely to follow; a command that comes even later
 * is counted but not judged, and reported as late.
 */
#ifndef IOSONAR_ANALYSE_PATTERN_H
#define IOSONAR_ANALYSE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analyse/hist.h"
#include "analyse/sizes.h"
#include "analyse/streams.h"
#include "analyse/time_queue.h"
#include "base/index.h"

enum pattern_kind {
	PATTERN_READ,
	PATTERN_WRITE,
	PATTERN_MOVES, /* reads and writes: kinds with size and place */
	PATTERN_DISCARD = PATTERN_MOVES,
	PATTERN_FLUSH,
	PATTERN_OTHER,
	NR_PATTERN_KINDS,
};

enum {
	PATTERN_ROWS = 1024,	 /* the last row takes all that do not fit */
	PATTERN_HELD = 1 << 18,	 /* commands that wait; beyond that the earliest is judged */
	PATTERN_DEEPEST = 65536, /* commands in flight per row */
	PATTERN_ALIGN = 4096,
	PATTERN_CELLS = 512, /* of the heat map, at most */
	PATTERN_RECENT = 64, /* rows that are found without the index */
};
#define PATTERN_NOWHERE UINT64_MAX /* it has no place on the device */

/* Tags of a load. Keys that were not requested are zero, so that tags compare as bytes. */
struct pattern_tags {
	uint64_t cgroup;
	char comm[16];
	int32_t device; /* as the caller numbers them; PATTERN_REST: the row of the rest */
	uint32_t pid;
};
_Static_assert(sizeof(struct pattern_tags) == 32, "no holes: compared as bytes");
enum { PATTERN_REST = INT32_MIN };

/* The target disk; 0: unknown. */
struct pattern_disk {
	uint64_t size_bytes;
	uint32_t block_bytes, unit_bytes;
};

struct pattern_io {
	uint64_t submit_ns, end_ns;
	uint64_t from_byte; /* or PATTERN_NOWHERE */
	uint32_t bytes;
	enum pattern_kind kind;
	uint8_t io_kind, op; /* enum io_kind and its number */
};

/* Reads, or writes. */
struct pattern_moves {
	uint64_t placed; /* with place and size, so aligned or not */
	uint64_t misaligned, off_unit;
	uint64_t judged; /* order is known, */
	uint64_t sequential;
};

struct pattern_sum {
	uint64_t count;
	uint64_t kinds[NR_PATTERN_KINDS], bytes[NR_PATTERN_KINDS];
	struct pattern_moves moves[PATTERN_MOVES];
	uint64_t late;
	struct hist gaps;   /* ns from one submission to the next */
	struct hist depths; /* commands in flight at a submission, including it */
};

struct pattern_row {
	struct pattern_tags tags;
	struct pattern_disk disk;
	struct pattern_sum interval, total; /* total: without the current interval */
	uint64_t ops[4][256];		    /* by enum io_kind and number */
	struct sizes sizes[PATTERN_MOVES];
	uint64_t cell_bytes;		 /* of the heat map; 0: none */
	uint64_t *heat[PATTERN_MOVES];	 /* first bytes by cell; NULL: nothing is there yet */
	uint64_t first_byte, after_byte; /* touched range; equal: none */
	/* in the order of submission */
	struct streams streams[PATTERN_MOVES];
	struct time_queue ends; /* of commands in flight */
	uint64_t last_ns;
	bool begun;
};

struct pattern {
	uint32_t nr_cells;
	struct pattern_row **rows;
	size_t nr;
	struct index index;		 /* of rows */
	uint16_t recent[PATTERN_RECENT]; /* rows by a short hash of their tags */
	struct time_queue held;
	uint64_t newest_ns, longest_ns;
	uint64_t rest; /* commands counted in the rest */
};

int pattern__init(struct pattern *pattern, uint32_t nr_cells); /* -ENOMEM */
void pattern__free(struct pattern *pattern);

/* -ENOMEM. disk: as known when its first command comes. */
int pattern__add(struct pattern *pattern, const struct pattern_tags *tags,
		 const struct pattern_disk *disk, const struct pattern_io *io);
/* The end: judges all that wait, completes totals, sorts sizes. -ENOMEM. */
int pattern__finish(struct pattern *pattern);

/* Adds the interval to the total. */
void pattern_row__end_interval(struct pattern_row *row);
/* For qsort over rows: by device, then the rest. */
int pattern_row__compare(const void *a, const void *b);
/* Over one kind of moves, or both (PATTERN_MOVES); NAN: no data. */
double pattern_sum__sequential(const struct pattern_sum *sum, enum pattern_kind kind);
double pattern_sum__aligned(const struct pattern_sum *sum);
double pattern_sum__in_units(const struct pattern_sum *sum); /* of the disk */
double pattern_sum__share(const struct pattern_sum *sum, enum pattern_kind kind);
/* Bytes per cell of the heat map; 0: no heat map. */
uint64_t pattern__cell_bytes(const struct pattern *pattern, const struct pattern_row *row);

#endif
