/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program_inside.h: what the files of program*.c share while a program is made.
 *
 * Registers, beside those of code.h: R1-R4 take the value of a number, R5 may hold a second
 * operand, R0 is scratch. Code that calculates into a register keeps those below it. A call of a
 * helper keeps none, so its result goes to R1 only, with nothing below.
 */
#ifndef IOSONAR_PROBE_CODE_PROGRAM_INSIDE_H
#define IOSONAR_PROBE_CODE_PROGRAM_INSIDE_H

#include "probe/code/code.h"
#include "probe/code/program.h"
#include "wire/probe_maps.h"

/* A number that was read once and is kept on the stack. */
struct emit_note {
	bool is_there;
	struct place at;
};

struct emit {
	struct code code;
	const struct program_wants *wants;
	const struct plan *plan;
	const struct plan_probe *probe;
	struct emit_note who, now, latency; /* pid_tgid, ktime, a pair's latency */
	struct emit_note nth;		    /* of a call */
	struct place start_key;		    /* of a pair: key in the table of starts */
	bool is_guarded;		    /* `busy` is set while the scratch is in use */
	bool is_lean;			    /* the program has no REG_CELL: see program.h */
	bool is_reserved;		    /* REG_RECORD has to be given back */
	bool holds, holds_reserved;	    /* some text jumps to these labels: */
	int hold, hold_reserved;
	struct place held_key;
	int out, leave; /* labels: before and after `busy` is set */
	int err;	/* said */
};

