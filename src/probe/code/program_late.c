/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_late.c: what is different for values of a hit that was held (program_hold.c)? The task,
 * the time and the record are those that were kept; a path that execve was called with is the
 * kernel's copy. Costs nothing in programs that are not late.
 */
#include <string.h>
#include "probe/code/program_inside.h"

bool emit__is_late(const struct emit *e)
{
	return e->wants->turn != TURN_FIRST;
}

struct place emit__held(size_t offset)
{
	return (struct place){ REG_CTX, (int32_t)offset };
}

bool emit__may_hold(const struct emit *e, const struct value *text)
{
	return e->wants->holds && text->left && text->memory != MEMORY_KERNEL;
}

void emit__jump_hold(struct emit *e)
{
	*(e->is_reserved ? &e->holds_reserved : &e->holds) = true;
	code__jump(&e->code, e->is_reserved ? e->hold_reserved : e->hold);
}

/* `filename` of execve; among all system calls the first argument, as others start no program. */
bool emit__is_exec_path(const struct emit *e, const struct value *text)
{
	const struct probe *probe = e->probe->probe;
	const struct probe_field *path =
		probe__field(probe, "filename") ?: probe__field(probe, "args");

	return e->wants->turn == TURN_EXEC && text->left && text->left->op == VALUE_RECORD &&
	       path && text->left->offset == path->at && !text->offset &&
	       (!strcmp(probe->func, "sys_enter_execve") || !strcmp(probe->func, "sys_enter"));
}

void emit__exec_path(struct emit *e)
{
	const struct probe_field *path = probe__field(e->probe->execed, "filename");

	code__load(&e->code, 4, R3, (struct place){ REG_START, (int32_t)path->at });
	code__reckon_number(&e->code, BPF_AND, R3, 0xffff);
	code__reckon(&e->code, BPF_ADD, R3, REG_START);
}
