/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code.c: how is an instruction encoded? Appends to an array that grows; costs only memory. Knows
 * only instructions that Linux 5.10 runs (v3 without 32-bit jumps).
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "probe/code/code.h"

void code__init(struct code *code, uint32_t scratch_from, uint32_t scratch_room)
{
	memset(code, 0, sizeof(*code));
	code->stack_room = CODE_STACK_BYTES;
	code->scratch_from = scratch_from;
	code->scratch_room = scratch_room;
}

void code__free(struct code *code)
{
	free(code->insns);
	free(code->of);
	free(code->labels);
	free(code->jumps);
	memset(code, 0, sizeof(*code));
}

static void code_fail(struct code *code, int err)
{
	if (!code->err)
		code->err = err;
}

static void code_add(struct code *code, struct bpf_insn insn)
{
	size_t room = code->room;

	if (GROW(code->insns, room, code->nr + 1) || GROW(code->of, code->room, code->nr + 1)) {
		code_fail(code, -ENOMEM);
		return;
	}
	code->insns[code->nr] = insn;
	code->of[code->nr++] = code->now;
}

int code__label(struct code *code)
{
	if (GROW(code->labels, code->room_labels, code->nr_labels + 1)) {
		code_fail(code, -ENOMEM);
		return -1;
	}
	code->labels[code->nr_labels] = -1;
	return (int)code->nr_labels++;
}

void code__bind(struct code *code, int label)
{
	if (label >= 0)
		code->labels[label] = (ssize_t)code->nr;
}

int code__finish(struct code *code)
{
	for (size_t i = 0; i < code->nr_jumps && !code->err; i++) {
		const struct code_jump *jump = &code->jumps[i];
		ssize_t distance = code->labels[jump->label] - (ssize_t)jump->at - 1;

		if (code->labels[jump->label] < 0)
			code_fail(code, -EINVAL);
		else if (distance > INT16_MAX || distance < INT16_MIN)
			code_fail(code, -E2BIG);
		else
			code->insns[jump->at].off = (int16_t)distance;
	}
	return code->err;
}

/* An instruction that loads a constant has no source register, nor does a call. */
static bool code_uses(const struct bpf_insn *insn, uint8_t reg)
{
	return insn->dst_reg == reg || (insn->src_reg == reg && BPF_CLASS(insn->code) != BPF_LD &&
					insn->code != (BPF_JMP | BPF_CALL));
}

void code__drop_first_if_idle(struct code *code)
{
	for (size_t i = 1; i < code->nr; i++)
		if (code_uses(&code->insns[i], code->insns[0].dst_reg))
			return;
	code->nr--;
	memmove(code->insns, code->insns + 1, code->nr * sizeof(*code->insns));
	memmove(code->of, code->of + 1, code->nr * sizeof(*code->of));
}

static bool code_is_short(int64_t number)
{
	return number >= INT32_MIN && number <= INT32_MAX;
}

/* The only instruction that takes two slots: loads a 64-bit constant or a map. */
static void code_set_wide(struct code *code, enum code_reg to, uint8_t from, uint64_t number)
{
	code_add(code, INSN(BPF_LD | BPF_DW | BPF_IMM, to, from, 0, (int32_t)(uint32_t)number));
	code_add(code, INSN(0, 0, 0, 0, (int32_t)(uint32_t)(number >> 32)));
}

void code__set(struct code *code, enum code_reg to, int64_t number)
{
	if (code_is_short(number))
		code__reckon_number(code, BPF_MOV, to, number);
	else
		code_set_wide(code, to, 0, (uint64_t)number);
}

void code__set_map(struct code *code, enum code_reg to, int fd)
{
	code_set_wide(code, to, BPF_PSEUDO_MAP_FD, (uint32_t)fd);
}

void code__set_map_value(struct code *code, enum code_reg to, int fd)
{
	code_set_wide(code, to, BPF_PSEUDO_MAP_VALUE, (uint32_t)fd);
}

void code__move(struct code *code, enum code_reg to, enum code_reg from)
{
	if (to != from)
		code__reckon(code, BPF_MOV, to, from);
}

void code__set_address(struct code *code, enum code_reg to, struct place place)
{
	code__move(code, to, place.reg);
	if (place.off)
		code__reckon_number(code, BPF_ADD, to, place.off);
}

void code__reckon(struct code *code, uint8_t op, enum code_reg to, enum code_reg with)
{
	code_add(code, INSN(BPF_ALU64 | BPF_X | op, to, with, 0, 0));
}

