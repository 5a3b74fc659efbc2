/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cgroup.h: the path of a cgroup from its id. Walks the hierarchy once per unknown id: ask for what
 * is printed, not for every I/O.
 */
#ifndef IOSONAR_COLLECT_CGROUP_H
#define IOSONAR_COLLECT_CGROUP_H

#include <stddef.h>
#include <stdint.h>

/* "/system.slice/x.service", "/" for the root, or "cgroup-1234" if it is gone; returns buf. */
char *cgroup__path(uint64_t id, char *buf, size_t size);

#endif
