/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_read.c: where does a program find its inputs: a tracepoint's record, arguments,
 * registers, memory? Loads from ctx are aligned, as the verifier requires; helpers read memory and
 * give zeros where nothing is mapped.
 */
#include <asm/ptrace.h>
#include <errno.h>
#include <bpf/btf.h>
#include "probe/code/program_inside.h"

/* Where the calling convention of this machine puts arguments and results. Other machines do not
 * compile: their registers have other names. */
#ifdef __x86_64__
#define REGS_AT(name) offsetof(struct pt_regs, name)
static const uint32_t read_arguments_at[] = { REGS_AT(rdi), REGS_AT(rsi), REGS_AT(rdx),
					      REGS_AT(rcx), REGS_AT(r8),  REGS_AT(r9) };
static const uint32_t read_ret_at = REGS_AT(rax), read_stack_at = REGS_AT(rsp);
enum { READ_KERNEL_BIT = 63, READ_CALL_PUSHES = 8 }; /* the return address */
#else
#define REGS_AT(n) offsetof(struct user_pt_regs, regs[n])
static const uint32_t read_arguments_at[] = { REGS_AT(0), REGS_AT(1), REGS_AT(2), REGS_AT(3),
					      REGS_AT(4), REGS_AT(5), REGS_AT(6), REGS_AT(7) };
static const uint32_t read_ret_at = REGS_AT(0), read_stack_at = offsetof(struct user_pt_regs, sp);
/* Set in every kernel address; user addresses may have tags in the bits above it. */
enum { READ_KERNEL_BIT = 55, READ_CALL_PUSHES = 0 };
#endif

const int emit_read_bytes[2] = { BPF_FUNC_probe_read_kernel, BPF_FUNC_probe_read_user };
const int emit_read_text[2] = { BPF_FUNC_probe_read_kernel_str, BPF_FUNC_probe_read_user_str };

/* The largest aligned load there of no more than `bytes`. */
static uint32_t read_piece(uint32_t offset, uint32_t bytes)
{
	uint32_t size = 8;

	while (size > bytes || offset % size)
		size /= 2;
	return size;
}

/* A little-endian number of up to 8 bytes. Loads no byte more, as the kernel refuses a program
 * that reads past the last field. */
void emit__record_bytes(struct emit *e, enum code_reg reg, uint32_t offset, uint32_t bytes)
{
	uint32_t size = read_piece(offset, bytes), done;

	code__load(&e->code, size, reg, (struct place){ REG_CTX, (int32_t)offset });
	for (done = size; done < bytes; done += size) {
		size = read_piece(offset + done, bytes - done);
		code__load(&e->code, size, R0, (struct place){ REG_CTX, (int32_t)(offset + done) });
		code__reckon_number(&e->code, BPF_LSH, R0, 8 * done);
		code__reckon(&e->code, BPF_OR, reg, R0);
	}
}

/* The verifier types a tracing program's arguments, and these types forbid arithmetic. */
static void read_slot(struct emit *e, uint32_t slot, enum code_reg reg)
{
	code__load(&e->code, 8, reg, (struct place){ REG_CTX, (int32_t)(8 * slot) });
	if (e->wants->ctx == CTX_TRACING)
		code__forget_type(&e->code, reg);
}

static void read_register(struct emit *e, uint32_t at, enum code_reg reg)
{
	code__load(&e->code, 8, reg, (struct place){ REG_CTX, (int32_t)at });
}

void emit__stack_pointer(struct emit *e, enum code_reg reg)
{
	read_register(e, read_stack_at, reg);
	if (e->wants->is_nested && READ_CALL_PUSHES > 0)
		code__reckon_number(&e->code, BPF_SUB, reg, READ_CALL_PUSHES);
}

static const struct usdt_arg *read_usdt(const struct emit *e, const struct value *v)
{
	const struct probe *probe = e->probe->probe;

	return probe->kind == PROBE_USDT && v->number < probe->nr_args ? &probe->args[v->number]
								       : NULL;
}

bool emit__argument_calls(const struct emit *e, const struct value *v)
{
	const struct usdt_arg *arg = read_usdt(e, v);

	return arg ? arg->where == USDT_MEM
		   : e->wants->ctx == CTX_REGS && v->offset >= PROBE_ON_STACK;
}

/* What lies `offset` bytes from the address in a register. */
static void read_beside(struct emit *e, enum value_memory memory, const struct usdt_arg *arg,
			enum code_reg reg)
{
	struct code_mark mark = code__mark(&e->code);
	struct place slot = code__take(&e->code, 8);

	read_register(e, arg->reg_at, R3);
	code__reckon_number(&e->code, BPF_ADD, R3, arg->value);
	emit__read(e, memory, slot, arg->size, emit_read_bytes);
	emit__count_fault(e);
	code__load(&e->code, arg->size, reg, slot);
	code__give_back(&e->code, mark);
}

static void read_usdt_arg(struct emit *e, const struct value *v, const struct usdt_arg *arg,
			  enum code_reg reg)
{
	switch (arg->where) {
	case USDT_CONST: code__set(&e->code, reg, arg->value); return;
	case USDT_REG: read_register(e, arg->reg_at, reg); break;
	case USDT_MEM: read_beside(e, MEMORY_USER, arg, reg); break;
	case USDT_UNKNOWN: emit__refuse(e, v, "unsupported location of a USDT argument"); return;
	}
	code__extend(&e->code, reg, arg->size, arg->is_signed);
}

