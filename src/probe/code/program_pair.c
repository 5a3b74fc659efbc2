/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_pair.c: how do two events find each other? The start saves a note under its key; the end
 * looks it up, reads it and deletes it. Only the end that deleted it counts the pair, so that two
 * ends never share a start. The clock is read last at the start and first at the end.
 */
#include <errno.h>
#include "probe/code/program_inside.h"

enum { PAIR_START_ON_STACK = 256 };

static void pair_key(struct emit *e)
{
	e->start_key = code__take(&e->code, plan__start_key_bytes(e->plan));
	for (size_t i = 0; i < e->plan->nr_on; i++)
		emit__part(e, e->probe->on[i], place_at(e->start_key, 8 * (int32_t)i), 8);
}

/* A stack's number + 1; 0: no stack. */
static void pair_stack(struct emit *e, bool is_wanted, enum value_op op, struct place to)
{
	int taken = code__label(&e->code);

	if (!is_wanted) {
		code__store_number(&e->code, 4, to, 0);
		return;
	}
	emit__builtin(e, op, R1);
	code__jump_if_number(&e->code, BPF_JSGE, R1, 0, taken);
	code__set(&e->code, R1, -1);
	code__bind(&e->code, taken);
	code__reckon_number(&e->code, BPF_ADD, R1, 1);
	code__store(&e->code, 4, to, R1);
}

static struct place pair_note(struct emit *e)
{
	uint32_t bytes = plan__start_bytes(e->plan);
	struct place start = bytes <= PAIR_START_ON_STACK ? code__take(&e->code, bytes)
							  : code__take_scratch(&e->code, bytes);
	struct place saved = place_at(start, sizeof(struct probe_start));

	for (size_t i = e->plan->nr_saved; i--;)
		emit__part(e, e->probe->saved[i], place_at(saved, (int32_t)e->plan->saved[i].at),
			   e->plan->saved[i].shape.size);
	emit__address(e, place_at(start, offsetof(struct probe_start, address)));
	emit__who(e, place_at(start, offsetof(struct probe_start, pid)),
		  place_at(start, offsetof(struct probe_start, tid)),
		  place_at(start, offsetof(struct probe_start, comm)));
	pair_stack(e, e->plan->start_kernel_stack, VALUE_KSTACK,
		   place_at(start, offsetof(struct probe_start, kernel_stack)));
	pair_stack(e, e->plan->start_user_stack, VALUE_USTACK,
		   place_at(start, offsetof(struct probe_start, user_stack)));
	return start;
}

void emit__start(struct emit *e)
{
	int begun = code__label(&e->code), lost = code__label(&e->code);
	int starts = e->wants->maps->starts;
	struct place start;

	pair_key(e);
	start = pair_note(e);
	code__call(&e->code, BPF_FUNC_ktime_get_ns);
	code__store(&e->code, 8, place_at(start, offsetof(struct probe_start, ns)), R0);
	emit__update(e, starts, e->start_key, start, BPF_NOEXIST);
	code__jump_if_number(&e->code, BPF_JEQ, R0, 0, begun);
	code__jump_if_number(&e->code, BPF_JNE, R0, -EEXIST, lost);
	emit__count(e, PROBE_RESTARTED);
	emit__update(e, starts, e->start_key, start, BPF_ANY);
	code__jump_if_number(&e->code, BPF_JEQ, R0, 0, begun);
	code__bind(&e->code, lost);
	emit__end(e, PROBE_LOST_START);
	code__bind(&e->code, begun);
	emit__end(e, PROBE_BEGUN);
}

/* If the end is before the start, on another CPU's clock, it took no time. */
static void pair_latency(struct emit *e)
{
	int good = code__label(&e->code);

	code__load(&e->code, 8, R1, e->now.at);
	code__load(&e->code, 8, R2, (struct place){ REG_START, offsetof(struct probe_start, ns) });
	code__jump_if(&e->code, BPF_JGE, R1, R2, good);
	code__move(&e->code, R1, R2);
	code__bind(&e->code, good);
	code__reckon(&e->code, BPF_SUB, R1, R2);
	e->latency = (struct emit_note){ true, code__take(&e->code, 8) };
	code__store(&e->code, 8, e->latency.at, R1);
}

/* Whether an end without a start can be counted. With a filter of tasks its task is unknown. */
static bool pair_knows_task(const struct emit *e)
{
	return e->plan->is_same_task || (!e->plan->pid && !e->plan->cgroup);
}

void emit__find_start(struct emit *e)
{
	int found = code__label(&e->code);

	if (pair_knows_task(e))
		emit__count(e, PROBE_HITS);
	pair_key(e);
	emit__lookup(e, e->wants->maps->starts, e->start_key);
	code__jump_if_number(&e->code, BPF_JNE, R0, 0, found);
	if (pair_knows_task(e))
		emit__end(e, PROBE_NO_START);
	else
		code__jump(&e->code, e->leave);
	code__bind(&e->code, found);
	code__move(&e->code, REG_START, R0);
	if (!pair_knows_task(e))
		emit__count(e, PROBE_HITS);
	pair_latency(e);
}

void emit__forget_start(struct emit *e, int gone)
{
	code__set_map(&e->code, R1, e->wants->maps->starts);
	code__set_address(&e->code, R2, e->start_key);
	code__call(&e->code, BPF_FUNC_map_delete_elem);
	emit__take_int(e);
	code__jump_if_number(&e->code, BPF_JNE, R0, 0, gone);
}
