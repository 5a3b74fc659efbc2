/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * members.h: the values of a record in words: arguments of a call, members of an object, what
 * changed. "bi_size=4096 bi_opf=READ|SYNC", "bi_size 4096 -> 0".
 */
#ifndef IOSONAR_CALLS_MEMBERS_H
#define IOSONAR_CALLS_MEMBERS_H

#include <stdio.h>
#include "calls/trace.h"
#include "view/values.h"

struct btf;
struct btf_type;
struct members;

/* btf: where names of flags are looked up, or NULL. Returns NULL if out of memory. */
struct members *members__new(struct values *values, const struct plan_part *parts, size_t nr,
			     const struct btf *btf);
void members__free(struct members *members);

/* The member's name: the last of "bi_iter.bi_size"; for an atomic_t the one before. */
const char *member__name(const struct plan_part *part, int *len);

/* Calls fn for each enum in btf that has words for these parts. */
void members__each_enum(const struct btf *btf, const struct plan_part *parts, size_t nr,
			void (*fn)(void *arg, const struct btf *btf, const struct btf_type *type),
			void *arg);

/* Writes members from `first` on, as "name=value", space-separated. before: only those that
 * differ, as "name old -> new"; NULL: all. Returns how many. Hostile: the caller escapes it. */
size_t members__put(struct members *members, FILE *out, size_t first, const void *now,
		    const void *before);
/* One member, without its name. */
void members__put_value(struct members *members, FILE *out, size_t i, const void *bytes);

/* ---- of a trace ---- */

/* The values of a trace's records in words. Starts as all zeros. */
struct trace_words {
	const struct call_trace *trace;
	struct values *values;
	struct members *members;    /* of objects; NULL: none */
	struct members **arguments; /* by function, made when needed; returns after entries */
};

int trace_words__start(struct trace_words *words, const struct call_trace *trace); /* -ENOMEM */
/* The words of one function's arguments, or of its return value. NULL: out of memory. */
struct members *trace_words__of(struct trace_words *words, uint32_t function, bool is_return);
void trace_words__free(struct trace_words *words);

#endif
