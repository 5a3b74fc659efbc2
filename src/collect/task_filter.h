/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * task_filter.h: which tasks' events are wanted? -p, --comm and --cgroup in the form that programs
 * in the kernel check, for I/O, the page cache and any event. Tasks that do not exist and invalid
 * names are rejected here, in one place for all commands.
 */
#ifndef IOSONAR_COLLECT_TASK_FILTER_H
#define IOSONAR_COLLECT_TASK_FILTER_H

#include "base/options.h"
#include "collect/cgroup.h"

/* 0: not given. */
struct task_filter {
	uint32_t pid;
	char comm[16];
	struct cgroup cgroup;
};

/* 0 or -EINVAL, after a message. */
int task_filter__read(struct task_filter *filter, const struct filter_options *options);
/* Does this process or thread exist? One of another user does, too. */
bool task_filter__is_there(uint64_t id);

#endif
