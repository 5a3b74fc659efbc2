/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_step.c: the steps that all parts of a program share: count, look up, add, filter, note,
 * end; and the hand-over of the finished program. They know no values.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "probe/code/program_inside.h"

void emit__refuse(struct emit *e, const struct value *v, const char *fmt, ...)
{
	char why[128];
	const char *name = v->source ? v->source + v->at : "";
	va_list args;

	if (e->err)
		return;
	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	e->err = -EINVAL;
	log_err(e->err, "%s: '%.*s': %s", e->probe->probe->name, (int)v->len, name, why);
}

void emit__count(struct emit *e, enum probe_counter counter)
{
	struct place at = { REG_CELL, 8 * (int32_t)counter };

	if (e->wants->is_atomic) {
		code__set(&e->code, R0, 1);
		code__add_atomic(&e->code, at, R0);
		return;
	}
	code__load(&e->code, 8, R0, at);
	code__reckon_number(&e->code, BPF_ADD, R0, 1);
	code__store(&e->code, 8, at, R0);
}

void emit__end(struct emit *e, enum probe_counter counter)
{
	emit__count(e, counter);
	code__jump(&e->code, e->leave);
}

/* A row in the cell belongs to one program; other rows do only if the run has a single program. */
static bool emit_is_shared(const struct emit *e, struct place to)
{
	return e->wants->is_atomic || (to.reg != REG_CELL && e->plan->nr_probes > 1);
}

void emit__add_shared(struct emit *e, struct place to, enum code_reg from)
{
	if (emit_is_shared(e, to)) {
		code__add_atomic(&e->code, to, from);
		return;
	}
	code__load(&e->code, 8, R5, to);
	code__reckon(&e->code, BPF_ADD, R5, from);
	code__store(&e->code, 8, to, R5);
}

void emit__add_one_shared(struct emit *e, struct place to)
{
	if (emit_is_shared(e, to)) {
		code__set(&e->code, R1, 1);
		code__add_atomic(&e->code, to, R1);
		return;
	}
	code__load(&e->code, 8, R1, to);
	code__reckon_number(&e->code, BPF_ADD, R1, 1);
	code__store(&e->code, 8, to, R1);
}

void emit__lookup(struct emit *e, int map, struct place key)
{
	code__set_map(&e->code, R1, map);
	code__set_address(&e->code, R2, key);
	code__call(&e->code, BPF_FUNC_map_lookup_elem);
}

void emit__update(struct emit *e, int map, struct place key, struct place value, int64_t flags)
{
	code__set_map(&e->code, R1, map);
	code__set_address(&e->code, R2, key);
	code__set_address(&e->code, R3, value);
	code__set(&e->code, R4, flags);
	code__call(&e->code, BPF_FUNC_map_update_elem);
	emit__take_int(e);
}

/* A map's functions are called directly; on 5.10 they return an int, so the upper half of the
 * register is not a sign extension. */
void emit__take_int(struct emit *e)
{
	code__extend(&e->code, R0, 4, true);
}

void emit__note(struct emit *e, struct emit_note *note, int helper)
{
	code__call(&e->code, helper);
	note->at = code__take(&e->code, 8);
	note->is_there = true;
	code__store(&e->code, 8, note->at, R0);
}

/* The typed address of this task into R4. */
static void emit_task(struct emit *e)
{
	code__call(&e->code, BPF_FUNC_get_current_task_btf);
	code__move(&e->code, R4, R0);
}

/*
 * A word of a text, in R1, is cut at its first 0 byte. In (w - 0x01..01) & ~w & 0x80..80 the lowest
 * bit that is set belongs to that byte; its 0x01 minus 1 is a mask of the bytes before it. R2 is
 * that mask: all ones if the text goes on.
 */
void emit__cut_word(struct emit *e)
{
	struct code *code = &e->code;

	code__set(code, R0, (int64_t)0x8080808080808080);
	code__move(code, R2, R0);
	code__reckon_number(code, BPF_RSH, R2, 7); /* 0x01..01 */
	code__move(code, R3, R1);
	code__reckon(code, BPF_SUB, R3, R2);
	code__move(code, R2, R1);
	code__reckon_number(code, BPF_XOR, R2, -1);
	code__reckon(code, BPF_AND, R2, R3);
	code__reckon(code, BPF_AND, R2, R0);
	code__move(code, R3, R2);
	code__negate(code, R3);
	code__reckon(code, BPF_AND, R2, R3);
	code__reckon_number(code, BPF_RSH, R2, 7);
	code__reckon_number(code, BPF_SUB, R2, 1);
	code__reckon(code, BPF_AND, R1, R2);
}