/* Above the return address, where a call pushes one. */
static void read_function_stack(struct emit *e, uint32_t offset, enum code_reg reg)
{
	const struct usdt_arg at = {
		.reg_at = read_stack_at,
		.value = (int64_t)READ_CALL_PUSHES + offset,
		.size = 8,
	};

	read_beside(e, e->probe->probe->kind == PROBE_USER ? MEMORY_USER : MEMORY_KERNEL, &at, reg);
}

static void read_function_argument(struct emit *e, const struct value *v, enum code_reg reg)
{
	enum probe_kind kind = e->probe->probe->kind;

	if (kind == PROBE_RET || kind == PROBE_USERRET)
		emit__refuse(e, v,
			     "arguments are not available when a function returns; in a pair of "
			     "its entry and its return, entry.x is x at the entry");
	else if (v->offset >= PROBE_ON_STACK)
		read_function_stack(e, v->offset - PROBE_ON_STACK, reg);
	else
		read_register(e, read_arguments_at[v->offset], reg);
}

void emit__argument(struct emit *e, const struct value *v, enum code_reg reg)
{
	const struct usdt_arg *usdt = read_usdt(e, v);

	if (usdt) {
		read_usdt_arg(e, v, usdt, reg);
		return;
	}
	switch (e->wants->ctx) {
	case CTX_RAW:
	case CTX_TRACING: read_slot(e, v->shift, reg); break;
	case CTX_REGS: read_function_argument(e, v, reg); break;
	default: emit__refuse(e, v, "this event has no arguments");
	}
	code__extend(&e->code, reg, v->size, v->shape.is_signed);
}

/* How many slots the arguments take: the result follows them. */
static uint32_t read_argument_slots(const struct probe *probe)
{
	const struct btf_type *func = btf__type_by_id(probe->btf, probe->btf_id);
	const struct btf_type *proto = func ? btf__type_by_id(probe->btf, func->type) : NULL;
	uint32_t slots = 0;

	if (!proto || !btf_is_func_proto(proto))
		return 0;
	for (uint16_t i = 0; i < btf_vlen(proto); i++) {
		long long bytes = btf__resolve_size(probe->btf, btf_params(proto)[i].type);

		slots += bytes > 8 && bytes <= 16 ? 2 : 1;
	}
	return slots;
}

void emit__typed_slot(struct emit *e, const struct value *v, enum code_reg reg)
{
	const uint32_t slot = v->op == VALUE_RET ? read_argument_slots(e->probe->probe) : v->shift;

	code__load(&e->code, 8, reg, (struct place){ REG_CTX, (int32_t)(8 * slot) });
}

void emit__ret(struct emit *e, const struct value *v, enum code_reg reg)
{
	const struct probe *probe = e->probe->probe;

	if (e->wants->ctx == CTX_REGS)
		read_register(e, read_ret_at, reg);
	else if (e->wants->ctx == CTX_TRACING && probe->btf)
		read_slot(e, read_argument_slots(probe), reg);
	else
		emit__refuse(e, v, "this event has no return value");
	code__extend(&e->code, reg, v->size, v->shape.is_signed);
}

/* The addresses of a program that another one has replaced mean nothing now. */
static void read_gone(struct emit *e, struct place to, uint32_t bytes)
{
	code__clear(&e->code, to, (bytes + 7) / 8 * 8);
	code__set(&e->code, R0, -EFAULT);
}

static void read_from(struct emit *e, struct place to, uint32_t bytes, int helper)
{
	if (e->wants->turn == TURN_EXEC &&
	    (helper == BPF_FUNC_probe_read_user || helper == BPF_FUNC_probe_read_user_str)) {
		read_gone(e, to, bytes);
		return;
	}
	code__set_address(&e->code, R1, to);
	code__set(&e->code, R2, bytes);
	code__call(&e->code, helper);
}

void emit__jump_unless_kernel(struct emit *e, enum code_reg reg, int label)
{
	code__reckon_number(&e->code, BPF_RSH, reg, READ_KERNEL_BIT);
	code__reckon_number(&e->code, BPF_AND, reg, 1);
	code__jump_if_number(&e->code, BPF_JEQ, reg, 0, label);
}

void emit__read(struct emit *e, enum value_memory memory, struct place to, uint32_t bytes,
		const int helper[2])
{
	int user, done;

	if (memory != MEMORY_EITHER) {
		read_from(e, to, bytes, helper[memory == MEMORY_USER]);
		return;
	}
	user = code__label(&e->code);
	done = code__label(&e->code);
	code__move(&e->code, R0, R3);
	emit__jump_unless_kernel(e, R0, user);
	read_from(e, to, bytes, helper[false]);
	code__jump(&e->code, done);
	code__bind(&e->code, user);
	read_from(e, to, bytes, helper[true]);
	code__bind(&e->code, done);
}

void emit__count_fault(struct emit *e)
{
	int good = code__label(&e->code);

	code__jump_if_number(&e->code, BPF_JSGE, R0, 0, good);
	emit__count(e, PROBE_FAULTS);
	code__bind(&e->code, good);
}
