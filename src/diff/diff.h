/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * diff.h: two runs side by side: which devices and operations match, and how much they differ.
 * diff_view and diff_page show the result.
 */
#ifndef IOSONAR_DIFF_DIFF_H
#define IOSONAR_DIFF_DIFF_H

#include "analyse/shift.h"
#include "diff/side.h"

/* One device and operation. */
struct diff_pair {
	const struct diff_group *a, *b; /* NULL: not in that run */
	const char *dev_a, *dev_b;	/* NULL: that run lacks the device */
	const char *op;
	enum pair_by by;
	size_t first, nr; /* range in the list's shifts */
};

struct diff {
	struct diff_side sides[2];
	struct pair_ends ends[2]; /* devices, and how they match */
	struct diff_pair *pairs;
	size_t nr_pairs;
	struct shift_list list;
};

struct diff_file {
	const char *path;
	enum diff_kind kind;
};

/* files: two, not of calls. asked: "nvme0n1=sda": compares only these. A negative errno, said. */
int diff__make(struct diff *diff, const struct diff_file *files, const struct option_list *asked,
	       const struct diff_wants *wants);
void diff__free(struct diff *diff);

const char *pair__words(enum pair_by by); /* "serial", "name", ... */

#endif