/* The task is in R4. Words cost a quarter of the helper, which copies byte by byte. */
static void emit_comm_words(struct emit *e, struct place to)
{
	const int32_t at = (int32_t)e->wants->task->comm_at;
	int done = code__label(&e->code);

	code__load(&e->code, 8, R1, (struct place){ R4, at });
	emit__cut_word(e);
	code__store(&e->code, 8, to, R1);
	code__jump_if_number(&e->code, BPF_JNE, R2, -1, done);
	code__load(&e->code, 8, R1, (struct place){ R4, at + 8 });
	emit__cut_word(e);
	code__store(&e->code, 8, place_at(to, 8), R1);
	code__bind(&e->code, done);
}

static void emit_comm_held(struct emit *e, struct place to)
{
	const struct place from = emit__held(offsetof(struct probe_held, comm));

	for (int32_t at = 0; at < 16; at += 8) {
		code__load(&e->code, 8, R0, place_at(from, at));
		code__store(&e->code, 8, place_at(to, at), R0);
	}
}

void emit__comm(struct emit *e, struct place to)
{
	enum { COMM_BYTES = 16 };

	if (emit__is_late(e)) {
		emit_comm_held(e, to);
		return;
	}
	if (e->wants->task) {
		emit_task(e);
		emit_comm_words(e, to);
		return;
	}
	code__set_address(&e->code, R1, to);
	code__set(&e->code, R2, COMM_BYTES);
	code__call(&e->code, BPF_FUNC_get_current_comm);
}

static void emit_who_typed(struct emit *e, struct place pid, struct place tid, struct place comm)
{
	const struct probe_task *at = e->wants->task;

	emit_task(e);
	code__load(&e->code, 4, R1, (struct place){ R4, (int32_t)at->tid_at });
	code__store(&e->code, 4, tid, R1);
	code__load(&e->code, 4, R1, (struct place){ R4, (int32_t)at->pid_at });
	code__store(&e->code, 4, pid, R1);
	emit_comm_words(e, comm);
}

void emit__who(struct emit *e, struct place pid, struct place tid, struct place comm)
{
	code__clear(&e->code, comm, 16); /* as in text_comm */
	if (e->wants->task && !emit__is_late(e)) {
		emit_who_typed(e, pid, tid, comm);
		return;
	}
	if (e->who.is_there)
		code__load(&e->code, 8, R0, e->who.at);
	else
		code__call(&e->code, BPF_FUNC_get_current_pid_tgid);
	code__store(&e->code, 4, tid, R0);
	code__reckon_number(&e->code, BPF_RSH, R0, 32);
	code__store(&e->code, 4, pid, R0);
	emit__comm(e, comm);
}

/* The process in R0 has to be in the table that run/children.c keeps. */
static void emit_filter_children(struct emit *e)
{
	struct code_mark mark = code__mark(&e->code);
	struct place key = code__take(&e->code, 8);

	code__store(&e->code, 8, key, R0);
	emit__lookup(e, e->wants->maps->tasks, key);
	code__jump_if_number(&e->code, BPF_JEQ, R0, 0, e->out);
	code__give_back(&e->code, mark);
}

void emit__filters(struct emit *e)
{
	if (e->plan->pid) {
		emit__note(e, &e->who, BPF_FUNC_get_current_pid_tgid);
		code__reckon_number(&e->code, BPF_RSH, R0, 32);
		if (e->plan->children)
			emit_filter_children(e);
		else
			code__jump_if_number(&e->code, BPF_JNE, R0, e->plan->pid, e->out);
	}
	if (e->plan->cgroup) {
		/* In the cgroup or below it. 5.10 has no helper that gives our programs the id
		 * of an ancestor. */
		code__set_map(&e->code, R1, e->wants->maps->cgroup);
		code__set(&e->code, R2, 0);
		code__call(&e->code, BPF_FUNC_current_task_under_cgroup);
		code__jump_if_number(&e->code, BPF_JNE, R0, 1, e->out);
	}
}

void emit__lookup_cell(struct emit *e)
{
	struct code_mark mark = code__mark(&e->code);
	struct place number = code__take(&e->code, 8);

	code__store_number(&e->code, 4, number, (int32_t)e->wants->cell);
	emit__lookup(e, e->wants->maps->cells, number);
	code__jump_if_number(&e->code, BPF_JEQ, R0, 0, e->out);
	code__give_back(&e->code, mark);
}

static int emit_say(const struct emit *e, int err)
{
	const char *name = e->probe->probe->name;

	if (e->err)
		return e->err;
	if (err == -ENOMEM)
		return log_err(err, "out of memory");
	return log_err(err, "%s: too large for one program; use fewer or shorter texts", name);
}

int emit__hand_over(struct emit *e, struct program *program, int err)
{
	memset(program, 0, sizeof(*program));
	if (err || e->err) {
		err = emit_say(e, err);
		code__free(&e->code);
		return err;
	}
	program->insns = e->code.insns;
	program->nr = e->code.nr;
	program->of = e->code.of;
	e->code.insns = NULL;
	e->code.of = NULL;
	code__free(&e->code);
	return 0;
}
