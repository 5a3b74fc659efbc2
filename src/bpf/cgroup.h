/* SPDX-License-Identifier: GPL-2.0-only */
/* cgroup.h: the id of a cgroup or of an ancestor, for the current task or any cgroup. */
#ifndef IOSONAR_BPF_CGROUP_H
#define IOSONAR_BPF_CGROUP_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "bpf/cell.h"
#include "bpf/kernel.h"

/* Before 6.1 a cgroup holds the ids of its ancestors. */
inline_always __u64 cgroup_old_ancestor(struct cgroup *cgroup, __u32 level)
{
	__u64 id = 0;

	bpf_probe_read_kernel(&id, sizeof(id),
			      (void *)cgroup +
				      bpf_core_field_offset(struct cgroup___ids, ancestor_ids) +
				      level * sizeof(id));
	return id;
}

/* The id of a cgroup or of its ancestor at that level; 0: it is not that deep. */
inline_always __u64 cgroup_ancestor_of(struct cgroup *cgroup, __u32 level)
{
	struct cgroup *above = 0;

	if (!cgroup || level > (__u32)BPF_CORE_READ(cgroup, level))
		return 0;
	if (bpf_core_field_exists(struct cgroup___ids, ancestor_ids))
		return cgroup_old_ancestor(cgroup, level);
	bpf_probe_read_kernel(&above, sizeof(above),
			      (void *)cgroup +
				      bpf_core_field_offset(struct cgroup___ancestors, ancestors) +
				      level * sizeof(above));
	return BPF_CORE_READ(above, kn, id);
}

/*
 * For the current task's cgroup. 5.10 offers the helper to no tracing program; while the struct
 * holds the ids we do not need it.
 */
inline_always __u64 cgroup_ancestor(__u32 level)
{
	struct cgroup *cgroup;

	if (!bpf_core_field_exists(struct cgroup___ids, ancestor_ids))
		return bpf_get_current_ancestor_cgroup_id(level);
	/* Not cgroup_ancestor_of: each struct that a program names costs 2 ms at its start. */
	cgroup = BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), cgroups, dfl_cgrp);
	if (level > (__u32)BPF_CORE_READ(cgroup, level))
		return 0;
	return cgroup_old_ancestor(cgroup, level);
}

#endif
