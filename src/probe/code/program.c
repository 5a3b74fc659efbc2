/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program.c: which instructions does a probe run? Filters first, then one lookup of the program's
 * cell, then the condition, then what is asked for. Every way out counts what became of the hit;
 * what no clause needs is not there.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "probe/code/program_inside.h"

void emit__refuse(struct emit *e, const struct value *v, const char *fmt, ...)
{
	char why[160];
	va_list args;

	if (e->err)
		return;
	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	e->err = log_err(-EINVAL, "%s: '%.*s': %s", e->probe->probe->name, (int)v->len,
			 v->source ? v->source + v->at : "", why);
}

static struct place emit_counter_at(enum probe_counter counter)
{
	return (struct place){ REG_CELL, 8 * (int32_t)counter };
}

void emit__count(struct emit *e, enum probe_counter counter)
{
	struct place at = emit_counter_at(counter);

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

/* A row in the cell is ours alone; of the others only the one program of a run is sure of that. */
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

/* A map's functions are called directly; those of 5.10 return an int, so that the upper half of the
 * register is not its sign. */
void emit__take_int(struct emit *e)
{
	code__extend(&e->code, R0, 4, true);
}

/* The process of a stack: of this event, or of the start that took it. */
static void emit_whose(struct emit *e, const struct value *v, struct place to)
{
	if (v->op == VALUE_USTACK)
		emit__builtin(e, VALUE_PID, R1);
	else
		code__load(&e->code, 4, R1,
			   (struct place){ REG_START, offsetof(struct probe_start, pid) });
	code__store(&e->code, 8, to, R1);
}

void emit__part(struct emit *e, const struct value *v, struct place to, uint32_t room)
{
	if (v->shape.is_text) {
		emit__text(e, v, to, room);
		return;
	}
	emit__number(e, v, R1);
	code__store(&e->code, 8, to, R1);
	if (v->shape.unit == VALUE_USTACK_ID)
		emit_whose(e, v, place_at(to, 8));
}

/* What was asked for is kept: nobody has to ask again. */
static void emit_note(struct emit *e, struct emit_note *note, int helper)
{
	code__call(&e->code, helper);
	note->at = code__take(&e->code, 8);
	note->is_there = true;
	code__store(&e->code, 8, note->at, R0);
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

void emit__who(struct emit *e, struct place pid, struct place tid, struct place comm)
{
	enum { COMM_BYTES = 16 };

	if (e->who.is_there)
		code__load(&e->code, 8, R0, e->who.at);
	else
		code__call(&e->code, BPF_FUNC_get_current_pid_tgid);
	code__store(&e->code, 4, tid, R0);
	code__reckon_number(&e->code, BPF_RSH, R0, 32);
	code__store(&e->code, 4, pid, R0);
	code__clear(&e->code, comm, COMM_BYTES); /* as in text_comm */
	code__set_address(&e->code, R1, comm);
	code__set(&e->code, R2, COMM_BYTES);
	code__call(&e->code, BPF_FUNC_get_current_comm);
}

void emit__address(struct emit *e, struct place to)
{
	if (!e->wants->asks_address) {
		code__store_number(&e->code, 8, to, 0);
		return;
	}
	emit__builtin(e, VALUE_PROBE, R1);
	code__store(&e->code, 8, to, R1);
}

static void emit_filter_pid(struct emit *e)
{
	emit_note(e, &e->who, BPF_FUNC_get_current_pid_tgid);
	code__reckon_number(&e->code, BPF_RSH, R0, 32);
	if (e->plan->children)
		emit_filter_children(e);
	else
		code__jump_if_number(&e->code, BPF_JNE, R0, e->plan->pid, e->out);
}

/* In it or below it. 5.10 has no helper that tells programs of ours the id of an ancestor. */
static void emit_filter_cgroup(struct emit *e)
{
	code__set_map(&e->code, R1, e->wants->maps->cgroup);
	code__set(&e->code, R2, 0);
	code__call(&e->code, BPF_FUNC_current_task_under_cgroup);
	code__jump_if_number(&e->code, BPF_JNE, R0, 1, e->out);
}

void emit__filters(struct emit *e)
{
	if (e->plan->pid)
		emit_filter_pid(e);
	if (e->plan->cgroup)
		emit_filter_cgroup(e);
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

static void emit_find_cell(struct emit *e)
{
	emit__lookup_cell(e);
	code__move(&e->code, REG_CELL, R0);
}

static bool emit_is_start(const struct emit *e)
{
	return e->plan->has_ends && !e->probe->is_end;
}

static enum probe_counter emit_loss(const struct emit *e)
{
	if (emit_is_start(e))
		return PROBE_LOST_START;
	return plan__has_records(e->plan) ? PROBE_LOST_RING : PROBE_LOST_KEY;
}

/* A hit inside a hit: the scratch is not ours. That it was lost is counted, as is that it was. */
static void emit_guard(struct emit *e)
{
	struct place busy = { REG_CELL, offsetof(struct probe_cell, busy) };
	int free_to_use = code__label(&e->code);

	if (!e->is_guarded)
		return;
	code__load(&e->code, 8, R0, busy);
	code__jump_if_number(&e->code, BPF_JEQ, R0, 0, free_to_use);
	emit__count(e, PROBE_HITS);
	emit__count(e, emit_loss(e));
	code__jump(&e->code, e->out);
	code__bind(&e->code, free_to_use);
	code__store_number(&e->code, 8, busy, 1);
}

static void emit_leave(struct emit *e)
{
	struct place busy = { REG_CELL, offsetof(struct probe_cell, busy) };

	code__bind(&e->code, e->leave);
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
	size_t i;

	for (i = 0; i < e->plan->nr_keys && !wants; i++)
		wants = value__has(probe->keys[i], VALUE_NSECS);
	return wants;
}

/* All that mention it see the same time; it is read late, unless the condition is about it. */
static void emit_note_now(struct emit *e, bool is_wanted)
{
	if (is_wanted && !e->now.is_there)
		emit_note(e, &e->now, BPF_FUNC_ktime_get_ns);
}

static void emit_hit(struct emit *e)
{
	const struct value *condition = e->probe->condition;

	if (e->probe->is_end)
		emit__find_start(e);
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
	e->out = code__label(&e->code);
	e->leave = code__label(&e->code);
	code__move(&e->code, REG_CTX, R1);
	if (!e->probe->is_end || e->plan->is_same_task)
		emit__filters(e);
	if (wants->is_nested)
		emit__leave_nest(e);
	emit_note_now(e, e->probe->is_end);
	if (!e->is_lean)
		emit_find_cell(e);
	emit_guard(e);
	emit_hit(e);
	emit_leave(e);
	err = code__finish(&e->code);
	if (!err)
		code__drop_first_if_idle(&e->code); /* not all ask the context */
	return err;
}

static int emit_say(const struct emit *e, int err)
{
	const char *name = e->probe->probe->name;

	if (e->err)
		return e->err;
	if (err == -ENOMEM)
		return log_err(err, "out of memory");
	return log_err(err, "%s: too much for one program; ask for fewer or shorter texts", name);
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
	size_t i;

	for (i = 0; i < program->nr; i++) {
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
