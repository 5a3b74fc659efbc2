/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dwarf_proto.h: which arguments does a function of a program take, and what does it return? Read
 * from the program's DWARF, if present and if iosonar was built with libdw. The file is hostile and
 * DWARF is large: a separate process reads it, without rights, with bounded memory and time; its
 * answer is checked here. Only numbers and pointers are known, in registers and then on the stack:
 * arguments end at the first struct that is passed by value, and floats are left out.
 */
#ifndef IOSONAR_SYMBOL_DWARF_PROTO_H
#define IOSONAR_SYMBOL_DWARF_PROTO_H

#include <stddef.h>
#include <stdint.h>

enum { DWARF_NAME = 32, DWARF_PARAMS = 12 };

/* A type as far as a register's value needs it. VOID: no type, or an unknown one. */
enum dwarf_kind { DWARF_VOID, DWARF_INT, DWARF_BOOL, DWARF_CHAR, DWARF_POINTER, NR_DWARF_KINDS };
struct dwarf_type {
	uint8_t kind;
	uint8_t size; /* 1, 2, 4 or 8 */
	uint8_t is_signed;
	uint8_t to;	       /* POINTER: enum dwarf_kind of its target, if that has a name */
	uint8_t to_struct;     /* POINTER: to a struct of that name */
	char name[DWARF_NAME]; /* "unsigned int"; POINTER: name of its target; "": none */
};

struct dwarf_param {
	struct dwarf_type type;
	char name[DWARF_NAME]; /* "": none */
};

struct dwarf_proto {
	uint8_t is_known;
	uint8_t has_ret; /* in a general register; VOID: it returns nothing */
	uint8_t nr;
	struct dwarf_type ret;
	struct dwarf_param params[DWARF_PARAMS];
};

/*
 * For the functions that begin at these addresses, which are sorted and count as the file's symbols
 * do. 0, also if nothing is known; -ENOMEM, -errno of fork. Logs nothing.
 */
int dwarf_protos__ask(int fd, const uint64_t *vaddrs, size_t nr, struct dwarf_proto *protos);

/* The same in this process: for tests, and for the process without rights. */
void dwarf_protos__read(int fd, const uint64_t *vaddrs, size_t nr, struct dwarf_proto *protos);
/* Marks what makes no sense as unknown. */
void dwarf_proto__check(struct dwarf_proto *proto);

#endif
