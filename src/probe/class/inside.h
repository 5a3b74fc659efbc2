/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inside.h: shared by the files of the class: find.c finds functions by their prototypes, attach.c
 * decides which can be attached, class.c selects them.
 */
#ifndef IOSONAR_PROBE_CLASS_INSIDE_H
#define IOSONAR_PROBE_CLASS_INSIDE_H

#include "probe/class/class.h"
#include "probe/find/inside.h"

enum { STRUCT_NAME = 256 };

/* Fills preset and object; -EINVAL and -EOPNOTSUPP, said. Loads the BTF of all modules. */
int class__name(struct class *class, struct finder *finder, const struct class_wants *wants);

/* Keeps the most similar of all names that it was called with; "": none is near. */
struct class_nearest {
	const char *word;
	char near[STRUCT_NAME];
};
int class_nearest__compare(void *nearest, const char *name); /* 0 */

/* Takes over what the function owns, even on failure: -ENOMEM. */
int class__add(struct class *class, const struct class_function *function);
void class_function__free(struct class_function *function);
/* By name, then module. */
void class__sort(struct class *class);

/* Every function of this BTF that takes or returns the struct. -ENOMEM. */
int class__add_functions(struct class *class, const struct find_btf *b);
/* A function's prototype in C; NULL: not in BTF, or no memory. Freed by the caller. */
char *class__prototype(const struct btf *btf, uint32_t func_id, const char *name);

/* Sets the address of each function, or why it cannot be attached; they are sorted. -ENOMEM. */
int class__locate(struct class *class, struct finder *finder);

#endif
