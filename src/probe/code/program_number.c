/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_number.c: which instructions compute a number, or decide a truth value? As value.h
 * defines the operations. Operands stay in registers while no helper is called, then on the stack;
 * code that no branch needs is not emitted.
 */
#include "decode/syscall_args.h"
#include "probe/code/program_inside.h"

static bool number_is_text_op(const struct value *v)
{
	return v->op == VALUE_LIKE ||
	       ((v->op == VALUE_EQ || v->op == VALUE_NE) && v->left->shape.is_text);
}

static bool number_calls(const struct emit *e, const struct value *v)
{
	switch (v->op) {
	case VALUE_CONST:
	case VALUE_RECORD:
	case VALUE_RET:
	case VALUE_LATENCY:
	case VALUE_SAVED: return v->shape.is_text;
	case VALUE_ARG: return emit__argument_calls(e, v);
	case VALUE_PROBE: return e->wants->asks_address;
	case VALUE_PID:
	case VALUE_TID: return !e->who.is_there;
	case VALUE_NSECS: return !e->now.is_there;
	default: break;
	}
	if (v->op < VALUE_BITS || number_is_text_op(v))
		return true;
	return number_calls(e, v->left) || (v->right && number_calls(e, v->right)) ||
	       (v->other && number_calls(e, v->other));
}

static void number_call(struct emit *e, int helper, enum code_reg reg)
{
	code__call(&e->code, helper);
	code__move(&e->code, reg, R0);
}

/* The process is in the upper half, the thread in the lower one. */
static void number_who(struct emit *e, const struct value *v, enum code_reg reg)
{
	if (e->who.is_there)
		code__load(&e->code, 8, reg, e->who.at);
	else
		number_call(e, BPF_FUNC_get_current_pid_tgid, reg);
	if (v->op == VALUE_PID)
		code__reckon_number(&e->code, BPF_RSH, reg, 32);
	else
		code__extend(&e->code, reg, 4, false);
}

static void number_uid(struct emit *e, enum code_reg reg)
{
	if (emit__is_late(e))
		code__load(&e->code, 8, reg, emit__held(offsetof(struct probe_held, uid_gid)));
	else
		number_call(e, BPF_FUNC_get_current_uid_gid, reg);
	code__extend(&e->code, reg, 4, false);
}

static void number_cpu(struct emit *e, enum code_reg reg)
{
	if (emit__is_late(e))
		code__load(&e->code, 8, reg, emit__held(offsetof(struct probe_held, cpu)));
	else
		number_call(e, BPF_FUNC_get_smp_processor_id, reg);
}

static void number_stack(struct emit *e, const struct value *v, enum code_reg reg)
{
	bool is_user = v->op == VALUE_USTACK;
	int taken = code__label(&e->code), numbered = code__label(&e->code);

	if (is_user && e->wants->no_ustack) {
		code__set(&e->code, reg, -1);
		return;
	}
	if (is_user && e->wants->unwinds) {
		code__call_block(&e->code);
		code__move(&e->code, reg, R0);
		code__extend(&e->code, reg, 4, true);
		code__jump_if_number(&e->code, BPF_JNE, reg, 0, numbered);
	}
	code__move(&e->code, R1, REG_CTX);
	code__set_map(&e->code, R2, e->wants->maps->stacks);
	code__set(&e->code, R3, is_user ? BPF_F_USER_STACK : 0);
	number_call(e, BPF_FUNC_get_stackid, reg);
	code__bind(&e->code, numbered);
	code__jump_if_number(&e->code, BPF_JSGE, reg, 0, taken);
	emit__count(e, is_user ? PROBE_NO_USTACK : PROBE_NO_KSTACK);
	code__bind(&e->code, taken);
}

static void number_probe(struct emit *e, const struct value *v, enum code_reg reg)
{
	if (!e->wants->asks_address) {
		code__set(&e->code, reg, (int64_t)v->number);
		return;
	}
	code__move(&e->code, R1, REG_CTX);
	number_call(e, BPF_FUNC_get_func_ip, reg);
}

static void number_load(struct emit *e, const struct value *v, enum code_reg reg)
{
	struct code_mark mark = code__mark(&e->code);
	struct place slot;

	emit__number(e, v->left, R1);
	slot = code__take(&e->code, 8);
	code__move(&e->code, R3, R1);
	code__reckon_number(&e->code, BPF_ADD, R3, v->offset);
	emit__read(e, v->memory, slot, v->size, emit_read_bytes);
	emit__count_fault(e);
	code__load(&e->code, v->size, reg, slot);
	if (v->shape.is_signed)
		code__extend(&e->code, reg, v->size, true);
	code__give_back(&e->code, mark);
}

