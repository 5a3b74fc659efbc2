/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cgroup.h: the path of a cgroup from its id, and the reverse. Walks the hierarchy once per unknown
 * id: call it for what is printed, not for every I/O.
 */
#ifndef IOSONAR_COLLECT_CGROUP_H
#define IOSONAR_COLLECT_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "/system.slice/x.service", "/" for the root, or "cgroup-1234" if it is gone; returns buf. */
char *cgroup__path(uint64_t id, char *buf, size_t size);
/* The same for a process that may open no file; in the scout: SCOUT_CGROUP. */
struct scout;
char *cgroup__path_by(const struct scout *scout, uint64_t id, char *buf, size_t size);
void cgroup__answer(void *shared);

struct cgroup {
	uint64_t id;
	uint32_t level; /* below the root: its depth among a task's ancestors */
};
/* Relative to the root, or a whole path. Version 1 has no ids that programs could compare. */
bool cgroup__find(const char *name, struct cgroup *cgroup);

#endif
