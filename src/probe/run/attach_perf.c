/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach_perf.c: perf events that carry a program: tracepoints, kprobes and uprobes, where one
 * event on any CPU covers all CPUs, and samples, which need an event per CPU. The program is set by
 * ioctl, not by a link: that works on every kernel, and takes one descriptor.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/grow.h"
#include "probe/run/attach_inside.h"

/* ---- what sysfs says ---- */

/* "6" or "config:0" or "config:32-63": the first number of a file; -errno. */
static int attach_read_number(const char *pmu, const char *file, uint32_t *number)
{
	char path[96], text[32];
	const char *digits;
	FILE *in;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s", pmu, file);
	in = fopen(path, "re");
	if (!in)
		return -errno;
	if (!fgets(text, sizeof(text), in))
		text[0] = 0;
	fclose(in);
	digits = strpbrk(text, "0123456789");
	if (!digits)
		return -ENODATA;
	*number = (uint32_t)strtoul(digits, NULL, 10);
	return 0;
}

static void attach_read_pmu(struct attach_pmu *pmu, const char *name)
{
	uint32_t type = 0, bit = 0;
	int err = attach_read_number(name, "type", &type);

	err = err ?: attach_read_number(name, "format/retprobe", &bit);
	pmu->type = err ?: (int)type;
	pmu->return_bit = 1ull << (bit & 63);
	if (attach_read_number(name, "format/ref_ctr_offset", &pmu->ref_ctr_shift))
		pmu->ref_ctr_shift = 0;
}

const struct attach_pmu *attach_pmu(struct attacher *attacher, enum attach_way way)
{
	struct attach_pmu *pmu = way == ATTACH_UPROBE ? &attacher->uprobe : &attacher->kprobe;

	if (pmu->type == ATTACH_UNTRIED)
		attach_read_pmu(pmu, way == ATTACH_UPROBE ? "uprobe" : "kprobe");
	return pmu;
}

static int attach_add_cpus(struct attacher *attacher, int from, int to)
{
	for (int cpu = from; cpu <= to; cpu++) {
		if (GROW_BY_ONE(attacher->cpus, attacher->nr_cpus))
			return -ENOMEM;
		attacher->cpus[attacher->nr_cpus++] = cpu;
	}
	return 0;
}

/* "0-3,6" */
int attach_read_cpus(struct attacher *attacher)
{
	FILE *in = attacher->nr_cpus ? NULL : fopen("/sys/devices/system/cpu/online", "re");
	int err = 0, from, to;

	if (attacher->nr_cpus)
		return 0;
	if (!in)
		return -errno;
	while (!err && fscanf(in, "%d", &from) == 1) {
		int sign = getc(in);

		to = from;
		if (sign == '-' && fscanf(in, "%d", &to) == 1)
			sign = getc(in);
		err = to < from ? -EINVAL : attach_add_cpus(attacher, from, to);
		if (sign != ',')
			break;
	}
	fclose(in);
	return err ?: attacher->nr_cpus ? 0 : -ENODATA;
}

/* ---- events ---- */

static int attach_perf_open(struct perf_event_attr *attr, int cpu, int prog_fd)
{
	int fd, err;

	attr->size = sizeof(*attr);
	fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd) &&
	    (attr->disabled || !ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static void attach_fill_kprobe(struct perf_event_attr *attr, const struct attach_pmu *pmu,
			       const struct probe *probe)
{
	attr->type = (__u32)pmu->type;
	attr->config = attach_is_return(probe) ? pmu->return_bit : 0;
	if (probe->address)
		attr->kprobe_addr = probe->address;
	else
		attr->kprobe_func = (uintptr_t)probe->func;
}

/* The kernel adds one to the semaphore of every process that maps the file, now or later. */
static int attach_fill_uprobe(struct perf_event_attr *attr, const struct attach_pmu *pmu,
			      const struct probe *probe)
{
	attr->type = (__u32)pmu->type;
	attr->config = attach_is_return(probe) ? pmu->return_bit : 0;
	attr->uprobe_path = (uintptr_t)probe->path;
	attr->probe_offset = probe->offset;
	if (!probe->semaphore)
		return 0;
	if (!pmu->ref_ctr_shift || probe->semaphore >> (64 - (pmu->ref_ctr_shift & 63)))
		return -EOPNOTSUPP;
	attr->config |= probe->semaphore << (pmu->ref_ctr_shift & 63);
	return 0;
}

/*
 * The program runs on every CPU as soon as it is set. The event itself stays disabled: enabled, it
 * would make the kernel prepare an unread sample at each hit on its CPU.
 */
int attach_open_traced(struct attacher *attacher, enum attach_way way, const struct probe *probe,
		       int prog_fd)
{
	struct perf_event_attr attr = { .sample_period = 1, .disabled = 1 };
	int err = attach_read_cpus(attacher);

	if (way == ATTACH_TRACEPOINT) {
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.config = probe->tracepoint_id;
	} else if (way == ATTACH_KPROBE) {
		attach_fill_kprobe(&attr, attach_pmu(attacher, way), probe);
	} else {
		err = err ?: attach_fill_uprobe(&attr, attach_pmu(attacher, way), probe);
	}
	return err ?: attach_perf_open(&attr, attacher->cpus[0], prog_fd);
}

int attach_open_sampled(const struct probe *probe, int cpu, int prog_fd)
{
	struct perf_event_attr attr = {
		.type = probe->perf_type,
		.config = probe->perf_config,
		.sample_period = probe->period, /* or sample_freq: a union */
		.freq = probe->kind == PROBE_PROFILE,
	};

	return attach_perf_open(&attr, cpu, prog_fd);
}