/* Says why the program cannot be made; only the first reason counts. */
void emit__refuse(struct emit *e, const struct value *v, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds one to the counter; clobbers only R0. */
void emit__count(struct emit *e, enum probe_counter counter);
/* Adds one to the counter and ends. */
void emit__end(struct emit *e, enum probe_counter counter);
/* The program's cell into R0. */
void emit__lookup_cell(struct emit *e);
/* Adds a register to 8 bytes of a row that other programs may add to as well; keeps R0. */
void emit__add_shared(struct emit *e, struct place to, enum code_reg from);
void emit__add_one_shared(struct emit *e, struct place to); /* R1 is lost */
/* map_lookup_elem and map_update_elem; the result is in R0. */
void emit__take_int(struct emit *e); /* what update and delete return, in R0 */
void emit__lookup(struct emit *e, int map, struct place key);
void emit__update(struct emit *e, int map, struct place key, struct place value, int64_t flags);

/* Calls a helper and keeps its result, so that it is called once. */
void emit__note(struct emit *e, struct emit_note *note, int helper);
/* The command of this task into memory, where 16 bytes are 0. */
void emit__comm(struct emit *e, struct place to);
/* Process, thread and command of this task into memory: u32, u32, char[16]. */
void emit__who(struct emit *e, struct place pid, struct place tid, struct place comm);
/* The address of the function that was hit into 8 bytes, or 0 if the program serves only one. */
void emit__address(struct emit *e, struct place to);
/* A leaf that is not in the user's text: no instruction is attributed to it. */
void emit__builtin(struct emit *e, enum value_op op, enum code_reg reg);
/* A number into reg. */
void emit__number(struct emit *e, const struct value *v, enum code_reg reg);
/*
 * A number or text into memory; a text takes `room` bytes. Adjacent parts are written from last to
 * first: kernels without 8678ea06852c put a 0 before a text if its first byte faults.
 */
void emit__part(struct emit *e, const struct value *v, struct place to, uint32_t room);
/* Jumps to label if the value is true (or unless it is); else continues below. */
void emit__jump_if(struct emit *e, const struct value *v, enum code_reg reg, int label);
void emit__jump_unless(struct emit *e, const struct value *v, enum code_reg reg, int label);

/* Leaves read from ctx, from registers or from memory: program_read.c. */
void emit__record_bytes(struct emit *e, enum code_reg reg, uint32_t offset, uint32_t bytes);
void emit__argument(struct emit *e, const struct value *v, enum code_reg reg);
void emit__ret(struct emit *e, const struct value *v, enum code_reg reg);
bool emit__argument_calls(const struct emit *e, const struct value *v);
/* The address is in R3; helper: for kernel and for user memory. R0: its result. */
void emit__read(struct emit *e, enum value_memory memory, struct place to, uint32_t bytes,
		const int helper[2]);
/* Jumps to label unless the register, which is lost, holds an address of the kernel. */
void emit__jump_unless_kernel(struct emit *e, enum code_reg reg, int label);
/* The slot of a tracing program's argument or result, with the type that the verifier gives it. */
void emit__typed_slot(struct emit *e, const struct value *v, enum code_reg reg);
extern const int emit_read_bytes[2], emit_read_text[2];
void emit__count_fault(struct emit *e); /* if R0 is negative */

/* Members of a struct without a helper: program_direct.c. */
bool emit__is_direct(const struct emit *e, const struct value *v);
bool emit__has_direct(const struct emit *e);
/* Writes the record's direct values, or jumps to doubt with some of them written. */
void emit__direct(struct emit *e, int doubt);

void emit__text(struct emit *e, const struct value *v, struct place to, uint32_t room);
/* Zeroes the bytes of R1 after its first 0 byte. R2: all ones if there is none; R3 is lost. */
void emit__cut_word(struct emit *e);
/* Where a text lies, once it was fetched. */
struct place emit__text_place(struct emit *e, const struct value *v);
/* Jumps to label if two texts differ, or if a text does not match a glob. */
void emit__jump_differ(struct emit *e, const struct value *a, const struct value *b, int label);
void emit__jump_unlike(struct emit *e, const struct value *v, int label);

/* Turns the number in R1 into its bucket, in R1. */
void emit__bucket(struct emit *e);

/* Only selected tasks get past it. */
void emit__filters(struct emit *e);
/* The return of a user function: calls nested in it have ended, too. */
void emit__leave_nest(struct emit *e);
/* The stack pointer of a user function at its entry; at its return, what it was then. */
void emit__stack_pointer(struct emit *e, enum code_reg reg);
/* Hands the instructions over to the program; err: from code__finish. -errno, said. */
int emit__hand_over(struct emit *e, struct program *program, int err);

/* Counts one more record of the object or task it follows; if the table is full the hit is lost. */
void emit__follow(struct emit *e);
/* The value uses arguments, at a return that has none. */
bool emit__is_gone(const struct emit *e, const struct value *v);

/* Jumps to found with the row of a key in R0, or to elsewhere if it has none in the front. */
void emit__front(struct emit *e, struct place key, int found, int elsewhere);

/*
 * A hit whose text is not in memory, and the turn in which it is taken up: program_hold.c. In that
 * turn REG_CTX is its struct probe_held, REG_START what the program was called with.
 */
bool emit__is_late(const struct emit *e);
bool emit__may_hold(const struct emit *e, const struct value *text);
void emit__jump_hold(struct emit *e);
void emit__hold(struct emit *e); /* what they jump to */
void emit__find_held(struct emit *e);
void emit__take_up(struct emit *e); /* in place of counting the hit */
void emit__drop_held(struct emit *e);
struct place emit__held(size_t offset); /* a member of struct probe_held */
/* The path of the new program, which the kernel has: its address into R3. */
bool emit__is_exec_path(const struct emit *e, const struct value *text);
void emit__exec_path(struct emit *e);

/* What is done with a hit that meets the condition. */
void emit__row(struct emit *e);
bool emit__row_is_in_cell(const struct emit *e);
void emit__record(struct emit *e);
/* A pair: all of its start; the code before and after the other actions at its end. */
void emit__start(struct emit *e);
void emit__find_start(struct emit *e);
void emit__forget_start(struct emit *e, int gone); /* jumps to gone if another end was faster */

#endif
