/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * known.h: finds where the return addresses of a stack lie, from copies of it, so that the
 * programs know the stack without a walk (bpf/known.h). A copy has these addresses, and others
 * that are left from earlier calls: what all copies have at the same place is kept. Pure.
 */
#ifndef IOSONAR_COLLECT_KNOWN_H
#define IOSONAR_COLLECT_KNOWN_H

#include <stdint.h>
#include "wire/io_stages.h"
#include "wire/known.h"

struct known;

/* table: the programs' [KNOWN_SETS * KNOWN_STACKS]. Numbers of stacks are 1 to greatest. NULL: no
 * memory. */
struct known *known__new(struct known_stack *table, uint32_t greatest);
void known__free(struct known *known);

/* A stack comes before its copies. Without memory for it, it is walked each time. */
void known__stack(struct known *known, const struct io_stack *stack);
void known__copy(struct known *known, const struct known_copy *copy);

/* Counts it if the two differ in more than the frames of our program and of what runs it. */
void known__doubt(struct known *known, const struct known_doubt *doubt);
uint64_t known__nr_wrong(const struct known *known);
/* From now on each stack is walked. */
void known__stop(struct known *known);

#endif
