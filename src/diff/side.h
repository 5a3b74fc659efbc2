/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * side.h: one of the two runs that `diff` compares: a sample for each device and operation. Read
 * from a capture (capture.c) or the output of `latency -o json` (printout.c); the content of the
 * file decides which. Memory: about 100 KiB for each device and operation, at most 1,024 of them.
 */
#ifndef IOSONAR_DIFF_SIDE_H
#define IOSONAR_DIFF_SIDE_H

#include "analyse/pairs.h"
#include "analyse/sample.h"
#include "base/options.h"
#include "session/condition.h"

enum { DIFF_MOST_GROUPS = 1024 };

struct diff_group {
	size_t device; /* index in the side's list */
	char op[16];
	struct sample sample;
	/* of a saved run: the sample by intervals, and the time of the last */
	struct sample turns;
	double turn_s;
	bool has_turns;
};

struct diff_device {
	char label[48]; /* "nvme0n1", "nvme0n1#2" */
	char serial[32];
	uint32_t nsid;
	bool is_ctrl;
	struct diff_group *ops[4][256]; /* by kind and number, of a capture */
};

struct diff_side {
	const char *path;
	bool is_saved;
	double seconds; /* start and end of the measurement */
	struct diff_device **devices;
	size_t nr_devices;
	struct diff_group **groups;
	size_t nr_groups;
	bool lost; /* events or parts of the file were lost: said */
};

/* Which I/Os to compare, for both sides. */
struct diff_wants {
	const struct options *options;
	struct condition *only; /* NULL: all */
};

/* The kind of a file, by its content. 0, or a negative errno, said. */
enum diff_kind { DIFF_COMMANDS, DIFF_CALLS, DIFF_SAVED };
int diff_kind__of(const char *path, enum diff_kind *kind);

void diff_side__free(struct diff_side *side);

/* For the functions that fill a side. NULL: said. */
struct diff_device *diff_side__add_device(struct diff_side *side, const char *label);
struct diff_device *diff_side__device(const struct diff_side *side, const char *label);
struct diff_group *diff_side__group(struct diff_side *side, size_t device, const char *op,
				    unsigned int bits);

/* Fill a side whose path is set. 0, or a negative errno, said. */
int diff_side__read_capture(struct diff_side *side, const struct diff_wants *wants);
int diff_side__read_printout(struct diff_side *side, const struct diff_wants *wants);

/* The devices for pairs__match; the caller frees `ends`. -ENOMEM, said. */
int diff_side__ends(const struct diff_side *side, struct pair_ends *ends);
/* The group of this device and operation, or NULL. */
struct diff_group *diff_side__find(const struct diff_side *side, size_t device, const char *op);

#endif