static void number_compat(struct emit *e, const struct value *v, enum code_reg reg)
{
	struct code_mark mark = code__mark(&e->code);
	int is_plain = code__label(&e->code);
	struct place kept, flags;

	emit__number(e, v->left, R1);
	kept = code__take(&e->code, 8);
	flags = code__take(&e->code, 8);
	code__store(&e->code, 8, kept, R1);
	code__call(&e->code, BPF_FUNC_get_current_task);
	code__move(&e->code, R3, R0);
	code__reckon_number(&e->code, BPF_ADD, R3, v->offset);
	emit__read(e, MEMORY_KERNEL, flags, v->size, emit_read_bytes);
	code__load(&e->code, v->size, R2, flags);
	code__load(&e->code, 8, reg, kept);
	code__reckon_number(&e->code, BPF_AND, R2, (int64_t)v->number);
	code__jump_if_number(&e->code, BPF_JEQ, R2, 0, is_plain);
	code__set(&e->code, R2, (int64_t)SYSCALL_COMPAT);
	code__reckon(&e->code, BPF_OR, reg, R2);
	code__bind(&e->code, is_plain);
	code__give_back(&e->code, mark);
}

static void number_saved(struct emit *e, const struct value *v, enum code_reg reg)
{
	code__load(&e->code, v->size, reg, (struct place){ REG_START, (int32_t)v->offset });
	if (v->shape.is_signed)
		code__extend(&e->code, reg, v->size, true);
}

static void number_record(struct emit *e, const struct value *v, enum code_reg reg)
{
	if (e->wants->ctx != CTX_RECORD) {
		emit__refuse(e, v, "a raw tracepoint has no record");
		return;
	}
	emit__record_bytes(e, reg, v->offset, v->size);
	if (v->shape.is_signed)
		code__extend(&e->code, reg, v->size, true);
}

static void number_now(struct emit *e, enum code_reg reg)
{
	if (e->now.is_there)
		code__load(&e->code, 8, reg, e->now.at);
	else
		number_call(e, BPF_FUNC_ktime_get_ns, reg);
}

static void number_bits(struct emit *e, const struct value *v, enum code_reg reg)
{
	emit__number(e, v->left, reg);
	code__reckon_number(&e->code, BPF_LSH, reg, 64 - v->shift - v->bits);
	code__reckon_number(&e->code, v->shape.is_signed ? BPF_ARSH : BPF_RSH, reg, 64 - v->bits);
}

/* Both operands; returns where the right one is. */
static enum code_reg number_both(struct emit *e, const struct value *v, enum code_reg reg)
{
	struct code_mark mark = code__mark(&e->code);
	struct place slot;

	emit__number(e, v->left, reg);
	if (reg < R4 && !number_calls(e, v->right)) {
		emit__number(e, v->right, reg + 1);
		return reg + 1;
	}
	slot = code__take(&e->code, 8);
	code__store(&e->code, 8, slot, reg);
	emit__number(e, v->right, reg);
	code__move(&e->code, reg + 1, reg);
	code__load(&e->code, 8, reg, slot);
	code__give_back(&e->code, mark);
	return reg + 1;
}

static uint8_t number_alu(const struct value *v)
{
	switch (v->op) {
	case VALUE_ADD: return BPF_ADD;
	case VALUE_SUB: return BPF_SUB;
	case VALUE_MUL: return BPF_MUL;
	case VALUE_DIV: return BPF_DIV;
	case VALUE_MOD: return BPF_MOD;
	case VALUE_AND: return BPF_AND;
	case VALUE_OR: return BPF_OR;
	case VALUE_XOR: return BPF_XOR;
	case VALUE_SHL: return BPF_LSH;
	default: return v->is_signed ? BPF_ARSH : BPF_RSH;
	}
}

static void number_reckon(struct emit *e, const struct value *v, enum code_reg reg)
{
	if (v->right->op == VALUE_CONST) {
		emit__number(e, v->left, reg);
		code__reckon_number(&e->code, number_alu(v), reg, (int64_t)v->right->number);
		return;
	}
	code__reckon(&e->code, number_alu(v), reg, number_both(e, v, reg));
}

static void number_make_positive(struct emit *e, enum code_reg reg)
{
	int positive = code__label(&e->code);

	code__jump_if_number(&e->code, BPF_JSGE, reg, 0, positive);
	code__negate(&e->code, reg);
	code__bind(&e->code, positive);
}

/* The instruction is unsigned: divides magnitudes, then sets the sign (a remainder's is the
 * left's). */
static void number_divide_signed(struct emit *e, const struct value *v, enum code_reg left,
				 enum code_reg right)
{
	int positive = code__label(&e->code);

