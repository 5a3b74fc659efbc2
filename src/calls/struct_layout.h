/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct_layout.h: how are the structs laid out that traced functions take? Members with offsets
 * and sizes, from BTF, so that a page can show them without kernel or headers; captures include
 * them. Only structs that functions point to, and the structs inside the first of them.
 */
#ifndef IOSONAR_CALLS_STRUCT_LAYOUT_H
#define IOSONAR_CALLS_STRUCT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "capture/bytes.h"
#include "probe/find/type.h"

/* More are left out, to keep a page readable. */
enum { STRUCT_LAYOUTS_MOST = 64, STRUCT_MEMBERS_MOST = 512 };

struct struct_member {
	char *declared; /* "struct bio *bi_next"; "union {": deeper members are inside it */
	uint32_t depth; /* anonymous structs around it */
	uint64_t bit;	/* from the start of the struct */
	uint64_t bits;	/* that it takes */
};

struct struct_layout {
	char *name; /* "struct bio" */
	uint64_t bytes;
	struct struct_member *members;
	size_t nr;
	bool is_cut; /* it has more */
};

struct struct_layouts {
	struct struct_layout layouts[STRUCT_LAYOUTS_MOST];
	size_t nr;
};

/* Adds a struct, or the target of a pointer; skips other types and known structs. -ENOMEM. */
int struct_layouts__add(struct struct_layouts *layouts, const struct type *type);
/* Adds it and the structs of its members. */
int struct_layouts__add_inside(struct struct_layouts *layouts, const struct type *type);
void struct_layouts__free(struct struct_layouts *layouts);

/* To and from a capture; get: -EBADMSG, -ENOMEM. */
void struct_layouts__put(const struct struct_layouts *layouts, struct byte_out *out);
int struct_layouts__get(struct struct_layouts *layouts, struct byte_in *in);

#endif
