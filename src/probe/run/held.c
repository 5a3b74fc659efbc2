/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * held.c: loads and attaches the programs that take up a hit whose text was not in memory as its
 * system call began (program_hold.c): one at the end of the call, one where a new program begins.
 * They use the cell of the first program: all of them run in the calling task, one at a time. If
 * the kernel refuses one, hits are not held, and such a text stays unread.
 */
#include <errno.h>
#include <string.h>
#include "base/log.h"
#include "probe/run/inside.h"

static const struct plan_probe *held_probe(const struct run *run, const struct run_group *group)
{
	return &run->plan->probes[group->probes[0]];
}

static bool held_may(const struct run *run, const struct run_group *group)
{
	return group->way == ATTACH_TRACEPOINT && held_probe(run, group)->ended;
}

bool run_may_hold(const struct run *run)
{
	for (size_t i = 0; i < run->nr_groups; i++)
		if (held_may(run, &run->groups[i]))
			return true;
	return false;
}

static int held_load(const struct run *run, const struct run_group *group, enum program_turn turn,
		     const struct probe *probe, struct attachment *a)
{
	struct program_wants wants = run_program_wants(run, group);
	struct attach_load load = { ATTACH_TRACEPOINT, probe, .switch_fd = run->switch_fd };
	struct program program;
	int err;

	wants.turn = turn;
	err = program__make(&program, &wants);
	if (err)
		return err;
	if (run->wants.emit)
		program__print(&program, stderr);
	load.insns = program.insns;
	load.nr = program.nr;
	err = attachment__load(a, run->attacher, &load);
	program__free(&program);
	return err;
}

void run_load_later(struct run *run)
{
	for (size_t i = 0; i < run->nr_groups; i++) {
		struct run_group *group = &run->groups[i];
		const struct plan_probe *p = held_probe(run, group);
		int err;

		if (!held_may(run, group))
			continue;
		err = held_load(run, group, TURN_ENDED, p->ended, &group->ended);
		if (!err && p->execed)
			err = held_load(run, group, TURN_EXEC, p->execed, &group->execed);
		group->holds = !err;
		if (err)
			log_verbose("%s: texts that are not in memory stay unread: %s",
				    p->probe->name, strerror(-err));
	}
}

static int held_attach(struct run *run, struct run_group *group, struct attachment *with,
		       const struct probe *probe)
{
	int err = attachment__share(&group->attachment, run->attacher, with, probe);

	attachment__close(with);
	return err ? log_err(err, "cannot attach to %s: %s", probe->name, strerror(-err)) : 0;
}

int run_attach_later(struct run *run)
{
	int err = 0;

	for (size_t i = 0; !err && i < run->nr_groups; i++) {
		struct run_group *group = &run->groups[i];
		const struct plan_probe *p = held_probe(run, group);

		if (!group->holds || !group->attachment.nr_fds)
			continue;
		err = held_attach(run, group, &group->ended, p->ended);
		if (!err && p->execed)
			err = held_attach(run, group, &group->execed, p->execed);
	}
	return err;
}
