/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * capture_lists.h: what does a capture list? Its devices, their partitions and the cgroups it
 * names, and in JSON its metadata and the terms of its ledger. Texts come from the file and are
 * hostile. Used only by `info`; remove it with that command.
 */
#ifndef IOSONAR_VIEW_CAPTURE_LISTS_H
#define IOSONAR_VIEW_CAPTURE_LISTS_H

#include "capture/read.h"
#include "decode/column.h"

/* The output, and the name of the capture. */
struct capture_lists {
	FILE *out;
	enum table_format format;
	const char *file;
	bool is_brief; /* columns in which no device has a value are left out */
};

extern const struct object capture_text_object, capture_count_object, capture_device_object,
	capture_partition_object, capture_cgroup_object;

/* A device may be listed twice: under the numbers in records and under its own. */
bool capture_lists__is_first(const struct capture_about *about, size_t nr);
/* 0 or -ENOMEM, said. */
int capture_lists__put(const struct capture_lists *lists, const struct capture_about *about);
int capture_lists__put_pairs(const struct capture_lists *lists, const struct capture_about *about);

#endif
