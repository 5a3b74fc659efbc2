/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * residency.h: asks the kernel how much of a file is in the page cache: by cachestat(2) where
 * available, a system call for each part; otherwise by mincore(2), a byte for each page. Requires
 * only the right to write to the file, or to own it: others get no answer. Pages in flight count as
 * cached for cachestat(2), but not for mincore(2), which requires their data.
 */
#ifndef IOSONAR_COLLECT_RESIDENCY_H
#define IOSONAR_COLLECT_RESIDENCY_H

#include "analyse/residency.h"

/* A regular file or a block device. 0, or -errno after one line that names the path. */
int residency__read(struct residency *residency, const char *path);

#endif