	code__move(&e->code, R0, left);
	if (v->op == VALUE_DIV)
		code__reckon(&e->code, BPF_XOR, R0, right);
	number_make_positive(e, left);
	number_make_positive(e, right);
	code__reckon(&e->code, number_alu(v), left, right);
	code__jump_if_number(&e->code, BPF_JSGE, R0, 0, positive);
	code__negate(&e->code, left);
	code__bind(&e->code, positive);
}

static void number_divide(struct emit *e, const struct value *v, enum code_reg reg)
{
	bool is_sure = v->right->op == VALUE_CONST && v->right->number;
	int good = code__label(&e->code), done = code__label(&e->code);
	enum code_reg right;

	if (is_sure && !v->is_signed) {
		number_reckon(e, v, reg);
		return;
	}
	right = number_both(e, v, reg);
	if (!is_sure) {
		code__jump_if_number(&e->code, BPF_JNE, right, 0, good);
		emit__count(e, PROBE_DIVISIONS);
		code__set(&e->code, reg, 0);
		code__jump(&e->code, done);
	}
	code__bind(&e->code, good);
	if (v->is_signed)
		number_divide_signed(e, v, reg, right);
	else
		code__reckon(&e->code, number_alu(v), reg, right);
	code__bind(&e->code, done);
}

/* The instruction would take the distance modulo 64. */
static void number_shift(struct emit *e, const struct value *v, enum code_reg reg)
{
	int far = code__label(&e->code), done = code__label(&e->code);
	enum code_reg right;

	if (v->right->op == VALUE_CONST) {
		emit__number(e, v->left, reg);
		if (v->right->number < 64)
			code__reckon_number(&e->code, number_alu(v), reg,
					    (int64_t)v->right->number);
		else
			code__set(&e->code, reg, 0);
		return;
	}
	right = number_both(e, v, reg);
	code__jump_if_number(&e->code, BPF_JGT, right, 63, far);
	code__reckon(&e->code, number_alu(v), reg, right);
	code__jump(&e->code, done);
	code__bind(&e->code, far);
	code__set(&e->code, reg, 0);
	code__bind(&e->code, done);
}

static void number_choose(struct emit *e, const struct value *v, enum code_reg reg)
{
	int other = code__label(&e->code), done = code__label(&e->code);

	emit__jump_unless(e, v->left, reg, other);
	emit__number(e, v->right, reg);
	code__jump(&e->code, done);
	code__bind(&e->code, other);
	emit__number(e, v->other, reg);
	code__bind(&e->code, done);
}

static void number_truth(struct emit *e, const struct value *v, enum code_reg reg)
{
	int no = code__label(&e->code), done = code__label(&e->code);

	emit__jump_unless(e, v, reg, no);
	code__set(&e->code, reg, 1);
	code__jump(&e->code, done);
	code__bind(&e->code, no);
	code__set(&e->code, reg, 0);
	code__bind(&e->code, done);
}

static void number_make(struct emit *e, const struct value *v, enum code_reg reg)
{
	struct code *code = &e->code;

	switch (v->op) {
	case VALUE_CONST: code__set(code, reg, (int64_t)v->number); break;
	case VALUE_RECORD: number_record(e, v, reg); break;
	case VALUE_ARG: emit__argument(e, v, reg); break;
	case VALUE_RET: emit__ret(e, v, reg); break;
	case VALUE_PID:
	case VALUE_TID: number_who(e, v, reg); break;
	case VALUE_UID: number_uid(e, reg); break;
	case VALUE_CPU: number_cpu(e, reg); break;
	case VALUE_CGROUP: number_call(e, BPF_FUNC_get_current_cgroup_id, reg); break;
	case VALUE_NSECS: number_now(e, reg); break;
	case VALUE_PROBE: number_probe(e, v, reg); break;
	case VALUE_LATENCY: code__load(code, 8, reg, e->latency.at); break;
	case VALUE_SAVED: number_saved(e, v, reg); break;
	case VALUE_KSTACK:
	case VALUE_USTACK: number_stack(e, v, reg); break;
	case VALUE_LOAD: number_load(e, v, reg); break;
	case VALUE_COMPAT: number_compat(e, v, reg); break;
	case VALUE_BITS: number_bits(e, v, reg); break;
	case VALUE_NEG:
		emit__number(e, v->left, reg);
		code__negate(code, reg);
		break;
	case VALUE_COMPLEMENT:
		emit__number(e, v->left, reg);
		code__reckon_number(code, BPF_XOR, reg, -1);
		break;
	case VALUE_ADD:
	case VALUE_SUB:
	case VALUE_MUL:
	case VALUE_AND:
	case VALUE_OR:
	case VALUE_XOR: number_reckon(e, v, reg); break;
	case VALUE_DIV:
	case VALUE_MOD: number_divide(e, v, reg); break;
	case VALUE_SHL:
	case VALUE_SHR: number_shift(e, v, reg); break;
	case VALUE_CHOOSE: number_choose(e, v, reg); break;
	default: number_truth(e, v, reg);
	}
}