void code__reckon_number(struct code *code, uint8_t op, enum code_reg to, int64_t with)
{
	if (!code_is_short(with)) {
		code_set_wide(code, R0, 0, (uint64_t)with);
		code__reckon(code, op, to, R0);
		return;
	}
	code_add(code, INSN(BPF_ALU64 | BPF_K | op, to, 0, 0, (int32_t)with));
}

void code__negate(struct code *code, enum code_reg to)
{
	code_add(code, INSN(BPF_ALU64 | BPF_NEG, to, 0, 0, 0));
}

/* On a little-endian machine this does nothing, and a verifier takes the result for a number. */
void code__forget_type(struct code *code, enum code_reg to)
{
	code_add(code, INSN(BPF_ALU | BPF_END | BPF_TO_LE, to, 0, 0, 64));
}

static uint8_t code_width(uint32_t size)
{
	switch (size) {
	case 1: return BPF_B;
	case 2: return BPF_H;
	case 4: return BPF_W;
	default: return BPF_DW;
	}
}

void code__load(struct code *code, uint32_t size, enum code_reg to, struct place from)
{
	code_add(code,
		 INSN(BPF_LDX | BPF_MEM | code_width(size), to, from.reg, (int16_t)from.off, 0));
}

void code__store(struct code *code, uint32_t size, struct place to, enum code_reg from)
{
	code_add(code,
		 INSN(BPF_STX | BPF_MEM | code_width(size), to.reg, from, (int16_t)to.off, 0));
}

void code__store_number(struct code *code, uint32_t size, struct place to, int32_t number)
{
	code_add(code,
		 INSN(BPF_ST | BPF_MEM | code_width(size), to.reg, 0, (int16_t)to.off, number));
}

void code__add_atomic(struct code *code, struct place to, enum code_reg from)
{
	code_add(code, INSN(BPF_STX | BPF_XADD | BPF_DW, to.reg, from, (int16_t)to.off, 0));
}

void code__call(struct code *code, int helper)
{
	code_add(code, INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper));
}

void code__call_block(struct code *code)
{
	code_add(code, INSN(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, -1));
}

void code__exit(struct code *code)
{
	code_add(code, INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0));
}

static void code_add_jump(struct code *code, struct bpf_insn insn, int label)
{
	int err = GROW(code->jumps, code->room_jumps, code->nr_jumps + 1);

	if (err)
		code_fail(code, err);
	if (err || label < 0)
		return;
	code->jumps[code->nr_jumps++] = (struct code_jump){ code->nr, label };
	code_add(code, insn);
}

void code__jump(struct code *code, int label)
{
	code_add_jump(code, INSN(BPF_JMP | BPF_JA, 0, 0, 0, 0), label);
}

void code__jump_if(struct code *code, uint8_t op, enum code_reg a, enum code_reg b, int label)
{
	code_add_jump(code, INSN(BPF_JMP | BPF_X | op, a, b, 0, 0), label);
}

void code__jump_if_number(struct code *code, uint8_t op, enum code_reg a, int64_t b, int label)
{
	if (code_is_short(b)) {
		code_add_jump(code, INSN(BPF_JMP | BPF_K | op, a, 0, 0, (int32_t)b), label);
		return;
	}
	code_set_wide(code, R0, 0, (uint64_t)b);
	code__jump_if(code, op, a, R0, label);
}

void code__extend(struct code *code, enum code_reg reg, uint32_t size, bool is_signed)
{
	uint32_t bits = 64 - 8 * size;

	if (!bits)
		return;
	code__reckon_number(code, BPF_LSH, reg, bits);
	code__reckon_number(code, is_signed ? BPF_ARSH : BPF_RSH, reg, bits);
}

void code__clear(struct code *code, struct place to, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at += 8)
		code__store_number(code, 8, place_at(to, (int32_t)at), 0);
}

struct place code__take(struct code *code, uint32_t bytes)
{
	if (code->stack_bytes + bytes > code->stack_room)
		return code__take_scratch(code, bytes);
	code->stack_bytes += bytes;
	return (struct place){ R10, -(int32_t)code->stack_bytes };
}

struct place code__take_scratch(struct code *code, uint32_t bytes)
{
	struct place place = { REG_CELL, (int32_t)(code->scratch_from + code->scratch_bytes) };

	code->uses_scratch = true;
	if (code->scratch_bytes + bytes > code->scratch_room)
		code_fail(code, -E2BIG);
	else
		code->scratch_bytes += bytes;
	return place;
}

struct code_mark code__mark(const struct code *code)
{
	return (struct code_mark){ code->stack_bytes, code->scratch_bytes };
}

void code__give_back(struct code *code, struct code_mark mark)
{
	code->stack_bytes = mark.stack_bytes;
	code->scratch_bytes = mark.scratch_bytes;
}
