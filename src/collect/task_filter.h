/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_filter.h: whose events are wanted? -p, --comm and --cgroup as programs in the kernel ask
 * about them, of I/O, of the page cache and of any event. What is not there, or cannot be a name,
 * is refused here, in one place for all commands.
 */
#ifndef IOSONAR_COLLECT_TASK_FILTER_H
#define IOSONAR_COLLECT_TASK_FILTER_H

#include "base/options.h"
#include "collect/cgroup.h"

/* 0 where it was not asked for. */
struct task_filter {
	uint32_t pid;
	char comm[16];
	struct cgroup cgroup;
};

/* 0 or -EINVAL, said. */
int task_filter__read(struct task_filter *filter, const struct filter_options *options);
/* Is there such a process or thread? One of another user is. */
bool task_filter__is_there(uint64_t id);

#endif
