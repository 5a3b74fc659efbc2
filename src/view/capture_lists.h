/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_lists.h: what does a capture list? Its devices, their partitions and the cgroups it
 * names, and as JSON what it says about itself and the terms of its ledger. Texts are the file's,
 * and hostile. It serves `info` alone, and goes with it.
 */
#ifndef IOSONAR_VIEW_CAPTURE_LISTS_H
#define IOSONAR_VIEW_CAPTURE_LISTS_H

#include "capture/read.h"
#include "decode/column.h"

/* Where they go, and the name of the capture. */
struct capture_lists {
	FILE *out;
	enum table_format format;
	const char *file;
	bool is_brief; /* columns in which no device has a value are left out */
};

extern const struct object capture_text_object, capture_count_object, capture_device_object,
	capture_partition_object, capture_cgroup_object;

/* The same device stands there under the numbers that records have and under its own. */
bool capture_lists__is_first(const struct capture_about *about, size_t nr);
/* 0 or -ENOMEM, said. */
int capture_lists__put(const struct capture_lists *lists, const struct capture_about *about);
int capture_lists__put_pairs(const struct capture_lists *lists, const struct capture_about *about);

#endif
