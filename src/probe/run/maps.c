/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * maps.c: the maps of a run, each only if the plan needs it. All are preallocated: a program that
 * runs in any context, also in the scheduler or an interrupt, must not allocate. That costs time
 * and kernel memory in proportion to their size.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "base/log.h"
#include "collect/cgroup.h"
#include "collect/obstacle.h"
#include "probe/run/inside.h"
#include "wire/buckets.h"

enum {
	MAPS_KEYS = 16384, /* 11 ms on 2 CPUs */
	MAPS_STARTS = 65536,
	MAPS_STACKS = 8192,
	MAPS_FOLLOWED = 65536,
	MAPS_NESTS = 4096, /* tasks: 2 MiB */
	MAPS_FRONTS = 16,
	MAPS_HELD = 4096, /* threads: 1.5 MiB */
};

static const uint64_t maps_most_cell_bytes = 256 << 20;

/* Not where each program's sums are in its cell. Starts of pairs have none. */
static bool maps_need_rows(const struct run *run)
{
	uint64_t key[PLAN_MAX_KEY / sizeof(uint64_t)];

	for (size_t i = 0; plan__row_key_bytes(run->plan) && i < run->nr_groups; i++) {
		const struct program_wants wants = run_program_wants(run, &run->groups[i]);

		if (run->plan->has_ends && !run->groups[i].is_end)
			continue;
		if (!program__uses_cell(&wants, key))
			return true;
	}
	return false;
}

/* Unless the user gives a number: a histogram without keys needs only its buckets. */
static uint32_t maps_keys(const struct run *run)
{
	const struct plan *plan = run->plan;

	if (run->wants.max_keys)
		return run->wants.max_keys;
	if (plan__has_buckets(plan) && !plan->nr_keys && plan->buckets != BUCKETS_LINEAR)
		return 2 * HIST_WIDE_SLOTS; /* of either sign; log2 has fewer */
	return MAPS_KEYS + (uint32_t)plan->nr_probes;
}

/* For a few programs: a front takes 4 KiB on each CPU. With --keys its room is kept to. */
static bool maps_have_fronts(const struct run *run)
{
	return run->nr_groups <= MAPS_FRONTS && !run->wants.max_keys &&
	       plan__row_key_bytes(run->plan) <= 8 * PROBE_FRONT_WORDS && maps_need_rows(run);
}

/* The kernel refuses a map for stacks deeper than its limit. */
static uint32_t maps_stack_frames(void)
{
	FILE *in = fopen("/proc/sys/kernel/perf_event_max_stack", "re");
	unsigned frames = STACK_FRAMES;

	if (in && fscanf(in, "%u", &frames) != 1)
		frames = STACK_FRAMES;
	if (in)
		fclose(in);
	return frames && frames < STACK_FRAMES ? frames : STACK_FRAMES;
}

struct map_shape {
	bool is_needed;
	enum bpf_map_type type;
	const char *name;
	uint32_t key, value, entries;
	int *fd;
	uint32_t flags;
};

static int maps_make(const struct map_shape *shape)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = shape->flags);
	struct start start = { .step = START_TABLES };

	if (!shape->is_needed)
		return 0;
	*shape->fd = bpf_map_create(shape->type, shape->name, shape->key, shape->value,
				    shape->entries, &opts);
	if (*shape->fd >= 0)
		return 0;
	start.err = *shape->fd;
	start.memory_bytes = (uint64_t)shape->entries * (shape->key + shape->value + 64);
	return obstacle__say(&start);
}

/* Every program has its cell on every CPU. */
static int maps_check_programs(const struct run *run)
{
	const uint64_t bytes = (uint64_t)run->nr_groups * run->nr_cpus * sizeof(struct probe_cell);

	if (bytes <= maps_most_cell_bytes)
		return 0;
	return log_err(-EOPNOTSUPP,
		       "%zu programs on %u CPUs would take %" PRIu64 " MiB: use fewer events",
		       run->nr_groups, run->nr_cpus, bytes >> 20);
}

