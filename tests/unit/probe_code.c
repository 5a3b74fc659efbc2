/* SPDX-License-Identifier: BSD-2-Clause */
/* probe_code.c: instructions, labels and places of the assembler. */
#include <errno.h>
#include <stdlib.h>
#include "probe/code/code.h"
#include "tap.h"

static char printed[4096];

static const char *print(const struct code *code)
{
	FILE *out = fmemopen(printed, sizeof(printed), "w");
	size_t i;

	for (i = 0; i < code->nr; i++) {
		code_insn__print(&code->insns[i], out);
		fputs("; ", out);
		i += code->insns[i].code == (BPF_LD | BPF_DW | BPF_IMM);
	}
	fclose(out);
	return printed;
}

static void check_numbers(void)
{
	struct code code;

	code__init(&code, 0, 0);
	code__set(&code, R1, -1);
	code__set(&code, R2, INT32_MIN);
	code__set(&code, R3, 0x80000000);
	code__set(&code, R4, INT64_MIN);
	code__reckon_number(&code, BPF_AND, R5, 0xff);
	code__reckon_number(&code, BPF_AND, R5, 0xff00000000);
	code__extend(&code, R5, 2, true);
	code__extend(&code, R5, 8, true);
	code__negate(&code, R5);
	code__forget_type(&code, R5);
	code__set_map(&code, R1, 12);
	code__move(&code, R2, R2);
	code__exit(&code);
	is_u64((uint64_t)code__finish(&code), 0, "it is good");
	is_str(print(&code),
	       "r1 = -1; r2 = -2147483648; r3 = 0x80000000 ll; r4 = 0x8000000000000000 ll; "
	       "r5 &= 255; r0 = 0xff00000000 ll; r5 &= r0; r5 <<= 48; r5 s>>= 48; r5 = -r5; "
	       "r5 = le64 r5; r1 = map[fd:12]; exit; ",
	       "numbers that fit an instruction, and others");
	code__free(&code);
}

static void check_memory(void)
{
	struct code code;

	code__init(&code, 0, 0);
	code__load(&code, 1, R1, (struct place){ R6, 3 });
	code__load(&code, 2, R1, (struct place){ R6, -4 });
	code__store(&code, 4, (struct place){ R10, -8 }, R1);
	code__store_number(&code, 8, (struct place){ R7, 16 }, -1);
	code__add_atomic(&code, (struct place){ R0, 8 }, R2);
	code__clear(&code, (struct place){ R10, -16 }, 16);
	code__set_address(&code, R2, (struct place){ R7, 0 });
	code__set_address(&code, R3, (struct place){ R10, -16 });
	code__call(&code, BPF_FUNC_ktime_get_ns);
	code__call(&code, 9999);
	is_str(print(&code),
	       "r1 = *(u8 *)(r6 + 3); r1 = *(u16 *)(r6 - 4); *(u32 *)(r10 - 8) = r1; "
	       "*(u64 *)(r7 + 16) = -1; lock *(u64 *)(r0 + 8) += r2; *(u64 *)(r10 - 16) = 0; "
	       "*(u64 *)(r10 - 8) = 0; r2 = r7; r3 = r10; r3 += -16; call bpf_ktime_get_ns#5; "
	       "call #9999; ",
	       "loads, stores, calls");
	code__free(&code);
}

static void check_jumps(void)
{
	struct code code;
	int back, out;

	code__init(&code, 0, 0);
	back = code__label(&code);
	out = code__label(&code);
	code__bind(&code, back);
	code__jump_if_number(&code, BPF_JEQ, R1, 5, out);
	code__jump_if_number(&code, BPF_JSLT, R1, 0x100000000, out);
	code__jump_if(&code, BPF_JGE, R1, R2, back);
	code__jump(&code, back);
	code__bind(&code, out);
	code__exit(&code);
	is_u64((uint64_t)code__finish(&code), 0, "every label is bound");
	is_str(print(&code),
	       "if r1 == 5 goto pc+5; r0 = 0x100000000 ll; if r1 s< r0 goto pc+2; "
	       "if r1 >= r2 goto pc-5; goto pc-6; exit; ",
	       "jumps to and fro");
	code__free(&code);
}

static void check_errors(void)
{
	struct code code;
	int label, i;

	code__init(&code, 0, 0);
	code__jump(&code, code__label(&code));
	is_u64((uint64_t)-code__finish(&code), EINVAL, "a label that nobody bound");
	code__free(&code);
	code__init(&code, 0, 0);
	label = code__label(&code);
	code__jump(&code, label);
	for (i = 0; i < 32767; i++)
		code__exit(&code);
	code__bind(&code, label);
	is_u64((uint64_t)code__finish(&code), 0, "a jump as far as it goes");
	code__exit(&code);
	code__bind(&code, label);
	is_u64((uint64_t)-code__finish(&code), E2BIG, "and one too far");
	code__free(&code);
}

static void check_places(void)
{
	struct place first, second, third;
	struct code_mark mark;
	struct code code;

	code__init(&code, 100, 64);
	first = code__take(&code, 504);
	mark = code__mark(&code);
	second = code__take(&code, 8);
	third = code__take(&code, 16);
	ok(first.reg == R10 && first.off == -504 && second.off == -512, "on the stack");
	ok(third.reg == REG_CELL && third.off == 100 && code.uses_scratch, "then in the cell");
	code__give_back(&code, mark);
	second = code__take(&code, 8);
	ok(second.reg == R10 && second.off == -512, "what is given back is free");
	third = code__take_scratch(&code, 64);
	ok(third.off == 100 && !code.err, "there, too");
	code__take_scratch(&code, 8);
	is_u64((uint64_t)-code__finish(&code), E2BIG, "until it is full");
	code__free(&code);
}

int main(void)
{
	check_numbers();
	check_memory();
	check_jumps();
	check_errors();
	check_places();
	return done_testing();
}
