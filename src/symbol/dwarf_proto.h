/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dwarf_proto.h: which arguments does a function of a program take, and what does it return? By the
 * program's DWARF, if it has some and iosonar was built with libdw. The file is hostile and DWARF
 * is large: a process of its own reads it, without rights, with bounded memory and time; what it
 * says is checked here. Only what general registers hold has a place: arguments end at the first
 * struct that is passed by value, and floats are left out.
 */
#ifndef IOSONAR_SYMBOL_DWARF_PROTO_H
#define IOSONAR_SYMBOL_DWARF_PROTO_H

#include <stddef.h>
#include <stdint.h>

enum { DWARF_NAME = 32, DWARF_PARAMS = 8 };

/* A type as far as a register's value needs it. VOID: none, or nothing is known of it. */
enum dwarf_kind { DWARF_VOID, DWARF_INT, DWARF_BOOL, DWARF_CHAR, DWARF_POINTER, NR_DWARF_KINDS };
struct dwarf_type {
	uint8_t kind;
	uint8_t size; /* 1, 2, 4 or 8 */
	uint8_t is_signed;
	uint8_t to;	   /* POINTER: enum dwarf_kind of what it points to, if that has a name */
	uint8_t to_struct; /* POINTER: to a struct of that name */
	char name[DWARF_NAME]; /* "unsigned int"; POINTER: of what it points to; "": none */
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
 * Of the functions that begin at these addresses, as the file's symbols count, sorted. 0, also if
 * nothing is known of any; -ENOMEM, -errno of fork. Says nothing.
 */
int dwarf_protos__ask(int fd, const uint64_t *vaddrs, size_t nr, struct dwarf_proto *protos);

/* The same in this process: for tests, and for the one that has no rights. */
void dwarf_protos__read(int fd, const uint64_t *vaddrs, size_t nr, struct dwarf_proto *protos);
/* What makes no sense is not known. */
void dwarf_proto__check(struct dwarf_proto *proto);

#endif
