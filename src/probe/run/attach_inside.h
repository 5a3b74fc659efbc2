/* SPDX-License-Identifier: BSD-2-Clause */
/* attach_inside.h: shared by the files attach*.c: the state of an attacher, perf events, links. */
#ifndef IOSONAR_PROBE_RUN_ATTACH_INSIDE_H
#define IOSONAR_PROBE_RUN_ATTACH_INSIDE_H

#include "probe/run/attach.h"

enum { ATTACH_UNTRIED = 1 };

/* A PMU of perf_event_open with its number in sysfs: "kprobe", "uprobe". */
struct attach_pmu {
	int type; /* -errno: not available; ATTACH_UNTRIED */
	uint64_t return_bit;
	uint32_t ref_ctr_shift; /* of the semaphore's offset; 0: not supported */
};

struct attach_module {
	char *name;
	int btf_fd; /* -errno */
};

struct attacher {
	bool for_calls, insists;
	int fentry, kprobe_multi; /* 0: it works; -errno; ATTACH_UNTRIED */
	int raw_guard;		  /* 1: raw_tp, fentry never nest; 0: they may; -1: not checked */
	int reads_task;		  /* 1: programs may load from the task; 0: no; -1: not tried */
	int counts_misses; /* 1: also for tracepoints and kprobe.multi; 0: no; -1: not checked */
	struct attach_pmu kprobe, uprobe;
	struct attach_module *modules;
	size_t nr_modules;
	int *cpus; /* online at the start */
	size_t nr_cpus;
};

static inline bool attach_is_return(const struct probe *probe)
{
	return probe->kind == PROBE_RET || probe->kind == PROBE_USERRET;
}

/* -errno from the kernel, not said. */
int attach_load_nothing(struct attacher *attacher, enum attach_way way, const struct probe *probe);
int attach_link_many(int prog_fd, const struct probe *const *probes, size_t nr);

const struct attach_pmu *attach_pmu(struct attacher *attacher, enum attach_way way);
int attach_read_cpus(struct attacher *attacher);
/* A perf event with the program on it, enabled. cpu: see perf_event_open. */
int attach_open_traced(struct attacher *attacher, enum attach_way way, const struct probe *probe,
		       int prog_fd);
int attach_open_sampled(const struct probe *probe, int cpu, int prog_fd);

#endif
