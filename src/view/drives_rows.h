/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drives_rows.h: the rows of `drives`: each drive beside others of its model and beside its past,
 * with a verdict, how sure it is, and what may explain it. Used only by that command; remove it
 * with that command.
 */
#ifndef IOSONAR_VIEW_DRIVES_ROWS_H
#define IOSONAR_VIEW_DRIVES_ROWS_H

#include "analyse/drives.h"
#include "base/output.h"
#include "session/session.h"
#include "view/drives_baseline.h"
#include "view/drives_events.h"
#include "view/row_conditions.h"

extern const struct object drives_rows;

enum { DRIVES_OPS = 256, DRIVES_SIZES = 40 };

struct drives_view {
	/* options */
	const char *baseline, *learn;
	struct option_number at_least, buffer;
	struct row_conditions conditions;
	/* state */
	struct drives drives;
	struct drive_name names[DRIVES_MOST]; /* by drive */
	char peers[DRIVES_MOST][80];	      /* by model: what its drives have in common */
	size_t nr_models;
	int32_t devices[DRIVES_MOST]; /* by drive: the first device that it was seen as */
	int disks[DRIVES_MOST];	      /* by drive: the first path to its disk, or itself */
	size_t nr_paths;	      /* that are not the first */
	char here[65];		      /* this machine; "" in a replay */
	struct drives_past past;
	struct drives_events events;
	struct output learned;
	uint64_t left_out; /* commands of further drives */
	/* Kinds plus 1 by operation and size class, of NVMe and of others; 0: not asked yet. */
	uint16_t kinds[2][DRIVES_OPS][DRIVES_SIZES];
	struct drives_last {
		int32_t device; /* plus 1 */
		const char *host;
		int drive;
	} last; /* the drive of the last record */
	struct table *table;
};

/* All rows, at the end. 0 or a negative errno, said. */
int drives_rows__show(struct drives_view *view, struct session *session);

#endif
