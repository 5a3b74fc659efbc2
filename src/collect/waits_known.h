/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits_known.h: finds where the return addresses of a stack lie, from copies of it, so that the
 * programs know the stack without a walk (bpf/wait_known.h). A copy has these addresses, and others
 * that are left from earlier calls: what all copies have at the same place is kept. Pure.
 */
#ifndef IOSONAR_COLLECT_WAITS_KNOWN_H
#define IOSONAR_COLLECT_WAITS_KNOWN_H

#include <stdint.h>
#include "wire/io_stages.h"
#include "wire/waits.h"

struct waits_known;

/* table: the programs' [WAIT_FUNCTIONS * WAIT_KNOWN]. NULL: no memory. */
struct waits_known *waits_known__new(struct wait_known_stack *table);
void waits_known__free(struct waits_known *known);

/* A stack comes before its copies. Without memory for it, it is walked each time. */
void waits_known__stack(struct waits_known *known, const struct io_stack *stack);
void waits_known__copy(struct waits_known *known, const struct wait_copy *copy);

/* Counts it if the two differ in more than the frames of our program and of what runs it. */
void waits_known__doubt(struct waits_known *known, const struct wait_doubt *doubt);
uint64_t waits_known__nr_wrong(const struct waits_known *known);

#endif
