/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cgroup_groups.h: which cgroups belong to one unit of systemd, or to one container? A group is
 * known by the first of its cgroups that was seen. Names come from the paths of cgroups, read once
 * per cgroup: one that has no path when it is first seen belongs to no group.
 */
#ifndef IOSONAR_VIEW_CGROUP_GROUPS_H
#define IOSONAR_VIEW_CGROUP_GROUPS_H

#include <stddef.h>
#include <stdint.h>
#include "base/index.h"

struct session;

/* Each is a cgroup, the first one of the group; 0: the cgroup belongs to none. */
struct cgroup_group {
	uint64_t unit, container;
};

/* All zeros is an empty set. */
struct cgroup_groups {
	struct cgroup_member *members;
	struct cgroup_group_name *names;
	struct index by_cgroup, by_name;
};

/* 0 or -ENOMEM: the group is empty then. */
int cgroup_groups__find(struct cgroup_groups *groups, const struct session *session,
			uint64_t cgroup, struct cgroup_group *group);
void cgroup_groups__free(struct cgroup_groups *groups);

/* "nginx.service"; NULL: the cgroup is 0. Returns buf. */
const char *cgroup_groups__unit(const struct session *session, uint64_t cgroup, char *buf,
				size_t size);
/* The first 12 digits of a container's id, as its tools show it. */
const char *cgroup_groups__container(const struct session *session, uint64_t cgroup, char *buf,
				     size_t size);

#endif
