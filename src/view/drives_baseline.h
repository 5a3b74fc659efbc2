/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drives_baseline.h: what `drives --learn` keeps of each drive and `--baseline` reads again: its
 * services by operation, size class and depth, a line of JSON for each. A file may be anything:
 * invalid input gives a one-line message. Used only by `drives`; remove it with that command.
 */
#ifndef IOSONAR_VIEW_DRIVES_BASELINE_H
#define IOSONAR_VIEW_DRIVES_BASELINE_H

#include <stdio.h>
#include "analyse/drives.h"
#include "decode/column.h"

extern const struct object drives_baseline;

/* What a drive is known by: its serial, or where it is. Hostile. */
struct drive_name {
	char host[68], dev[32], model[48], serial[32];
};

struct drive_past {
	struct drive_name name;
	struct drive_sample sample;
	uint32_t servers;
};

struct drives_past {
	struct drive_past *drives;
	size_t nr;
};

/* 0 or a negative errno, said. Operations of the file get kinds. */
int drives_past__read(struct drives_past *past, const char *path, struct drives *kinds);
/* NULL: there is no such drive. */
const struct drive_past *drives_past__find(const struct drives_past *past,
					   const struct drive_name *name);
void drives_past__free(struct drives_past *past);
/* Appends the lines of a drive. -ENOMEM. */
int drives_past__write(FILE *out, const struct drives *drives, size_t number,
		       const struct drive_name *name);

#endif
