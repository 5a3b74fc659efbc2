/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * breakdown.h: one distribution for each combination of --by's keys. Takes parts of any CPU, device
 * and operation and merges those with equal tags. Keeps the last snapshot, so that an interval is
 * the difference of two snapshots.
 */
#ifndef IOSONAR_ANALYSE_BREAKDOWN_H
#define IOSONAR_ANALYSE_BREAKDOWN_H

#include <stddef.h>
#include <stdint.h>
#include "analyse/hist.h"
#include "base/index.h"

/* In the order of --by's words. */
enum breakdown_by {
	BY_CTRL,
	BY_NS,
	BY_DEV,
	BY_OP,
	BY_SIZE,
	BY_QUEUE,
	BY_CPU,
	BY_PID,
	BY_COMM,
	BY_CGROUP,
	BY_FILE,
	BY_PATH,
	BY_UNIT,
	BY_CONTAINER,
	BY_HOST,
	NR_BY,
};

/* Tags of a distribution. Keys that were not requested are zero, so that tags compare as bytes. */
struct io_tags {
	uint64_t cgroup, inode;
	uint64_t unit, container; /* a cgroup that stands for all of the group; 0: none */
	uint32_t file_dev;
	int32_t path; /* as device: the path of a multipath head; otherwise the device itself */
	char comm[24];
	int32_t device; /* 1 + its number in the device list; 0: not requested, or the row `other`;
			   for a path: the head */
	int32_t ctrl;	/* 1 + N of nvmeN; 0: none */
	uint32_t nsid;
	uint32_t pid;
	uint16_t queue, cpu;
	uint16_t host;	  /* of captures: 1 + its number */
	uint8_t kind, op; /* enum io_kind and its number */
	uint8_t size_class;
	uint8_t other;	  /* the table of rows was full: the tags are unknown */
	uint8_t file_nth; /* number among the files with this inode: wire/file_id.h */
	uint8_t pad[5];
};
_Static_assert(sizeof(struct io_tags) == 96, "no holes: compared as bytes");

struct breakdown_row {
	struct io_tags tags;
	struct hist total;	  /* since the start */
	struct hist before;	  /* total at the last breakdown__mark */
	uint64_t interval_max_ns; /* since then */
	uint64_t octaves;	  /* that total has, or had: of breakdown__add alone */
	size_t number;		  /* its place in the rows, which it keeps until a drop */
};

struct breakdown {
	uint32_t mask; /* 1 << enum breakdown_by */
	struct breakdown_row **rows;
	size_t nr;
	struct index index; /* of rows */
};

void breakdown__init(struct breakdown *b, uint32_t mask);
void breakdown__free(struct breakdown *b);

/* A new snapshot: begin, add every part, end. -ENOMEM. */
void breakdown__begin(struct breakdown *b);
int breakdown__add(struct breakdown *b, const struct io_tags *tags, const struct hist *part);
/* The row of these tags, for the caller to count into; NULL: out of memory. */
struct breakdown_row *breakdown__row(struct breakdown *b, const struct io_tags *tags);
/* Drops the rows that fn accepts, for good; the others get new numbers, in their order. */
void breakdown__drop(struct breakdown *b, bool (*fn)(void *, const struct breakdown_row *),
		     void *arg);
/* Starts a new interval. */
void breakdown__mark(struct breakdown *b);
/* Both, row by row, and of each only its octaves: thousands of rows do not fit a cache. For rows
 * that breakdown__add alone fills. */
void breakdown__mark_and_begin(struct breakdown *b);

/* The row's interval: total less before. */
void breakdown_row__interval(const struct breakdown_row *row, struct hist *out);
/* For qsort over rows: device, then operation, then the rest. */
int breakdown_row__compare(const void *a, const void *b);

#endif
