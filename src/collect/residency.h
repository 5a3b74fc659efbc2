/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * residency.h: asks the kernel how much of a file it has in the page cache: cachestat(2) where it
 * is, a system call for each part; else mincore(2), a byte for each page. Needs no privilege but
 * that to write to the file, or to own it: others are told nothing. Pages in flight count as cached
 * for cachestat(2), not for mincore(2), which wants their data.
 */
#ifndef IOSONAR_COLLECT_RESIDENCY_H
#define IOSONAR_COLLECT_RESIDENCY_H

#include "analyse/residency.h"

/* A regular file or a block device. 0, or -errno after one line that names the path. */
int residency__read(struct residency *residency, const char *path);

#endif
