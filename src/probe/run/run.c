/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "probe/run/inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "base/clock.h"
#include "base/log.h"

/* NULL and errno: no memory, or the CPUs cannot be counted. */
static struct run *run_new(const struct run_wants *wants)
{
	struct run *run = calloc(1, sizeof(*run));
	int err;

	if (!run)
		return NULL;
	run->wants = *wants;
	run->plan = wants->plan;
	run->maps = (struct program_maps){ -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
	run->children[0] = run->children[1] = -1;
	run->switch_fd = run->closer = -1;
	run->nr_cpus = (uint32_t)libbpf_num_possible_cpus();
	run->attacher = attacher__new();
	if (run->attacher && wants->plan->is_calls)
		attacher__trace_calls(run->attacher, wants->insists);
	if (run->attacher && run->nr_cpus <= INT32_MAX)
		return run;
	err = run->attacher ? -(int)run->nr_cpus : ENOMEM;
	attacher__free(run->attacher);
	free(run);
	errno = err;
	return NULL;
}

static int run_start(struct run *run)
{
	const uint64_t began_ns = clock__mono_ns();
	int err = run_make_groups(run);

	err = err ?: run_check_counters(run);
	err = err ?: run_note_addresses(run);
	err = err ?: run_make_maps(run);
	err = err ?: run_follow_children(run);
	err = err ?: run_make_switch(run);
	err = err ?: run_make_unwind(run);
	if (!err)
		run_load_later(run);
	err = err ?: run_attach_all(run);
	err = err ?: run_attach_later(run);
	if (!err)
		run_attach_nests(run);
	err = err ?: run_open_counters(run);
	if (err)
		return err;
	run->start_ns = clock__mono_ns();
	run_turn_on(run);
	log_verbose("tables of %zu programs on %u CPUs, attached within %.1f ms", run->nr_groups,
		    run->nr_cpus, (double)(run->start_ns - began_ns) / 1e6);
	return 0;
}

int run__open(struct run **out, const struct run_wants *wants)
{
	struct run *run = run_new(wants);
	int err = run ? run_start(run)
		      : log_err(-errno, "cannot prepare the run: %s", strerror(errno));

	if (err)
		run__free(run);
	*out = err ? NULL : run;
	return err;
}

void run__detach(struct run *run)
{
	if (run->is_detached)
		return;
	run->is_detached = true;
	run_turn_off(run);
	run_close_counters(run);
}

void run__free(struct run *run)
{
	if (!run)
		return;
	run__detach(run);
	for (size_t i = 0; i < 2; i++)
		if (run->children[i] >= 0)
			close(run->children[i]);
	run_free_groups(run);
	run_free_switch(run);
	run_free_rings(run);
	run_free_unwind(run);
	run_close_maps(run);
	attacher__free(run->attacher);
	free(run->by_address);
	free(run);
}

uint64_t run__start_ns(const struct run *run)
{
	return run->start_ns;
}
