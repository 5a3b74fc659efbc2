/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach_count.c: counters without a program, as `perf stat` has them: per CPU, for a cgroup on
 * every CPU, or for the threads of a process. No code runs at an event, so they cost nothing.
 * Kernels that cannot follow threads alone (before 5.13) include the process's children.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/grow.h"
#include "collect/cgroup.h"
#include "probe/run/attach_inside.h"

struct counter {
	struct perf_event_attr attr;
	int *fds;
	size_t nr;
};

static int counter_keep(struct counter *c, int fd)
{
	if (fd < 0)
		return -errno;
	if (GROW_BY_ONE(c->fds, c->nr)) {
		close(fd);
		return -ENOMEM;
	}
	c->fds[c->nr++] = fd;
	return 0;
}

static int counter_open(struct counter *c, int who, int cpu, unsigned long flags)
{
	return counter_keep(c, (int)syscall(SYS_perf_event_open, &c->attr, who, cpu, -1,
					    flags | PERF_FLAG_FD_CLOEXEC));
}

/* A CPU that went offline meanwhile is not an error. */
static int counter_open_cpus(struct counter *c, struct attacher *attacher, int who,
			     unsigned long flags)
{
	int err = attach_read_cpus(attacher);

	for (size_t i = 0; !err && i < attacher->nr_cpus; i++) {
		err = counter_open(c, who, attacher->cpus[i], flags);
		err = err == -ENODEV ? 0 : err;
	}
	return err ?: c->nr ? 0 : -ENODEV;
}

static int counter_open_cgroup(struct counter *c, struct attacher *attacher, uint64_t cgroup)
{
	char path[4096], full[4096 + 16];
	int fd, err;

	snprintf(full, sizeof(full), "/sys/fs/cgroup%s", cgroup__path(cgroup, path, sizeof(path)));
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = counter_open_cpus(c, attacher, fd, PERF_FLAG_PID_CGROUP);
	close(fd);
	return err;
}

static int counter_open_thread(struct counter *c, int tid)
{
	int err = counter_open(c, tid, -1, 0);

	if (err == -EINVAL && c->attr.inherit_thread) {
		c->attr.inherit_thread = 0;
		err = counter_open(c, tid, -1, 0);
	}
	return err == -ESRCH ? 0 : err;
}

/* The existing threads; they pass their counters on to new ones. */
static int counter_open_process(struct counter *c, const struct attach_task *task)
{
	const struct dirent *entry;
	char path[32];
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", task->pid);
	dir = opendir(path);
	if (!dir)
		return -ESRCH;
	c->attr.inherit = 1;
	c->attr.inherit_thread = !task->children;
	while (!err && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			err = counter_open_thread(c, (int)strtol(entry->d_name, NULL, 10));
	closedir(dir);
	return err ?: c->nr ? 0 : -ESRCH;
}

int attach__count(struct attacher *attacher, const struct probe *probe,
		  const struct attach_task *task, int **fds, size_t *nr)
{
	struct counter c = { .attr = {
				     .size = sizeof(c.attr),
				     .type = probe->perf_type,
				     .config = probe->perf_config,
				     .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
						    PERF_FORMAT_TOTAL_TIME_RUNNING,
			     } };
	int err;

	if (task->pid)
		err = counter_open_process(&c, task);
	else if (task->cgroup)
		err = counter_open_cgroup(&c, attacher, task->cgroup);
	else
		err = counter_open_cpus(&c, attacher, -1, 0);
	while (err && c.nr)
		close(c.fds[--c.nr]);
	if (err)
		free(c.fds);
	*fds = err ? NULL : c.fds;
	*nr = c.nr;
	return err;
}

int attach__read_counter(const int *fds, size_t nr, uint64_t *count, bool *is_scaled)
{
	struct {
		uint64_t value, enabled_ns, running_ns;
	} now;

	*count = 0;
	for (size_t i = 0; i < nr; i++) {
		if (read(fds[i], &now, sizeof(now)) != sizeof(now))
			return errno ? -errno : -EIO;
		if (now.running_ns && now.running_ns < now.enabled_ns) {
			*is_scaled = true;
			now.value = (uint64_t)((double)now.value * (double)now.enabled_ns /
					       (double)now.running_ns);
		}
		*count += now.value;
	}
	return 0;
}
