/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * members.h: the values of a record in words: arguments of a call, members of an object, what
 * changed. "bi_size=4096 bi_opf=READ|SYNC", "bi_size 4096 -> 0".
 */
#ifndef IOSONAR_CALLS_MEMBERS_H
#define IOSONAR_CALLS_MEMBERS_H

#include <stdio.h>
#include "view/values.h"

struct btf;
struct btf_type;
struct members;

/* btf: names of flags are looked for there; NULL: nowhere. NULL: out of memory. */
struct members *members__new(struct values *values, const struct plan_part *parts, size_t nr,
			     const struct btf *btf);
void members__free(struct members *members);

/* Its name in words: the last one of "bi_iter.bi_size", of an atomic_t the one before. */
const char *member__name(const struct plan_part *part, int *len);

/* The enums in btf that words of these are looked up in. */
void members__each_enum(const struct btf *btf, const struct plan_part *parts, size_t nr,
			void (*fn)(void *arg, const struct btf *btf, const struct btf_type *type),
			void *arg);

/* Those from `first` on, by name, with a space between. before: those that differ only, as
 * "name old -> new"; NULL: all. Returns how many. Hostile: escaped by who prints it. */
size_t members__put(struct members *members, FILE *out, size_t first, const void *now,
		    const void *before);
/* One of them, without its name. */
void members__put_value(struct members *members, FILE *out, size_t i, const void *bytes);

#endif
