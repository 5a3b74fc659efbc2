/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * type.h: what is a value that an event carries? A number, a pointer, a struct, a text: according
 * to the kernel's BTF or the format file of a tracepoint. Pure lookups in a BTF in memory.
 */
#ifndef IOSONAR_PROBE_FIND_TYPE_H
#define IOSONAR_PROBE_FIND_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf;
struct btf_type;

enum type_kind {
	TYPE_VOID,    /* unknown, or void */
	TYPE_INT,     /* also bool, enum, char */
	TYPE_POINTER, /* id: what it points to; 0: unknown */
	TYPE_STRUCT,  /* or union */
	TYPE_TEXT,    /* char[N]; size 0: variable length */
	TYPE_ARRAY,   /* of anything else */
};

struct type {
	enum type_kind kind;
	uint32_t size;	/* bytes in memory; is_loc: of the u32 there, 4 */
	bool is_signed; /* INT */
	bool is_user;	/* POINTER: into the process's memory */
	bool is_text;	/* POINTER: to char */
	bool is_loc;	/* TEXT, ARRAY of a tracepoint: a u32 is there, length << 16 | offset */
	bool is_rel;	/* that offset counts from the end of the u32 (__rel_loc) */
	uint32_t nr;	/* ARRAY of a format file: count of its elements (numbers); 0: unknown */
	uint32_t bits;	/* width of a bit field, 0: not one */
	uint32_t shift; /* its lowest bit in the `size` bytes, read as a little-endian number */
	const struct btf *btf;
	uint32_t id; /* in btf, with typedefs: of a POINTER its target, else of the type itself; 0:
			unknown */
};

/* Looks through typedefs and qualifiers. */
struct type type__of(const struct btf *btf, uint32_t id);
/* Without typedefs and qualifiers; NULL: void or invalid. */
const struct btf_type *type__plain(const struct btf *btf, uint32_t id);
/* The target of a pointer, or the element of an array or text; VOID if unknown. */
struct type type__target(const struct type *pointer);
/*
 * The member of that name, also inside anonymous structs and unions. A bit field's bytes are the
 * smallest aligned unit that holds it. false: not found.
 */
bool type__member(const struct type *of, const char *name, struct type *member,
		  uint32_t *offset_bytes);
/* Names of all members that type__member finds; NULL at the end. Freed by the caller with one
 * free(): the BTF owns the names. NULL: out of memory. */
const char **type__member_names(const struct type *of);
/* "struct request *", as C writes it, a bit field "unsigned int:3"; cut at size; returns buf. */
char *type__print(const struct type *type, char *buf, size_t size);
/* "char rwbs[10]", "void (*fn)(int)": a name comes before the brackets of an array and inside
 * the parentheses of a pointer to a function. Cut at size; returns buf. */
char *type__declare(const char *type, const char *name, char *buf, size_t size);
/* The name of an enum's value; NULL: no such value, or not an enum. */
const char *type__enum_name(const struct type *type, int64_t value);

#endif
