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
 * snake case; a key that is already in `taken` gets the prefix by_. -ENOMEM.
 */
int values__columns(struct values *values, const struct plan_part *parts, size_t nr, size_t first,
		    struct column *columns, const struct column *taken);
/* Names the stacks now, while their processes live, and keeps the names until they are shown. */
void values__name(struct values *values, const struct plan_part *parts, size_t nr,
		  const void *bytes);
/* Merges stacks that look alike, cut as they will be shown, and all stacks that could not be
 * taken, so that their rows add up. */
void values__join(struct values *values, const struct plan_part *parts, size_t nr, void *bytes);
/* Fills these slots. bytes: the key, or the record's values. Texts last until the next call. */
/* The process whose file descriptors the values of system calls use, from now on; 0: none. */
void values__whose(struct values *values, uint32_t pid);
void values__fill(struct values *values, const struct plan_part *parts, size_t nr,
		  const void *bytes, union value_slot *slots);

/* In text a stack is below its row. */
/* The cell kind for numbers of that unit. */
enum cell_kind values__number_kind(enum value_unit unit, bool is_signed);
static inline bool values__is_stack(const struct plan_part *part)
{
	return part->shape.unit == VALUE_KSTACK_ID || part->shape.unit == VALUE_USTACK_ID;
}

#endif
