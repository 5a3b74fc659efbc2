/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program.c: which instructions does a probe run? Filters first, then one lookup of the program's
 * cell, then the condition, then the action. Every exit counts what became of the hit; code that no
 * clause needs is not emitted.
 */
#include <stdlib.h>
#include <string.h>
#include "probe/code/program_inside.h"

static bool emit_is_start(const struct emit *e)
{
	return e->plan->has_ends && !e->probe->is_end;
}

/* A hit inside a hit must not use the scratch. Counts both the hit and its loss. */
static void emit_guard(struct emit *e)
{
	struct place busy = { REG_CELL, offsetof(struct probe_cell, busy) };
	int free_to_use = code__label(&e->code);

	if (!e->is_guarded)
		return;
	code__load(&e->code, 8, R0, busy);
	code__jump_if_number(&e->code, BPF_JEQ, R0, 0, free_to_use);
	emit__count(e, PROBE_HITS);
	emit__count(e, emit_is_start(e)		    ? PROBE_LOST_START
		       : plan__has_records(e->plan) ? PROBE_LOST_RING
						    : PROBE_LOST_KEY);
	code__jump(&e->code, e->out);
	code__bind(&e->code, free_to_use);
	code__store_number(&e->code, 8, busy, 1);
}

static void emit_leave(struct emit *e)
{
	struct place busy = { REG_CELL, offsetof(struct probe_cell, busy) };

	if (e->holds || e->holds_reserved)
		emit__hold(e);
	code__bind(&e->code, e->leave);
	if (emit__is_late(e))
		emit__drop_held(e);
	if (e->is_guarded)
		code__store_number(&e->code, 8, busy, 0);
	code__bind(&e->code, e->out);
	code__set(&e->code, R0, program__verdict(e->wants->ctx));
	code__exit(&e->code);
}

static void emit_condition(struct emit *e)
{
	int good = code__label(&e->code), gone = code__label(&e->code);

	if (!e->probe->condition || emit_is_start(e))
		return;
	emit__jump_if(e, e->probe->condition, R1, good);
	if (e->probe->is_end)
		emit__forget_start(e, gone);
	emit__end(e, PROBE_REFUSED);
	if (e->probe->is_end) {
		code__bind(&e->code, gone);
		emit__end(e, PROBE_NO_START);
	}
	code__bind(&e->code, good);
}

static bool emit_wants_now(const struct emit *e)
{
	const struct plan_probe *probe = e->probe;
	bool wants =
		plan__has_records(e->plan) || (probe->of && value__has(probe->of, VALUE_NSECS));

	for (size_t i = 0; i < e->plan->nr_keys && !wants; i++)
		wants = value__has(probe->keys[i], VALUE_NSECS);
	return wants;
}

/* All uses see the same time; the clock is read late, unless the condition uses it. */
static void emit_note_now(struct emit *e, bool is_wanted)
{
	if (is_wanted && !e->now.is_there)
		emit__note(e, &e->now, BPF_FUNC_ktime_get_ns);
}

static void emit_hit(struct emit *e)
{
	const struct value *condition = e->probe->condition;

	if (e->probe->is_end)
		emit__find_start(e);
	else if (emit__is_late(e))
		emit__take_up(e);
	else if (!e->is_lean)
		emit__count(e, PROBE_HITS);
	if (emit_is_start(e)) {
		emit__start(e);
		return;
	}
	emit_note_now(e, condition && value__has(condition, VALUE_NSECS));
	emit_condition(e);
	emit_note_now(e, emit_wants_now(e));
	if (e->probe->follows)
		emit__follow(e);
	if (plan__has_records(e->plan))
		emit__record(e);
	else
		emit__row(e);
}

static int emit_program(struct emit *e, const struct program_wants *wants, bool is_guarded)
{
	int err;

	memset(e, 0, sizeof(*e));
	e->wants = wants;
	e->plan = wants->plan;
	e->probe = &wants->plan->probes[wants->probe];
	e->is_guarded = is_guarded;
	e->is_lean = program__hits_are_rows(e->plan) && !emit__row_is_in_cell(e);
	code__init(&e->code, offsetof(struct probe_cell, scratch), PROBE_SCRATCH);
	if (wants->unwinds)
		e->code.stack_room -= PROGRAM_BLOCK_STACK;
	e->out = code__label(&e->code);
	e->leave = code__label(&e->code);
	e->hold = code__label(&e->code);
	e->hold_reserved = code__label(&e->code);
	code__move(&e->code, REG_CTX, R1);
	if (emit__is_late(e))
		emit__find_held(e);
	else if (!e->probe->is_end || e->plan->is_same_task)
		emit__filters(e);
	if (wants->is_nested)
		emit__leave_nest(e);
	emit_note_now(e, e->probe->is_end);
	if (!e->is_lean) {
		emit__lookup_cell(e);
		code__move(&e->code, REG_CELL, R0);
	}
	emit_guard(e);
	emit_hit(e);
	emit_leave(e);
	err = code__finish(&e->code);
	if (!err)
		code__drop_first_if_idle(&e->code); /* not every program uses the context */
	return err;
}

int program__make(struct program *program, const struct program_wants *wants)
{
	struct emit e;
	int err = emit_program(&e, wants, false);

	if (!err && !e.err && e.code.uses_scratch && wants->is_atomic) {
		code__free(&e.code);
		err = emit_program(&e, wants, true);
	}
	return emit__hand_over(&e, program, err);
}

void program__free(struct program *program)
{
	free(program->insns);
	free(program->of);
	memset(program, 0, sizeof(*program));
}

/* "  12: r1 = *(u32 *)(r6 + 28)    ; bytes" */
void program__print(const struct program *program, FILE *out)
{
	const struct value *last = NULL, *v;

	for (size_t i = 0; i < program->nr; i++) {
		v = program->of[i];
		fprintf(out, "%4zu: ", i);
		code_insn__print(&program->insns[i], out);
		if (v && v != last && v->source)
			fprintf(out, "\t; %.*s", (int)v->len, v->source + v->at);
		fputc('\n', out);
		last = v;
		if (program->insns[i].code == (BPF_LD | BPF_DW | BPF_IMM))
			i++;
	}
}

/* The log's last line that begins with an instruction's number: "12: (79) r1 = ...". */
const struct value *program__blame(const struct program *program, const char *log)
{
	const struct value *blamed = NULL;
	const char *line;
	unsigned long nr;
	char *end;

	for (line = log; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		nr = strtoul(line, &end, 10);
		if (end != line && !strncmp(end, ": (", 3))
			blamed = nr < program->nr ? program->of[nr] : NULL;
	}
	return blamed;
}
