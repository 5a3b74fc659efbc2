/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drives.h: is a drive slow for its kind, or slower than it was? Services of the same operation,
 * size class and depth are compared with those of other drives and with a baseline, on blocks of
 * time. Stretches of commands are kept, spread evenly over the run, at most 1.2 MiB for each drive;
 * all others are only counted. It cannot see what makes all drives of a model slow at once, unless
 * there is a baseline.
 */
#ifndef IOSONAR_ANALYSE_DRIVES_H
#define IOSONAR_ANALYSE_DRIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DRIVES_MOST = 256,
	DRIVES_STRETCH = 2048,	 /* commands that follow each other */
	DRIVES_STRETCHES = 24,	 /* of a drive; even: every second one leaves to make room */
	DRIVES_BLOCKS = 32,	 /* of time, at most */
	DRIVES_BLOCK_LEAST = 32, /* commands of a block */
	DRIVES_CELL_LEAST = 8,	 /* commands of a cell that is compared */
	DRIVES_LEAST = 128,	 /* commands in cells that two drives have in common */
	DRIVES_KINDS = 1024,	 /* of commands: operation and size class */
	DRIVES_OP = 16,
};

/* Beyond this a difference is no accident. It is for all drives of a run together. */
#define DRIVES_DOUBT 0.001

/*
 * The depth of a command. A busy drive gets more commands while it serves one, so that neither is
 * right for every drive: a drive is slower only if it is slower by both.
 */
enum drive_depth { DRIVE_DEPTH_START, DRIVE_DEPTH_MEAN, NR_DRIVE_DEPTHS };

struct drive_io {
	uint64_t from_ns, end_ns;
	uint32_t kind;	    /* 0: not timed, but in flight */
	uint16_t ns, queue; /* of the drive, if it has several */
};

/* What of a drive alone may be slow. */
enum drive_part { DRIVE_NAMESPACE, DRIVE_QUEUE, NR_DRIVE_PARTS };

struct drive_part_finding {
	uint16_t number; /* of the namespace or queue */
	uint64_t count;	 /* its commands that were judged; 0: none is slower than the others */
	double shift;	 /* as in a finding: beside the others of this drive */
};

struct drive_kind {
	char op[DRIVES_OP];
	uint32_t size_class;
};

/*
 * Services of one kind at one depth, as cube roots of nanoseconds: their mean varies little with
 * the shape of the distribution, and a few stalls do not decide.
 */
struct drive_cell {
	uint32_t kind, depth; /* depth: a class */
	double nr, sum;
	double block_nr[DRIVES_BLOCKS], block_sum[DRIVES_BLOCKS];
	double error; /* of its logarithm; of a baseline, instead of blocks */
};

struct drive_cells {
	struct drive_cell *cells; /* by kind, then depth */
	size_t nr;
	double all; /* commands in them */
};

/* A drive, or what is known of its past. */
struct drive_sample {
	struct drive_cells by[NR_DRIVE_DEPTHS];
	uint32_t nr_blocks;
	bool is_past; /* cells have errors instead of blocks */
};

struct drive {
	int32_t model; /* as the caller numbers them */
	uint64_t count, errors, retries;
	double flight_ns;     /* sum of latencies */
	struct drive_io *ios; /* stretches, then the one that is being filled */
	size_t nr_ios, room;
	uint64_t step, until; /* stretches from one that is kept to the next; commands to skip */
	struct drive_sample now;
	const struct drive_sample *past; /* the caller's; NULL: none */
	uint32_t servers;
};

struct drives {
	struct drive *drives[DRIVES_MOST];
	size_t nr;
	struct drive_kind kinds[DRIVES_KINDS]; /* from 1 on */
	size_t nr_kinds;
};

enum drive_verdict {
	DRIVE_FINE,
	DRIVE_SLOW,
	DRIVE_DIFFERS, /* two drives, and nothing shows which of them is right */
	DRIVE_UNKNOWN, /* nothing to compare with */
};

/* How far a drive is from its reference. */
struct drive_finding {
	enum drive_verdict verdict;
	double shift;	   /* logarithm: 0.26 is 30 % slower; 0 if unknown */
	double doubt;	   /* the probability of such a difference by accident; 1 if unknown */
	uint32_t nr_peers; /* that it was compared with */
	double nr_common;  /* of its commands, in cells that the least similar of them has, too */
};

/* All zeros before. The number of a kind; 0: there are too many. */
uint32_t drives__kind(struct drives *drives, const char *op, uint32_t size_class);
/* A new drive's number; -ENOMEM, -ENOSPC. */
int drives__new(struct drives *drives, int32_t model);
/* In order of end_ns. -ENOMEM. */
int drives__add(struct drives *drives, size_t number, const struct drive_io *io);
/* Likewise, on another path to the same drive: it is served beside those of this one. -ENOMEM. */
int drives__add_beside(struct drives *drives, size_t number, const struct drive_io *io);
/*
 * The end: samples of all drives. servers: by drive, from a baseline; 0: estimated for its model.
 * -ENOMEM.
 */
int drives__finish(struct drives *drives, const uint32_t *servers);
/* After the end. least: the logarithm of the least difference that counts. */
void drives__beside_peers(const struct drives *drives, size_t number, double least,
			  struct drive_finding *finding);
void drives__beside_past(const struct drives *drives, size_t number, double least,
			 struct drive_finding *finding);
/*
 * Is one namespace or queue slower than the others of its drive, at equal operation, size class and
 * depth, and is that no accident? -ENOMEM.
 */
int drives__slow_part(const struct drives *drives, size_t number, enum drive_part part,
		      double least, struct drive_part_finding *finding);
/* Its typical service, in ns: the cube of the mean cube root; 0: none was judged. */
double drive__service(const struct drive *drive);
/* The logarithm of a cell's typical service, and its standard error. */
double drive_cell__log_ns(const struct drive_cell *cell);
double drive_cell__error(const struct drive_cell *cell, uint32_t nr_blocks);
void drives__free(struct drives *drives);

/* For drives.c: the services of a drive's stretches, into drive->now. -ENOMEM. */
int drive_sample__take(struct drive *drive);
/* Those of one part, and of the others. -ENOMEM; free both even then. */
int drive_sample__split(const struct drive *drive, enum drive_part part, uint16_t number,
			struct drive_sample samples[2]);
static inline uint16_t drive_io__part(const struct drive_io *io, enum drive_part part)
{
	return part == DRIVE_QUEUE ? io->queue : io->ns;
}
void drive_sample__free(struct drive_sample *sample);
/* In order of kind and depth; NULL: out of memory. */
struct drive_cell *drive_cells__at(struct drive_cells *cells, uint32_t kind, uint32_t depth);

#endif
