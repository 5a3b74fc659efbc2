/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_settings.c: which settings do the page cache's programs get? Filters, the keys of --by, the
 * kernel's shape and the sizes of the tables.
 */
#include "collect/cache_inside.h"
#include "collect/task_filter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "base/log.h"
#include "base/text.h"
#include "bpf/cache.skel.h"
#include "collect/kernel.h"
#include "device/device.h"

enum { CACHE_AHEADS = (1 << 15) / CACHE_AHEAD_WAYS }; /* 2 million pages, if contiguous */

static struct cache_settings *cache_settings(const struct cache *c)
{
	return (struct cache_settings *)&c->skel->rodata->settings;
}

/* As the kernel has it, not as stat(2). */
static uint32_t cache_dev_of(dev_t dev)
{
	return major(dev) << 20 | minor(dev);
}

/* ---- filters ---- */

static int cache_set_file(struct cache_settings *ro, const char *path)
{
	struct stat st;

	if (!path)
		return 0;
	if (stat(path, &st))
		return log_err(-EINVAL, "--file %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return log_err(-EINVAL,
			       "--file %s: only regular files and block devices have pages in the "
			       "page cache",
			       path);
	ro->filter_file = 1;
	ro->filter_inode = S_ISBLK(st.st_mode) ? FILE_METADATA : st.st_ino;
	ro->filter_dev = cache_dev_of(S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev);
	return 0;
}

static int cache_set_task(struct cache *c)
{
	const struct filter_options *f = c->wants.filter;
	struct cache_settings *ro = cache_settings(c);
	const struct option_number *tid = &c->wants.tid;
	struct task_filter task;
	int err = task_filter__read(&task, f);

	if (err)
		return err;
	if (tid->given && !task_filter__is_there(tid->value))
		return log_err(-EINVAL, "--tid: thread %llu does not exist",
			       (unsigned long long)tid->value);
	ro->filter_pid = task.pid;
	ro->filter_tid = tid->given ? (uint32_t)tid->value : 0;
	memcpy((void *)ro->filter_comm, task.comm, sizeof(task.comm));
	ro->filter_cgroup = task.cgroup.id;
	ro->filter_cgroup_level = task.cgroup.level;
	return 0;
}

/* ---- -d ---- */

static int cache_add_dev(struct cache_settings *ro, uint32_t dev)
{
	if (ro->nr_devs == CACHE_DEVS)
		return log_err(-EINVAL, "-d takes at most %d disks and partitions", CACHE_DEVS);
	ro->devs[ro->nr_devs++] = dev;
	return 0;
}

static int cache_add_partition(struct cache_settings *ro, const char *name)
{
	unsigned int at[2];
	char path[128], text[32];

	snprintf(path, sizeof(path), "/sys/class/block/%s/dev", name);
	text__read_line(path, text, sizeof(text)); /* it may have gone meanwhile */
	return sscanf(text, "%u:%u", &at[0], &at[1]) == 2 ? cache_add_dev(ro, at[0] << 20 | at[1])
							  : 0;
}

/* A disk includes its partitions, which may hold its file systems; a partition stands alone. */
static int cache_add_disk(struct cache_settings *ro, const struct device *device,
			  const struct device_choice *choice)
{
	int err = choice->nr_sectors ? 0 : cache_add_dev(ro, device->major << 20 | device->minor);

	for (uint32_t i = 0; i < device->nr_partitions && !err; i++) {
		const struct device_partition *p = &device->partitions[i];

		if (!choice->nr_sectors ||
		    (p->from_sector == choice->from_sector && p->nr_sectors == choice->nr_sectors))
			err = cache_add_partition(ro, p->name);
	}
	return err;
}

static int cache_add_choice(struct cache_settings *ro, const struct device_list *list,
			    const char *text)
{
	struct device_choice choice;
	int err = device_list__choose(list, text, &choice);

	for (size_t i = 0; i < list->nr && !err; i++) {
		const struct device *device = &list->devices[i];

		if (!device->gone && device->kind != DEVICE_NVME_CTRL &&
		    device_choice__means(&choice, device))
			err = cache_add_disk(ro, device, &choice);
	}
	return err;
}

