/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * maker.h: creates the parts of a capture: FILE, FILE.1, FILE.2 and so on. A measuring run drops
 * its privileges and can then create no file, on any kernel. So a deputy does it, which knows the
 * capture's directory and name: a request is the number of a part, and the answer is a descriptor.
 * It can create files in that directory only, and follows no symbolic link.
 */
#ifndef IOSONAR_CAPTURE_MAKER_H
#define IOSONAR_CAPTURE_MAKER_H

#include "base/deputy.h"
#include "base/options.h"

struct maker {
	const struct file_options *options; /* the caller's, until the end */
	struct deputy deputy;		    /* none: nothing was forked; it ends with deputy__end */
};

/* FILE, FILE.1, FILE.2, …, reused in turn with --files; to be freed. NULL: no memory. */
char *maker__path(const struct file_options *options, unsigned int part);

/* Before privileges are dropped. 0 or a negative errno, after a message: no such directory, … */
int maker__fork(struct maker *maker, const struct file_options *options);
/* Opens a part for writing, new or existing: a descriptor or a negative errno, after a message. */
int maker__open(const struct maker *maker, unsigned int part);

#endif
