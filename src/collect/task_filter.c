/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/task_filter.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include "base/log.h"

bool task_filter__is_there(uint64_t id)
{
	return !kill((pid_t)id, 0) || errno != ESRCH;
}

int task_filter__read(struct task_filter *t, const struct filter_options *f)
{
	*t = (struct task_filter){ 0 };
	if (f->pid.given && !task_filter__is_there(f->pid.value))
		return log_err(-EINVAL, "-p: process %llu does not exist",
			       (unsigned long long)f->pid.value);
	if (f->comm && (!*f->comm || strlen(f->comm) >= sizeof(t->comm)))
		return log_err(-EINVAL, "--comm '%s': a task's name has 1 to %zu characters",
			       f->comm, sizeof(t->comm) - 1);
	if (f->cgroup && !cgroup__find(f->cgroup, &t->cgroup))
		return log_err(-EINVAL, "--cgroup: no cgroup (version 2) named %s", f->cgroup);
	t->pid = f->pid.given ? (uint32_t)f->pid.value : 0;
	if (f->comm)
		memcpy(t->comm, f->comm, strlen(f->comm));
	return 0;
}
