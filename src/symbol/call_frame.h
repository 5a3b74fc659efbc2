/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_frame.h: runs the call frame instructions of one function (DWARF 5, section 6.4.2) and tells
 * the rule at each address. Only the stack pointer, the frame pointer and the return address are
 * followed. Rules that need another register, or an expression that compilers do not write for
 * these, are UNWIND_UNKNOWN, and so is everything after an instruction that is not understood.
 */
#ifndef IOSONAR_SYMBOL_CALL_FRAME_H
#define IOSONAR_SYMBOL_CALL_FRAME_H

#include "symbol/eh_frame.h"
#include "wire/unwind.h"

/* DWARF's numbers of the registers. */
struct call_frame_machine {
	uint64_t sp, fp, ra;
	bool has_link;	   /* the return address is in register ra until it is saved */
	bool signs_return; /* instruction 0x2d tells that the return address is signed */
};

/* NULL: not a machine that we know. elf_machine: EM_X86_64, EM_AARCH64. */
const struct call_frame_machine *call_frame__machine(unsigned elf_machine);

/*
 * From pc on the rule is this; pcs ascend, and the last call says where the function ends: the rule
 * is UNWIND_NOTHING. Stops at an error of fn and returns it.
 */
typedef int (*call_frame_fn)(void *arg, uint64_t pc, const struct unwind_rule *rule);
/* Takes time for each byte of the programs of fde and of its CIE. */
int call_frame__run(const struct call_frame_machine *machine, const struct eh_section *section,
		    const struct eh_fde *fde, call_frame_fn fn, void *arg);

#endif