/* The kernel compares a task's cgroup with it; the map keeps the cgroup alive. */
static int maps_note_cgroup(const struct run *run)
{
	char path[PATH_MAX], full[PATH_MAX + 16];
	const uint32_t first = 0;
	int fd, err;

	snprintf(full, sizeof(full), "/sys/fs/cgroup%s",
		 cgroup__path(run->plan->cgroup, path, sizeof(path)));
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return log_err(-errno, "--cgroup: cannot open %s: %s", full, strerror(errno));
	err = bpf_map_update_elem(run->maps.cgroup, &first, &fd, BPF_ANY);
	close(fd);
	return err ? log_err(err, "--cgroup: the kernel rejects %s: %s", full, strerror(-err)) : 0;
}

int run_map_word(int fd, uint64_t **word)
{
	void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED,
			  fd, 0);

	if (page == MAP_FAILED)
		return log_err(-errno, "cannot map a BPF map: %s", strerror(errno));
	*word = page;
	return 0;
}

int run_make_maps(struct run *run)
{
	const struct plan *plan = run->plan;
	struct program_maps *maps = &run->maps;
	int err = maps_check_programs(run);
	const struct map_shape shapes[] = {
		{ run->nr_groups, BPF_MAP_TYPE_PERCPU_ARRAY, "cells", sizeof(uint32_t),
		  sizeof(struct probe_cell), (uint32_t)run->nr_groups, &maps->cells },
		{ maps_need_rows(run), BPF_MAP_TYPE_PERCPU_HASH, "rows", plan__row_key_bytes(plan),
		  sizeof(struct probe_row), maps_keys(run), &maps->rows },
		{ maps_have_fronts(run), BPF_MAP_TYPE_PERCPU_ARRAY, "fronts", sizeof(uint32_t),
		  sizeof(struct probe_front), (uint32_t)run->nr_groups, &maps->fronts },
		{ plan->has_ends, BPF_MAP_TYPE_HASH, "starts", plan__start_key_bytes(plan),
		  plan__start_bytes(plan), MAPS_STARTS, &maps->starts },
		{ plan->kernel_stack || plan->user_stack, BPF_MAP_TYPE_STACK_TRACE, "stacks",
		  sizeof(uint32_t), maps_stack_frames() * (uint32_t)sizeof(uint64_t), MAPS_STACKS,
		  &maps->stacks },
		{ plan->is_calls, BPF_MAP_TYPE_HASH, "followed", sizeof(uint64_t), sizeof(uint64_t),
		  MAPS_FOLLOWED, &maps->followed },
		{ plan->is_calls, BPF_MAP_TYPE_ARRAY, "gate", sizeof(uint32_t), sizeof(uint64_t), 1,
		  &maps->gate, BPF_F_MMAPABLE },
		{ run_has_nests(run), BPF_MAP_TYPE_LRU_HASH, "nests", sizeof(uint64_t),
		  sizeof(struct probe_nest), MAPS_NESTS, &maps->nests },
		{ run_has_nests(run), BPF_MAP_TYPE_ARRAY, "omitted", sizeof(uint32_t),
		  sizeof(struct probe_omitted), 1, &maps->omitted },
		{ run_may_hold(run), BPF_MAP_TYPE_HASH, "held", sizeof(uint64_t),
		  sizeof(struct probe_held), MAPS_HELD, &maps->held },
		{ plan->cgroup, BPF_MAP_TYPE_CGROUP_ARRAY, "cgroup", sizeof(uint32_t),
		  sizeof(uint32_t), 1, &maps->cgroup },
	};

	for (size_t i = 0; !err && i < sizeof(shapes) / sizeof(shapes[0]); i++)
		err = maps_make(&shapes[i]);
	if (!err && plan->cgroup)
		err = maps_note_cgroup(run);
	if (!err && plan->is_calls)
		err = run_map_word(maps->gate, &run->gate);
	if (!err && plan__has_records(plan))
		err = run_make_rings(run);
	return err;
}

void run_close_maps(struct run *run)
{
	const int fds[] = { run->maps.cells, run->maps.rows,  run->maps.starts,	 run->maps.stacks,
			    run->maps.rings, run->maps.tasks, run->maps.cgroup,	 run->maps.followed,
			    run->maps.gate,  run->maps.nests, run->maps.omitted, run->maps.fronts,
			    run->maps.held };

	if (run->gate)
		munmap(run->gate, (size_t)sysconf(_SC_PAGESIZE));
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}