void emit__builtin(struct emit *e, enum value_op op, enum code_reg reg)
{
	const struct value v = { .op = op, .number = e->wants->probe };

	number_make(e, &v, reg);
}

void emit__number(struct emit *e, const struct value *v, enum code_reg reg)
{
	const struct value *outer = e->code.now;

	e->code.now = v;
	number_make(e, v, reg);
	e->code.now = outer;
}

/* By operator from EQ to GE: jump if true, jump if false; unsigned, signed. */
static const uint8_t number_jumps[][2][2] = {
	[VALUE_EQ - VALUE_EQ] = { { BPF_JEQ, BPF_JNE }, { BPF_JEQ, BPF_JNE } },
	[VALUE_NE - VALUE_EQ] = { { BPF_JNE, BPF_JEQ }, { BPF_JNE, BPF_JEQ } },
	[VALUE_LT - VALUE_EQ] = { { BPF_JLT, BPF_JGE }, { BPF_JSLT, BPF_JSGE } },
	[VALUE_LE - VALUE_EQ] = { { BPF_JLE, BPF_JGT }, { BPF_JSLE, BPF_JSGT } },
	[VALUE_GT - VALUE_EQ] = { { BPF_JGT, BPF_JLE }, { BPF_JSGT, BPF_JSLE } },
	[VALUE_GE - VALUE_EQ] = { { BPF_JGE, BPF_JLT }, { BPF_JSGE, BPF_JSLT } },
};

static void jump_compare(struct emit *e, const struct value *v, enum code_reg reg, bool wanted,
			 int label)
{
	uint8_t op = number_jumps[v->op - VALUE_EQ][v->is_signed][!wanted];

	if (v->right->op == VALUE_CONST) {
		emit__number(e, v->left, reg);
		code__jump_if_number(&e->code, op, reg, (int64_t)v->right->number, label);
		return;
	}
	code__jump_if(&e->code, op, reg, number_both(e, v, reg), label);
}

static void jump_texts(struct emit *e, const struct value *v, bool wanted, int label)
{
	int past = code__label(&e->code);
	bool jumps_equal = (v->op != VALUE_NE) == wanted;
	int differ = jumps_equal ? past : label;

	if (v->op == VALUE_LIKE)
		emit__jump_unlike(e, v, differ);
	else
		emit__jump_differ(e, v->left, v->right, differ);
	if (jumps_equal)
		code__jump(&e->code, label);
	code__bind(&e->code, past);
}

static void jump_number(struct emit *e, const struct value *v, enum code_reg reg, bool wanted,
			int label)
{
	emit__number(e, v, reg);
	code__jump_if_number(&e->code, wanted ? BPF_JNE : BPF_JEQ, reg, 0, label);
}

/* The left side alone may decide: && if it is false, || if it is true. */
static void jump_joined(struct emit *e, const struct value *v, enum code_reg reg, bool wanted,
			int label)
{
	bool deciding = v->op == VALUE_EITHER;
	int past = code__label(&e->code);
	int decided = wanted == deciding ? label : past;

	if (deciding)
		emit__jump_if(e, v->left, reg, decided);
	else
		emit__jump_unless(e, v->left, reg, decided);
	if (wanted)
		emit__jump_if(e, v->right, reg, label);
	else
		emit__jump_unless(e, v->right, reg, label);
	code__bind(&e->code, past);
}

static void jump_make(struct emit *e, const struct value *v, enum code_reg reg, bool wanted,
		      int label)
{
	const struct value *outer = e->code.now;

	e->code.now = v;
	if (v->op == VALUE_NOT)
		jump_make(e, v->left, reg, !wanted, label);
	else if (v->op == VALUE_BOTH || v->op == VALUE_EITHER)
		jump_joined(e, v, reg, wanted, label);
	else if (number_is_text_op(v))
		jump_texts(e, v, wanted, label);
	else if (v->op >= VALUE_EQ && v->op <= VALUE_GE)
		jump_compare(e, v, reg, wanted, label);
	else
		jump_number(e, v, reg, wanted, label);
	e->code.now = outer;
}

void emit__jump_if(struct emit *e, const struct value *v, enum code_reg reg, int label)
{
	jump_make(e, v, reg, true, label);
}

void emit__jump_unless(struct emit *e, const struct value *v, enum code_reg reg, int label)
{
	jump_make(e, v, reg, false, label);
}