static int cache_set_devices(struct cache *c)
{
	const struct option_list *devices = &c->wants.filter->devices;
	struct device_list list = { 0 };
	int err;

	if (!devices->nr)
		return 0;
	err = device_list__read(&list, "");
	list.bios = true;
	for (size_t i = 0; i < devices->nr && !err; i++)
		err = cache_add_choice(cache_settings(c), &list, devices->words[i]);
	device_list__free(&list);
	return err;
}

/* ---- the rest ---- */

static void cache_set_by(struct cache_settings *ro, uint32_t by)
{
	ro->by_comm = by >> CACHE_BY_COMM & 1;
	ro->by_pid = by >> CACHE_BY_PID & 1;
	ro->by_file = by >> CACHE_BY_FILE & 1;
	ro->by_cgroup = by >> CACHE_BY_CGROUP & 1;
	ro->by_dev = by >> CACHE_BY_DEV & 1;
	ro->by_op = by >> CACHE_BY_OP & 1;
	ro->any_by = by != 0;
	ro->tells_files = ro->by_file || ro->by_dev || ro->filter_file || ro->nr_devs || ro->events;
}

static uint32_t cache_power_of_two(uint64_t bytes)
{
	uint32_t power = (uint32_t)sysconf(_SC_PAGESIZE);

	while (power < bytes)
		power *= 2;
	return power;
}

static int cache_size_tables(struct cache *c)
{
	struct cache_settings *ro = cache_settings(c);
	struct cache_bpf *s = c->skel;
	uint32_t aheads = ro->sees_accesses ? CACHE_AHEADS : 1;
	int err;

	ro->page_shift = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	ro->nr_cpus = c->nr_cpus;
	ro->key_mask = c->nr_keys - 1;
	ro->ra_mask = aheads - 1;
	err = bpf_map__set_max_entries(s->maps.cache_keys, c->nr_keys);
	err = err ?: bpf_map__set_max_entries(s->maps.cache_rows, c->nr_keys * c->nr_cpus);
	err = err
		      ?: bpf_map__set_max_entries(s->maps.cache_files,
						  ro->by_file || ro->events ? FILES_MOST : 1);
	err = err ?: bpf_map__set_autocreate(s->maps.cache_events, ro->events);
	err = err ?: bpf_map__set_autocreate(s->maps.cache_causes, ro->then_io);
	if (!err && c->wants.buffer_bytes)
		err = bpf_map__set_max_entries(s->maps.cache_events,
					       cache_power_of_two(c->wants.buffer_bytes));
	return err ?: bpf_map__set_max_entries(s->maps.cache_aheads, aheads);
}

int cache_set(struct cache *c)
{
	int write_parameters = kernel__function_parameters(c->btf, "generic_perform_write");
	struct cache_settings *ro = cache_settings(c);
	int err = cache_set_task(c);

	err = err ?: cache_set_file(ro, c->wants.file);
	err = err ?: cache_set_devices(c);
	if (err)
		return err;
	ro->events = c->wants.events;
	cache_set_by(ro, c->wants.by);
	ro->sees_accesses = c->method != CACHE_BY_TRACEPOINTS;
	ro->sees_ends = c->method == CACHE_BY_FENTRY;
	ro->sees_around_ends = kernel__function_returns(c->btf, "filemap_map_pages");
	/* (iocb, iter) in 6.1, (file, iter, pos) in 5.10 */
	ro->write_iocb = write_parameters < 0 || write_parameters == 2;
	ro->then_io = c->wants.then_io;
	ro->is_plain = ro->sees_ends && !ro->any_by && !ro->tells_files && !ro->filter_pid &&
		       !ro->filter_tid && !ro->filter_comm[0] && !ro->filter_cgroup;
	ro->queue_argument = kernel__event_arguments(c->btf, "btf_trace_block_rq_issue") == 2;
	ro->bio_queue_argument = kernel__event_arguments(c->btf, "btf_trace_block_bio_queue") == 2;
	return cache_size_tables(c);
}
