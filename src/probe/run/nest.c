/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nest.c: attaches the program that counts returns which the kernel omits (program_nest.c) to the
 * entry of every user function with an attached return. One program serves all functions, as it
 * need not know which one it is. Without it the run goes on: counts of returns are never called
 * exact.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "base/log.h"
#include "probe/run/inside.h"

static bool nest_is_return(const struct run *run, const struct run_group *group)
{
	return run->plan->probes[group->probes[0]].probe->kind == PROBE_USERRET;
}

bool run_has_nests(const struct run *run)
{
	for (size_t i = 0; i < run->nr_groups; i++)
		if (nest_is_return(run, &run->groups[i]))
			return true;
	return false;
}

static const struct probe *nest_probe(const struct run *run, const struct run_group *group)
{
	return run->plan->probes[group->probes[0]].probe;
}

/* Another return of the same function is the same place for the kernel. */
static bool nest_is_served(const struct run *run, size_t number)
{
	const struct probe *probe = nest_probe(run, &run->groups[number]), *other;

	for (size_t i = 0; i < number; i++) {
		other = nest_probe(run, &run->groups[i]);
		if (nest_is_return(run, &run->groups[i]) && run->groups[i].attachment.nr_fds &&
		    other->offset == probe->offset && !strcmp(other->path, probe->path))
			return true;
	}
	return false;
}

static int nest_load(const struct run *run, const struct run_group *group, struct attachment *nest)
{
	const struct probe entry = { .kind = PROBE_USER };
	struct program_wants wants = run_program_wants(run, group);
	struct attach_load load = { ATTACH_UPROBE, &entry, .switch_fd = run->switch_fd };
	struct program program;
	int err;

	wants.is_nested = false;
	err = program__make_nest(&program, &wants);
	if (err)
		return err;
	load.insns = program.insns;
	load.nr = program.nr;
	err = attachment__load(nest, run->attacher, &load);
	program__free(&program);
	return err;
}

/* Its link is kept, and closed, with the links of the return's program. */
static int nest_attach(struct run *run, struct run_group *group, const struct attachment *nest)
{
	struct probe entry = *nest_probe(run, group);

	entry.kind = PROBE_USER;
	return attachment__share(&group->attachment, run->attacher, nest, &entry);
}

void run_attach_nests(struct run *run)
{
	struct attachment nest = { .prog_fd = -1 };
	int err = 0;

	for (size_t i = 0; !err && i < run->nr_groups; i++) {
		struct run_group *group = &run->groups[i];

		if (!nest_is_return(run, group) || !group->attachment.nr_fds ||
		    nest_is_served(run, i))
			continue;
		if (nest.prog_fd < 0)
			err = nest_load(run, group, &nest);
		err = err ?: nest_attach(run, group, &nest);
	}
	if (err)
		log_verbose("returns that the kernel omits are not counted: %s", strerror(-err));
	attachment__close(&nest);
}

uint64_t run_count_omitted(const struct run *run)
{
	struct probe_omitted omitted;
	const uint32_t first = 0;

	if (run->maps.omitted < 0 || bpf_map_lookup_elem(run->maps.omitted, &first, &omitted))
		return 0;
	return omitted.count;
}
