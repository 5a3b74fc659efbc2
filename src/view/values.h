/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * values.h: keys and values of any event as people and programs read them: numbers as numbers,
 * addresses as symbols, errnos, system calls, devices, stacks and cgroups by name. Columns are made
 * of the plan's parts; a row is an array of slots.
 */
#ifndef IOSONAR_VIEW_VALUES_H
#define IOSONAR_VIEW_VALUES_H

#include "decode/column.h"
#include "probe/run/request.h"

enum { VALUE_SLOTS = 16 + PLAN_MAX_PARTS + 8 };

union value_slot {
	uint64_t n;
	double real;
	const char *text;
};

struct values;

/* run and asked must outlive it. NULL: out of memory. */
struct values *values__new(const struct request *request);
void values__free(struct values *values);
/* After everything is attached, before privileges are dropped. */
void values__start(struct values *values, struct run *run);

/*
 * A column for each part, whose cell is at slot first, first + 1, ... Keys are the parts' words, in
 * snake case; one that is taken already, in `taken`, gets by_ before it. -ENOMEM.
 */
int values__columns(struct values *values, const struct plan_part *parts, size_t nr, size_t first,
		    struct column *columns, const struct column *taken);
/* Names the stacks now, while their processes live; what it found is kept for when they are shown.
 */
void values__name(struct values *values, const struct plan_part *parts, size_t nr,
		  const void *bytes);
/* Stacks that look alike, cut as they will be shown, become the same one, and those that could not
 * be taken the same none, so that their rows add up. */
void values__join(struct values *values, const struct plan_part *parts, size_t nr, void *bytes);
/* Fills these slots. bytes: the key, or the record's values. Texts last until the next call. */
/* Whose file descriptors the values of system calls are, from now on; 0: nobody's. */
void values__whose(struct values *values, uint32_t pid);
void values__fill(struct values *values, const struct plan_part *parts, size_t nr,
		  const void *bytes, union value_slot *slots);

/* In text a stack stands below its row. */
/* How numbers of that unit are shown. */
enum cell_kind values__number_kind(enum value_unit unit, bool is_signed);
static inline bool values__is_stack(const struct plan_part *part)
{
	return part->shape.unit == VALUE_KSTACK_ID || part->shape.unit == VALUE_USTACK_ID;
}

#endif
