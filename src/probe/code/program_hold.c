/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_hold.c: what becomes of a hit whose text is not in memory as its system call begins? The
 * page of a path is often one that nobody has touched, and a program must not wait for it. So the
 * hit is held, and the same program runs for it once more as the call ends: by then the kernel has
 * read the text. If the call was execve, the memory of the caller is gone, but sched_process_exec
 * has the kernel's copy of the path. Costs a lookup at the end of every such call.
 */
#include "probe/code/program_inside.h"

_Static_assert(sizeof(struct probe_held) % 8 == 0, "is cleared by words");

/* ---- the first turn ---- */

static uint32_t hold_record_bytes(const struct probe *probe)
{
	uint32_t bytes = 0;

	for (size_t i = 0; i < probe->nr_fields; i++) {
		const uint32_t end = probe->fields[i].at + probe->fields[i].type.size;

		bytes = end > bytes ? end : bytes;
	}
	bytes = (bytes + 7) / 8 * 8;
	return bytes < PROBE_HELD_RECORD ? bytes : PROBE_HELD_RECORD;
}

static const struct value *hold_args(const struct plan *plan, const struct plan_probe *probe)
{
	for (size_t i = 0; i < probe->nr_shown; i++)
		if (probe->shown[i].value->op == VALUE_ARGS)
			return probe->shown[i].value;
	for (size_t i = 0; i < plan->nr_keys; i++)
		if (probe->keys[i]->op == VALUE_ARGS)
			return probe->keys[i];
	return NULL;
}

static void hold_word(struct emit *e, int helper, struct place to)
{
	code__call(&e->code, helper);
	code__store(&e->code, 8, to, R0);
}

/* The first words of a record are the kernel's. */
static void hold_fill(struct emit *e, struct place held)
{
	const struct value *args = hold_args(e->plan, e->probe);
	const uint32_t bytes = hold_record_bytes(e->probe->probe);

	code__clear(&e->code, held, sizeof(struct probe_held));
	for (uint32_t at = 8; at < bytes; at += 8) {
		code__load(&e->code, 8, R1, (struct place){ REG_CTX, (int32_t)at });
		code__store(&e->code, 8, place_at(held, (int32_t)at), R1);
	}
	hold_word(e, BPF_FUNC_ktime_get_ns, place_at(held, offsetof(struct probe_held, ns)));
	hold_word(e, BPF_FUNC_get_current_pid_tgid,
		  place_at(held, offsetof(struct probe_held, who)));
	hold_word(e, BPF_FUNC_get_current_uid_gid,
		  place_at(held, offsetof(struct probe_held, uid_gid)));
	hold_word(e, BPF_FUNC_get_smp_processor_id,
		  place_at(held, offsetof(struct probe_held, cpu)));
	emit__comm(e, place_at(held, offsetof(struct probe_held, comm)));
	if (args)
		emit__text(e, args, place_at(held, offsetof(struct probe_held, args)),
			   PROBE_HELD_ARGS);
}

/* Counted first: a hit that finds no room in the table stays counted, as one that is lost. */
void emit__hold(struct emit *e)
{
	struct place held;

	if (e->holds_reserved) {
		code__bind(&e->code, e->hold_reserved);
		code__move(&e->code, R1, REG_RECORD);
		code__set(&e->code, R2, BPF_RB_NO_WAKEUP);
		code__call(&e->code, BPF_FUNC_ringbuf_discard);
	}
	code__bind(&e->code, e->hold);
	emit__count(e, PROBE_HELD);
	held = code__take(&e->code, sizeof(struct probe_held));
	hold_fill(e, held);
	emit__update(e, e->wants->maps->held, place_at(held, offsetof(struct probe_held, who)),
		     held, BPF_ANY);
}

/* ---- the second turn ---- */

/* A thread that is not its process's first one has another number after execve. */
static void hold_old_thread(struct emit *e)
{
	const struct probe_field *old = probe__field(e->probe->execed, "old_pid");

	code__load(&e->code, 4, R1, (struct place){ REG_START, (int32_t)old->at });
	code__reckon_number(&e->code, BPF_RSH, R0, 32);
	code__reckon_number(&e->code, BPF_LSH, R0, 32);
	code__reckon(&e->code, BPF_OR, R0, R1);
}

void emit__find_held(struct emit *e)
{
	code__move(&e->code, REG_START, REG_CTX);
	e->held_key = code__take(&e->code, 8);
	code__call(&e->code, BPF_FUNC_get_current_pid_tgid);
	if (e->wants->turn == TURN_EXEC)
		hold_old_thread(e);
	code__store(&e->code, 8, e->held_key, R0);
	emit__lookup(e, e->wants->maps->held, e->held_key);
	code__jump_if_number(&e->code, BPF_JEQ, R0, 0, e->out);
	code__move(&e->code, REG_CTX, R0);
	e->now = (struct emit_note){ true, emit__held(offsetof(struct probe_held, ns)) };
	e->who = (struct emit_note){ true, emit__held(offsetof(struct probe_held, who)) };
}

void emit__take_up(struct emit *e)
{
	const struct place at = { REG_CELL, 8 * PROBE_HELD };

	code__load(&e->code, 8, R0, at);
	code__reckon_number(&e->code, BPF_SUB, R0, 1);
	code__store(&e->code, 8, at, R0);
}

void emit__drop_held(struct emit *e)
{
	code__set_map(&e->code, R1, e->wants->maps->held);
	code__set_address(&e->code, R2, e->held_key);
	code__call(&e->code, BPF_FUNC_map_delete_elem);
}
