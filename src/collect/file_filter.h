/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_filter.h: which file's events are wanted? --file in the form that programs in the kernel
 * check: the inode and the device of its file system, or a block device alone.
 */
#ifndef IOSONAR_COLLECT_FILE_FILTER_H
#define IOSONAR_COLLECT_FILE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct file_filter {
	bool is_given;
	uint32_t dev;	/* as the kernel numbers it */
	uint64_t inode; /* FILE_METADATA: of a block device */
};

/* path: NULL: not given. 0 or -EINVAL, after a message. */
int file_filter__read(struct file_filter *filter, const char *path);

#endif
