/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code.h: BPF instructions in sequence: jumps to labels that are bound later, places in the 512
 * bytes of stack and, when these are full, in the scratch of the program's cell. Knows nothing
 * about the purpose of a program. The first error stays in `err`, so that callers check once, at
 * the end.
 */
#ifndef IOSONAR_PROBE_CODE_CODE_H
#define IOSONAR_PROBE_CODE_CODE_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct value;

/* R0: results of calls, and scratch inside one operation. R1-R5 do not survive a call, the others
 * do. R10: end of the stack. */
enum code_reg {
	R0,
	R1,
	R2,
	R3,
	R4,
	R5,
	R6,
	R7,
	R8,
	R9,
	R10,
	/* fixed use of registers in all our programs */
	REG_CTX = R6,
	REG_CELL = R7,
	REG_RECORD = R8, /* in a ring */
	REG_START = R9,	 /* of a pair */
};

enum { CODE_STACK_BYTES = 512 };

/* Bytes in memory: an address in a register plus an offset. */
struct place {
	enum code_reg reg;
	int32_t off;
};

struct code_jump {
	size_t at;
	int label;
};

struct code {
	struct bpf_insn *insns;
	const struct value **of; /* by instruction: the value it is for */
	size_t nr, room;
	const struct value *now; /* the value that the next instructions are for */
	ssize_t *labels;	 /* the instruction; -1: not bound yet */
	size_t nr_labels, room_labels;
	struct code_jump *jumps;
	size_t nr_jumps, room_jumps;
	uint32_t stack_bytes, scratch_bytes; /* taken now */
	uint32_t stack_room;		     /* less where functions that it calls need some */
	uint32_t scratch_from, scratch_room; /* its start in the cell, its size */
	bool uses_scratch;
	int err; /* -ENOMEM; -E2BIG: a jump too far, no room for a place */
};

/* scratch_from, scratch_room: the bytes of REG_CELL for places. */
void code__init(struct code *code, uint32_t scratch_from, uint32_t scratch_room);
void code__free(struct code *code);
/* Fills in the distance of every jump. Returns `err`. */
int code__finish(struct code *code);
/* After code__finish: drops the first instruction if no other one uses the register it sets. */
void code__drop_first_if_idle(struct code *code);

int code__label(struct code *code);
void code__bind(struct code *code, int label);

/* size: 1, 2, 4, 8. op: BPF_ADD ..., BPF_JEQ ... A constant that does not fit an instruction goes
 * through R0. */
void code__set(struct code *code, enum code_reg to, int64_t number);
void code__move(struct code *code, enum code_reg to, enum code_reg from);
void code__set_map(struct code *code, enum code_reg to, int fd);
void code__set_map_value(struct code *code, enum code_reg to, int fd); /* the first one's address */
void code__set_address(struct code *code, enum code_reg to, struct place place);
void code__reckon(struct code *code, uint8_t op, enum code_reg to, enum code_reg with);
void code__reckon_number(struct code *code, uint8_t op, enum code_reg to, int64_t with);
void code__negate(struct code *code, enum code_reg to);
/* Keeps the bits, but the verifier no longer treats them as a pointer. */
void code__forget_type(struct code *code, enum code_reg to);
void code__load(struct code *code, uint32_t size, enum code_reg to, struct place from);
void code__store(struct code *code, uint32_t size, struct place to, enum code_reg from);
void code__store_number(struct code *code, uint32_t size, struct place to, int32_t number);
void code__add_atomic(struct code *code, struct place to, enum code_reg from);
void code__call(struct code *code, int helper);
void code__call_block(struct code *code); /* the first function of what is appended at load */
void code__exit(struct code *code);
void code__jump(struct code *code, int label);
void code__jump_if(struct code *code, uint8_t op, enum code_reg a, enum code_reg b, int label);
void code__jump_if_number(struct code *code, uint8_t op, enum code_reg a, int64_t b, int label);

/* From `size` bytes to 64 bits. */
void code__extend(struct code *code, enum code_reg reg, uint32_t size, bool is_signed);
/* Zeroes `bytes` bytes, a multiple of 8. */
void code__clear(struct code *code, struct place to, uint32_t bytes);

/* Takes a place of `bytes` bytes, a multiple of 8: on the stack, or in the scratch if the stack
 * is full. Places are given back in reverse order. */
struct code_mark {
	uint32_t stack_bytes, scratch_bytes;
};
struct place code__take(struct code *code, uint32_t bytes);
/* In the scratch: for instructions with a variable index, which the stack does not allow. */
struct place code__take_scratch(struct code *code, uint32_t bytes);
struct code_mark code__mark(const struct code *code);
void code__give_back(struct code *code, struct code_mark mark);

static inline struct place place_at(struct place place, int32_t bytes)
{
	place.off += bytes;
	return place;
}

#define INSN(op, dst, src, o, i) \
	((struct bpf_insn){      \
		.code = (op), .dst_reg = (dst), .src_reg = (src), .off = (o), .imm = (i) })

/* One instruction as text: "r1 = *(u32 *)(r6 + 24)". A pair is printed at its first slot. */
void code_insn__print(const struct bpf_insn *insn, FILE *out);

#endif
